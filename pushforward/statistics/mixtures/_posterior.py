"""What is known of a location once its observation is seen."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError


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
