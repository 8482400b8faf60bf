"""The certified solver: add the maxima of D as atoms, then move all atoms downhill.

Fully corrective column generation whose atoms slide: after the weights on the larger
support are solved for, Newton's method on atoms and weights together finds the local
minimum nearby. The loss never rises, and the last round converges quadratically.
"""

from dataclasses import dataclass

import numpy as np

from pushforward.errors import InputError, NumericalError
from pushforward.functionals import AbstractProblem, Certified, sliding_frank_wolfe
from pushforward.measures import Particles
from pushforward.spaces import AbstractSpace
from pushforward.statistics.mixtures._everywhere import Maxima, Solution, all_modes
from pushforward.statistics.mixtures._likelihood import (
    AbstractSample,
    log_certificate,
    log_kernel,
    loss,
)
from pushforward.statistics.mixtures._modes import find_modes
from pushforward.statistics.mixtures._noise import Chart
from pushforward.statistics.mixtures._polish import optimal_weights, polish

FIRST_ATOMS = 60  # size of the first support
FAR, NEAR = 1.0, 0.2  # first atoms this close are one: of a cover, of a coarse sample
ROUGH, ROUGH_ROUNDS = 1e-3, 2  # gap and rounds for a coarser sample
Atoms = tuple[np.ndarray, np.ndarray]
COPY = 1e-9  # atoms this close are one
CLOSE = 1e-2  # atoms this close are tried as one, in the end


@dataclass(frozen=True)
class ColumnGeneration:
    """Solve to the optimum and prove it: stops when log max D <= `tol`.

    `tol` is the duality gap in log-likelihood per datum.
    """

    tol: float = 1e-10
    rounds: int = 100

    def __post_init__(self) -> None:
        if not 0 < self.tol < 1:
            raise InputError(f"tol must lie in (0, 1), got {self.tol}; try 1e-10.")
        if self.rounds < 1:
            raise InputError(f"rounds must be at least 1, got {self.rounds}.")

    def solve(self, sample: AbstractSample, chart: Chart) -> Solution:
        """The history is the gap after each round."""
        problem = MixtureProblem(sample)
        best, gaps = sliding_frank_wolfe(problem, self.tol, self.rounds)
        if best.gap > max(1e-6, self.tol):
            raise NumericalError(
                f"column generation stopped at a gap of {best.gap:.1e} after "
                f"{self.rounds} rounds; raise rounds, or accept it with a larger tol.",
                partial=(best.positions, best.masses, gaps),
            )
        if best.gap > self.tol:
            best = problem.searched(best)
        best = problem.simplest(best, self.tol)
        return Solution(best.positions, best.masses, gaps, best.proof)


@dataclass(frozen=True, eq=False)
class MixtureProblem(AbstractProblem):
    """The likelihood of a mixture: the first variation is -D, and the gap log max D.

    A `rough` one is solved for a start only: its maxima are not searched for again.
    """

    sample: AbstractSample
    rough: bool = False

    def start(self) -> Certified:
        """From the solution for a coarser sample; of few data, from a cover of them."""
        coarse = self.sample.coarse()
        if coarse is None:
            places = _cover(self.sample)
            return self._settled(places, np.full(len(places), 1 / len(places)), FAR)
        problem = MixtureProblem(coarse, rough=True)
        best, _ = sliding_frank_wolfe(problem, ROUGH, ROUGH_ROUNDS)
        return self._settled(best.positions, best.masses, NEAR)

    def _settled(self, s: np.ndarray, m: np.ndarray, radius: float) -> Certified:
        """The best masses, maxima of D added, one atom where several are near, slid."""
        s, m = self.reweighted(s, m, 1.0)
        modes, log_d = self._modes(s, m)
        s = np.concatenate([s, modes[log_d > 0]])
        s, m = self.reweighted(s, np.append(m, np.zeros(len(s) - len(m))), 1.0)
        places = _apart(s[np.argsort(-m, kind="stable")], radius)
        s, m = self.reweighted(*_gathered(s, m, places), 1.0)
        return self.certified(*self.slid(s, m)[0])

    def reweighted(self, s: np.ndarray, m: np.ndarray, gap: float) -> Atoms:
        """By sequential non-negative least squares.

        Weights far better than the support itself would be lost in the next round.
        """
        fresh = m == 0
        start = np.where(fresh, 0.1 / max(1, fresh.sum()), 0.9 * m)
        table = self.sample.log_kernel(s)
        tol = max(1e-13, 1e-2 * gap)
        return _alive(s, optimal_weights(table, self.sample.weights, start, tol=tol))

    def slid(self, s: np.ndarray, m: np.ndarray) -> list[Atoms]:
        """Newton's method; atoms that meet become one."""
        s, m = polish(self.sample, s, m, tol=1e-3 if self.rough else 1e-12)
        return [_gathered(s, m, _apart(s, COPY))]

    def certified(self, s: np.ndarray, m: np.ndarray) -> Certified:
        """log max D, by climbing from many starts."""
        modes, log_d = self._modes(s, m)
        found = Maxima(modes, log_d, float(log_d[0]), proven=False)
        return Certified(s, m, found.bound, modes[log_d > 0], found)

    def searched(self, state: Certified) -> Certified:
        """The same with every maximum of D that the quicker search overlooked."""
        if self.rough:
            return state
        s, m = state.positions, state.masses
        found = all_modes(self.sample, self.sample.log_mixture(s, m), s, state.proof)
        new = found.points[found.log_d > 0]
        return Certified(s, m, float(found.log_d[0]), new, found)

    def simplest(self, state: Certified, tol: float) -> Certified:
        """Atoms that the likelihood hardly tells apart, as one if that is as good."""
        places = _apart(state.positions, CLOSE)
        if len(places) == len(state.positions):
            return state
        gathered = _gathered(state.positions, state.masses, places)
        simpler = self.searched(self.certified(*self.slid(*gathered)[0]))
        return simpler if simpler.gap <= max(tol, state.gap) else state

    def value(self, s: np.ndarray, m: np.ndarray) -> float:
        """l(rho)."""
        return loss(self.sample, s, m)

    def variation(self, x: np.ndarray, s: np.ndarray, m: np.ndarray) -> np.ndarray:
        """-D."""
        log_f = self.sample.log_mixture(s, m)
        return -np.exp(log_certificate(x, self.sample, log_f))

    def at_atoms(self, s: np.ndarray, m: np.ndarray) -> tuple[float, np.ndarray]:
        """|grad D| and the least eigenvalue of -Hess D."""
        ratio = np.log(self.sample.weights) - self.sample.log_mixture(s, m)
        share = np.exp(self.sample.log_kernel(s) + ratio)  # (k, n)
        score = self.sample.scores(s)
        slope = np.einsum("kn,dkn->kd", share, score)
        second = np.einsum("kn,dkn,ekn->kde", share, score, score)
        bend = self.sample.information(share, s) - second
        return float(np.abs(slope).max()), np.linalg.eigvalsh(bend)[:, 0]

    def ordered(self, s: np.ndarray, m: np.ndarray) -> Atoms:
        """By the first coordinate, then the second."""
        order = np.lexsort(s.T[::-1])
        return s[order], m[order]

    def measure(self, space: AbstractSpace, s: np.ndarray, m: np.ndarray) -> Particles:
        """The atoms."""
        return Particles(space, s, m)

    def _modes(self, s: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maxima of D, highest first, and log D there."""
        return find_modes(self.sample, self.sample.log_mixture(s, m), s)


def _alive(atoms: np.ndarray, weights: np.ndarray) -> Atoms:
    return atoms[weights > 0], weights[weights > 0]


def _cover(sample: AbstractSample) -> np.ndarray:
    """Data points such that every datum has one near: farthest-point order."""
    data = sample.places
    first = int(np.argmin(np.sum((data - sample.weights @ data) ** 2, axis=1)))
    chosen, distance = [first], np.sum((data - data[first]) ** 2, axis=1)
    while len(chosen) < min(FIRST_ATOMS, len(data)) and distance.max() > 0.25:
        nxt = int(np.argmax(distance))
        chosen.append(nxt)
        distance = np.minimum(distance, np.sum((data - data[nxt]) ** 2, axis=1))
    return data[chosen]


def _apart(atoms: np.ndarray, radius: float) -> np.ndarray:
    """The atoms with no earlier one within the radius."""
    near = np.sum((atoms[:, None] - atoms[None]) ** 2, axis=2) < radius**2
    return atoms[~np.tril(near, -1).any(axis=1)]


def _gathered(atoms: np.ndarray, weights: np.ndarray, places: np.ndarray) -> Atoms:
    """The weights, moved to the nearest place; places that get none are left out."""
    owner = np.argmax(log_kernel(atoms, places), axis=1)
    mass = np.bincount(owner, weights=weights, minlength=len(places))
    return places[mass > 0], mass[mass > 0]
