"""Counts: Poisson with exposures and binomial with trials.

In the natural parameter t (log rate; log odds) log L_i = k_i t - psi_i(t), so that

    d/dt log L_i = k_i - psi_i'(t),      -d^2/dt^2 log L_i = psi_i''(t) <= Psi''(t),

psi_i' the mean count, Psi that of the observation with most exposure or trials.
Positions are the coordinate phi in which that one has unit noise everywhere,
dphi / dt = sqrt(Psi''): phi = 2 sqrt(E rate), and phi = 2 sqrt(N) arcsin sqrt(p).
All likelihoods are even around an end of its range, where t is infinite.
"""

import abc
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.statistics.mixtures._likelihood import AbstractSample

END = 1e-6  # an atom this close to an end is there
Positions = Float[np.ndarray, "m"]
Table = Float[np.ndarray, "m n"]


class AbstractCounts(AbstractSample):
    """Counts k_i of exposure or trials `sizes`."""

    counts: Float[np.ndarray, "n"]
    sizes: Float[np.ndarray, "n"]

    @property
    def largest(self) -> float:
        """The largest exposure E, or number of trials N."""
        return float(self.sizes.max())

    @property
    @abc.abstractmethod
    def top(self) -> float:
        """The end of the range of phi."""

    @abc.abstractmethod
    def natural(self, phi: Positions) -> Positions:
        """t, infinite at the ends."""

    @abc.abstractmethod
    def means(self, phi: Positions) -> Table:
        """psi_i'(t): the mean of each count."""

    @abc.abstractmethod
    def variances(self, phi: Positions) -> Table:
        """psi_i''(t): the variance of each count."""

    @abc.abstractmethod
    def bends(self, phi: Positions) -> Positions:
        """d^2 t / dphi^2; d t / dphi is one over the root of Psi''."""

    @abc.abstractmethod
    def noise(self, phi: Positions) -> Positions:
        """Psi''(t)."""

    @property
    def statistics(self) -> Float[np.ndarray, "n 2"]:
        """k_i and the size relative to the largest."""
        return np.stack([self.counts, self.sizes / self.largest], axis=1)

    def inside(self, x: Float[np.ndarray, "m 1"]) -> Float[np.ndarray, "m 1"]:
        """Reflected at the ends; what comes close to an end is there."""
        x = np.abs(x)
        x = np.where(x > self.top, np.abs(2 * self.top - x), x)
        x = np.where(x < END, 0.0, x)
        return np.where(x > self.top - END, self.top, x)

    def is_end(self, phi: Positions) -> np.ndarray:
        """Whether t is infinite there."""
        return ~np.isfinite(self.natural(phi))

    def scores(self, x: Float[np.ndarray, "m 1"]) -> Float[np.ndarray, "1 m n"]:
        """(k_i - psi_i') dt/dphi; zero at an end, where L_i is even."""
        phi, end = x[:, 0], self.is_end(x[:, 0])
        slope = 1 / np.sqrt(np.where(end, 1.0, self.noise(phi)))
        scores = (self.counts - self.means(phi)) * slope[:, None]
        return np.where(end[:, None], 0.0, scores)[None]

    def information(
        self, shares: Float[np.ndarray, "m n"], x: Float[np.ndarray, "m 1"]
    ) -> Float[np.ndarray, "m 1 1"]:
        """sum_i shares_ji (psi_i'' (dt/dphi)^2 - (k_i - psi_i') d^2t/dphi^2).

        One per share at an end, where an atom has no way to go but stays put.
        """
        phi, end = x[:, 0], self.is_end(x[:, 0])
        safe = np.where(end, self.top / 3, phi)
        excess = self.counts - self.means(safe)
        bend = self.variances(safe) / self.noise(safe)[:, None]
        bend -= excess * self.bends(safe)[:, None]
        found = (shares * bend).sum(axis=1)
        return np.where(end, shares.sum(axis=1), found)[:, None, None]

    def tilted(
        self,
        mean: Float[np.ndarray, "m 2"],
        covariance: Float[np.ndarray, "m 2 2"],
        x: Float[np.ndarray, "m 1"],
    ) -> tuple[Float[np.ndarray, "m 1"], Float[np.ndarray, "m 1 1"]]:
        """With a = Psi'(t): slope E[k - a s] dt/dphi, s the relative size."""
        phi, end = x[:, 0], self.is_end(x[:, 0])
        safe = np.where(end, self.top / 3, phi)
        noise, peak = self.noise(safe), self.expected(safe)
        excess = mean[:, 0] - peak * mean[:, 1]
        J = np.stack([np.ones_like(peak), -peak], axis=1)
        spread = np.einsum("mr,mrs,ms->m", J, covariance, J) / noise
        slope = np.where(end, 0.0, excess / np.sqrt(noise))
        bend = mean[:, 1] - excess * self.bends(safe) - spread
        return slope[:, None], np.where(end, 1.0, bend)[:, None, None]

    @abc.abstractmethod
    def expected(self, phi: Positions) -> Positions:
        """Psi'(t): the mean of a count of the largest size."""

    def box(
        self, log_ratio: Float[np.ndarray, "n"]
    ) -> tuple[Float[np.ndarray, "1"], Float[np.ndarray, "1"]]:
        """The whole range."""
        return np.zeros(1), np.array([self.top])

    def factor(
        self, k: int, axis: Float[np.ndarray, "a"], rows: slice = slice(None)
    ) -> None:
        """Counts are looked at one by one."""
        return


@dataclass(frozen=True, eq=False)
class PoissonSample(AbstractCounts):
    """Counts of mean exposure times rate; phi = 2 sqrt(E rate)."""

    counts: Float[np.ndarray, "n"]
    sizes: Float[np.ndarray, "n"]
    weights: Float[np.ndarray, "n"]

    @property
    def places(self) -> Float[np.ndarray, "n 1"]:
        """Of the rate k_i / e_i."""
        return 2 * np.sqrt(self.largest * self.counts / self.sizes)[:, None]

    @property
    def top(self) -> float:
        """Of the largest rate seen; every L_i falls beyond."""
        return float(self.places.max()) or 1.0

    def natural(self, phi: Positions) -> Positions:
        """log(E rate)."""
        with np.errstate(divide="ignore"):
            return 2 * np.log(phi / 2)

    def expected(self, phi: Positions) -> Positions:
        """E rate."""
        return phi**2 / 4

    def noise(self, phi: Positions) -> Positions:
        """E rate."""
        return phi**2 / 4

    def means(self, phi: Positions) -> Table:
        """e_i rate."""
        return np.outer(phi**2 / 4, self.sizes / self.largest)

    def variances(self, phi: Positions) -> Table:
        """e_i rate."""
        return self.means(phi)

    def bends(self, phi: Positions) -> Positions:
        """t = 2 log phi."""
        return -2 / phi**2

    def log_kernel(self, x: Float[np.ndarray, "m 1"]) -> Float[np.ndarray, "m n"]:
        """k log(mean / k) - (mean - k): zero where the mean is the count."""
        logs = _won(self.counts, self.counts / self.sizes, self._rates(x))
        logs -= self.means(x[:, 0])
        logs += self.counts
        return logs

    def _rates(self, x: Float[np.ndarray, "m 1"]) -> Positions:
        return x[:, 0] ** 2 / (4 * self.largest)


@dataclass(frozen=True, eq=False)
class BinomialSample(AbstractCounts):
    """Successes among `sizes` trials; phi = 2 sqrt(N) arcsin sqrt(p)."""

    counts: Float[np.ndarray, "n"]
    sizes: Float[np.ndarray, "n"]
    weights: Float[np.ndarray, "n"]

    @property
    def places(self) -> Float[np.ndarray, "n 1"]:
        """Of the share k_i / n_i."""
        share = self.counts / self.sizes
        return 2 * np.sqrt(self.largest) * np.arcsin(np.sqrt(share))[:, None]

    @property
    def top(self) -> float:
        """p = 1."""
        return float(np.pi * np.sqrt(self.largest))

    def chance(self, phi: Positions) -> Positions:
        """p."""
        return np.sin(phi / (2 * np.sqrt(self.largest))) ** 2

    def natural(self, phi: Positions) -> Positions:
        """log p / (1 - p), infinite at both ends."""
        angle = phi / (2 * np.sqrt(self.largest))
        with np.errstate(divide="ignore"):
            odds = 2 * np.log(np.sin(angle)) - 2 * np.log(np.abs(np.cos(angle)))
        return np.where(phi >= self.top, np.inf, odds)

    def expected(self, phi: Positions) -> Positions:
        """N p."""
        return self.largest * self.chance(phi)

    def noise(self, phi: Positions) -> Positions:
        """N p (1 - p)."""
        return self.largest * np.sin(phi / np.sqrt(self.largest)) ** 2 / 4

    def means(self, phi: Positions) -> Table:
        """n_i p."""
        return np.outer(self.chance(phi), self.sizes)

    def variances(self, phi: Positions) -> Table:
        """n_i p (1 - p)."""
        return np.outer(self.noise(phi), self.sizes / self.largest)

    def bends(self, phi: Positions) -> Positions:
        """t = 2 log tan(phi / (2 sqrt N))."""
        angle = phi / np.sqrt(self.largest)
        return -2 * np.cos(angle) / (self.largest * np.sin(angle) ** 2)

    def log_kernel(self, x: Float[np.ndarray, "m 1"]) -> Float[np.ndarray, "m n"]:
        """k log(p / share) + (n - k) log((1 - p) / (1 - share))."""
        angle = x[:, 0] / (2 * np.sqrt(self.largest))
        q = np.where(x[:, 0] >= self.top, 0.0, np.cos(angle) ** 2)
        k, lost = self.counts, self.sizes - self.counts
        logs = _won(k, k / self.sizes, np.sin(angle) ** 2)
        logs += _won(lost, lost / self.sizes, q)
        return logs


def _won(k: Float[np.ndarray, "n"], best: np.ndarray, p: Positions) -> Table:
    """k_i log(p_j / best_i), zero where k_i is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.add.outer(np.log(p), -np.log(np.where(k > 0, best, 1.0)))
        logs *= k
    logs[p == 0] = np.where(k > 0, -np.inf, 0.0)
    return logs
