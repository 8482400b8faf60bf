"""Modified Bessel functions of the first kind where scipy under- or overflows."""

import numpy as np
from scipy.special import gammaln, ive

# Beyond this hypot(nu, x) Debye's expansion with two terms is exact to rounding:
# the third is below 0.1 / hypot^2.
_LARGE = 1e6


def scaled(nu: np.ndarray, x: np.ndarray) -> np.ndarray:
    """e^{-|x|} I_nu(x) for nu >= 0, also where scipy gives up on large arguments."""
    nu, x = np.broadcast_arrays(nu, x)
    values = np.asarray(ive(nu, x)).copy()
    lost = ~np.isfinite(values)
    if lost.any():
        order, size = nu[lost], np.abs(x[lost])
        power = order * np.log(size / (order + np.hypot(order, size)))
        sign = np.where((x[lost] < 0) & (order % 2 == 1), -1.0, 1.0)
        values[lost] = sign * np.exp(_debye(order, size) + power)
    return values


def log_normalized(nu: float, x: float) -> float:
    """log of Gamma(nu+1) (2/x)^nu e^{-|x|} I_nu(x), without e^{-|x|} 1 at x = 0."""
    x = abs(x)
    s = np.hypot(nu, x)
    if s > _LARGE:
        return gammaln(nu + 1) + nu * np.log(2 / (nu + s)) + _debye(nu, x)
    scaled = ive(nu, x)
    if scaled > 1e-280 and x > 1e-3:
        return gammaln(nu + 1) + nu * np.log(2 / x) + np.log(scaled)
    # sum_m (x/2)^{2m} / (m! (nu+1)_m): positive terms, so logarithms lose nothing.
    # They peak where m (nu + m) = x^2/4 and fall like a Gaussian after it.
    peak = x * x / 2 / (nu + s) if x else 0.0
    m = np.arange(1, int(peak + 12 * np.sqrt(peak) + 40))
    half = np.log(x / 2) if x else -np.inf
    terms = 2 * m * half - gammaln(m + 1) - (gammaln(nu + 1 + m) - gammaln(nu + 1))
    top = max(0.0, terms.max())
    return float(top + np.log(np.exp(-top) + np.exp(terms - top).sum()) - x)


def log_ratios(nu: float, x: float, k_max: int) -> np.ndarray:
    """log of I_{nu+k}(x) / (x^k I_nu(x)) for k = 0..k_max.

    Backward recurrence r_k = 1 / (2 (nu+k+1) + x^2 r_{k+1}) for the successive
    quotients, started where it has forgotten its first value.
    """
    # The recurrence forgets like a Gaussian of variance |x|; 12 deviations is eps.
    large = np.hypot(nu + k_max, x) > _LARGE
    extra = 0 if large else int(40 + 12 * np.sqrt(abs(x)))
    order = nu + k_max + extra
    s, s_next = np.hypot(order, x), np.hypot(order + 1, x)
    quotient = 1 / (order + s)
    if large:
        step = order * np.log1p((1 + s_next - s) / (order + s))
        log_quotient = _debye(order + 1, x) - _debye(order, x) - step
        quotient = np.exp(log_quotient) / (order + 1 + s_next)
    logs = np.zeros(k_max + 1)
    for k in range(k_max + extra - 1, -1, -1):
        quotient = 1 / (2 * (nu + k + 1) + x * x * quotient)
        if k < k_max:
            logs[k + 1] = np.log(quotient)
    return np.cumsum(logs)


def _debye(nu, x):
    """log of e^{-|x|} I_nu(x) ((nu + s)/x)^nu with s = hypot(nu, x) large."""
    s = np.hypot(nu, x)
    correction = (3 - 5 * (nu / s) ** 2) / (24 * s)
    return nu**2 / (s + abs(x)) - np.log(2 * np.pi * s) / 2 + np.log1p(correction)
