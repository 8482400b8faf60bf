"""What is known of a location once its observation is seen, and where the scale of the
data contradicts the noise that was assumed."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import chi2

from pushforward.errors import InputError
from pushforward.statistics.mixtures._likelihood import AbstractSample, Sample


@dataclass(frozen=True, eq=False)
class Posterior:
    """P(location = atom_j | X_i) for each row i, over the atoms of a fitted mixture.

    The mixing law is taken as known (empirical Bayes): its own error is not in the
    intervals, which are therefore somewhat short where few data resemble each other.
    """

    atoms: Float[np.ndarray, "k d"]
    probabilities: Float[np.ndarray, "n k"]

    @property
    def mean(self) -> Float[np.ndarray, "n d"]:
        """E[location | X_i]."""
        return self.probabilities @ self.atoms

    @property
    def sd(self) -> Float[np.ndarray, "n d"]:
        """Standard deviation of each coordinate."""
        far = self.atoms[None] - self.mean[:, None]
        return np.sqrt(np.einsum("nk,nkd->nd", self.probabilities, far**2))

    def quantile(self, level: float) -> Float[np.ndarray, "n d"]:
        """The least atom coordinate with at least that much mass up to it."""
        if not 0 < level < 1:
            raise InputError(f"`level` must lie in (0, 1), got {level}.")
        found = np.empty((len(self.probabilities), self.atoms.shape[1]))
        for k, place in enumerate(self.atoms.T):
            order = np.argsort(place)
            mass = np.cumsum(self.probabilities[:, order], axis=1)
            at = np.argmax(mass >= level * (1 - 1e-12), axis=1)
            found[:, k] = place[order][at]
        return found

    def interval(
        self, level: float = 0.9
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
        """Equal-tailed: from the (1 - level)/2 quantile to the other."""
        if not 0 < level < 1:
            raise InputError(f"`level` must lie in (0, 1), got {level}; try 0.9.")
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def false_sign_rate(self) -> Float[np.ndarray, "n d"]:
        """min(P(location >= 0), P(location <= 0)): the chance that the sign is wrong.

        [stephens2017fdr]
        """
        below = self.probabilities @ (self.atoms <= 0).astype(float)
        above = self.probabilities @ (self.atoms >= 0).astype(float)
        return np.clip(np.minimum(below, above), 0.0, 1.0)


def weighted(
    log_table: Float[np.ndarray, "n k"], weights: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "n k"]:
    """log w_j p(x_i | atom_j)."""
    return log_table + np.log(weights)


RARE = 1e-4  # chance of spreading so little if the noise is right
MANY = 0.5  # atoms per distinct datum
FEW = 8  # data that say nothing about it


def doubts_of(sample: AbstractSample, atoms: int, n: int) -> tuple[str, ...]:
    """Sentences on noise of one covariance that is far too large or too small.

    `n` is the number of data, equal ones counted.

    The data spread at least as the noise does, so that n times their variance, in units
    of that of the noise, is below a quantile of chi-squared only by chance.
    """
    if not isinstance(sample, Sample) or n < FEW:
        return ()
    p, x = sample.weights, sample.points
    spread = p @ (x - p @ x) ** 2
    least = float(spread.min())
    found = []
    if chi2.cdf(n * least, n - 1) < RARE:
        found.append(
            f"the data spread only {np.sqrt(least):.2g} times as far as the noise "
            "alone would; the assumed variance is too large, or in other units"
        )
    if len(x) >= FEW and atoms > MANY * len(x):
        found.append(
            f"{atoms} components for {len(x)} distinct data: the noise is far smaller "
            "than the gaps between the data, and the fit only repeats them; the "
            "assumed variance is too small, or in other units"
        )
    return tuple(found)
