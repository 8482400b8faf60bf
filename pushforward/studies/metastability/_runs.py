"""What figures and claims share of the runs, each made once."""

import functools
from typing import NamedTuple

import numpy as np

import pushforward as pf
from pushforward.flows import Merges
from pushforward.studies.metastability import runs


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


@functools.lru_cache(maxsize=16)
def climb(beta: float) -> Long:
    """The published staircase in arc length."""
    return long(runs.climbing(beta).run())


@functools.lru_cache(maxsize=64)
def log_escape(beta: float, g_0: float = 0.0) -> float:
    """Natural logarithm of the time for two clusters to get from g_0 to 0.999."""
    return float(long(runs.escaping(beta, g_0).run()).log_times[-1])


@functools.lru_cache(maxsize=4)
def crowd(seed: int, n: int) -> Long:
    """Uniform tokens on the circle under SA, to one cluster."""
    return long(runs.crowded(seed, n).run())


@functools.lru_cache(maxsize=4)
def generic(seed: int, n: int, beta: float) -> Long:
    """Uniform tokens on the circle under SA in arc length, with the energy."""
    return long(runs.from_anywhere(seed, n, beta).run())


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
    return runs.kinetic_data(layers).run()
