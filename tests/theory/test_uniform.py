"""Energy of the uniform measure, growth rates, hemispheres, long contexts, norms."""

import numpy as np
import pytest
from scipy.integrate import quad

from pushforward.errors import InputError, NumericalError
from pushforward.theory import (
    hemisphere,
    long_context,
    normalization,
    stability,
    uniform,
)


def sphere(rng, *shape):
    x = rng.standard_normal(shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def test_uniform_energy():
    """P1-O15."""
    for d, beta, printed in [
        (2, 1.0, 0.633032938876),
        (2, 4.0, 1.412740244017),
        (3, 1.0, 0.587600596822),
        (3, 4.0, 0.852809912410),
        (8, 4.0, 0.312869604227),
        (128, 9.0, 0.076174331652),
    ]:
        assert uniform.energy(beta, d) == pytest.approx(printed, abs=1e-11)
    printed = [1.359140914230, 6.824768754143]
    assert uniform.max_energy([1.0, 4.0]) == pytest.approx(printed, abs=1e-11)


def test_scaled_energy_never_overflows():
    """P1-O15 in safe scaling: (1 - e^{-2 beta})/(2 beta) on S^2, any beta."""
    beta = np.array([1e-8, 0.5, 30.0, 1e3, 1e6, 1e12])
    expected = -np.expm1(-2 * beta) / (2 * beta)
    assert uniform.scaled_energy(beta, 3) == pytest.approx(expected, rel=1e-12)
    assert uniform.scaled_energy(0.0, 7) == 1.0
    plain = 2 * 5.0 * np.exp(-5.0) * uniform.energy(5.0, 6)
    assert uniform.scaled_energy(5.0, 6) == pytest.approx(plain)
    with pytest.raises(NumericalError, match="log_partition"):
        uniform.energy(1e4, 3)


@pytest.mark.parametrize(
    "d, beta", [(40, 3.0), (1024, 1.0), (1024, 60.0), (5000, 900.0)]
)
def test_partition_in_high_dimension(d, beta):
    """Where I_nu underflows: against the integral over the first coordinate."""

    def log_weight(s):
        return beta * s + (d - 3) / 2 * np.log1p(-s * s)

    # mode of the integrand and its width, so that quad sees the peak
    m = (d - 3) / 2
    top = beta / (m + np.hypot(m, beta))
    shift = log_weight(top)
    ends = max(-1, top - 30 / np.sqrt(d)), min(1, top + 30 / np.sqrt(d))

    def mass(b, c):
        return quad(
            lambda s: np.exp(b * s + m * np.log1p(-s * s) - c),
            max(ends[0], -1 + 1e-15),
            min(ends[1], 1 - 1e-15),
            epsabs=0,
            epsrel=1e-12,
            limit=400,
            points=[top, 0.0],
        )[0]

    expected = np.log(mass(beta, shift)) + shift - np.log(mass(0.0, 0.0))
    assert uniform.log_partition(beta, d) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_finite_sample_bias():
    """P1-O17: formula, and a Monte Carlo of 4000 draws within five errors."""
    exact = uniform.sample_energy(4.0, 3, 16)
    assert exact == pytest.approx(1.226057340019, abs=1e-12)
    x = sphere(np.random.default_rng(0), 4000, 16, 3)
    draws = np.exp(4.0 * x @ x.transpose(0, 2, 1)).mean((1, 2)) / 8.0
    assert abs(draws.mean() - exact) < 5 * draws.std() / np.sqrt(4000)
    scaled = uniform.scaled_sample_energy(4.0, 3, 16)
    assert scaled == pytest.approx(8.0 * np.exp(-4.0) * exact)


def test_wendel():
    """P1-O19: formula; on the circle against the largest gap of random angles."""
    for d, n, printed in [(3, 5, 0.6875), (2, 6, 0.1875), (4, 10, 0.25390625)]:
        assert hemisphere.probability(n, d) == pytest.approx(printed, abs=1e-14)
    angles = np.sort(np.random.default_rng(1).uniform(0, 2 * np.pi, (40000, 6)), axis=1)
    gaps = np.diff(angles, axis=1, append=angles[:, :1] + 2 * np.pi)
    assert (gaps.max(1) > np.pi).mean() == pytest.approx(0.1875, abs=0.01)
    assert hemisphere.probability(4, 9) == 1.0


@pytest.mark.parametrize(
    "d, beta, first, degree, largest",
    [
        (2, 1.0, [0.446390, 0.428880, 0.157587], 1, 0.446390),
        (2, 4.0, [0.215881, 0.568239, 0.664389, 0.501251], 3, 0.664389),
        (2, 9.0, [0.104743, 0.351339, 0.591351, 0.704497], 4, 0.704497),
        (2, 16.0, [], 6, 0.714267),
        (2, 64.0, [], 11, 0.730884),
        (2, 100.0, [], 14, 0.733176),
        (3, 4.0, [0.375336, 0.655495, 0.613276], 2, 0.655495),
        (3, 16.0, [], 5, 0.719317),
        (3, 64.0, [], 11, 0.731513),
        (8, 4.0, [], 1, 0.742666),
        (8, 16.0, [], 3, 0.715713),
        (8, 64.0, [], 9, 0.731051),
    ],
)
def test_growth_rates(d, beta, first, degree, largest):
    """P1-O21: printed rates of SA, dominant degree and its rate."""
    found = stability.growth_rates(beta, d, max(len(first), 1))
    assert found[1 : len(first) + 1] == pytest.approx(first, abs=5.1e-7)
    assert stability.dominant_degree(beta, d) == degree
    rate = stability.largest_growth_rate(beta, d)
    assert rate == pytest.approx(largest, abs=5.1e-7)


def test_growth_rates_to_eight_digits():
    """P1-O21: those a pseudo-spectral run of the PDE reproduced."""
    assert stability.growth_rates(1.0, 2, 1)[1] == pytest.approx(0.446389967, rel=1e-7)
    assert stability.growth_rates(4.0, 2, 2)[2] == pytest.approx(0.568238695, rel=1e-7)
    usa = stability.growth_rates_unnormalized(4.0, 2, 2)[2]
    assert usa == pytest.approx(6.42218936, rel=1e-7)


def test_growth_rate_limits():
    """P1-O21: (d-1)/d as beta vanishes; sqrt(2 beta) and 2/e as beta grows."""
    for d in (2, 3, 8, 500):
        rates = stability.growth_rates(0.0, d, 3)
        assert rates == pytest.approx([0, (d - 1) / d, 0, 0])
    assert stability.largest_growth_rate(600.0, 2) == pytest.approx(0.735188, abs=5e-7)
    assert stability.largest_growth_rate(1e6, 2) == pytest.approx(2 / np.e, abs=1e-6)
    degree = stability.dominant_degree(1e6, 2)
    assert degree == pytest.approx(np.sqrt(2e6), rel=1e-3)


@pytest.mark.parametrize("d, beta", [(2, 3.0), (3, 3.0), (6, -2.0), (40, 5.0)])
def test_funk_hecke_by_quadrature(d, beta):
    """Against the integral of e^{beta s} times a Gegenbauer polynomial."""
    from scipy.special import eval_chebyt, eval_gegenbauer

    def zonal(k, s):
        if d == 2:
            return eval_chebyt(k, s)
        lam = d / 2 - 1
        return eval_gegenbauer(k, lam, s) / eval_gegenbauer(k, lam, 1.0)

    phi = (np.arange(400) + 0.5) * np.pi / 400  # midpoint in angle: spectral
    weight = np.sin(phi) ** (d - 2)
    for k, c in enumerate(stability.funk_hecke(beta, d, 5)):
        integrand = np.exp(beta * np.cos(phi)) * zonal(k, np.cos(phi))
        expected = (integrand * weight).sum() / weight.sum()
        tolerance = 2e-9 if d == 3 else 1e-12  # odd weights end with a kink
        if d == 3:
            s, w = np.polynomial.legendre.leggauss(60)
            expected = (np.exp(beta * s) * zonal(k, s)) @ w / 2
        assert c == pytest.approx(expected, rel=tolerance, abs=1e-13)


def test_growth_rates_at_any_beta():
    """On S^2 lambda_1 = 2 (coth(beta) - 1/beta)/beta, past every overflow."""
    for beta in (1e-3, 5.0, 2e3, 9e5, 2e6, 1e9):
        langevin = 1 / np.tanh(beta) - 1 / beta if beta > 0.1 else beta / 3
        found = stability.growth_rates(beta, 3, 1)[1]
        assert found == pytest.approx(2 * langevin / beta, rel=1e-7)
    with pytest.raises(NumericalError, match="smaller beta"):
        stability.growth_rates_unnormalized(1e4, 3, 1)


def test_unnormalized_rates_are_laplacian_times_coefficients():
    c = stability.funk_hecke(2.5, 5, 4)
    k = np.arange(5)
    found = stability.growth_rates_unnormalized(2.5, 5, 4)
    assert found == pytest.approx(k * (k + 3) * c / 2.5)
    assert stability.growth_rates(2.5, 5, 4) == pytest.approx(found / c[0])


def test_consensus_rates():
    """P1-O23: e^beta for USA; both against a linearized pair of tokens."""
    rate = stability.consensus_rate_unnormalized(5.0)
    assert rate == pytest.approx(148.41316, rel=1e-7)
    for normalized, rate in [
        (True, stability.consensus_rate(2.0)),
        (False, stability.consensus_rate_unnormalized(2.0)),
    ]:
        theta = 1e-4 * np.array([-1.0, 0.3, 0.7])  # mean zero
        gaps = theta[:, None] - theta[None, :]
        kernel = np.exp(2.0 * np.cos(gaps))
        total = kernel.sum(1) if normalized else 3
        velocity = -(kernel * np.sin(gaps)).sum(1) / total
        assert -velocity / theta == pytest.approx(np.full(3, rate), rel=1e-6)


def test_noise_threshold():
    """CX-O3."""
    for d, beta, printed in [
        (2, 0.0, 2.0),
        (2, 1.0, 1.769413238),
        (2, 4.0, 0.409858526),
        (3, 0.0, 3.0),
        (3, 2.0, 2.052581507),
    ]:
        found = stability.noise_threshold(beta, d)
        assert found == pytest.approx(printed, abs=1e-9)


def test_noise_threshold_is_where_growth_meets_diffusion():
    for d, beta in [(2, 3.0), (7, 6.0)]:
        k = np.arange(1, 12)
        growth = stability.growth_rates_unnormalized(beta, d, 11)[1:]
        damping = k * (k + d - 2) / stability.noise_threshold(beta, d)
        assert (growth - damping).max() == pytest.approx(0, abs=1e-10)


def test_long_context():
    """CX-O1: finite n at, below and above the critical gamma."""
    critical = long_context.critical_gamma(0.3)
    for factor, printed in [
        (1.0, [0.637950, 0.631643, 0.631580]),
        (0.8, [0.848491, 0.958209, 0.991848]),
        (1.2, [0.459234, 0.365169, 0.326309]),
    ]:
        found = [
            long_context.output_overlap(factor * critical, 0.3, n)
            for n in (10**2, 10**4, 10**6)
        ]
        assert found == pytest.approx(printed, abs=5.1e-7)
    limits = long_context.output_overlap_limit(critical * np.array([0.9, 1, 1.1]), 0.3)
    assert limits == pytest.approx([1, 0.631578947, 0.3], abs=5e-10)


def test_long_context_against_an_attention_layer():
    n, rho, gamma = 12, 0.3, 1.1
    gram = np.full((n, n), rho) + (1 - rho) * np.eye(n)
    x = np.linalg.cholesky(gram)
    kernel = np.exp(gamma * np.log(n) * x @ x.T)
    y = kernel / kernel.sum(1, keepdims=True) @ x
    cosine = y[0] @ y[5] / np.linalg.norm(y[0]) / np.linalg.norm(y[5])
    found = long_context.output_overlap(gamma, rho, n)
    assert found == pytest.approx(cosine, rel=1e-12)


def test_pre_norm():
    """CX-O2: (1 - rho) t^2 and the local exponent 2."""
    t = np.array([10.0, 1e2, 1e3, 1e4])
    state = normalization.pre_norm(t, 2.0, 16)
    printed = [3.2215, 2.4500, 2.3764, 2.3692]
    assert state.gap * t**2 == pytest.approx(printed, abs=5.1e-5)
    late = normalization.pre_norm([1e4, 1e5], 2.0, 16).gap
    assert -np.log10(late[1] / late[0]) == pytest.approx(2.0001, abs=5.1e-5)
    assert state.rho == pytest.approx(1 - state.gap)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: uniform.energy(0.0, 3), "`beta` must not be 0"),
        (lambda: uniform.energy(1.0, 1), "`d` must be at least 2, got 1"),
        (lambda: uniform.sample_energy(1.0, 3, 0), "`n` must be at least 1, got 0"),
        (lambda: stability.growth_rates(1.0, 2, -1), "`k_max` must be at least 0"),
        (lambda: stability.growth_rates(np.nan, 2, 3), "`beta` must be finite"),
        (lambda: hemisphere.probability(0, 3), "`n` must be at least 1"),
        (lambda: long_context.output_overlap(1.0, 1.0, 9), "`rho` must be strictly"),
        (lambda: normalization.pre_norm(-1.0, 1.0, 9), "`t` must be zero or positive"),
        (lambda: normalization.pre_norm(1.0, 1.0, 9, radius=0), "`radius` must be st"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
