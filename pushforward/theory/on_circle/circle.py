"""Attention on the circle: kernels, equispaced tokens, thresholds in beta.

Kernels carry the factor e^{-beta} (shift before the exponential), so that they are
those of USA divided by e^beta. [geshkovski2023perspective], [karagodin2024causal]
"""

import numpy as np
from numpy.typing import ArrayLike

from pushforward.theory._bessel import scaled
from pushforward.theory._checks import (
    Real,
    nonnegative,
    real,
    representable,
    scalar,
    together,
    whole,
)


def fourier_coefficients(beta: float, k: ArrayLike) -> Real:
    """Fourier coefficients of e^{beta cos theta}, scaled: e^{-|beta|} I_k(beta)."""
    order, at = together(k=k, beta=beta)
    return scaled(np.abs(order), at)[()]


def attraction(theta: ArrayLike, beta: ArrayLike) -> Real:
    """Pull of a token at angle theta: h = e^{beta (cos theta - 1)} sin theta."""
    theta, beta = together(theta=theta, beta=beta)
    with np.errstate(over="ignore"):
        pull = np.exp(-beta * _versine(theta)) * np.sin(theta)
    return representable("the pull", pull, "a beta that is not so negative")


def attraction_slope(theta: ArrayLike, beta: ArrayLike) -> Real:
    """g = h' = e^{beta (cos theta - 1)} (cos theta - beta sin^2 theta)."""
    theta, beta = together(theta=theta, beta=beta)
    shape = np.cos(theta) - beta * np.sin(theta) ** 2
    with np.errstate(over="ignore"):
        slope = np.exp(-beta * _versine(theta)) * shape
    return representable("the slope", slope, "a beta that is not so negative")


def peak_angle(beta: ArrayLike, d: int = 2) -> Real:
    """tau*: where the pull is strongest, and g changes sign.

    cos tau* = (-(d-1) + sqrt((d-1)^2 + 4 beta^2)) / (2 beta), close to
    sqrt((d-1)/beta) for large beta.

    >>> round(float(peak_angle(64.0)), 6)
    0.124837
    """
    beta, m = nonnegative("beta", beta), whole("d", d, 2) - 1
    total = m + np.hypot(m, 2 * beta)
    # sin^2 tau = (d-1) cos tau / beta; the arctangent keeps small angles exact.
    return np.arctan2(np.sqrt(2 * m / total), 2 * beta / total)[()]


def half_circle_threshold(n: int) -> float:
    """The beta above which (n-1) tau* < pi: n tokens at rest fit in a half circle.

    cos(a)/sin^2(a) with a = pi/(n-1), about n^2/pi^2; 0 when every beta will do.
    """
    return _threshold(whole("n", n, 2), np.pi)


def collapse_threshold(n: int) -> float:
    """The beta above which (n-1) tau* < pi/2, as the published proof asks."""
    return _threshold(whole("n", n, 2), np.pi / 2)


def scaled_equispaced_energy(beta: ArrayLike, n: int) -> Real:
    """2 beta e^{-beta} E of n equispaced tokens.

    The mean of e^{beta (cos - 1)} over the n-th roots of unity, which equals
    e^{-beta} sum over k in nZ of I_k(beta).
    """
    beta, angles = real("beta", beta), _roots(n)
    with np.errstate(over="ignore"):
        energy = np.exp(-beta[..., None] * _versine(angles)).mean(-1)
    return representable("the energy", energy, "a beta that is not so negative")


def equispaced_energy(beta: ArrayLike, n: int) -> Real:
    """E = (1/(2 beta)) sum_{k in nZ} I_k(beta) of n equispaced tokens."""
    beta = real("beta", beta)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        value = np.exp(beta[..., None] * np.cos(_roots(n))).mean(-1) / (2 * beta)
    return representable("the energy", value, "`scaled_equispaced_energy`")


def equispaced_spectrum(beta: float, n: int) -> np.ndarray:
    """Eigenvalues mu_0..mu_{n-1} of SA linearized at n equispaced tokens.

    mu_m multiplies the wave e^{2 pi i m j/n}; mu_0 = 0 is the rotation. It is the
    unnormalized one divided by sum_{k in nZ} I_k(beta). The pairing mode m = n/2 is
    the largest when n is small.
    """
    _, weights, waves = _linearize(beta, n)
    return waves / weights.mean()


def equispaced_spectrum_unnormalized(beta: float, n: int) -> np.ndarray:
    """The same for USA.

    mu_m = (1/beta) [sum_{k = -m mod n} k^2 I_k - sum_{k = 0 mod n} k^2 I_k]
    """
    log_scale, _, waves = _linearize(beta, n)
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.exp(log_scale) * waves
    representable("the spectrum", value, "`equispaced_spectrum`, or a smaller beta")
    return value


def _linearize(beta: float, n: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Largest exponent, kernel and eigenvalues of USA, both divided by its exponential.

    The eigenvalues are (1/n) sum_j g(2 pi j/n) (cos(2 pi j m/n) - 1), which is the
    aliased Bessel sum in closed form.
    """
    angles, beta = _roots(n), scalar("beta", beta)
    exponents = beta * np.cos(angles)
    weights = np.exp(exponents - exponents.max())
    slope = weights * (np.cos(angles) - beta * np.sin(angles) ** 2)
    waves = -(_versine(np.arange(n)[:, None] * angles) @ slope) / n
    return float(exponents.max()), weights, waves


def _roots(n: int) -> np.ndarray:
    return 2 * np.pi * np.arange(whole("n", n, 1)) / n


def _threshold(n: int, arc: float) -> float:
    angle = arc / (n - 1)
    if angle >= np.pi / 2:
        return 0.0
    return float(np.cos(angle) / np.sin(angle) ** 2)


def _versine(theta: np.ndarray) -> np.ndarray:
    return 2 * np.sin(theta / 2) ** 2
