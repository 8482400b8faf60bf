"""The runs behind figures and claims, as experiments: Gaussians, nodes and draws."""

from collections.abc import Callable

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.gaussian_tokens.study import Parameters

S_0, M_0 = np.array([[0.5, 0.1], [0.1, 0.3]]), np.array([0.3, -0.2])
VALUES = np.array([[-1.0, 0.3], [0.2, -0.7]])
ATTENTION = np.array([[0.8, 0.5], [-0.3, 0.6]])  # A = beta K^T Q
FIELD = pf.Attention(1.0, Q=ATTENTION, V=VALUES)
MASKED = pf.CausalAttention(1.0, Q=ATTENTION, V=VALUES)
TIMES = [0.25, 0.5, 1.0]
TIGHT = pf.Adaptive(1e-10, 1e-12)
# on the line: start and value of each attention with a closed form
KINDS: dict[str, Callable] = {
    "softmax": pf.Attention,
    "L2": pf.DistanceAttention,
    "Sinkhorn": pf.SinkhornAttention,
}
SHOWN = {
    "line": ("variance", "one_coordinate"),
    "gaussian": ("gaussians_of_the_library",),
    "drawn": ("particles-and-moments", "drawn_tokens"),
    "plane": ("two_coordinates",),
    "rank-one": ("rank_is_kept",),
    "unnormalized": ("without_the_denominator",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """The third kind of measure, its nodes as tokens, and independent tokens."""
    return {
        "gaussian": gaussian(FIELD),
        "gaussian-line": gaussian_line("softmax", -1.0, 0.8),
        "line": line(-1.0, 0.8, pf.Attention),
        "plane": plane(),
        "drawn": drawn(p),
        "rank-one": rank_one(),
        "unnormalized": line(-1.0, 0.8, pf.UnnormalizedAttention),
    }


def gaussian(field: pf.fields.AbstractField) -> pf.Experiment:
    """N(M_0, S_0) itself: attention moves its mean and covariance."""
    start = pf.GivenGaussian(M_0, S_0)
    return pf.Experiment(start, field, 1.0, save=TIMES, solver=TIGHT)


def gaussian_line(kind: str, v: float, s_0: float) -> pf.Experiment:
    """N(0.5, s_0) on the line, values v x."""
    start, field = pf.GivenGaussian([0.5], [[s_0]]), KINDS[kind](1.0, V=[[v]])
    return pf.Experiment(start, field, 1.0, save=9, solver=TIGHT)


def line(v: float, s_0: float, kind: Callable = pf.Attention) -> pf.Experiment:
    """30 nodes of the same as weighted tokens: affine maps keep them its nodes."""
    start, field = _nodes(pf.Gaussian([0.5], [[s_0]]), 30), kind(1.0, V=[[v]])
    return pf.Experiment(start, field, 1.0, save=9, solver=TIGHT)


def plane() -> pf.Experiment:
    """Nodes of N(M_0, S_0) in the plane."""
    start = _nodes(pf.Gaussian(M_0, S_0), 14)
    return pf.Experiment(start, FIELD, 1.0, save=TIMES, solver=TIGHT)


def drawn(p: Parameters) -> pf.Experiment:
    """Independent tokens of N(M_0, S_0) in the plane."""
    x = np.random.default_rng(p.seed).multivariate_normal(M_0, S_0, p.tokens)
    return pf.Experiment(pf.Given(pf.Euclidean(2), x), FIELD, 1.0, save=TIMES)


def rank_one() -> pf.Experiment:
    """Nodes on a line in the plane."""
    mu = pf.Gaussian([0.0], [[0.49]]).quadrature(30)
    points = M_0 + np.asarray(mu.points) * np.array([0.8, 0.6])
    start = pf.Given(pf.Euclidean(2), points, mu.weights)
    return pf.Experiment(start, FIELD, 1.0, save=2, solver=pf.Adaptive(1e-9))


def _nodes(mu: pf.Gaussian, count: int) -> pf.Given:
    atoms = mu.quadrature(count)
    return pf.Given(atoms.space, atoms.points, atoms.weights)


MEAN, SPREAD = [0.6, -0.3], 0.4


def in_the_explorer() -> dict[str, pf.Experiment]:
    """Attention on N(MEAN, SPREAD^2), and on 300 tokens of it."""
    law = pf.GivenGaussian(MEAN, SPREAD**2 * np.eye(2))
    drawn = pf.Normal(300, 2, "euclidean", MEAN, SPREAD)
    return {
        "gaussian": pf.Experiment(law, FIELD, 3.0, save=121),
        "drawn": pf.Experiment(drawn, FIELD, 3.0, save=121),
    }


def states(p: Parameters) -> tuple[Preset, ...]:
    """The law itself, and a sample."""
    runs = in_the_explorer()
    return (
        Preset(
            "gaussian",
            "A Gaussian under attention stays one",
            "Attention is affine on it: 400 points that stand for it are at any time "
            "the image of the first ones under one affine map. Its mean goes to zero.",
            shown(runs["gaussian"], color="start"),
        ),
        Preset(
            "drawn",
            "300 tokens of the same Gaussian",
            "Mean and covariance follow those of the law, up to the error of a sample.",
            shown(runs["drawn"], color="start"),
        ),
    )
