"""The energy staircase on the circle: order, cost and time of successive mergers.

At large beta the closest pair of clusters moves alone, merges at its center of mass,
and 2 beta e^{-beta} E jumps from one plateau sum_c m_c^2/n^2 to the next. Time of the
staircase is arclength over log(beta). [geshkovski2024metastability]
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pushforward.errors import InputError
from pushforward.theory._checks import (
    Real,
    between,
    positive,
    real,
    representable,
    scalar,
    together,
)


@dataclass(frozen=True)
class Merger:
    """One jump: the two masses that meet, how far apart, and the state after it.

    `arclength` is cumulative, `plateau` is the value of 2 beta e^{-beta} E afterwards.
    """

    masses: tuple[float, float]
    distance: float
    angle: float
    arclength: float
    plateau: float


def plateau(masses: ArrayLike) -> float:
    """2 beta e^{-beta} E of far-apart point clusters: sum_c m_c^2 / n^2.

    >>> plateau([3, 2])
    0.52
    """
    masses = np.atleast_1d(positive("masses", masses))
    if not masses.size:
        raise InputError("`masses` must hold at least one cluster, got none.")
    return float((masses**2).sum() / masses.sum() ** 2)


def plateau_energy(beta: float, angles: ArrayLike, masses: ArrayLike) -> float:
    """The same at finite beta: sum_ab m_a m_b e^{beta (cos - 1)} / n^2."""
    position, mass = _clusters(angles, masses)
    half = (position[:, None] - position[None, :]) / 2
    mass = mass / mass.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        kernel = np.exp(-2 * scalar("beta", beta) * np.sin(half) ** 2)
        energy = np.asarray(mass @ kernel @ mass)
    return float(representable("the energy", energy, "a beta that is not so negative"))


def merging_arclength(distance: ArrayLike, m_1: ArrayLike, m_2: ArrayLike) -> Real:
    """Arclength spent by two clusters that meet: D sqrt(m_1 m_2/(m_1 + m_2))."""
    together(distance=distance, m_1=m_1, m_2=m_2)
    m_1, m_2 = positive("m_1", m_1), positive("m_2", m_2)
    return (positive("distance", distance) * np.sqrt(m_1 * m_2 / (m_1 + m_2)))[()]


def mergers(angles: ArrayLike, masses: ArrayLike | None = None) -> list[Merger]:
    """All jumps in order, for clusters on an arc of at most pi; equal masses 1 if None.

    >>> [round(m.plateau, 2) for m in mergers([0.0, 0.1, 0.4, 0.9])]
    [0.38, 0.62, 1.0]
    """
    position, mass = _clusters(angles, masses)
    order = np.argsort(position, kind="stable")
    position, mass = position[order], mass[order]
    spent, steps = 0.0, []
    while len(position) > 1:
        gaps = np.diff(position)
        i = int(gaps.argmin())
        m_1, m_2 = mass[i], mass[i + 1]
        center = (m_1 * position[i] + m_2 * position[i + 1]) / (m_1 + m_2)
        spent += float(gaps[i] * np.sqrt(m_1 * m_2 / (m_1 + m_2)))
        position = np.concatenate([position[:i], [center], position[i + 2 :]])
        mass = np.concatenate([mass[:i], [m_1 + m_2], mass[i + 2 :]])
        pair = (float(m_1), float(m_2))
        step = Merger(pair, float(gaps[i]), float(center), spent, plateau(mass))
        steps.append(step)
    return steps


def jump_times(
    angles: ArrayLike, beta: ArrayLike, masses: ArrayLike | None = None
) -> np.ndarray:
    """Completion times of the jumps on the clock ds = |dx| / log(beta)."""
    beta = between("beta", beta, 1, np.inf)
    arclengths = np.array([m.arclength for m in mergers(angles, masses)])
    return arclengths / np.log(beta)[..., None]


def log10_merging_time(
    beta: ArrayLike, distance: float, m_1: float, m_2: float, n: float
) -> Real:
    """Decimal logarithm of the physical time of a merger, to leading order.

    beta (1 - cos D)/ln 10 + log10(n^2 / ((m_1 + m_2) beta sin^2 D)), for USA scaled by
    e^{-beta} with 1/n^2 as in the paper; masses count tokens out of n.
    """
    together(beta=beta, distance=distance, m_1=m_1, m_2=m_2, n=n)
    beta, tokens = positive("beta", beta), positive("n", n)
    D = between("distance", distance, 0, np.pi)
    total = positive("m_1", m_1) + positive("m_2", m_2)
    exponent = 2 * beta * np.sin(D / 2) ** 2 / np.log(10)
    size = 2 * np.log10(tokens / np.sin(D)) - np.log10(total) - np.log10(beta)
    return (exponent + size)[()]


def _clusters(
    angles: ArrayLike, masses: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    angles = real("angles", angles)
    if angles.ndim != 1 or not angles.size:
        raise InputError(
            f"`angles` must be a list of angles, got shape {angles.shape}."
        )
    if np.ptp(angles) > np.pi:
        raise InputError(
            f"`angles` must span at most pi, got {np.ptp(angles):.6g}: on a longer arc "
            "the clusters may meet around the back."
        )
    masses = np.ones(len(angles)) if masses is None else positive("masses", masses)
    if masses.shape != angles.shape:
        raise InputError(
            f"`masses` must have one entry per angle, got {masses.shape} for "
            f"{angles.shape}."
        )
    return angles, masses
