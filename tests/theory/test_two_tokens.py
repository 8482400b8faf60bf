"""Two tokens against the notes and against a plain integration."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from pushforward.errors import InputError, NumericalError
from pushforward.theory import two_tokens


def velocity(x, beta, normalized):
    """SA or USA of the notes, written out once more."""
    kernel = np.exp(beta * x @ x.T)
    total = kernel.sum(1, keepdims=True) if normalized else len(x)
    y = kernel @ x / total
    return y - (x * y).sum(1, keepdims=True) * x


@pytest.mark.parametrize("beta", [-1.0, 0.0, 2.5])
@pytest.mark.parametrize("theta", [0.4, 1.9])
def test_angle_rates_are_those_of_the_particles(beta, theta):
    """P1-O10: d theta/dt of SA and USA from the velocities of two unit vectors."""
    x = np.array([[1.0, 0.0], [np.cos(theta), np.sin(theta)]])
    for normalized, rate in [
        (True, two_tokens.angle_rate),
        (False, two_tokens.angle_rate_unnormalized),
    ]:
        v = velocity(x, beta, normalized)
        cosine_rate = v[0] @ x[1] + x[0] @ v[1]
        assert rate(theta, beta) == pytest.approx(
            -cosine_rate / np.sin(theta), rel=1e-13
        )


def test_zero_beta_closed_form():
    """P1-O10: theta_0 = 2, t = 1.5, and the artanh form."""
    theta = two_tokens.angle_at_zero_beta(1.5, 2.0)
    assert np.cos(theta) == pytest.approx(np.tanh(1.5 + np.arctanh(np.cos(2.0))))
    assert theta == pytest.approx(2 * np.arctan(np.tan(1.0) * np.exp(-1.5)), abs=1e-13)
    assert np.cos(theta) == pytest.approx(0.784504214427, abs=1e-11)


def test_merging_times_of_sa_and_usa():
    """P1-O11."""
    beta = np.array([1.0, 3.0, 5.0, 8.0])
    sa = [4.271067680309, 6.970371028907, 19.425650496767, 196.716190273]
    usa = [1.744460101128, 0.504867802606, 0.236172452889, 0.130707034810]
    assert two_tokens.merging_time(beta) == pytest.approx(sa, rel=1e-9)
    assert two_tokens.merging_time_unnormalized(beta) == pytest.approx(usa, rel=1e-9)


@pytest.mark.parametrize("beta, start", [(-2.0, -0.3), (0.0, 0.5), (6.0, -0.9)])
def test_merging_time_is_the_integral_of_the_inverse_speed(beta, start):
    def slowness(theta):
        return -1 / two_tokens.angle_rate(theta, beta)

    expected, _ = quad(slowness, np.arccos(0.99), np.arccos(start), epsrel=1e-12)
    found = two_tokens.merging_time(beta, start, 0.01)
    assert found == pytest.approx(expected, rel=1e-10)


def test_causal_pair():
    """P3-O2: half the speed, so twice the time; closed form at beta = 0."""
    theta = two_tokens.angle_at_zero_beta_causal(3.0, 2.0)
    assert theta == pytest.approx(0.668900099480, abs=1e-11)
    assert two_tokens.merging_time_causal(5.0) == pytest.approx(
        38.851300993534, rel=1e-9
    )
    run = solve_ivp(
        lambda t, y: two_tokens.angle_rate_causal(y, 0.0),
        (0, 3),
        [2.0],
        rtol=1e-12,
        atol=1e-13,
        method="DOP853",
    )
    assert run.y[0, -1] == pytest.approx(theta, abs=1e-10)


def test_metastable_times_of_an_orthogonal_pair():
    """P4-O5: times to beta = 40, ratio to the asymptote, slope of log(beta T)."""
    beta = np.array([8.0, 12, 16, 20, 24, 32, 40])
    times = two_tokens.merging_time(beta)
    expected = [196.716, 6889.031, 279981.160]
    assert times[:3] == pytest.approx(expected, rel=3e-6)  # printed to 6 digits
    large = [1.219176e7, 5.538151e8, 1.236235e12, 2.946022e15]
    assert times[3:] == pytest.approx(large, rel=1e-6)
    ratio = np.log10(times) - two_tokens.log10_merging_time_asymptote(beta)
    assert 10 ** ratio[[0, -1]] == pytest.approx([1.0559, 1.0013], abs=5e-5)
    slopes = np.diff(np.log(beta * times)) / np.diff(beta)
    printed = [0.9903, 0.9981, 0.9992, 0.9996, 0.9998, 0.9999]
    assert slopes == pytest.approx(printed, abs=5.1e-5)


def test_metastable_times_of_an_obtuse_pair():
    """P4-O5: start at inner product -1/2."""
    times = two_tokens.merging_time([8.0, 40.0], start=-0.5)
    assert times == pytest.approx([12139.0396, 1.846419e24], rel=1e-6)


def test_logarithm_of_time_at_beta_in_the_thousands():
    """P4-O5 beyond float64: the asymptote becomes exact like 1/beta."""
    beta = np.array([1e3, 4e3, 1e5])
    found = two_tokens.log10_merging_time(beta)
    asymptote = two_tokens.log10_merging_time_asymptote(beta)
    # the second term of the Laplace expansion is 1 + 2/beta^2 for an orthogonal pair
    assert found == pytest.approx(asymptote + 2 / beta**2 / np.log(10), abs=1e-10)
    assert two_tokens.log10_merging_time(20.0) == pytest.approx(
        np.log10(two_tokens.merging_time(20.0)), rel=1e-12
    )


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: two_tokens.merging_time(np.nan), "`beta` must be finite"),
        (lambda: two_tokens.merging_time(1.0, start=-1.0), "`start` must be strictly"),
        (lambda: two_tokens.merging_time(1.0, delta=0.0), "`delta` must be strictly"),
        (lambda: two_tokens.merging_time(1.0, delta=1.5), "`delta` must be strictly"),
        (lambda: two_tokens.angle_at_zero_beta(-1.0, 1.0), "`t` must be zero or pos"),
        (lambda: two_tokens.angle_rate("a", 1.0), "`theta` must be real numbers"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_overflow_points_to_the_logarithm():
    with pytest.raises(NumericalError, match="log_merging_time"):
        two_tokens.merging_time(4000.0)
