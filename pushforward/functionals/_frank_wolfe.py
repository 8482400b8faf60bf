"""Sliding Frank-Wolfe: one solver for convex problems over probability measures.

Each round adds atoms where the first variation is low, finds the best masses on all of
them, and lets all atoms slide downhill. It ends with a certificate: because F is convex
in the measure, F(mu) - min F <= int F_mu dmu - min_x F_mu(x), or a sharper bound that
the problem knows.
"""

import abc
import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from pushforward.measures import Particles
from pushforward.spaces import AbstractSpace

# Positions of atoms are (k,) or (k, d), their masses (k,).
Positions = Float[np.ndarray, "k *d"]
Masses = Float[np.ndarray, "k"]
Points = Float[np.ndarray, "j *d"]
Atoms = tuple[Float[np.ndarray, "a *d"], Float[np.ndarray, "a"]]


@dataclasses.dataclass(frozen=True, eq=False)
class Certified:
    """Atoms, masses, and a bound of what is missing.

    - `gap`: F(mu) - min F is at most that.
    - `new`: where an atom would lower F.
    - `proof`: what a thorough search found, for problems that keep it.
    """

    positions: Positions
    masses: Masses
    gap: float
    new: Float[np.ndarray, "m *d"]
    proof: Any = None


class AbstractProblem(abc.ABC):
    """What the solver asks of a functional: best masses, sliding, certificates."""

    unit: float = 1.0  # of energy, in which the numbers below are given
    coordinate: str = "point"  # what a position is, in words

    @abc.abstractmethod
    def start(self) -> Certified:
        """The first atoms."""

    @abc.abstractmethod
    def reweighted(self, s: Positions, m: Masses, gap: float) -> Atoms:
        """The best masses on the atoms s, from m; atoms without mass are dropped.

        `gap` is that of the round before: no more precision is needed than it shows.
        """

    @abc.abstractmethod
    def slid(self, s: Positions, m: Masses) -> list[Atoms]:
        """Positions and masses near a local minimum: one candidate or several."""

    @abc.abstractmethod
    def certified(self, s: Positions, m: Masses) -> Certified:
        """The certificate, by a quick search."""

    @abc.abstractmethod
    def searched(self, state: Certified) -> Certified:
        """The same atoms with the certificate of a thorough search."""

    @abc.abstractmethod
    def value(self, s: Positions, m: Masses) -> float:
        """F(mu)."""

    @abc.abstractmethod
    def variation(self, x: Points, s: Positions, m: Masses) -> np.ndarray:
        """F_mu at the positions x."""

    @abc.abstractmethod
    def at_atoms(self, s: Positions, m: Masses) -> tuple[float, np.ndarray]:
        """The largest slope of F_mu at atoms free to move, and F_mu'' at all atoms."""

    @abc.abstractmethod
    def ordered(self, s: Positions, m: Masses) -> Atoms:
        """The atoms as they are reported: sorted."""

    @abc.abstractmethod
    def measure(self, space: AbstractSpace, s: Positions, m: Masses) -> Particles:
        """The atoms as particles of the space."""


def sliding_frank_wolfe(
    problem: AbstractProblem, tol: float, rounds: int
) -> tuple[Certified, list[float]]:
    """The best measure found, and the gap after each round, that of the start first.

    A gap below `tol` is searched for again thoroughly before it is believed.
    """
    current = problem.start()
    gaps, best = [current.gap], None
    while True:
        if current.gap <= tol:
            current = problem.searched(current)
        if best is None or current.gap < best.gap:
            best = current
        if best.gap <= tol or len(gaps) > rounds:
            return best, gaps
        current = _grown(problem, current)
        gaps.append(current.gap)


def _grown(problem: AbstractProblem, state: Certified) -> Certified:
    """One round: new atoms, the best masses, and all atoms slide."""
    s = np.concatenate([state.positions, state.new])
    m = np.concatenate([state.masses, np.zeros(len(state.new))])
    tries = problem.slid(*problem.reweighted(s, m, state.gap))
    return min((problem.certified(*atoms) for atoms in tries), key=lambda c: c.gap)
