"""The time integral shared by two tokens, equiangular tokens and equal clusters.

With u = 1 - gamma the equiangular law turns into dt = w(u) du / (2 u (n - (n-1) u)),
where w is e^{beta u} + n - 1 (normalized) or n e^{beta (u - 1)} (unnormalized). Both
are sharply peaked at large beta and singular at u = 0 and u = n/(n-1), so the
integral is cut into panels that shrink geometrically towards each of those places,
and the largest exponent is kept apart.
"""

from dataclasses import dataclass

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


@dataclass(frozen=True)
class Clock:
    """Time spent while 1 - gamma falls from `start` to `end`, over e^{log_scale}."""

    beta: float
    n: int
    start: float
    end: float
    normalized: bool

    @property
    def log_scale(self) -> float:
        """The largest exponent met on the way; the integrand is divided by it."""
        exponent = max(self.beta * self.start, self.beta * self.end)
        return max(exponent, 0.0) if self.normalized else exponent - self.beta

    def density(self, u: np.ndarray) -> np.ndarray:
        """-dt/du divided by e^{log_scale}."""
        n, beta = self.n, self.beta
        if self.normalized:
            weight = np.exp(beta * u - self.log_scale)
            weight = weight + (n - 1) * np.exp(-self.log_scale)
        else:
            weight = n * np.exp(beta * (u - 1) - self.log_scale)
        return weight / (2 * u * (n - (n - 1) * u))

    def breaks(self) -> np.ndarray:
        """Panel ends, from `start` down to `end`."""
        pole = self.n / (self.n - 1)
        width = self.start - self.end
        scale = min(width, 1 / abs(self.beta)) if self.beta else width
        steps = scale * 2.0 ** np.arange(0, max(1, np.log2(width / scale)) + 1)
        small = self.end * 2.0 ** np.arange(0, np.log2(self.start / self.end) + 1)
        room = pole - self.start
        far = room * 2.0 ** np.arange(0, max(0, np.log2(pole / room)) + 1)
        cuts = np.concatenate([self.start - steps, self.end + steps, small, pole - far])
        cuts = cuts[(cuts > self.end) & (cuts < self.start)]
        return np.concatenate([[self.start], np.unique(cuts)[::-1], [self.end]])

    def spent(self, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """Scaled time from u = high down to u = low, each pair inside one panel."""
        half, middle = (high - low) / 2, (high + low) / 2
        u = middle[..., None] + half[..., None] * NODES
        return half * (self.density(u) @ WEIGHTS)

    def log_total(self) -> float:
        """Natural logarithm of the whole time."""
        cuts = self.breaks()
        return self.log_scale + np.log(self.spent(cuts[:-1], cuts[1:]).sum())

    def gap_at(self, t: np.ndarray) -> np.ndarray:
        """1 - gamma at times t >= 0; `end` when the time is not enough to end."""
        cuts = self.breaks()
        spent = np.concatenate([[0.0], np.cumsum(self.spent(cuts[:-1], cuts[1:]))])
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.where(t > 0, t * np.exp(-self.log_scale), 0.0)
        panel = np.clip(np.searchsorted(spent, scaled) - 1, 0, len(cuts) - 2)
        top = cuts[panel]
        remaining = scaled - spent[panel]
        low, high = cuts[panel + 1].copy(), top.copy()
        for _ in range(60):  # bisection: a panel spans one octave, 60 halvings is eps
            middle = (low + high) / 2
            early = self.spent(top, middle) < remaining
            high, low = np.where(early, middle, high), np.where(early, low, middle)
        return (low + high) / 2
