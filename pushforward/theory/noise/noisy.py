"""Noise against attention: stationary measures of dX = USA dt + sqrt(2/kappa) dW.

A stationary density is a fixed point, mu proportional to e^{kappa Z / beta} with
Z(x) = int e^{beta <x,y>} dmu(y). At beta = 0 the exponent is kappa <m, x>, m the mean,
and the density is of von Mises and Fisher. Up to `transition.beta_star` the uniform
measure is the only one below `stability.noise_threshold`; above it ordered states exist
already from `transition.kappa_fold` on. [rigollet2025meanfield, mun2026phase]
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ive

from pushforward.errors import InputError, NumericalError
from pushforward.theory._bessel import log_ratios
from pushforward.theory._checks import positive as positive_numbers
from pushforward.theory._checks import real, scalar, whole
from pushforward.theory.noise import transition

GRID = 1024  # angles; beta and kappa of order hundreds are resolved
PICARD, NEWTON = 50, 200  # at the threshold Newton halves the error only


def order_parameter(kappa: float, d: int) -> float:
    """r > 0 with r = I_{d/2}(kappa r) / I_{d/2-1}(kappa r), at beta = 0; else 0.

    It leaves zero at kappa = d, like sqrt((d + 2) (kappa - d)) / d close above it.

    >>> round(order_parameter(3.0, 2), 6)
    0.724159
    """
    kappa, d = scalar("kappa", positive_numbers("kappa", kappa)), whole("d", d, 2)

    def excess(r: float) -> float:
        """The quotient over r, minus one: it falls from kappa/d - 1 to below zero."""
        log_ratio = log_ratios(d / 2 - 1, kappa * r, 1)[1]
        return float(kappa * np.exp(log_ratio) - 1)

    if kappa <= d * (1 + 1e-14):
        return 0.0
    low = 1e-9
    if excess(low) <= 0:  # closer to the threshold than rounding tells
        return 0.0
    return float(brentq(excess, low, 1.0, xtol=1e-15)) if excess(1.0) < 0 else 1.0


def stationary_modes(beta: float, kappa: float, k_max: int) -> np.ndarray:
    """Modes int cos k theta dmu, k = 0..k_max, of the ordered state on the circle.

    By iterating mu -> e^{kappa Z / beta} / norm from a concentrated start, which comes
    down on the largest fixed point, then Newton, for the rate of the iteration tends to
    one at the fold. Symmetric about theta = 0. Uniform below `transition.kappa_fold`;
    between it and `transition.kappa_c` the state is stable but not the minimizer.

    >>> round(float(stationary_modes(0.0, 3.0, 1)[1]), 6)
    0.724159
    """
    beta, kappa = scalar("beta", beta), scalar("kappa", kappa)
    k_max = whole("k_max", k_max, 1)
    if not (0 <= beta <= 50 and 0 < kappa * np.exp(beta) <= 5000):
        raise NumericalError(
            f"beta = {beta:g}, kappa = {kappa:g} give a state too narrow or an unknown "
            "one: expected 0 <= beta <= 50 and kappa e^beta at most 5000."
        )
    k = np.arange(1, GRID // 4)
    # Z / beta without its mean is sum_k 2 (I_k / beta) f_k cos k theta,
    # and I_k / beta = (I_{k-1} - I_{k+1}) / (2k) at beta = 0 too
    slope = np.exp(beta) * (ive(k - 1, beta) - ive(k + 1, beta)) / k
    pull = kappa * slope
    k = k[pull > 1e-18 * pull[0]]  # the others follow from these
    pull, f = pull[k - 1], np.ones(len(k))
    for step in range(PICARD + NEWTON):
        image = _exponential_family(pull * f)
        move = image[k] - f
        if np.abs(move).max() < 1e-14:
            break
        if step >= PICARD:  # d image_k / d f_l = pull_l Cov(cos k theta, cos l theta)
            around = image[np.abs(k[:, None] - k)] + image[k[:, None] + k]
            covariance = around / 2 - np.outer(image[k], image[k])
            move = np.linalg.solve(np.eye(len(k)) - covariance * pull, move)
        f = f + move
    else:
        raise NumericalError(
            f"no stationary state found at beta = {beta:g}, kappa = {kappa:g}: its "
            f"modes still move by {np.abs(move).max():.1e}. Go off the threshold."
        )
    return np.pad(image, (0, max(0, k_max + 1 - len(image))))[: k_max + 1]


def _exponential_family(c: np.ndarray) -> np.ndarray:
    """Modes of the density proportional to e^{sum_k c_k cos k theta}."""
    spectrum = np.zeros(GRID // 2 + 1)
    spectrum[1 : len(c) + 1] = c / 2
    exponent = np.fft.irfft(spectrum * GRID, GRID)
    rho = np.exp(exponent - exponent.max())
    return np.fft.rfft(rho / rho.mean()).real / GRID


def synchronization_rate(sigma: float, d: int) -> float:
    """Rate at which common noise alone brings tokens together, (d - 1) sigma^2 / 2.

    dX = sigma P_X o dW with one W for all: log distance falls at this rate, which is
    minus every Lyapunov exponent of the gradient flow on the sphere of R^d.

    >>> synchronization_rate(0.5, 3)
    0.25
    """
    sigma, d = scalar("sigma", sigma), whole("d", d, 2)
    return (d - 1) * sigma**2 / 2


def common_noise_path(z_0: complex, increments: np.ndarray, h: float) -> np.ndarray:
    """The Poisson kernel under beta = 0 and common noise: z after every increment.

    dz = z (1 - |z|^2) dt / 2 + (sigma/2) (dW - z^2 conj(dW)), Stratonovich, with W =
    W_1 + i W_2; mode k of the law given W is conj(z)^k. `increments` are sigma (W(t +
    h) - W(t)) as rows of R^2; each is followed along a straight line, in 64 parts.
    """
    rows, h = np.atleast_2d(real("increments", increments)), scalar("h", h)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InputError(f"`increments` must be rows of R^2, got shape {rows.shape}.")
    if not isinstance(z_0, complex | float | int) or not abs(z_0) <= 1:
        raise InputError(f"`z_0` must be one number of the unit disk, got {z_0!r}.")
    if h < 0 or h > 1 or np.abs(rows).max() > 10:
        raise InputError(
            f"`h` must be in [0, 1] and `increments` at most 10 in size, got h = {h:g} "
            f"and {np.abs(rows).max():g}. Take smaller steps."
        )
    parts, z = 64, complex(z_0)
    path = [z]
    for w in rows @ np.array([1.0, 1.0j]):
        for _ in range(parts):
            first = _pull(z, w, h) / parts
            z = z + (first + _pull(z + first, w, h) / parts) / 2
        path.append(z)
    return np.array(path)


def _pull(z: complex, w: complex, h: float) -> complex:
    push = z * h + w
    return (push - np.conj(push) * z**2) / 2


def bifurcation(kappas: ArrayLike, beta: float, d: int = 2) -> np.ndarray:
    """The order parameter of the minimizer of the free energy, for every kappa.

    Zero up to kappa_c; above `transition.beta_star` it jumps there.

    >>> bifurcation([0.39, 0.42], 4.0).round(4).tolist()
    [0.0, 0.8208]
    """
    values = real("kappas", kappas).ravel()
    first = transition.kappa_c(beta, d)
    return np.array(
        [
            transition.ordered_state(beta, d, float(k)).r if k > first else 0.0
            for k in values
        ]
    )
