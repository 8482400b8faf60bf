"""No rate or probability of large D is overlooked: a bound over the whole range.

log D(t) + Psi(t) is the logarithm of a sum of exponentials of convex functions of the
natural parameter t, so that over an interval of length h

    log D <= (larger value at an end) + h^2 max Psi'' / 8 .

Intervals above the level asked for are halved; around a maximum D is concave in t:
with v_i the slope and J_i the information of log L_i there,

    D''(t + u) / D(t) = E_R[e^{a_i} ((v_i + u_i)^2 - J_i(t + u))],

R the law on the data proportional to w_i L_i; where |u| <= rho, J_i grows by g = e^rho
at most, |u_i| by J_i g rho and |a_i| by |v_i| rho + J_i g rho^2 / 2. The intervals at a
rate or probability of zero are infinite in t. There

    D <= sum_i w_i max L_i over the interval,    w_i = p_i / f_i,

and D does not rise at all from zero on if its derivative in the rate r is negative,

    sum_{k_i > 0} w_i k_i b^{k_i - 1} / Z_i  <  sum_{k_i = 0} w_i e_i L_i(b),

b the other end, Z_i the constant of L_i. A probability of one is one of zero for the
failures.
"""

import numpy as np
from jaxtyping import Float

from pushforward.statistics.mixtures._counts import AbstractCounts, BinomialSample
from pushforward.statistics.mixtures._everywhere import bound_everywhere, is_top
from pushforward.statistics.mixtures._likelihood import log_certificate

SIDE = 0.25  # of the first intervals
CORNERS = 4_000_000  # looked at in all, before the bound found so far is returned
WORK = 2e9  # evaluations of L_i
HALVINGS = 14  # of the interval around a maximum


@bound_everywhere.register
def bound_counts(
    sample: AbstractCounts,
    log_f: Float[np.ndarray, "n"],
    modes: Float[np.ndarray, "m 1"],
    level: float,
) -> tuple[float, Float[np.ndarray, "k 1"]] | None:
    """An upper bound of log D, `level` if it can be proven, and points above `level`.

    As for Gaussian noise.
    """
    log_ratio = np.log(sample.weights) - log_f
    edges = np.linspace(0, sample.top, int(np.ceil(sample.top / SIDE)) + 2)
    if len(edges) * len(log_f) > WORK:
        return None
    around, radius = _concave(sample, log_ratio, modes)
    low, high, bound, seen = edges[:-1], edges[1:], level, 0
    while len(low) and seen < CORNERS and seen * len(log_f) < WORK:
        value = [log_certificate(x[:, None], sample, log_f) for x in (low, high)]
        above = np.maximum(*value) > level
        if above.any():
            ends = np.concatenate([low[value[0] > level], high[value[1] > level]])
            return float(np.max(value)), np.unique(ends)[:, None]
        seen += 2 * len(low)
        top = _bounds(sample, log_ratio, low, high, np.maximum(*value))
        t_low, t_high = sample.natural(low), sample.natural(high)
        covered = np.zeros(len(low), dtype=bool)
        for t, r in zip(around, radius, strict=True):
            covered |= (t_low >= t - r) & (t_high <= t + r)
        left = (top > level) & ~covered
        bound = float(top[left].max(initial=level))
        middle = (low[left] + high[left]) / 2
        low, high = np.append(low[left], middle), np.append(middle, high[left])
    return bound, np.empty((0, 1))


def _concave(
    sample: AbstractCounts, log_ratio: np.ndarray, modes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """t at each maximum that is no end, and how far D is concave around it."""
    phi = modes[~sample.is_end(modes[:, 0]), 0]
    logs = sample.log_kernel(phi[:, None]) + log_ratio
    excess = sample.counts - sample.means(phi)
    noise = sample.variances(phi)
    radius = [_radius(*rows) for rows in zip(logs, excess, noise, strict=True)]
    return sample.natural(phi), np.array(radius)


def _radius(
    logs: Float[np.ndarray, "n"], v: Float[np.ndarray, "n"], J: Float[np.ndarray, "n"]
) -> float:
    """Half an interval around one maximum on which D is concave, or zero."""
    R = np.exp(logs - _total(logs))
    room = -float(R @ (v**2 - J))
    for rho in 0.5 ** np.arange(HALVINGS):
        g = np.exp(rho)
        a = np.minimum(np.abs(v) * rho + J * g * rho**2 / 2, 99)
        u = J * g * rho
        lost = np.expm1(a) * (v**2 + J)
        lost += np.exp(a) * (2 * np.abs(v) * u + u**2 + (g - 1) * J)
        if is_top(float(R @ v), room - float(R @ lost)):
            return float(rho)
    return 0.0


def _bounds(
    sample: AbstractCounts,
    log_ratio: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    ends: np.ndarray,
) -> np.ndarray:
    """An upper bound of log D on each interval [low, high], given that at its ends."""
    t_low, t_high = sample.natural(low), sample.natural(high)
    finite = np.isfinite(t_low) & np.isfinite(t_high)
    middle = np.clip(np.pi * np.sqrt(sample.largest) / 2, low, high)  # of p = 1/2
    noisy = middle if isinstance(sample, BinomialSample) else high
    width = np.where(finite, t_high, 0.0) - np.where(finite, t_low, 0.0)
    found = ends + sample.noise(noisy) * width**2 / 8
    for j in np.flatnonzero(~finite):
        found[j] = _at_an_end(sample, log_ratio, low[j], high[j], ends[j])
    return found


def _at_an_end(
    sample: AbstractCounts,
    log_ratio: np.ndarray,
    low: float,
    high: float,
    ends: float,
) -> float:
    """An upper bound of log D on an interval that reaches an end of the range."""
    infinite = ~np.isfinite(sample.natural(np.array([low, high])))
    if infinite.all():
        return _total(log_ratio)  # every L_i is at most one
    at_zero = bool(infinite[0])
    other = high if at_zero else low
    log_l = sample.log_kernel(np.array([[other]]))[0]
    places = sample.places[:, 0]  # where L_i is largest, and one
    crude = _total(log_ratio + np.where((low <= places) & (places <= high), 0.0, log_l))
    log_w = log_l + log_ratio  # w_i L_i(b)
    if isinstance(sample, BinomialSample):
        p = float(sample.chance(np.array([other]))[0])
        k, b = (sample.counts, p) if at_zero else (sample.sizes - sample.counts, 1 - p)
        log_free = -(sample.sizes - k) * np.log1p(-b)
    else:
        k, b = sample.counts, float(other**2 / (4 * sample.largest))
        log_free = sample.sizes * b
    with np.errstate(divide="ignore"):
        rise = _total((log_w + log_free + np.log(k) - np.log(b))[k > 0])
        fall = _total((log_w + np.log(sample.sizes))[k == 0])
    return min(crude, ends) if rise < fall else crude


def _total(logs: np.ndarray) -> float:
    return float(np.logaddexp.reduce(logs, initial=-np.inf))
