"""The certified solver: add the maxima of D as atoms, then move all atoms downhill.

Fully corrective column generation whose atoms slide: after the weights on the larger
support are solved for, Newton's method on atoms and weights together finds the local
minimum nearby. The loss never rises, and the last round converges quadratically.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError, NumericalError
from pushforward.statistics.mixtures._everywhere import Maxima, Solution, all_modes
from pushforward.statistics.mixtures._likelihood import (
    Sample,
    log_kernel,
    log_mixture,
)
from pushforward.statistics.mixtures._modes import find_modes
from pushforward.statistics.mixtures._polish import polish
from pushforward.statistics.mixtures._support_weights import optimal_weights

FIRST_ATOMS = 80  # size of the first support
FIRST_TOL = 1e-4  # of the weights on the first support
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

    def solve(self, sample: Sample) -> Solution:
        """The history is the gap after each round."""
        current = best = _first(sample)
        gaps = [best.gap]
        while len(gaps) <= self.rounds:
            if current.gap <= self.tol:
                current = best = current.searched(sample)
            if best.gap <= self.tol:
                break
            current = _grown(sample, current)
            gaps.append(current.gap)
            if current.gap < best.gap:
                best = current
        if best.gap > max(1e-6, self.tol):
            raise NumericalError(
                f"column generation stopped at a gap of {best.gap:.1e} after "
                f"{self.rounds} rounds; raise rounds, or accept it with a larger tol.",
                partial=(best.atoms, best.weights, gaps),
            )
        best = _simplest(sample, best, self.tol)
        return Solution(best.atoms, best.weights, gaps, best.maxima)


@dataclass(frozen=True, eq=False)
class _State:
    atoms: Float[np.ndarray, "k d"]
    weights: Float[np.ndarray, "k"]
    modes: Float[np.ndarray, "m d"]
    log_d: Float[np.ndarray, "m"]
    maxima: Maxima | None = None  # once the search was complete

    @property
    def gap(self) -> float:
        return float(self.log_d[0])

    @classmethod
    def on(cls, sample: Sample, atoms: np.ndarray, weights: np.ndarray) -> "_State":
        """The atoms and weights given, and the maxima of D."""
        log_f = log_mixture(sample.points, atoms, weights)
        return cls(atoms, weights, *find_modes(sample, log_f, atoms))

    def searched(self, sample: Sample) -> "_State":
        """The same with every maximum of D that the quicker search overlooked."""
        log_f = log_mixture(sample.points, self.atoms, self.weights)
        found = all_modes(sample, log_f, self.modes)
        return _State(self.atoms, self.weights, found.points, found.log_d, found)


def _cover(sample: Sample) -> np.ndarray:
    """Data points such that every datum has one near: farthest-point order."""
    data = sample.points
    first = int(np.argmin(np.sum((data - sample.weights @ data) ** 2, axis=1)))
    chosen, distance = [first], np.sum((data - data[first]) ** 2, axis=1)
    while len(chosen) < min(FIRST_ATOMS, len(data)) and distance.max() > 0.25:
        nxt = int(np.argmax(distance))
        chosen.append(nxt)
        distance = np.minimum(distance, np.sum((data - data[nxt]) ** 2, axis=1))
    return data[chosen]


def _reweighted(
    sample: Sample, atoms: np.ndarray, start: np.ndarray, tol: float
) -> tuple[np.ndarray, np.ndarray]:
    """The atoms that keep a weight at the optimum on this support, and the weights."""
    table = log_kernel(sample.points, atoms)
    weights = optimal_weights(table, sample.weights, start, tol=tol)
    alive = weights > 0
    return atoms[alive], weights[alive]


def _first(sample: Sample) -> _State:
    """The best weights on a cover of the data, gathered at the maxima of D."""
    cover = _cover(sample)
    start = np.full(len(cover), 1 / len(cover))
    state = _State.on(sample, *_reweighted(sample, cover, start, FIRST_TOL))
    return _slid(sample, *_gathered(state.atoms, state.weights, state.modes))


def _grown(sample: Sample, state: _State) -> _State:
    """One round: every maximum of D above one becomes an atom, and all atoms slide."""
    new = state.modes[state.log_d > 0]
    start = np.append(0.9 * state.weights, np.full(len(new), 0.1 / len(new)))
    atoms = np.concatenate([state.atoms, new])
    # Weights far better than the support itself would be lost in the next round.
    tol = max(1e-13, 1e-2 * state.gap)
    return _slid(sample, *_reweighted(sample, atoms, start, tol))


def _slid(sample: Sample, atoms: np.ndarray, weights: np.ndarray) -> _State:
    atoms, weights = polish(sample, atoms, weights)
    return _State.on(sample, *_gathered(atoms, weights, _apart(atoms, COPY)))


def _simplest(sample: Sample, state: _State, tol: float) -> _State:
    """Atoms that the likelihood hardly tells apart, as one if that is as good."""
    places = _apart(state.atoms, CLOSE)
    if len(places) == len(state.atoms):
        return state
    simpler = _slid(sample, *_gathered(state.atoms, state.weights, places))
    simpler = simpler.searched(sample)
    return simpler if simpler.gap <= max(tol, state.gap) else state


def _apart(atoms: np.ndarray, radius: float) -> np.ndarray:
    """The atoms with no earlier one within the radius."""
    near = np.sum((atoms[:, None] - atoms[None]) ** 2, axis=2) < radius**2
    return atoms[~np.tril(near, -1).any(axis=1)]


def _gathered(
    atoms: np.ndarray, weights: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The weights, moved to the nearest place; places that get none are left out."""
    owner = np.argmax(log_kernel(atoms, places), axis=1)
    mass = np.bincount(owner, weights=weights, minlength=len(places))
    return places[mass > 0], mass[mass > 0]
