"""Decoder tokens on the circle: correlations of order 1/N and the lost middle.

Token j of N is drawn to earlier tokens with weights e^{-lambda (j-k)/N} by the slope of
e^{beta cos}; from i.i.d. uniform tokens nothing happens at the mean-field order. What
the last token remembers of the token at position sigma_0 is a correlation g/N. The
torus has mass one, so the Fourier coefficients are I_n(beta). `decay` is lambda,
`source` is sigma_0. [duerinckx2026kinetic]
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import hyp0f1, iv

from pushforward.errors import InputError
from pushforward.theory._checks import (
    Real,
    nonnegative,
    positive,
    real,
    representable,
    scalar,
    together,
    whole,
)

GRID = 800  # positions among which wells are looked for, as in the published figures


@dataclasses.dataclass(frozen=True)
class Head:
    """One head of a signed combination: its weight, beta and lambda."""

    weight: float
    beta: float
    decay: float


@dataclasses.dataclass(frozen=True)
class Well:
    """A local minimum of a retrieval profile: where it lies and its value."""

    source: float
    value: float


def mode_rates(beta: float, modes: int = 20) -> np.ndarray:
    """a_n = n^2 I_n(beta) for n = 1..modes: how fast mode n of a correlation grows."""
    n = np.arange(1, whole("modes", modes, 1) + 1)
    with np.errstate(over="ignore"):
        rates = n**2 * iv(n, scalar("beta", beta))
    return np.asarray(representable("a_n", rates, "a smaller beta"))


def position_kernel(sigma: ArrayLike, source: ArrayLike, decay: float) -> Real:
    """k(sigma, sigma_0) = lambda e^{-lambda (sigma-sigma_0)} / (1 - e^{-lambda sigma}).

    Zero for sigma_0 >= sigma, 1/sigma at lambda = 0; its integral over sigma_0 is one.
    """
    sigma, source = positive("sigma", sigma), nonnegative("source", source)
    sigma, source = together(sigma=sigma, source=source)
    past = np.maximum(sigma - source, 0.0)
    height = np.exp(-_decay(decay) * past) * _pull(sigma, decay)
    return np.where(source < sigma, height, 0.0)[()]


def correlation(
    rate: float, t: float, source: ArrayLike, sigma: ArrayLike = 1.0, *, decay: float
) -> Real:
    """g_a(t, sigma; sigma_0), the limit of N Cov of mode n with a = `rate` = a_n.

    g = k sqrt(a t / Y) I_1(2 sqrt(a t Y)) with
    Y = log((e^{lambda sigma} - 1) / (e^{lambda sigma_0} - 1)); it solves
    dg/dt = a (k + int_{sigma_0}^sigma k(sigma, s) g(t, s) ds), g(0) = 0.

    >>> from scipy.special import iv
    >>> round(float(correlation(iv(1, 1.0), 1.0, 0.5, decay=1.0)), 10)
    0.705886
    """
    c = scalar("rate", rate) * float(nonnegative("t", scalar("t", t)))
    sigma, source = together(sigma=positive("sigma", sigma), source=_source(source))
    past = np.where(source < sigma, source, sigma)
    with np.errstate(over="ignore", invalid="ignore"):
        # sqrt(c/Y) I_1(2 sqrt(cY)) = c 0F1(2; cY): entire, nothing to divide by.
        g = (
            position_kernel(sigma, source, decay)
            * c
            * hyp0f1(2.0, c * _y(sigma, past, decay))
        )
    g = np.where(source < sigma, g, 0.0)
    return representable("the correlation", g, "a smaller t or beta")


def codeword_weights(codewords: int, modes: int = 20) -> np.ndarray:
    """omega_n = e^{-pi^2 n^2 / (2 M^2)}, n = 1..modes, for M codewords."""
    n = np.arange(1, whole("modes", modes, 1) + 1)
    return np.exp(-((np.pi * n / whole("codewords", codewords, 1)) ** 2) / 2)


def retrieval(
    source: ArrayLike,
    t: float,
    beta: float,
    decay: float,
    codewords: int = 8,
    modes: int = 20,
) -> Real:
    """S_t(sigma_0) = sum_n omega_n g_{a_n}(t, 1; sigma_0), the retrieval profile.

    High at the start, because many paths lead from an early token to the last one;
    high at the end when lambda > 0 and t is below `critical_time`; low in between.

    >>> round(float(retrieval(0.5, 1.0, 1.0, 1.0)), 10)
    1.2655236928
    """
    omega = codeword_weights(codewords, modes)
    pairs = zip(omega, mode_rates(beta, modes), strict=True)
    total = sum(w * correlation(a, t, source, decay=decay) for w, a in pairs)
    return np.asarray(total)[()]


def retrieval_slope(
    source: ArrayLike,
    t: float,
    beta: float,
    decay: float,
    codewords: int = 8,
    modes: int = 20,
) -> Real:
    """dS_t / dsigma_0; at sigma_0 = 1 its sign says whether the end is favored."""
    source = _source(source)
    c = mode_rates(beta, modes) * float(nonnegative("t", scalar("t", t)))
    omega = codeword_weights(codewords, modes)
    y = _y(1.0, source, decay)[..., None] * c
    with np.errstate(over="ignore", invalid="ignore"):
        # d 0F1(2; x) = 0F1(3; x) / 2 dx and dY = -pull dsigma_0
        steep = c * _pull(source, decay)[..., None] * hyp0f1(3.0, y) / 2
        inner = (omega * c * (_decay(decay) * hyp0f1(2.0, y) - steep)).sum(-1)
        slope = np.exp(-_decay(decay) * (1 - source)) * _pull(1.0, decay) * inner
    return representable("the slope", slope, "a smaller t or beta")


def minimum(
    t: float, beta: float, decay: float, codewords: int = 8, modes: int = 20
) -> Well | None:
    """Where retrieval is worst, or None when there is no minimum inside (0, 1).

    >>> round(minimum(1.0, 1.0, 1.0).source, 6)
    0.259276
    """
    arguments = (t, beta, decay, codewords, modes)
    grid = np.linspace(0.0, 1.0, GRID + 1)[1:]
    slopes = np.asarray(retrieval_slope(grid, *arguments))
    turns = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] > 0))
    if not len(turns):
        return None
    low, high = grid[turns[0]], grid[turns[0] + 1]
    where = brentq(
        lambda s: float(retrieval_slope(s, *arguments)), low, high, xtol=1e-14
    )
    return Well(where, float(retrieval(where, *arguments)))


def critical_time(
    beta: float, decay: float, codewords: int = 8, modes: int = 20
) -> float:
    """t_crit = 2 (1 - e^{-lambda}) sum omega a / sum omega a^2: recency ends here.

    S_t rises at the end before this time and falls after it; 0 at lambda = 0, where
    the profile always falls.

    >>> round(critical_time(1.0, 1.0), 9)
    2.45748898
    """
    a = mode_rates(float(positive("beta", scalar("beta", beta))), modes)
    omega, top = codeword_weights(codewords, modes), a.max()
    share = a / top if top > 0 else a  # squares of a may overflow
    time = -2 * np.expm1(-_decay(decay)) * (omega @ share)
    return _ratio(_ratio(time, omega @ share**2), top)


def smallness_time(beta: float, decay: float, modes: int = 20) -> float:
    """The time up to which the U shape is a theorem.

    t sup_n a_n <= min(3 - sqrt(3), 2 (1 - e^{-lambda})).
    """
    a = mode_rates(float(positive("beta", scalar("beta", beta))), modes).max()
    bound = min(3 - np.sqrt(3), -2 * np.expm1(-_decay(decay)))
    return float(_ratio(bound, a))


def retrieval_of_heads(
    source: ArrayLike,
    t: float,
    heads: Sequence[Head],
    codewords: int = 8,
    modes: int = 20,
) -> Real:
    """sum_h weight_h S_t^h(sigma_0): a signed combination may have several wells."""
    listed = isinstance(heads, list | tuple) and len(heads)
    if not listed or not all(isinstance(head, Head) for head in heads):
        raise InputError(
            "`heads` must be a non-empty list of Head(weight, beta, decay), got "
            f"{heads!r}."
        )
    parts = [
        scalar("weight", h.weight)
        * retrieval(source, t, h.beta, h.decay, codewords, modes)
        for h in heads
    ]
    return np.asarray(sum(parts))[()]


def wells(
    profile: Callable[[np.ndarray], ArrayLike], low: float = 0.02, high: float = 0.98
) -> list[Well]:
    """Local minima of a profile strictly inside a grid of 800 positions."""
    if not callable(profile):
        raise InputError(f"`profile` must be a function of positions, got {profile!r}.")
    grid = np.linspace(scalar("low", low), scalar("high", high), GRID)
    values = real("profile(positions)", profile(grid))
    if values.shape != grid.shape:
        raise InputError(
            f"`profile` must give one value per position, got shape {values.shape} for "
            f"{GRID} positions."
        )
    inner = (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])
    return [Well(float(grid[k]), float(values[k])) for k in np.flatnonzero(inner) + 1]


def expected_score(profile: ArrayLike, n: int, codewords: int = 8) -> Real:
    """A_N = sqrt(pi/2)/M + sqrt(2 pi) S_t / (M N): the soft score of a retrieval."""
    m, n = whole("codewords", codewords, 1), whole("n", n, 1)
    signal = np.sqrt(2 * np.pi) * real("profile", profile) / (m * n)
    return (np.sqrt(np.pi / 2) / m + signal)[()]


def score_by_images(gap: ArrayLike, codewords: int) -> Real:
    """sum_k e^{-M^2 (D - 2 pi k)^2 / (2 pi^2)} for a gap D between two angles."""
    m = whole("codewords", codewords, 1)
    gap = np.remainder(real("gap", gap) + np.pi, 2 * np.pi) - np.pi
    images = gap[..., None] - 2 * np.pi * np.arange(-8, 9)
    return np.exp(-((m * images / np.pi) ** 2) / 2).sum(-1)[()]


def score_by_modes(gap: ArrayLike, codewords: int) -> Real:
    """(sqrt(pi/2)/M) (1 + 2 sum_n omega_n cos nD): the same by Poisson summation."""
    m = whole("codewords", codewords, 1)
    n = np.arange(1, 4 * m + 1)  # omega at n = 4 M is e^{-8 pi^2}
    waves = np.cos(real("gap", gap)[..., None] * n) @ codeword_weights(m, 4 * m)
    return (np.sqrt(np.pi / 2) / m * (1 + 2 * waves))[()]


def _decay(decay: float) -> float:
    value = scalar("decay", decay)
    return float(nonnegative("decay", value))


def _source(source: ArrayLike) -> np.ndarray:
    source = positive("source", source)
    if np.any(source > 1):
        raise InputError(
            f"`source` must lie in (0, 1], got {source.max():g}. It is a position i/N."
        )
    return source


def _pull(sigma: ArrayLike, decay: float) -> np.ndarray:
    """lambda / (1 - e^{-lambda sigma}), 1/sigma at lambda = 0."""
    decay, sigma = _decay(decay), np.asarray(sigma, float)
    return 1 / sigma if decay == 0 else -decay / np.expm1(-decay * sigma)


def _y(sigma: ArrayLike, source: np.ndarray, decay: float) -> np.ndarray:
    """log of (e^{lambda sigma} - 1) / (e^{lambda sigma_0} - 1) without overflow."""
    decay, sigma = _decay(decay), np.asarray(sigma, float)
    return decay * (sigma - source) + np.log(_pull(source, decay) / _pull(sigma, decay))


def _ratio(a: float, b: float) -> float:
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        value = np.asarray(np.divide(a, b))
    return float(representable("the time", value, "a beta that is not so extreme"))
