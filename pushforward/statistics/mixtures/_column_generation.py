"""The certified solver: add the maxima of D as atoms, re-solve the weights, repeat.

Fully corrective column generation. When the certificate is small the atoms are
gathered by the maximum of D they belong to and the optimality equations are solved by
Newton's method; the answer is kept only if its certificate is better. Atoms are
never merged by distance inside the loop: that cycles.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError, NumericalError
from pushforward.statistics.mixtures._likelihood import (
    Sample,
    log_kernel,
    log_mixture,
)
from pushforward.statistics.mixtures._modes import find_modes
from pushforward.statistics.mixtures._polish import polish
from pushforward.statistics.mixtures._support_weights import optimal_weights

FIRST_ATOMS = 200  # size of the first support
POLISH_BELOW = 0.05  # certificate at which Newton's method is worth trying


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

    def solve(self, sample: Sample) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """Atoms, weights, and the gap after each round."""
        best = _State.on(sample, _cover(sample), None)
        current, gaps = best, [best.gap]
        while best.gap > self.tol and len(gaps) <= self.rounds:
            current = _polished(sample, current) or _grown(sample, current)
            gaps.append(current.gap)
            if current.gap < best.gap:
                best = current
        if best.gap > max(1e-6, self.tol):
            raise NumericalError(
                f"column generation stopped at a gap of {best.gap:.1e} after "
                f"{self.rounds} rounds; raise rounds, or accept it with a larger tol.",
                partial=(best.atoms, best.weights, gaps),
            )
        return best.atoms, best.weights, gaps


@dataclass(frozen=True, eq=False)
class _State:
    atoms: Float[np.ndarray, "k d"]
    weights: Float[np.ndarray, "k"]
    modes: Float[np.ndarray, "m d"]
    log_d: Float[np.ndarray, "m"]

    @property
    def gap(self) -> float:
        return float(self.log_d[0])

    @classmethod
    def on(
        cls, sample: Sample, atoms: np.ndarray, weights: np.ndarray | None
    ) -> "_State":
        """Optimal weights on `atoms` (or the given ones), and the maxima of D."""
        if weights is None:
            table = log_kernel(sample.points, atoms)
            start = np.full(len(atoms), 1 / len(atoms))
            weights = optimal_weights(table, sample.weights, start)
        alive = weights > 0
        atoms, weights = atoms[alive], weights[alive]
        log_f = log_mixture(sample.points, atoms, weights)
        return cls(atoms, weights, *find_modes(sample, log_f, atoms))


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


def _grown(sample: Sample, state: _State) -> _State:
    new = state.modes[state.log_d > -1e-2]
    return _State.on(sample, np.concatenate([state.atoms, new]), None)


def _polished(sample: Sample, state: _State) -> _State | None:
    """Newton from the atoms gathered by nearest maximum of D; None if no better."""
    if state.gap > POLISH_BELOW:
        return None
    peaks = state.modes[state.log_d > -1e-2]
    owner = np.argmax(log_kernel(state.atoms, peaks), axis=1)
    mass = np.bincount(owner, weights=state.weights, minlength=len(peaks))
    held = mass > 0
    found = polish(sample, peaks[held], mass[held])
    if found is None:
        return None
    candidate = _State.on(sample, *found)
    return candidate if candidate.gap < 0.1 * state.gap else None
