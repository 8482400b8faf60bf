"""Fixed targets in state space, and the rates at which tracking reaches them.

The planar data sets of the papers, as (points, labels).
"""

import jax.numpy as jnp
import numpy as np

from pushforward.control._checks import count, finite
from pushforward.control.neural.families import (
    AbstractFamily,
    WeightsOutside,
    identity_readout,
)
from pushforward.control.neural.losses import L2, Squared
from pushforward.control.neural.problem import AbstractScheme, Midpoint, TrainingProblem
from pushforward.errors import InputError


def target_problem(
    family: AbstractFamily,
    inputs: object,
    targets: object,
    *,
    lam: float,
    horizon: float,
    layers: int,
    final: float = 1.0,
    tracking: float = 1.0,
    scheme: AbstractScheme = Midpoint(),
    slow_allowed: bool = False,
) -> TrainingProblem:
    """Steer every sample to its own point: E = mean_i |x_i - target_i|^2.

    Near the targets `WeightsOutside` is controlled by the N x (d + 1) matrix of
    rows (sigma(target_i), 1): decay is exponential only if its rank is N, which
    needs N <= d + 1. A set of targets without it is refused unless
    `slow_allowed`.
    """
    points = finite("inputs", inputs, (None, family.d))
    n = len(points)
    goals = finite("targets", targets, (n, family.d))
    problem = TrainingProblem(
        family,
        points,
        goals,
        readout=identity_readout(family.d),
        loss=Squared(),
        penalty=L2(lam),
        horizon=horizon,
        layers=layers,
        final=final,
        tracking=tracking,
        scheme=scheme,
    )
    if not slow_allowed:
        require_reachable(problem)
    return problem


def require_reachable(problem: TrainingProblem) -> None:
    """Refuse tracking of fixed targets that one control cannot reach exponentially.

    Only for `WeightsOutside`, and targets that fix the whole state: squared loss, and
    a readout that forgets nothing.
    """
    family, P = problem.family, np.asarray(problem.readout.P)
    d, n = family.d, len(problem.inputs)
    fixed = isinstance(problem.loss, Squared) and np.linalg.matrix_rank(P) == d
    if (
        not fixed
        or not isinstance(family, WeightsOutside)
        or float(problem.tracking) == 0
    ):
        return
    goals = (np.asarray(problem.labels) - np.asarray(problem.readout.c)).T
    goals = np.linalg.lstsq(P, goals, rcond=None)[0].T
    seen = np.asarray(family.activation(jnp.asarray(goals)))
    rank = int(np.linalg.matrix_rank(np.hstack([seen, np.ones((n, 1))])))
    if rank < n and problem.readout.clip is None:
        raise InputError(
            f"{n} samples cannot be tracked to fixed targets in dimension {d}: one "
            f"control (w, b) gives rank {rank} of {n} near the targets, so the decay "
            f"is not exponential (it needs N <= d + 1 = {d + 1} and distinct targets). "
            "Track the loss instead, with one whose zero set has interior "
            "(SquaredHinge(), or Readout(..., clip=1.0)), raise d by adding "
            "coordinates, or ask for slow decay: "
            "optimize(target_problem(..., slow_allowed=True), key=key)."
        )


def circles(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """A disc of radius 1/2 (label -1) inside a ring of radii 1 to 3/2 (label +1)."""
    rng = np.random.default_rng(seed)
    half = count("n", n, 2) // 2
    angles = rng.uniform(0, 2 * np.pi, 2 * half)
    inner, outer = rng.uniform(0, 0.5, half), rng.uniform(1, 1.5, half)
    radii = np.concatenate([inner, outer])
    points = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    return points, np.repeat([-1.0, 1.0], half)


def moons(
    seed: int, n: int = 60, *, noise: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Two interleaved half circles, labels -1 and +1."""
    rng = np.random.default_rng(seed)
    half = count("n", n, 2) // 2
    a, b = np.pi * rng.random(half), np.pi * rng.random(half)
    upper = np.stack([np.cos(a), np.sin(a)], axis=1)
    lower = np.stack([1 - np.cos(b), 0.5 - np.sin(b)], axis=1)
    points = np.concatenate([upper, lower])
    points = points + noise * rng.standard_normal(points.shape)
    return points - np.array([0.5, 0.25]), np.repeat([-1.0, 1.0], half)


def rings(
    seed: int, sizes: tuple[int, ...], radii: tuple[tuple[float, float], ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Concentric rings, one class each: labels 0, 1, 2, ..."""
    if len(sizes) != len(radii):
        raise InputError(
            f"`sizes` and `radii` must have one entry per class, got {len(sizes)} and "
            f"{len(radii)}."
        )
    rng = np.random.default_rng(seed)
    parts = []
    for size, (low, high) in zip(sizes, radii, strict=True):
        angle, radius = rng.uniform(0, 2 * np.pi, size), rng.uniform(low, high, size)
        parts.append(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1))
    return np.concatenate(parts), np.repeat(np.arange(len(sizes)), sizes)


def chess(
    seed: int, *, side: int = 3, per_cell: int = 333, reach: float = 1.4
) -> tuple[np.ndarray, np.ndarray]:
    """A side x side chess board with gaps between cells, labels -1 and +1."""
    rng = np.random.default_rng(seed)
    side, per_cell = count("side", side, 2), count("per_cell", per_cell)
    gap = 0.2
    width = (2 * reach - gap * (side - 1)) / side
    corners = -reach + (width + gap) * np.arange(side)
    points, labels = [], []
    for i in range(side):
        for j in range(side):
            corner = np.array([corners[i], corners[j]])
            points.append(corner + width * rng.random((per_cell, 2)))
            labels.append(np.full(per_cell, 1.0 if (i + j) % 2 == 0 else -1.0))
    return np.concatenate(points), np.concatenate(labels)


def lifted(points: object, extra: int = 1) -> np.ndarray:
    """Points with `extra` zero coordinates appended: more room to untangle classes."""
    array = finite("points", points, (None, None))
    return np.hstack([array, np.zeros((len(array), count("extra", extra, 0)))])
