"""Exact identities and rates of statistical optimal transport, measured."""

import jax.numpy as jnp
import numpy as np
from scipy.stats import binom

from pushforward.studies._claims import (
    Claim,
    ClaimFunction,
    at_most,
    place,
    rate,
    within,
)
from pushforward.studies.statistical_transport.study import (
    NAME,
    PAPER,
    Parameters,
    covariances,
    entropic_errors,
    mean_distances,
    sliced_means,
    slope,
    torus_means,
)
from pushforward.transport import (
    Gaussian,
    bures_flow,
    entropic_gaussian_map,
    entropic_gaussian_value,
    entropic_map,
    entropic_plan,
    gaussian_barycenter,
    gaussian_distance,
    gaussian_kl,
    gaussian_sinkhorn_divergence,
    jko_step,
    line_distance,
    power_distance_to_uniform,
    sinkhorn_divergence,
    squared_distance_to_normal,
)

EMPIRICAL = place(PAPER, "chapter 2, estimation of Wasserstein distances")
ENTROPIC = place(PAPER, "chapter 4, entropic optimal transport")
GRADIENT_FLOWS = place(PAPER, "chapters 5 and 6, Gaussian gradient flows")
BARYCENTERS = place(PAPER, "chapter 8, barycenters")
MU, NU = Gaussian([0.0], [[1.0]]), Gaussian([1.0], [[0.25]])


def uniform_mean(parameters: Parameters) -> Claim:
    """E W_2^2(mu_n, U[0, 1]) = 1 / (6 n), exactly."""
    rng = np.random.default_rng(parameters.seed)
    n = 7
    draws = (
        6
        * n
        * np.array(
            [
                power_distance_to_uniform(rng.uniform(size=n))
                for _ in range(parameters.draws)
            ]
        )
    )
    error = draws.std() / np.sqrt(len(draws))
    said = "6 n E W_2^2(mu_n, U[0, 1]) = 1, n = 7"
    note = f"standard error {error:.3f}; tolerance 5 of them"
    return within(NAME, said, EMPIRICAL, "theorem", draws.mean(), 1.0, 5 * error, note)


def brownian_bridge(parameters: Parameters) -> Claim:
    """sqrt n E W_1(mu_n, U) tends to the mean area under a Brownian bridge."""
    rng = np.random.default_rng(parameters.seed)
    n = 100
    samples = rng.uniform(size=(10 * parameters.draws, n))
    draws = [power_distance_to_uniform(x, p=1) for x in samples]
    measured = np.sqrt(n) * np.mean(draws)
    limit = np.sqrt(2 / np.pi) * np.pi / 8
    said = "sqrt(n) E W_1(mu_n, U[0, 1]) -> sqrt(2 / pi) pi / 8, n = 100"
    return within(NAME, said, EMPIRICAL, "theorem", measured, limit, 0.003)


def two_point_space(parameters: Parameters) -> Claim:
    """On two points at distance one, W_1 is the error of a frequency."""
    n, p = 4000, 0.3
    k = np.arange(n + 1)
    coin, truth = [0.0, 1.0], ([0.0, 1.0], [1 - p, p])
    distances = [line_distance((coin, [1 - j / n, j / n]), truth, p=1) for j in k]
    measured = np.sqrt(n) * binom.pmf(k, n, p) @ np.array(distances)
    limit = np.sqrt(2 * p * (1 - p) / np.pi)
    said = "two points, p = .3: sqrt(n) E W_1 -> sqrt(2 p (1 - p) / pi), n = 4000"
    return within(NAME, said, EMPIRICAL, "theorem", measured, limit, 1e-3)


def central_limit(parameters: Parameters) -> Claim:
    """n Var W_2^2(mu_n, nu) -> Var of the Kantorovich potential."""
    rng = np.random.default_rng(parameters.seed)
    n, repeats = 2000, min(2000, parameters.draws // 2)
    draws = [
        squared_distance_to_normal(rng.standard_normal(n), mean=1.0)
        for _ in range(repeats)
    ]
    said = "n Var W_2^2(mu_n, N(1, 1)) -> 4 for mu = N(0, 1), n = 2000"
    return within(NAME, said, EMPIRICAL, "theorem", n * float(np.var(draws)), 4.0, 0.4)


def bures(parameters: Parameters) -> Claim:
    """The Bures distance of two fixed covariances."""
    mu = Gaussian([0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]])
    nu = Gaussian([0.0, 0.0], [[1.0, -0.3], [-0.3, 0.5]])
    A, B = mu.covariance, nu.covariance
    # tr sqrt M = sqrt(tr M + 2 sqrt det M) for 2 x 2 matrices
    cross = np.sqrt(np.trace(A @ B) + 2 * np.sqrt(np.linalg.det(A @ B)))
    predicted = np.trace(A + B) - 2 * cross
    measured = gaussian_distance(mu, nu) ** 2
    said = "Bures distance squared of two 2 x 2 covariances"
    return within(NAME, said, BARYCENTERS, "identity", measured, predicted, 1e-12)


def _grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.linspace(-9, 9, 900)
    a, b = np.exp(-(x**2) / 2), np.exp(-((x - 1) ** 2) / 0.5)
    return x[:, None], a / a.sum(), b / b.sum()


def entropic_value(parameters: Parameters) -> Claim:
    """Sinkhorn on a grid meets the Gaussian closed form."""
    x, a, b = _grid()
    measured = entropic_plan((x, a), (x, b), 0.5).value
    predicted = entropic_gaussian_value(MU, NU, 0.5)
    said = "entropic cost of N(0, 1) and N(1, 1/4), eps = 1/2, on a 900-point grid"
    return within(NAME, said, ENTROPIC, "identity", measured, predicted, 1e-10)


def entropic_slope(parameters: Parameters) -> Claim:
    """The entropic map between Gaussians is affine, of known slope."""
    x, a, b = _grid()
    T = entropic_map((x, a), (x, b), 2.0, tol=1e-11)
    at = np.array([[-1.0], [1.5]])
    measured = float(np.diff(T(at)[:, 0])[0] / 2.5)
    predicted = float(entropic_gaussian_map(MU, NU, 2.0).slope[0, 0])
    said = "slope of the entropic map, same Gaussians, eps = 2"
    return within(NAME, said, ENTROPIC, "identity", measured, predicted, 1e-10)


def debiased(parameters: Parameters) -> Claim:
    """The Sinkhorn divergence of the same Gaussians."""
    x, a, b = _grid()
    nodes, a_, b_ = (jnp.asarray(array) for array in (x, a, b))
    measured = float(sinkhorn_divergence(nodes, nodes, 2.0, a=a_, b=b_))
    predicted = gaussian_sinkhorn_divergence(MU, NU, 2.0)
    said = "Sinkhorn divergence, same Gaussians, eps = 2"
    return within(NAME, said, ENTROPIC, "identity", measured, predicted, 1e-10)


def barycenter_rate(parameters: Parameters) -> Claim:
    """Bures gradient descent converges linearly."""
    norms = np.array(gaussian_barycenter(covariances()).gradient_norms)
    said = "Bures barycenter of five 4 x 4 covariances: worst factor per step"
    worst = float((norms[1:7] / norms[:6]).max())
    note = "the theorem gives a linear rate; the factor 1/2 is ours"
    return at_most(NAME, said, BARYCENTERS, "experiment", worst, 0.5, note)


def commuting_barycenter(parameters: Parameters) -> Claim:
    """Commuting covariances average through their square roots."""
    rng = np.random.default_rng(parameters.seed)
    spectra = rng.uniform(0.2, 4, (4, 3))
    found = gaussian_barycenter([Gaussian(np.zeros(3), np.diag(s)) for s in spectra])
    expected = np.diag(np.sqrt(spectra).mean(axis=0) ** 2)
    measured = float(np.abs(found.gaussian.covariance - expected).max())
    said = "commuting barycenter: distance to (mean of square roots) squared"
    return at_most(NAME, said, BARYCENTERS, "identity", measured, 1e-12)


def jko(parameters: Parameters) -> Claim:
    """Three implicit steps of the flow of KL(. | N(0, 1))."""
    state = Gaussian([0.0], [[9.0]])
    for _ in range(3):
        state = jko_step(state, Gaussian([0.0], [[1.0]]), 0.1)
    measured = float(np.sqrt(state.covariance[0, 0]))
    predicted = 3.0
    for _ in range(3):  # (s' - s) / h + s' - 1 / s' = 0
        predicted = (predicted + np.sqrt(predicted**2 + 4 * 0.1 * 1.1)) / (2 * 1.1)
    said = "standard deviation after three JKO steps of .1 from 3"
    return within(NAME, said, GRADIENT_FLOWS, "identity", measured, predicted, 1e-12)


def variational_inference(parameters: Parameters) -> Claim:
    """KL along the Bures flow decays at 4 lambda_min for a centered Gaussian target."""
    target = Gaussian([0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]])
    precision = jnp.asarray(np.linalg.inv(target.covariance))
    times = np.linspace(4.0, 6.0, 9)
    start = Gaussian([0.0, 0.0], 5 * np.eye(2))
    path = bures_flow(lambda x: 0.5 * x @ precision @ x, start, times, rtol=1e-12)
    kl = np.array([gaussian_kl(state, target) for state in path])
    decay = -float(np.polyfit(times, np.log(kl), 1)[0])
    predicted = 4 * float(np.linalg.eigvalsh(np.asarray(precision))[0])
    said = "late decay rate of KL in Gaussian variational inference, 4 lambda_min"
    row = (NAME, said, GRADIENT_FLOWS, "theorem", decay, predicted, 0.02 * predicted)
    return rate(*row)


def _rate(d: int, allowed: float, why: str) -> ClaimFunction:
    def claim(parameters: Parameters) -> Claim:
        measured = slope(parameters.sizes, mean_distances(parameters, d))
        said = f"slope of E W_1(mu_n, nu_n) in log n at finite n, d = {d}"
        row = (NAME, said, EMPIRICAL, "experiment", measured, -1 / max(d, 2), allowed)
        return rate(*row, note=why)

    claim.__doc__ = f"The rate of the empirical measure in W_1, d = {d}."
    return claim


def torus_slope(parameters: Parameters) -> Claim:
    """n E W_2^2 on the torus grows like log n / (2 pi)."""
    means, errors = torus_means(parameters)
    logs = np.log(parameters.torus_sizes)
    pull = (logs - logs.mean()) / np.sum((logs - logs.mean()) ** 2)
    error = float(np.sqrt(np.sum((pull * errors) ** 2)))
    said = "flat torus, two samples: slope of n E W_2^2 in log n, 1 / (2 pi)"
    note = f"standard error of the slope {error:.3f}; tolerance 3 of them, or .02"
    predicted, allowed = 1 / (2 * np.pi), max(3 * error, 0.02)
    return within(
        NAME, said, EMPIRICAL, "theorem", float(pull @ means), predicted, allowed, note
    )


def entropic_rate(parameters: Parameters) -> Claim:
    """The entropic value is estimated at n^{-1/2} in every dimension."""
    measured = slope(parameters.sizes, entropic_errors(parameters))
    said = "slope of the error of the entropic value, d = 5, eps = 5"
    return rate(NAME, said, ENTROPIC, "theorem", measured, -0.5, 0.1)


def sliced_rate(parameters: Parameters) -> Claim:
    """The sliced distance is estimated at n^{-1/2} in every dimension."""
    measured = slope(parameters.sizes, sliced_means(parameters))
    said = "slope of E SW_1(mu_n, nu_n), d = 8"
    return rate(NAME, said, EMPIRICAL, "theorem", measured, -0.5, 0.04)


CLAIMS: tuple[ClaimFunction, ...] = (
    uniform_mean,
    brownian_bridge,
    two_point_space,
    central_limit,
    bures,
    entropic_value,
    entropic_slope,
    debiased,
    barycenter_rate,
    commuting_barycenter,
    jko,
    variational_inference,
    _rate(1, 0.02, ""),
    _rate(2, 0.1, "the factor sqrt(log n) takes 1 / (2 log n) = .1 from the slope"),
    *(_rate(d, 0.25 / d, "steeper than its limit -1/d at these n") for d in (3, 5, 8)),
    torus_slope,
    entropic_rate,
    sliced_rate,
)
