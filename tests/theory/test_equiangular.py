"""The equiangular law against the notes and against n real particles."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from pushforward.errors import InputError
from pushforward.theory import equiangular, normalization

BETAS = [0, 0.1, 1, 2, 3, 4, 5, 6, 7, 8, 9]
CURVE_32 = [
    5.186261,
    5.192063,
    5.270284,
    5.458394,
    5.897609,
    6.953502,
    9.544329,
    15.995314,
    32.233105,
    73.445676,
    178.730930,
]
CURVE_128 = [
    5.879396,
    5.881385,
    5.909020,
    5.978673,
    6.148087,
    6.569550,
    7.634246,
    10.353018,
    17.350424,
    35.467473,
    82.593358,
]


def particles(t, beta, n, normalized):
    """n orthonormal tokens flown to time t by scipy; their inner products."""

    def field(_, flat):
        x = flat.reshape(n, n)
        kernel = np.exp(beta * x @ x.T)
        y = kernel @ x / (kernel.sum(1, keepdims=True) if normalized else n)
        return (y - (x * y).sum(1, keepdims=True) * x).ravel()

    run = solve_ivp(
        field, (0, t), np.eye(n).ravel(), method="DOP853", rtol=1e-12, atol=1e-13
    )
    x = run.y[:, -1].reshape(n, n)
    return (x @ x.T)[np.triu_indices(n, 1)]


def test_zero_beta_closed_form():
    """P1-O12: n = 8; the closed form and the inverted integral agree."""
    t = np.array([0.5, 1.0, 2.0])
    printed = [0.176809219859, 0.444021904912, 0.870125969762]
    assert equiangular.gamma_at_zero_beta(t, 8) == pytest.approx(printed, abs=1e-12)
    assert equiangular.gamma(t, 0.0, 8) == pytest.approx(printed, abs=1e-12)


def test_gamma_of_sa_and_usa():
    """P1-O13: n = 8."""
    t = [0.5, 1.0, 2.0]
    for beta, printed in [
        (1.0, [0.1407779958, 0.3625868798, 0.8163423586]),
        (4.0, [0.0175929354, 0.0383792759, 0.0936521340]),
    ]:
        assert equiangular.gamma(t, beta, 8) == pytest.approx(printed, abs=1e-9)
    printed = [0.1981099393, 0.6005850651, 0.9954092946]
    assert equiangular.gamma_unnormalized(t, 1.0, 8) == pytest.approx(printed, abs=1e-9)
    found = equiangular.gamma_unnormalized(0.5, 4.0, 8)
    assert found == pytest.approx(0.3696865801, abs=1e-9)


@pytest.mark.parametrize("beta", [-1.5, 3.0])
def test_gamma_is_that_of_orthonormal_particles(beta):
    sa, usa = particles(1.2, beta, 5, True), particles(0.4, beta, 5, False)
    assert sa == pytest.approx(equiangular.gamma(1.2, beta, 5), abs=1e-9)
    assert usa == pytest.approx(equiangular.gamma_unnormalized(0.4, beta, 5), abs=1e-9)


def test_rates_are_the_derivatives_of_gamma():
    h = 1e-4
    for gamma, rate in [
        (equiangular.gamma, equiangular.rate),
        (equiangular.gamma_unnormalized, equiangular.rate_unnormalized),
    ]:
        low, here, high = gamma([0.3 - h, 0.3, 0.3 + h], 2.0, 6, start=-0.1)
        slope = (high - low) / (2 * h)
        assert rate(here, 2.0, 6) == pytest.approx(slope, rel=1e-6)


def test_simplex_is_a_fixed_point():
    assert equiangular.rate(-1 / 6, 3.0, 7) == pytest.approx(0, abs=1e-15)


def test_phase_curve():
    """P1-O14: n = 32 and n = 128, SA; n = 32, USA."""
    assert equiangular.merging_time(BETAS, 32) == pytest.approx(CURVE_32, abs=1e-6)
    assert equiangular.merging_time(BETAS, 128) == pytest.approx(CURVE_128, abs=1e-6)
    usa = [5.186261, 2.897049, 1.880417, 1.130770]
    found = equiangular.merging_time_unnormalized([0, 1, 2, 4], 32)
    assert found == pytest.approx(usa, abs=1e-6)


def test_phase_curve_leaves_the_window():
    """P1-O14: t = 30 and t = 10."""
    for t_max, n, printed in [
        (30, 32, 6.906459),
        (30, 128, 7.784877),
        (10, 32, 5.109904),
        (10, 128, 5.912396),
    ]:
        assert equiangular.window_exit(t_max, n) == pytest.approx(printed, abs=1e-6)


def test_gamma_inverts_the_merging_time_at_astronomical_times():
    for beta, n in [(2.0, 3), (40.0, 2), (60.0, 9)]:
        for delta in (0.7, 0.1):
            t = equiangular.merging_time(beta, n, delta=delta)
            # at gamma = 0.9 the clock t ~ e^beta has too few digits: conditioning
            eps = 1e-15 * t * equiangular.rate(1 - delta, beta, n)
            if eps < 1e-3:
                found = equiangular.gamma(t, beta, n)
                assert found == pytest.approx(1 - delta, abs=1e-11 + 10 * eps)


def test_orthonormal_clusters():
    """P4-O9: k equal clusters take the integral with n = k; e^beta/(2 beta) beyond."""

    def integrand(y, beta, k):
        return (np.exp(beta * (1 - y)) + k - 1) / (2 * (1 - y) * ((k - 1) * y + 1))

    for k in (2, 3, 6):
        direct, _ = quad(integrand, 0, 0.999, args=(7.0, k), epsrel=1e-12, limit=200)
        assert equiangular.merging_time(7.0, k) == pytest.approx(direct, rel=1e-9)
        excess = equiangular.log_merging_time(
            2000.0, k
        ) - equiangular.log_merging_time_asymptote(2000.0)
        # slope of the integrand at 0: 1 - (k-2)/beta, hence the deviation allowed
        assert excess == pytest.approx(-(k - 2) / 2000.0, abs=2e-5)


def test_post_norm_is_the_equiangular_law():
    assert normalization.post_norm(1.0, 4.0, 8) == equiangular.gamma(1.0, 4.0, 8)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: equiangular.gamma(1.0, 1.0, 1), "`n` must be at least 2, got 1"),
        (lambda: equiangular.gamma(1.0, 1.0, 2.5), "`n` must be an integer"),
        (lambda: equiangular.gamma(-1.0, 1.0, 4), "`t` must be zero or positive"),
        (lambda: equiangular.gamma(1.0, [1.0, 2.0], 4), "`beta` must be one number"),
        (lambda: equiangular.gamma(1.0, 1.0, 4, start=-0.5), "`start` must be strict"),
        (lambda: equiangular.merging_time(1.0, 4, delta=-1), "`delta` must be strict"),
        (lambda: equiangular.merging_time(np.inf, 4), "`beta` must be finite, got inf"),
        (lambda: equiangular.window_exit(1.0, 32), "`t_max` must be strictly between"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
