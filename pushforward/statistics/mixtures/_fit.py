"""The nonparametric maximum likelihood estimate of a Gaussian location mixture.

X_i = location + noise, the location drawn from an unknown law rho, the noise
Gaussian of known covariance. No number of components is chosen: the problem is
convex over probability measures and its solution is discrete.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError
from pushforward.statistics.mixtures._column_generation import ColumnGeneration
from pushforward.statistics.mixtures._everywhere import Solution, all_modes
from pushforward.statistics.mixtures._likelihood import (
    Sample,
    log_certificate,
    log_kernel,
    log_mixture,
)
from pushforward.statistics.mixtures._threads import one_thread
from pushforward.statistics.mixtures._whitening import Whitening, as_data, as_sample


class Method(Protocol):
    """A solver: `ColumnGeneration()`, or a particle descent such as `wfr(1000)`."""

    def solve(self, sample: Sample) -> Solution:
        """Atoms, weights and a history, for whitened data."""


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A fitted mixture with its proof.

    `loss` is the mean negative log-likelihood l(rho), `log_likelihood` the sum over
    the data, and `gap` = log max D bounds how far `loss` is above the minimum:
    0 <= loss - min <= gap. `certificate` is max D itself, attained at `worst`. It is
    `proven` for data on a line or in a plane, where D is bounded everywhere; in higher
    dimensions D was climbed from many starts, and the gap is as good as that search.
    `history` is the gap per round (column generation) or the loss per step.
    """

    atoms: Float[np.ndarray, "k d"]
    weights: Float[np.ndarray, "k"]
    loss: float
    log_likelihood: float
    gap: float
    proven: bool
    worst: Float[np.ndarray, "d"]
    history: list[float] = field(repr=False)
    data: Float[np.ndarray, "n d"] = field(repr=False)
    noise: Whitening = field(repr=False)
    sample: Sample = field(repr=False)

    @property
    def certificate(self) -> float:
        """max_x D(x); one at the optimum, infinite if it overflows."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.gap))

    @property
    def posterior_means(self) -> Float[np.ndarray, "n d"]:
        """The data denoised: E[location | X_i]."""
        return self.denoise(self.data)

    @property
    def labels(self) -> Int[np.ndarray, "n"]:
        """Index of the most likely atom of each datum."""
        return self.assign(self.data)

    def posterior(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m k"]:
        """P(location = atom_j | X = x_i); rows sum to one."""
        inside = self.noise.whiten(as_data("x", x, self.atoms.shape[1]))
        logs = log_kernel(inside, self._atoms) + np.log(self.weights)
        logs -= logs.max(axis=1, keepdims=True)
        p = np.exp(logs)
        return p / p.sum(axis=1, keepdims=True)

    def denoise(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m d"]:
        """Posterior mean of the location at each row of x."""
        return self.posterior(x) @ self.atoms

    def assign(self, x: Float[np.ndarray, "m d"]) -> Int[np.ndarray, "m"]:
        """Index of the most likely atom at each row of x."""
        return np.argmax(self.posterior(x), axis=1)

    def log_density(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m"]:
        """log of the fitted density at each row of x, in the units of the data."""
        inside = self.noise.whiten(as_data("x", x, self.atoms.shape[1]))
        return log_mixture(inside, self._atoms, self.weights) - self.noise.log_scale

    def density(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m"]:
        """The fitted density at each row of x."""
        return np.exp(self.log_density(x))

    def optimality(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m"]:
        """D at each row of x: at most one everywhere, one at the atoms, if optimal."""
        inside = self.noise.whiten(as_data("x", x, self.atoms.shape[1]))
        log_f = log_mixture(self.sample.points, self._atoms, self.weights)
        with np.errstate(over="ignore"):
            return np.exp(log_certificate(inside, self.sample, log_f))

    @property
    def _atoms(self) -> np.ndarray:
        return self.noise.whiten(self.atoms)


def npmle(
    data: Float[np.ndarray, "n d"] | Float[np.ndarray, "n"],
    *,
    covariance: float | Float[np.ndarray, "d d"] = 1.0,
    weights: Float[np.ndarray, "n"] | None = None,
    method: Method = ColumnGeneration(),
) -> MixtureFit:
    """Fit the mixing law of Gaussian data by maximum likelihood, with a certificate.

    minimize over probability measures rho:
        l(rho) = -sum_i p_i log (rho * N(0, covariance))(X_i).

    `covariance` is that of the noise, known: a variance or a matrix. A 1-D array is
    n data on the line. `weights` p_i are one over n unless given.

    >>> from pushforward.statistics.galaxies import galaxy_velocities
    >>> fit = npmle(galaxy_velocities() / 1000)
    >>> len(fit.atoms), round(fit.loss, 9), fit.gap < 1e-9
    (6, 2.431004409, True)

    [yan2024npmle]
    """
    x = as_data("data", data, None)
    noise = Whitening.of(covariance, x)
    sample, count = as_sample(noise.whiten(x), weights)
    with one_thread():
        return _certified(x, noise, sample, count, method)


def _certified(
    x: np.ndarray, noise: Whitening, sample: Sample, count: float, method: Method
) -> MixtureFit:
    """Solve, then search all of space for the largest D."""
    atoms, masses, history, maxima = method.solve(sample)
    if not (np.isfinite(atoms).all() and np.isfinite(masses).all()):
        raise InputError(
            "the solver left the finite numbers; rescale the data to a few hundred "
            "noise standard deviations, or use ColumnGeneration()."
        )
    order = np.lexsort(atoms.T[::-1])
    atoms, masses = atoms[order], masses[order]
    log_f = log_mixture(sample.points, atoms, masses)
    maxima = maxima or all_modes(sample, log_f, atoms)
    value = float(-sample.weights @ log_f) + noise.log_scale
    return MixtureFit(
        atoms=noise.color(atoms),
        weights=masses,
        loss=value,
        log_likelihood=-count * value,
        gap=maxima.bound,
        proven=maxima.proven,
        worst=noise.color(maxima.points[:1])[0],
        history=history,
        data=x,
        noise=noise,
        sample=sample,
    )
