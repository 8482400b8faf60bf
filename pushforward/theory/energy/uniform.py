"""The interaction energy at the uniform measure, its minimum, and at its maximum.

E[mu] = (1/(2 beta)) iint e^{beta <x,y>} dmu dmu increases along attention with V = I.
It overflows near beta = 700; `scaled_*` functions return 2 beta e^{-beta} E, the mean
of e^{beta (<x,y> - 1)}, for every beta >= 0. [geshkovski2023perspective]
"""

import numpy as np
from numpy.typing import ArrayLike

from pushforward.errors import InputError
from pushforward.theory._bessel import log_normalized
from pushforward.theory._checks import Real, real, representable, whole


def log_partition(beta: ArrayLike, d: int) -> Real:
    """log of int e^{beta <x,y>} dsigma_d(y) on the unit sphere of R^d.

    The integral is Gamma(d/2) (2/beta)^{d/2-1} I_{d/2-1}(beta); it does not depend
    on x and is even in beta.
    """
    return _log_scaled(beta, d) + np.abs(real("beta", beta))


def partition(beta: ArrayLike, d: int) -> Real:
    """The integral itself; beyond beta of about 700 use `log_partition`."""
    with np.errstate(over="ignore"):
        value = np.exp(np.asarray(log_partition(beta, d)))
    return representable("the partition function", value, "`log_partition`")


def energy(beta: ArrayLike, d: int) -> Real:
    """E of the uniform measure: the unique minimum over all measures.

    >>> round(float(energy(4.0, 3)), 12)  # sinh(4)/32
    0.85280991241
    """
    beta = _nonzero(beta)
    return partition(beta, d) / (2 * beta)


def scaled_energy(beta: ArrayLike, d: int) -> Real:
    """2 beta e^{-beta} E of the uniform measure, in (0, 1] for beta >= 0."""
    beta = real("beta", beta)
    with np.errstate(over="ignore"):
        value = np.exp(_log_scaled(beta, d) + (np.abs(beta) - beta))
    return representable("the scaled energy", value, "`log_partition` minus beta")


def max_energy(beta: ArrayLike) -> Real:
    """E of a Dirac mass, e^beta / (2 beta): the maximum over all measures."""
    beta = _nonzero(beta)
    with np.errstate(over="ignore"):
        value = np.exp(beta) / (2 * beta)
    return representable("the energy", np.asarray(value), "the scaled energy, 1")


def sample_energy(beta: ArrayLike, d: int, n: int) -> Real:
    """Mean energy of n independent uniform tokens.

    E_uniform (1 - 1/n) + e^beta / (2 beta n): the diagonal i = j is an exact bias.
    """
    n = whole("n", n, 1)
    return energy(beta, d) * (1 - 1 / n) + max_energy(beta) / n


def scaled_sample_energy(beta: ArrayLike, d: int, n: int) -> Real:
    """The same times 2 beta e^{-beta}."""
    n = whole("n", n, 1)
    return scaled_energy(beta, d) * (1 - 1 / n) + 1 / n


def _log_scaled(beta: ArrayLike, d: int) -> np.ndarray:
    """log of e^{-|beta|} times the partition function: no large number to cancel."""
    d, betas = whole("d", d, 2), real("beta", beta)
    logs = [log_normalized(d / 2 - 1, b) for b in betas.flat]
    return np.array(logs).reshape(betas.shape)


def _nonzero(beta: ArrayLike) -> np.ndarray:
    beta = real("beta", beta)
    if np.any(beta == 0):
        raise InputError(
            "`beta` must not be 0: E has a factor 1/(2 beta). Use `scaled_energy`."
        )
    return beta
