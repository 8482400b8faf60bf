"""The runs behind figures and claims, as experiments."""

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.studies.lost_in_the_middle.study import Parameters

TIGHT = pf.Adaptive(rtol=1e-10, atol=1e-12)
SHOWN = {
    "four-groups": ("circle", "groups_at_4", "groups_at_10"),
    "crowd": ("mean_field_mode", "mean_field_sees_no_order"),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Runs on the circle; profiles and retrieval are formulas and training."""
    return {"four-groups": groups(), "crowd": crowd(p.crowd, p.seed)}


def groups() -> pf.Experiment:
    """16 tokens around each of four centers, beta = lambda = 1, a frame every 0.2."""
    field, start = pf.DecayingAttention(1.0, 1.0), _on_circle(four_groups())
    return pf.Experiment(start, field, 10.0, save=51, solver=TIGHT)


def four_groups() -> np.ndarray:
    """64 angles: 16 around each of four centers, spread 0.075, seed 17."""
    centers = np.repeat(np.linspace(0.1, 1.9, 4) * np.pi, 16)
    return centers + np.random.default_rng(17).normal(0, 0.075, 64)


def crowd(n: int, seed: int) -> pf.Experiment:
    """To t = 1 from density 1 + 0.2 cos theta: its quantiles in random order.

    Quantiles, because the fluctuation of independent draws would grow with f_1.
    """
    grid = np.linspace(0, 2 * np.pi, 4001)
    law = (grid + 0.2 * np.sin(grid)) / (2 * np.pi)
    theta = np.interp((np.arange(n) + 0.5) / n, law, grid)
    start = _on_circle(np.random.default_rng(seed).permutation(theta))
    field = pf.DecayingAttention(1.0, 1.0, modes=10)
    return pf.Experiment(start, field, 1.0, save=2)


def _on_circle(angles: np.ndarray) -> pf.Given:
    return pf.Given(pf.Circle(), pf.Circle().points(jnp.asarray(angles)))
