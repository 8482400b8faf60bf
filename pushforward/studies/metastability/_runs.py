"""The runs that figures and claims share: staircase, escapes, crowd, kinetic data."""

import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.flows import Merges

# staircase.py: 0.5 (0, 0.5, 2, 4, 7) log(2000)/sqrt(2000), the same for every beta
ANGLES = 0.5 * np.array([0, 0.5, 2, 4, 7]) * np.log(2000) / np.sqrt(2000)
STAIRCASE_BETAS = (500.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0)
KINETIC = np.array(  # kinetic.py
    [
        (0.99806638, 0.06215705),
        (0.97712061, 0.21268594),
        (-0.24578194, 0.96932515),
        (-0.97354734, 0.2284854),
        (-0.99892629, -0.04632772),
    ]
)
ESCAPE_BETAS = np.array([8.0, 12, 16, 20, 24, 32, 40])


class Long(NamedTuple):
    """A flow with merging: its clocks, its mergers, and its energy where it was asked.

    `log_times` are natural logarithms.
    """

    times: np.ndarray
    log_times: np.ndarray
    arc: np.ndarray
    points: np.ndarray
    energy: np.ndarray
    tree: Merges
    trajectory: pf.Trajectory


def long(run: pf.Trajectory) -> Long:
    """What a flow with merging always has, by name."""
    assert run.log_times is not None and run.arc is not None and run.merges is not None
    energy = np.asarray(run.observed.get("energy", np.zeros(len(run))))
    times, points = np.asarray(run.times), np.asarray(run.points)
    return Long(times, run.log_times, run.arc, points, energy, run.merges, run)


def on_circle(angles) -> pf.Particles:
    """Tokens at these angles."""
    return pf.Particles(pf.Circle(), pf.Circle().points(jnp.asarray(angles, float)))


def together(mu: pf.Particles):
    """Whether the smallest inner product is 0.999."""
    return jnp.min(mu.points @ mu.points.T) >= 0.999


@functools.lru_cache(maxsize=16)
def climb(beta: float) -> Long:
    """The published staircase in arc length; weights 1/n, where the paper has 1/n^2."""
    field = pf.UnnormalizedAttention(beta, log_scale=-beta)
    energy = {"energy": pf.InteractionEnergy(beta)}
    save = pf.ArcLength(0.002)
    start = on_circle(ANGLES)
    merge = pf.Merge()
    return long(pf.flow(field, start, np.inf, save=save, merge=merge, observe=energy))


@functools.lru_cache(maxsize=64)
def log_escape(beta: float, g_0: float = 0.0) -> float:
    """Natural logarithm of the time for two clusters to get from g_0 to 0.999."""
    save = pf.ArcLength(1.0)
    start = on_circle([0.0, np.arccos(g_0)])
    run = pf.flow(
        pf.Attention(beta), start, np.inf, save=save, merge=pf.Merge(), until=together
    )
    return float(long(run).log_times[-1])


@functools.lru_cache(maxsize=4)
def crowd(seed: int, n: int, beta: float = 100.0) -> Long:
    """Uniform tokens on the circle under SA, to one cluster."""
    mu = pf.Particles.uniform(pf.Circle(), n, key=pf.key_for(seed, "crowd"))
    times = np.concatenate(
        [[0.0], np.geomspace(0.1, 1e3, 120), np.geomspace(2e3, 1e88, 280)]
    )
    return long(pf.flow(pf.Attention(beta), mu, 1e88, save=times, merge=pf.Merge()))


@functools.lru_cache(maxsize=4)
def generic(seed: int, n: int, beta: float) -> Long:
    """Uniform tokens on the circle under SA in arc length, with the energy."""
    mu = pf.Particles.uniform(pf.Circle(), n, key=pf.key_for(seed, "generic"))
    energy = {"energy": pf.InteractionEnergy(beta)}
    save = pf.ArcLength(0.02)
    field, merge = pf.Attention(beta), pf.Merge()
    return long(pf.flow(field, mu, np.inf, save=save, merge=merge, observe=energy))


def mass_squares(run: Long) -> np.ndarray:
    """sum_c m_c^2 of the atoms at every frame: the ideal staircase.

    By arc length: at t = 1e50 the second half of an approach no longer changes t.
    """
    mass, tree = np.array(run.trajectory[0].weights), run.tree
    total = float(np.sum(mass**2))
    values = [total]
    for gone, into in zip(tree.absorbed, tree.into, strict=True):
        total += 2 * mass[gone] * mass[into]
        mass[into] += mass[gone]
        values.append(total)
    return np.array(values)[np.searchsorted(tree.arc, run.arc, side="right")]


@functools.lru_cache(maxsize=2)
def kinetic(layers: bool) -> pf.Trajectory:
    """kinetic.py, beta = 4: the exact flow, or its own steps of 0.1."""
    mu = pf.Particles.normalized(pf.Circle(), KINETIC)
    solver = pf.Layers(0.1) if layers else pf.Adaptive()
    late = np.arange(360.0, 400.0, 0.1) if layers else np.arange(326.0, 330.0, 0.1)
    early = [np.arange(0.0, 6.0, 0.1), np.arange(6.0, 326.0, 5.0)]
    times = np.round(np.concatenate([*early, late, [400.0]]), 10)
    return pf.flow(pf.Attention(4.0), mu, 400.0, save=times, solver=solver)
