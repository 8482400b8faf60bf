"""The runs behind figures and claims, as experiments: weighted nodes and draws."""

import numpy as np

import pushforward as pf
from pushforward.studies.gaussian_tokens.study import Parameters

S_0, M_0 = np.array([[0.5, 0.1], [0.1, 0.3]]), np.array([0.3, -0.2])
VALUES = np.array([[-1.0, 0.3], [0.2, -0.7]])
ATTENTION = np.array([[0.8, 0.5], [-0.3, 0.6]])  # A = beta K^T Q
TIMES = [0.25, 0.5, 1.0]
SHOWN = {
    "particles-and-moments": "drawn",
    "one_coordinate": "line",
    "two_coordinates": "plane",
    "drawn_tokens": "drawn",
    "rank_is_kept": "rank-one",
    "without_the_denominator": "unnormalized",
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Nodes of a quadrature on the line and in the plane, and independent tokens."""
    return {
        "line": line(-1.0, 0.8, 1.0),
        "plane": plane(pf.Attention(1.0, Q=ATTENTION, V=VALUES)),
        "drawn": drawn(p),
        "rank-one": rank_one(),
        "unnormalized": line(-1.0, 0.8, 1.0, softmax=False),
    }


def nodes(count: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Hermite nodes of N(0, I): affine maps keep them nodes of the Gaussian."""
    x, w = np.polynomial.hermite_e.hermegauss(count)
    grid = np.stack(np.meshgrid(*[x] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weights = np.prod(np.stack(np.meshgrid(*[w] * d, indexing="ij")), axis=0).ravel()
    return grid, weights / weights.sum()


def line(v: float, s_0: float, t1: float, softmax: bool = True) -> pf.Experiment:
    """30 nodes of N(0.5, s_0), values v x."""
    x, w = nodes(30, 1)
    kind = pf.Attention if softmax else pf.UnnormalizedAttention
    start = pf.Given(pf.Euclidean(1), 0.5 + np.sqrt(s_0) * x, w)
    field, solver = kind(1.0, V=np.array([[v]])), pf.Adaptive(1e-10, 1e-12)
    return pf.Experiment(start, field, t1, save=9, solver=solver)


def plane(field: pf.Attention, count: int = 14) -> pf.Experiment:
    """Nodes of N(M_0, S_0) in the plane."""
    x, w = nodes(count, 2)
    start = pf.Given(pf.Euclidean(2), M_0 + x @ np.linalg.cholesky(S_0).T, w)
    solver = pf.Adaptive(1e-10, 1e-12)
    return pf.Experiment(start, field, 1.0, save=TIMES, solver=solver)


def drawn(p: Parameters) -> pf.Experiment:
    """Independent tokens of N(M_0, S_0) in the plane."""
    x = np.random.default_rng(p.seed).multivariate_normal(M_0, S_0, p.tokens)
    field = pf.Attention(1.0, Q=ATTENTION, V=VALUES)
    return pf.Experiment(pf.Given(pf.Euclidean(2), x), field, 1.0, save=TIMES)


def rank_one() -> pf.Experiment:
    """Nodes on a line in the plane."""
    x, w = nodes(30, 1)
    start = pf.Given(pf.Euclidean(2), M_0 + 0.7 * x * np.array([0.8, 0.6]), w)
    field = pf.Attention(1.0, Q=ATTENTION, V=VALUES)
    return pf.Experiment(start, field, 1.0, save=2, solver=pf.Adaptive(1e-9))
