"""The runs behind figures and claims, as experiments."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.sinkhorn_attention.study import BETA, Parameters

TIGHT = pf.Adaptive(1e-10, 1e-12)
SHOWN = {"sinkhorn": ("energies", "energy_rises"), "circle": ("mean_angle_is_kept",)}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """The same tokens under both attentions, and tokens on the circle."""
    return {"sinkhorn": sine(True), "softmax": sine(False), "circle": circle()}


def sine(doubly: bool) -> pf.Experiment:
    """8 tokens on S^2 with rows of sin(1 + 3i + 7k + ik), normalized."""
    i, k = np.arange(8)[:, None], np.arange(3)
    x = np.sin(1 + 3 * i + 7 * k + i * k)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    field = pf.SinkhornAttention(BETA) if doubly else pf.Attention(BETA)
    start = pf.Given(pf.Sphere(3), x)
    return pf.Experiment(start, field, 10.0, save=61, solver=TIGHT)


def circle() -> pf.Experiment:
    """5 tokens on a half circle."""
    angles = np.array([0.0, 0.4, 0.9, 1.1, 2.2])
    start = pf.Given(pf.Circle(), np.stack([np.cos(angles), np.sin(angles)], axis=1))
    field = pf.SinkhornAttention(BETA)
    return pf.Experiment(start, field, 2.0, save=5, solver=TIGHT)


def in_the_explorer() -> dict[str, pf.Experiment]:
    """The tokens of the claim on the mean angle, further in time."""
    doubly = circle().vary(t1=20.0, save=201, solver=None)
    return {"doubly": doubly, "softmax": doubly.vary(field=pf.Attention(BETA))}


def states(p: Parameters) -> tuple[Preset, ...]:
    """With and without doubly stochastic weights."""
    found = in_the_explorer()
    return (
        Preset(
            "mean-angle",
            "Sinkhorn attention keeps the mean angle",
            "Tokens on a half circle pull each other equally: their mean angle stays "
            "0.92, and there they meet. Compare with the softmax.",
            shown(found["doubly"], color="index"),
        ),
        Preset(
            "mean-angle-softmax",
            "The same tokens under the softmax",
            "The token that stands apart is pulled more than it pulls: the mean angle "
            "moves from 0.92 to 0.82.",
            shown(found["softmax"], color="index"),
        ),
    )
