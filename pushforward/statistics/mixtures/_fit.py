"""The nonparametric maximum likelihood estimate of a mixture.

An observation X_i depends on its location, drawn from an unknown law rho, through a
known likelihood: Gaussian noise, the same for all or with errors of their own, or
counts. No number of components is chosen: the problem is convex over probability
measures and its solution is discrete.
"""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int, Real

from pushforward._threads import one_thread
from pushforward._wiring import connected
from pushforward.errors import InputError
from pushforward.statistics.mixtures._column_generation import ColumnGeneration
from pushforward.statistics.mixtures._everywhere import Solution, all_modes
from pushforward.statistics.mixtures._likelihood import AbstractSample, log_certificate
from pushforward.statistics.mixtures._noise import (
    AbstractLikelihood,
    Chart,
    GaussianNoise,
    Observed,
)
from pushforward.statistics.mixtures._posterior import Posterior, doubts_of, weighted
from pushforward.statistics.mixtures._whitening import as_data


@runtime_checkable
class Method(Protocol):
    """A solver: `ColumnGeneration()`, or a particle descent such as `wfr(1000)`."""

    def solve(self, sample: AbstractSample, chart: Chart) -> Solution:
        """Atoms, weights and a history, in the units of the sample."""


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A fitted mixture with its proof.

    `loss` is the mean negative log-likelihood l(rho), `log_likelihood` the sum over
    the data, and `gap` = log max D bounds how far `loss` is above the minimum:
    0 <= loss - min <= gap. `certificate` is max D itself, attained at `worst`. It is
    `proven` for data on a line or in a plane, where D is bounded everywhere; in higher
    dimensions D was climbed from many starts, and the gap is as good as that search.
    `history` is the gap per round (column generation) or the loss per step.

    `likelihood` is what was assumed (`assumption` in words); `doubts` are sentences on
    data that contradict it.
    """

    atoms: Float[np.ndarray, "k d"]
    weights: Float[np.ndarray, "k"]
    loss: float
    log_likelihood: float
    gap: float
    proven: bool
    worst: Float[np.ndarray, "d"]
    likelihood: AbstractLikelihood
    doubts: tuple[str, ...]
    history: list[float] = field(repr=False)
    data: Float[np.ndarray, "n d"] = field(repr=False)
    noise: Chart = field(repr=False)
    sample: AbstractSample = field(repr=False)

    @property
    def certificate(self) -> float:
        """max_x D(x); one at the optimum, infinite if it overflows."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.gap))

    @property
    def assumption(self) -> str:
        """The noise that was assumed and how it was chosen, in words."""
        return self.likelihood.words

    @property
    def proof(self) -> str:
        """How far the gap can be trusted, in words."""
        where = "proven over all of space" if self.proven else "by a search from many"
        return where if self.proven else f"{where} starts, not proven everywhere"

    @property
    def posterior_means(self) -> Float[np.ndarray, "n d"]:
        """The data denoised: E[location | X_i]."""
        return self.denoise(self.data)

    @property
    def labels(self) -> Int[np.ndarray, "n"]:
        """Index of the most likely atom of each datum."""
        return self.assign(self.data)

    def posteriors(
        self,
        x: Real[np.ndarray, "m *d"] | None = None,
        likelihood: AbstractLikelihood | None = None,
    ) -> Posterior:
        """The law of the location given each row: means, intervals, signs.

        Without x, of the data. Rows with errors of their own (or exposures, or trials)
        bring them along as a `likelihood`.
        """
        rows = self.data if x is None else x
        return Posterior(self.atoms, self.posterior(rows, likelihood))

    def posterior(
        self,
        x: Real[np.ndarray, "m *d"],
        likelihood: AbstractLikelihood | None = None,
    ) -> Float[np.ndarray, "m k"]:
        """P(location = atom_j | X = x_i); rows sum to one."""
        logs = self._joint(x, likelihood)
        logs -= logs.max(axis=1, keepdims=True)
        p = np.exp(logs)
        return p / p.sum(axis=1, keepdims=True)

    def denoise(
        self,
        x: Real[np.ndarray, "m *d"],
        likelihood: AbstractLikelihood | None = None,
    ) -> Float[np.ndarray, "m d"]:
        """Posterior mean of the location at each row of x."""
        return self.posterior(x, likelihood) @ self.atoms

    def assign(
        self,
        x: Real[np.ndarray, "m *d"],
        likelihood: AbstractLikelihood | None = None,
    ) -> Int[np.ndarray, "m"]:
        """Index of the most likely atom at each row of x."""
        return np.argmax(self.posterior(x, likelihood), axis=1)

    def log_density(
        self,
        x: Real[np.ndarray, "m *d"],
        likelihood: AbstractLikelihood | None = None,
    ) -> Float[np.ndarray, "m"]:
        """log of the fitted density (of counts: probability) at each row of x."""
        return np.logaddexp.reduce(self._joint(x, likelihood), axis=1)

    def density(
        self,
        x: Real[np.ndarray, "m *d"],
        likelihood: AbstractLikelihood | None = None,
    ) -> Float[np.ndarray, "m"]:
        """The fitted density at each row of x."""
        return np.exp(self.log_density(x, likelihood))

    def optimality(self, x: Real[np.ndarray, "m *d"]) -> Float[np.ndarray, "m"]:
        """D at locations x: at most one everywhere, one at the atoms, if optimal."""
        inside = self.noise.whiten(as_data("x", x, self.atoms.shape[1]))
        log_f = self.sample.log_mixture(self.noise.whiten(self.atoms), self.weights)
        with np.errstate(over="ignore"):
            return np.exp(log_certificate(inside, self.sample, log_f))

    def draw(self, n: int, seed: int) -> Float[np.ndarray, "n d"]:
        """n locations drawn from the fitted mixing law."""
        chosen = np.random.default_rng(seed).choice(
            len(self.weights), n, p=self.weights
        )
        return self.atoms[chosen]

    def __str__(self) -> str:
        lines = [f"{len(self.atoms)} components; {self.assumption}"]
        for weight, atom in zip(self.weights, self.atoms, strict=True):
            place = "  ".join(f"{x:12.6g}" for x in atom)
            lines.append(f"  weight {weight:.6f}  at {place}")
        lines.append(
            f"log-likelihood {self.log_likelihood:.9g}, certified gap {self.gap:.2e} "
            f"per datum, {self.proof}"
        )
        return "\n".join([*lines, *(f"doubt: {doubt}" for doubt in self.doubts)])

    def _repr_html_(self) -> str:  # what a notebook shows
        first, *_, proof = str(self).split("\n")[: len(self.atoms) + 2]
        rows = [(w, *x) for w, x in zip(self.weights, self.atoms, strict=True)]
        head = ["weight", *(f"x{k + 1}" for k in range(self.atoms.shape[1]))]
        words = "\n".join([first, proof, *(f"doubt: {d}" for d in self.doubts)])
        return connected("report_table")(words, head, rows)

    def _joint(
        self, x: object, likelihood: AbstractLikelihood | None
    ) -> Float[np.ndarray, "m k"]:
        given = self.likelihood if likelihood is None else likelihood
        return weighted(given.log_table(x, self.atoms), self.weights)


def npmle(
    data: Real[np.ndarray, "n d"] | Real[np.ndarray, "n"],
    *,
    covariance: float | Float[np.ndarray, "d d"] | None = None,
    likelihood: AbstractLikelihood | None = None,
    weights: Float[np.ndarray, "n"] | None = None,
    method: Method = ColumnGeneration(),
) -> MixtureFit:
    """Fit the mixing law of noisy data by maximum likelihood, with a certificate.

    minimize over probability measures rho:
        l(rho) = -sum_i p_i log int L_i drho.

    `covariance` is that of Gaussian noise, known: a variance or a matrix; one if
    nothing is said, and `fit.assumption` says so. Other noise is a `likelihood`:
    `GaussianErrors(sd)` for errors that differ between observations,
    `PoissonCounts(exposure)`, `BinomialCounts(trials)`, `estimated_noise(data)`. A 1-D
    array is n data on the line. `weights` p_i are one over n unless given.

    >>> from pushforward.statistics.galaxies import galaxy_velocities
    >>> fit = npmle(galaxy_velocities() / 1000)
    >>> len(fit.atoms), round(fit.loss, 9), fit.gap < 1e-9
    (6, 2.431004409, True)

    [yan2024npmle]
    """
    given = _likelihood(covariance, likelihood)
    with one_thread():
        observed = given.observe(data, weights)
        return _certified(given, observed, method)


def _likelihood(
    covariance: object | None, likelihood: AbstractLikelihood | None
) -> AbstractLikelihood:
    if likelihood is None:
        if covariance is None:
            return GaussianNoise(1.0, "assumed because nothing was said")
        return GaussianNoise(covariance)  # type: ignore[arg-type]  # checked by it
    if covariance is not None:
        raise InputError(
            "`covariance` must be left out where a `likelihood` is given, which says "
            "what the noise is."
        )
    if not isinstance(likelihood, AbstractLikelihood):
        raise InputError(
            f"`likelihood` must be one such as GaussianErrors(sd) or PoissonCounts(), "
            f"got {likelihood!r:.60}."
        )
    return likelihood


def _certified(
    likelihood: AbstractLikelihood, observed: Observed, method: Method
) -> MixtureFit:
    """Solve, then search all of space for the largest D."""
    sample, chart = observed.sample, observed.chart
    atoms, masses, history, maxima = method.solve(sample, chart)
    if not (np.isfinite(atoms).all() and np.isfinite(masses).all()):
        raise InputError(
            "the solver left the finite numbers; rescale the data to a few hundred "
            "noise standard deviations, or use ColumnGeneration()."
        )
    order = np.lexsort(atoms.T[::-1])
    atoms, masses = atoms[order], masses[order]
    log_f = sample.log_mixture(atoms, masses)
    maxima = maxima or all_modes(sample, log_f, atoms)
    value = float(-sample.weights @ log_f) + observed.shift
    return MixtureFit(
        atoms=chart.color(atoms),
        weights=masses,
        loss=value,
        log_likelihood=-observed.total * value,
        gap=maxima.bound,
        proven=maxima.proven,
        worst=chart.color(maxima.points[:1])[0],
        likelihood=likelihood,
        doubts=doubts_of(sample, len(atoms), len(observed.data)),
        history=history,
        data=observed.data,
        noise=chart,
        sample=sample,
    )
