"""The runs behind figures and claims, as experiments."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.frank_wolfe.study import Parameters

VERTICES = np.array(
    [(1, 0), (0.2, 0.9), (-0.8, 0.5), (-0.7, -0.6), (0.3, -0.95)], dtype=float
)
INSIDE = np.array([(0.3, 0.1), (-0.2, 0.3), (0.1, -0.4), (-0.3, -0.2)])
B = np.diag([1.0, 2.0])
SHOWN = {"polygon": ("cells",), "four-tokens": ("tokens_find_their_vertex",)}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Hardmax layers x <- x + gamma (y - x) on a polygon and its inside."""
    return {
        "four-tokens": layers(INSIDE, 0.5, 8),
        "polygon": layers(inside(p), 0.2, 20),
    }


def inside(p: Parameters) -> np.ndarray:
    """Random mixtures of the vertices, drawn towards the center."""
    mix = np.random.default_rng(p.seed).dirichlet(np.full(5, 0.8), p.tokens)
    return 0.7 * mix @ VERTICES


def layers(tokens: np.ndarray, gamma: float, count: int) -> pf.Experiment:
    """`count` layers of step gamma."""
    start = pf.Given(pf.Euclidean(2), np.concatenate([VERTICES, tokens]))
    field, solver = pf.HardRelaxation(Q=B), pf.Layers(gamma)
    return pf.Experiment(start, field, gamma * count, save=count + 1, solver=solver)


def in_the_explorer(p: Parameters) -> dict[str, pf.Experiment]:
    """The polygon of the figure, twice as deep."""
    tokens = np.round(inside(p), 4)[:60]
    return {"polygon": layers(tokens, 0.2, 40)}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The five vertices and the tokens between them."""
    return (
        Preset(
            "polygon",
            "Hardmax layers are steps of Frank and Wolfe",
            "Every layer takes a token a fifth of the way to the vertex that it likes "
            "best. The five vertices rest; 60 tokens between them each end at one.",
            shown(in_the_explorer(p)["polygon"]),
        ),
    )
