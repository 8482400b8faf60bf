"""Linear stability: how the uniform state breaks up, how fast consensus is reached.

A perturbation of the uniform density by a spherical harmonic of degree k grows like
e^{lambda_k t}. Rates are arrays indexed by degree: entry k belongs to degree k, and
entry 0 is zero because mass is conserved. [geshkovski2023perspective],
[bruno2024emergence]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushforward.errors import InputError
from pushforward.theory._bessel import log_normalized, log_ratios
from pushforward.theory._checks import Real, real, representable, scalar, whole


def funk_hecke(beta: float, d: int, k_max: int) -> np.ndarray:
    """Eigenvalues c_0..c_{k_max} of the kernel e^{beta <x,y>} on the sphere.

    c_k = Gamma(d/2) (2/beta)^{d/2-1} I_{k+d/2-1}(beta)
    """
    beta, d, k_max = scalar("beta", beta), whole("d", d, 2), whole("k_max", k_max, 0)
    return _signs(beta, k_max) * _exp(_log_funk_hecke(beta, d, k_max))


def growth_rates(beta: float, d: int, k_max: int) -> np.ndarray:
    """Growth rates lambda_0..lambda_{k_max} about the uniform measure under SA.

    lambda_k = k (k+d-2) I_{k+d/2-1}(beta) / (beta I_{d/2-1}(beta))

    >>> growth_rates(4.0, 2, 4).round(6).tolist()
    [0.0, 0.215881, 0.568239, 0.664389, 0.501251]
    """
    beta, d, k_max = scalar("beta", beta), whole("d", d, 2), whole("k_max", k_max, 0)
    return _laplacian(d, k_max) * _over_beta(beta, log_ratios(d / 2 - 1, beta, k_max))


def growth_rates_unnormalized(beta: float, d: int, k_max: int) -> np.ndarray:
    """The same under USA: lambda_k = k (k+d-2) c_k / beta."""
    beta, d, k_max = scalar("beta", beta), whole("d", d, 2), whole("k_max", k_max, 0)
    logs = log_ratios(d / 2 - 1, beta, k_max) + _log_partition(beta, d)
    return _laplacian(d, k_max) * _over_beta(beta, logs)


def dominant_degree(beta: float, d: int) -> int:
    """The degree k that grows fastest: about sqrt(2 beta) on the circle.

    The same for SA and USA, whose rates differ by a factor that has no k. It predicts
    the number of clusters that first appear on the circle.
    """
    beta = scalar("beta", beta)
    if abs(beta) > 1e10:
        raise InputError(
            f"`beta` must be at most 1e10 in size, got {beta:g}: the degrees up to "
            "sqrt(2 beta) are compared one by one."
        )
    k_max = int(20 + 4 * np.sqrt(abs(beta)))  # twice past the peak at sqrt(2 beta)
    return int(np.argmax(growth_rates(beta, d, k_max)))


def largest_growth_rate(beta: float, d: int) -> float:
    """The growth rate of the dominant degree under SA; tends to 2/e on the circle."""
    degree = dominant_degree(beta, d)
    return float(growth_rates(beta, d, degree)[degree])


def consensus_rate(beta: ArrayLike) -> Real:
    """Rate at which deviations from one cluster decay under SA: 1 for every beta.

    1 - <x_i, x_j> is quadratic in the deviations and decays twice as fast.
    """
    return np.ones_like(real("beta", beta))[()]


def consensus_rate_unnormalized(beta: ArrayLike) -> Real:
    """The same under USA: e^beta."""
    with np.errstate(over="ignore"):
        value = np.exp(real("beta", beta))
    return representable("the rate", value, "beta, its logarithm")


def noise_threshold(beta: float, d: int) -> float:
    """kappa above which uniform is unstable in dX = USA dt + sqrt(2/kappa) dW.

    beta / c_1 = beta^{d/2} / (2^{d/2-1} Gamma(d/2) I_{d/2}(beta)), which is d at
    beta = 0. Degree 1 is the first to go. Some papers use noise sqrt(1/kappa), which
    changes kappa by a factor 2. [rigollet2025meanfield]

    >>> round(noise_threshold(1.0, 2), 9)
    1.769413238
    """
    beta, d = scalar("beta", beta), whole("d", d, 2)
    log_c1 = log_ratios(d / 2 - 1, beta, 1)[1] + _log_partition(beta, d)
    return float(np.exp(-log_c1))


def critical_noise(beta: float, d: int) -> float:
    """sigma above which uniform is stable in dX = SA dt + sigma dW.

    Degree 1 is the first to go, lambda_1 = (sigma^2 / 2) (d - 1):
    sigma^2 = 2 I_{d/2}(beta) / (beta I_{d/2-1}(beta)), which is 2/d at beta = 0.

    >>> round(critical_noise(4.0, 3), 4)
    0.6126
    """
    beta, d = scalar("beta", beta), whole("d", d, 2)
    rate = growth_rates(beta, d, 1)[1] / (d - 1)
    return float(np.sqrt(2 * rate))


def critical_noise_unnormalized(
    beta: float, d: int, log_scale: float | None = None
) -> float:
    """The same under USA; `log_scale` is -|beta| unless given, as in `--model usa`.

    sigma^2 = 2 e^{log_scale} c_1 / beta = 2 / kappa with the kappa of
    `noise_threshold`.

    >>> round(critical_noise_unnormalized(4.0, 3, log_scale=0.0), 3)
    1.6
    """
    beta, d = scalar("beta", beta), whole("d", d, 2)
    scale = -abs(beta) if log_scale is None else scalar("log_scale", log_scale)
    log_c1 = log_ratios(d / 2 - 1, beta, 1)[1] + _log_partition(beta, d)
    return float(np.sqrt(2 * np.exp(log_c1 + scale)))


class CriticalNoise(NamedTuple):
    """The critical sigma of every model: a run belongs to the number of its own.

    `sa` is that of `Attention`, the default of `simulate` and `sweep`; `usa` that of
    `--model usa`, whose speed is scaled by e^{-|beta|}; `usa_unscaled` that of
    `UnnormalizedAttention(beta)`, of which the literature on the transition speaks.
    """

    sa: float
    usa: float
    usa_unscaled: float


def critical_noises(beta: float, d: int) -> CriticalNoise:
    """sigma above which uniform is stable, under SA and under USA.

    >>> [round(sigma, 4) for sigma in critical_noises(4.0, 3)]
    [0.6126, 0.2166, 1.6002]
    """
    unscaled = critical_noise_unnormalized(beta, d, log_scale=0.0)
    usa = critical_noise_unnormalized(beta, d)
    return CriticalNoise(critical_noise(beta, d), usa, unscaled)


def _log_partition(beta: float, d: int) -> float:
    return log_normalized(d / 2 - 1, beta) + abs(beta)


def _laplacian(d: int, k_max: int) -> np.ndarray:
    k = np.arange(k_max + 1)
    return k * (k + d - 2.0)


def _signs(beta: float, k_max: int) -> np.ndarray:
    return np.where((np.arange(k_max + 1) % 2 == 1) & (beta < 0), -1.0, 1.0)


def _log_funk_hecke(beta: float, d: int, k_max: int) -> np.ndarray:
    logs = log_ratios(d / 2 - 1, beta, k_max) + _log_partition(beta, d)
    return logs + _log_powers(beta, np.arange(k_max + 1))


def _log_powers(beta: float, powers: np.ndarray) -> np.ndarray:
    """log |beta|^powers, with 0^0 = 1."""
    if beta == 0:
        return np.where(powers == 0, 0.0, -np.inf)
    return powers * np.log(abs(beta))


def _over_beta(beta: float, logs: np.ndarray) -> np.ndarray:
    """beta^{k-1} e^{logs_k}, where entry 0 is not used: regular at beta = 0."""
    powers = np.maximum(np.arange(len(logs)) - 1, 0)
    signs = np.where((powers % 2 == 1) & (beta < 0), -1.0, 1.0)
    return signs * _exp(logs + _log_powers(beta, powers))


def _exp(logs: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        values = np.exp(logs)
    representable("a rate", values, "the rates of SA, or a smaller beta")
    return values
