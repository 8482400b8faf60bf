"""Counts as observations: Poisson rates and binomial probabilities."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln, xlogy

from pushforward.errors import InputError
from pushforward.statistics.mixtures._counts import BinomialSample, PoissonSample
from pushforward.statistics.mixtures._noise import AbstractLikelihood, Observed, Rows
from pushforward.statistics.mixtures._whitening import as_weights, distinct


@dataclass(frozen=True)
class RootChart:
    """rate -> 2 sqrt(E rate), and back."""

    largest: float

    def whiten(self, x: Rows) -> Rows:
        """To units of the noise."""
        return 2 * np.sqrt(self.largest * x)

    def color(self, x: Rows) -> Rows:
        """Back to rates."""
        return x**2 / (4 * self.largest)


@dataclass(frozen=True)
class ArcsineChart:
    """p -> 2 sqrt(N) arcsin sqrt(p), and back."""

    largest: float

    def whiten(self, x: Rows) -> Rows:
        """To units of the noise."""
        return 2 * np.sqrt(self.largest) * np.arcsin(np.sqrt(x))

    def color(self, x: Rows) -> Rows:
        """Back to probabilities."""
        return np.sin(x / (2 * np.sqrt(self.largest))) ** 2


@dataclass(frozen=True, eq=False)
class PoissonCounts(AbstractLikelihood):
    """k_i is Poisson of mean exposure_i times the rate; atoms are rates.

    >>> import numpy as np
    >>> from pushforward.statistics import npmle
    >>> fit = npmle(np.array([3, 3, 3]), likelihood=PoissonCounts())
    >>> fit.atoms.round(9).tolist(), fit.weights.tolist()
    ([[3.0]], [1.0])
    """

    exposure: object = 1.0

    @property
    def words(self) -> str:
        """Whether exposures differ."""
        e = np.unique(np.asarray(self.exposure, dtype=float))
        same = f"exposure {e[0]:.6g}" if len(e) == 1 else "an exposure per observation"
        return f"Poisson counts, {same}; atoms are rates per unit of exposure"

    def observe(self, data: object, weights: object | None) -> Observed:
        """Distinct pairs of count and exposure."""
        k = _counts("data", data)
        e = _sizes("exposure", self.exposure, k)
        p = as_weights(weights, len(k))
        rows, mass = distinct(np.stack([k, e], axis=1), p)
        sample = PoissonSample(rows[:, 0], rows[:, 1], mass)
        constant = xlogy(k, k) - k - gammaln(k + 1)
        chart = RootChart(sample.largest)
        shift = float(-(p / p.sum()) @ constant)
        return Observed(k[:, None], sample, chart, float(p.sum()), shift)

    def log_table(self, x: object, atoms: Rows) -> Float[np.ndarray, "n k"]:
        """k log(e rate) - e rate - log k!."""
        k = _counts("x", x)
        mean = np.outer(_sizes("exposure", self.exposure, k), atoms[:, 0])
        with np.errstate(divide="ignore"):
            return xlogy(k[:, None], mean) - mean - gammaln(k + 1)[:, None]


@dataclass(frozen=True, eq=False)
class BinomialCounts(AbstractLikelihood):
    """k_i successes among trials_i, each of probability p; atoms are probabilities."""

    trials: object

    @property
    def words(self) -> str:
        """The numbers of trials."""
        n = np.unique(np.asarray(self.trials, dtype=float))
        same = f"{n[0]:g} trials" if len(n) == 1 else f"{n[0]:g} to {n[-1]:g} trials"
        return f"binomial counts of {same}; atoms are probabilities"

    def observe(self, data: object, weights: object | None) -> Observed:
        """Distinct pairs of successes and trials."""
        k, n = self._read("data", data)
        p = as_weights(weights, len(k))
        rows, mass = distinct(np.stack([k, n], axis=1), p)
        sample = BinomialSample(rows[:, 0], rows[:, 1], mass)
        constant = _choices(k, n) + xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
        chart = ArcsineChart(sample.largest)
        shift = float(-(p / p.sum()) @ constant)
        return Observed(k[:, None], sample, chart, float(p.sum()), shift)

    def log_table(self, x: object, atoms: Rows) -> Float[np.ndarray, "n k"]:
        """log (n choose k) p^k (1 - p)^(n - k)."""
        k, n = self._read("x", x)
        p = atoms[:, 0]
        with np.errstate(divide="ignore"):
            won, lost = xlogy(k[:, None], p), xlogy((n - k)[:, None], 1 - p)
        return won + lost + _choices(k, n)[:, None]

    def _read(self, name: str, data: object) -> tuple[np.ndarray, np.ndarray]:
        k = _counts(name, data)
        n = _sizes("trials", self.trials, k)
        if (n != np.round(n)).any():
            raise InputError(
                f"`trials` must be whole numbers, got {self.trials!r:.60}."
            )
        if (k > n).any():
            row = int(np.argmax(k > n))
            raise InputError(
                f"{name} must not exceed `trials`, got {k[row]:g} of {n[row]:g} in row "
                f"{row}."
            )
        return k, n


def _choices(k: np.ndarray, n: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _counts(name: str, data: object) -> Float[np.ndarray, "n"]:
    """Whole numbers, not negative, one per row."""
    try:
        k = np.asarray(data, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be counts: {error}.") from None
    if k.ndim == 2 and k.shape[1] == 1:
        k = k[:, 0]
    if k.ndim != 1 or not k.size:
        raise InputError(f"{name} must be one column of counts, got shape {k.shape}.")
    bad = ~np.isfinite(k) | (k < 0) | (k != np.round(k)) | (k > 1e9)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{name} must be whole numbers from 0 to 1e9, got {k[row]} in row {row}. "
            "For measurements use Gaussian noise."
        )
    return k


def _sizes(name: str, sizes: object, k: np.ndarray) -> Float[np.ndarray, "n"]:
    """A positive number for each count."""
    try:
        e = np.asarray(sizes, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"`{name}` must be numbers: {error}.") from None
    if e.ndim == 0:
        e = np.full(len(k), float(e))
    if e.shape != k.shape or not np.isfinite(e).all() or (e <= 0).any():
        raise InputError(
            f"`{name}` must be a positive number, or one for each of the {len(k)} "
            f"counts, got shape {e.shape}. For new rows pass a likelihood of their own."
        )
    return e
