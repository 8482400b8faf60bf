"""One query among n independent uniform keys on S^{d-1}: when attention is sparse.

The critical scale is beta = lam n^{2/(d-1)}. There the attention weights in order of
size tend to e^{-E_i} / sum_j e^{-E_j} with E_i = lam (G_i / C_d)^{2/(d-1)}, where
G_1 < G_2 < ... are Poisson points of rate one: a few keys share everything, in random
parts. Far below that scale attention is an average over many keys. [bruno2026scaling]
"""

import functools
import math

import numpy as np
from scipy.special import exp1, gammaln

from pushforward.errors import InputError
from pushforward.theory._bessel import log_normalized, log_ratios
from pushforward.theory._checks import scalar, whole

PANELS, NODES = 12, 16  # of the quadratures
FAR = 40.0  # e^{-FAR} is nothing
MANY = 1e4


def critical_beta(n: int, d: int, lam: float = 1.0) -> float:
    """lam n^{2/(d-1)}.

    >>> round(critical_beta(1000, 3), 9)
    1000.0
    """
    n, d, lam = whole("n", n, 1), whole("d", d, 2), _positive("lam", lam)
    return lam * n ** (2 / (d - 1))


def cap_constant(d: int) -> float:
    """C_d of P(1 - <q, x> <= t) ~ C_d t^{(d-1)/2}: sqrt(2)/pi, 1/2, ...

    >>> round(cap_constant(2), 10)
    0.4501581581
    """
    d = whole("d", d, 2)
    log = gammaln(d / 2) - gammaln((d - 1) / 2) + (d - 1) / 2 * math.log(2)
    return math.exp(log) / (math.sqrt(math.pi) * (d - 1))


def largest_weight(lam: float, d: int) -> float:
    """The mean of the largest weight at the critical scale.

    >>> round(largest_weight(0.5, 3), 10)  # e^{-gamma} with Euler's constant
    0.5614594836
    """
    lam, d = _positive("lam", lam), whole("d", d, 2)
    return _dickman(lam) if d == 3 else _conditioned(lam, d)[0]


def concentration(lam: float, d: int) -> float:
    """The mean of sum_i w_i^2, one over the number of keys that count.

    >>> round(concentration(1.0, 3), 10)
    0.6352558927
    """
    lam, d = _positive("lam", lam), whole("d", d, 2)
    return 1 - _dickman(lam) / (2 * lam) if d == 3 else _conditioned(lam, d)[1]


def effective_keys(beta: float, n: int, d: int) -> float:
    """Far below the critical scale: n c_0(beta)^2 / c_0(2 beta).

    >>> round(effective_keys(20.0, 20_000, 3), 6)
    1000.0
    """
    n, d, beta = whole("n", n, 1), whole("d", d, 2), _positive("beta", beta)
    return n * math.exp(2 * _log_c0(beta, d) - _log_c0(2 * beta, d))


def output_mean(beta: float, d: int) -> float:
    """The part of the output along the query: I_{d/2}(beta) / I_{d/2-1}(beta).

    >>> round(output_mean(20.0, 3), 10)
    0.95
    """
    d, beta = whole("d", d, 2), _positive("beta", beta)
    return beta * math.exp(log_ratios(d / 2 - 1, beta, 1)[1])


def output_variance(beta: float, n: int, d: int) -> float:
    """The variance of the output in each direction across the query.

    >>> round(output_variance(20.0, 20_000, 3) * 1e5, 4)
    2.4375
    """
    keys = effective_keys(beta, n, d)
    return output_mean(2 * beta, d) / (2 * beta * keys)


def _positive(name: str, value: float) -> float:
    value = scalar(name, value)
    if not 1e-3 <= value <= 1e4:
        raise InputError(f"`{name}` must lie between 1e-3 and 1e4, got {value:g}.")
    return value


def _log_c0(beta: float, d: int) -> float:
    """log of the mean of e^{beta <q, x> - beta} over the sphere."""
    return float(log_normalized(d / 2 - 1, beta))


@functools.lru_cache
def _dickman(lam: float) -> float:
    """d = 3: int e^{-s - theta Ein(s)} ds, theta = 1 / (2 lam).

    Ein(s) = gamma + log s + E_1(s); near zero the powers of s are smoothed by s = v^4.
    """
    v, weight = _panels(FAR**0.25)
    s = v**4
    ein = np.where(s > 1e-8, np.euler_gamma + np.log(s) + exp1(s), s)
    return float(weight @ (4 * v**3 * np.exp(-s - ein / (2 * lam))))


@functools.lru_cache
def _conditioned(lam: float, d: int) -> tuple[float, float]:
    """E w_1 and E sum w^2, given G_1 = x and then averaged over its law e^{-x} dx.

    With u_j = e^{-(E_j - E_1)}, S = sum_{j>1} u_j and Q = sum_{j>1} u_j^2:
    w_1 = 1 / (1 + S), sum w^2 = (1 + Q) / (1 + S)^2, and 1 / (1 + S)^k is an integral
    of s^{k-1} e^{-s (1 + S)}, whose mean Campbell's formula gives.
    """
    a, C = (d - 1) / 2, cap_constant(d)
    keys = math.lgamma(a + 1) + math.log(C) - a * math.log(lam)  # that count
    if keys > math.log(MANY):
        raise InputError(
            f"`lam` = {lam:g} at d = {d} lets more than {MANY:g} keys share: their "
            "weights are even. Use effective_keys(beta, n, d)."
        )
    smooth = max(a, 1.0)  # E is a power 1/a of the points
    z, z_weight = _panels(FAR ** (1 / smooth))
    x, x_weight = (
        z**smooth,
        z_weight * smooth * z ** (smooth - 1) * np.exp(-(z**smooth)),
    )
    s_root, s_weight = _panels(FAR**0.5)
    s, s_weight = s_root**2, s_weight * 2 * s_root
    last = C * (FAR / lam) ** a + 1
    y, y_weight = _panels(last ** (1 / smooth))
    m, m_weight = y**smooth, y_weight * smooth * y ** (smooth - 1)
    first = second = 0.0
    for point, weight in zip(x, x_weight, strict=True):
        energy = lam * (np.array([point]) / C) ** (1 / a)
        u = np.exp(energy - lam * ((point + m) / C) ** (1 / a))
        log_L = np.expm1(-s[:, None] * u) @ m_weight
        Q = np.exp(-s[:, None] * u) @ (m_weight * u**2)
        inside = s_weight * np.exp(-s + log_L)
        first += weight * inside.sum()
        second += weight * (inside * s * (1 + Q)).sum()
    return float(first), float(second)


def _panels(end: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss nodes on panels of [0, end] that are finer near zero."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    edges = end * np.linspace(0, 1, PANELS + 1) ** 2
    half = np.diff(edges) / 2
    middle = (edges[1:] + edges[:-1]) / 2
    x = middle[:, None] + half[:, None] * node
    return x.ravel(), (half[:, None] * weight).ravel()
