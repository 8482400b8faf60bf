"""Tokens with one common inner product gamma: the exact scalar dynamics.

An orthonormal start stays equiangular, and gamma obeys a scalar equation. So do k
clusters of equal mass: take n = k. "Unnormalized" is USA with its 1/n, not scaled by
e^{-beta}. [geshkovski2023perspective]

The time integral shared by two tokens, equiangular tokens and equal clusters.

With u = 1 - gamma the equiangular law turns into dt = w(u) du / (2 u (n - (n-1) u)),
where w is e^{beta u} + n - 1 (normalized) or n e^{beta (u - 1)} (unnormalized). Both
are sharply peaked at large beta and singular at u = 0 and u = n/(n-1), so the
integral is cut into panels that shrink geometrically towards each of those places,
and the largest exponent is kept apart.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from pushforward.theory._checks import (
    Real,
    between,
    nonnegative,
    real,
    representable,
    scalar,
    together,
    whole,
)

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


# Below this gap 1 - gamma the flow is exponential to rounding, and is continued so.
_TINY = 1e-18


def rate(gamma: ArrayLike, beta: ArrayLike, n: int) -> Real:
    """Speed of the common inner product under SA.

    2 (1-gamma) ((n-1) gamma + 1) / (e^{beta (1-gamma)} + n - 1)
    """
    n, (gamma, beta) = whole("n", n, 2), together(gamma=gamma, beta=beta)
    gap = 1 - gamma
    shift = np.maximum(beta * gap, 0)  # before exp: beta may reach thousands
    attention = np.exp(-shift) / (np.exp(beta * gap - shift) + (n - 1) * np.exp(-shift))
    return (2 * gap * ((n - 1) * gamma + 1) * attention)[()]


def rate_unnormalized(gamma: ArrayLike, beta: ArrayLike, n: int) -> Real:
    """Speed under USA: (2/n) e^{beta gamma} (1-gamma) ((n-1) gamma + 1)."""
    n, (gamma, beta) = whole("n", n, 2), together(gamma=gamma, beta=beta)
    shape = 2 / n * (1 - gamma) * ((n - 1) * gamma + 1)
    with np.errstate(over="ignore", divide="ignore"):  # a factor 0 beats an overflow
        speed = np.sign(shape) * np.exp(beta * gamma + np.log(np.abs(shape)))
    return representable("the USA rate", np.asarray(speed), "e^{-beta} times it")


def gamma(t: ArrayLike, beta: float, n: int, start: float = 0.0) -> Real:
    """Common inner product at time t under SA, from `start` at time 0.

    The time integral is inverted, so that t = 1e15 costs what t = 1 does.

    >>> from pushforward.theory import equiangular
    >>> round(float(equiangular.gamma(1.0, 4.0, 8)), 10)
    0.0383792759
    """
    return _gamma(t, beta, n, start, normalized=True)


def gamma_unnormalized(t: ArrayLike, beta: float, n: int, start: float = 0.0) -> Real:
    """Common inner product at time t under USA."""
    return _gamma(t, beta, n, start, normalized=False)


def gamma_at_zero_beta(t: ArrayLike, n: int) -> Real:
    """The closed form (e^{2t} - 1) / (e^{2t} + n - 1), orthonormal start, beta = 0."""
    n, t = whole("n", n, 2), nonnegative("t", t)
    return (-np.expm1(-2 * t) / (1 + (n - 1) * np.exp(-2 * t)))[()]


def log_merging_time(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """Natural logarithm of the time from gamma = start to 1 - delta under SA.

    Finite for every beta: at beta in the thousands only the logarithm is a float.
    """
    return _log_time(beta, n, start, delta, normalized=True)


def log_merging_time_unnormalized(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """The same under USA."""
    return _log_time(beta, n, start, delta, normalized=False)


def merging_time(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """Time t* at which gamma, started at `start`, reaches 1 - delta under SA.

    int_start^{1-delta} (e^{beta (1-y)} + n - 1) / (2 (1-y) ((n-1) y + 1)) dy

    As a function of beta this is the phase curve of high-dimensional attention; use
    the n of the simulation. For k orthonormal clusters of equal mass take n = k.
    """
    return _exp_time(log_merging_time(beta, n, start, delta), "log_merging_time")


def merging_time_unnormalized(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """The phase curve of USA."""
    logarithm = log_merging_time_unnormalized(beta, n, start, delta)
    return _exp_time(logarithm, "log_merging_time_unnormalized")


def log_merging_time_asymptote(beta: ArrayLike, start: float = 0.0) -> Real:
    """Logarithm of e^{beta (1-g)} / (2 beta (1-g) (1 + (n-1) g)) for n = 2 or g = 0.

    The leading term at large beta, either of a pair started at inner product
    g = start, or (start = 0) of any number of orthonormal clusters.
    """
    beta, g = _positive_beta(beta), scalar("start", between("start", start, -1, 1))
    return (beta * (1 - g) - np.log(2 * beta * (1 - g) * (1 + g)))[()]


def window_exit(t_max: float, n: int, delta: float = 1e-3) -> float:
    """The beta at which the phase curve of SA leaves the window t <= t_max.

    >>> round(window_exit(30.0, 32), 6)
    6.906459
    """
    log_t = np.log(scalar("t_max", between("t_max", t_max, 0, np.inf)))

    def excess(beta: float) -> float:
        return float(log_merging_time(beta, n, delta=delta)) - log_t

    if excess(0.0) > 0:
        earliest = float(merging_time(0.0, n, delta=delta))
        between("t_max", t_max, earliest, np.inf)
    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-14))


def _positive_beta(beta: ArrayLike) -> np.ndarray:
    return between("beta", beta, 0, np.inf)


def _gap(n: int, start: float) -> float:
    # The regular simplex gamma = -1/(n-1) is a fixed point, and nothing lies below.
    return 1 - scalar("start", between("start", start, -1 / (n - 1), 1))


def _log_time(beta, n, start, delta, normalized):
    n = whole("n", n, 2)
    gap = _gap(n, start)
    delta = scalar("delta", between("delta", delta, 0, gap))
    betas = real("beta", beta)
    times = [Clock(b, n, gap, delta, normalized).log_total() for b in betas.flat]
    return np.array(times).reshape(betas.shape)[()]


def _exp_time(logarithm: Real, instead: str) -> Real:
    with np.errstate(over="ignore"):
        time = np.exp(np.asarray(logarithm))
    return representable("the time", time, f"`{instead}`")


def _gamma(t, beta, n, start, normalized):
    n, t, beta = whole("n", n, 2), nonnegative("t", t), scalar("beta", beta)
    gap = _gap(n, start)
    if gap <= _TINY:
        return np.full(t.shape, start)[()]
    clock = Clock(beta, n, gap, _TINY, normalized)
    return (1 - clock.gap_at(t.ravel()).reshape(t.shape))[()]
