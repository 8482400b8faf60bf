"""The landscape of attention plus perceptron: extreme values, bounds and thresholds.

E[mu] = (1/(2 beta)) iint e^{beta <x,y>} dmu dmu + (1/2) int v dmu with
v(x) = sum_j omega_j phi(<a_j, x>) and phi' = 2 sigma. Published code has the kernel
e^{beta (<x,y> - 1)}, and E_paper(omega) e^{-beta} = E_code(omega e^{-beta}).
[alvarezlopez2026perceptrons]
"""

import numpy as np
from numpy.typing import ArrayLike

from pushforward.errors import InputError
from pushforward.theory._checks import Real, positive, real, together, whole
from pushforward.theory.energy import uniform

_NEAR, _FAR = 2 * np.exp(-1.5), 3 / 8 * np.exp(-1 / 8)
MASS_LIMIT = float(_NEAR / (_NEAR + _FAR))
"""0.5742: the limit of `mass_bound` for large beta."""

ANTIPODAL_BETA = float(1 / (4 * np.pi**2))
"""Below it the arc 1/(2 sqrt beta) contains two antipodal points.

Equal antipodal atoms are then a second-order critical point of mass one inside the arc
(`antipodal_curvature` > 0, without perceptron), so that `mass_bound`, printed for every
beta > 0 in a companion claim, needs a large beta.
"""


def max_energy(beta: ArrayLike, highest: ArrayLike) -> Real:
    """e^beta/(2 beta) + max(v)/2, attained exactly by the Dirac masses on argmax v."""
    beta, highest = together(beta=beta, highest=highest)
    return uniform.max_energy(positive("beta", beta)) + highest / 2


def uniform_energy(beta: ArrayLike, omega: ArrayLike, A: ArrayLike | None = None):
    """E of the uniform measure on the circle with ReLU: I_0(beta)/(2 beta) + C/16.

    C = `weight_size(omega, A)` with its signs kept; neurons are unit without `A`.

    >>> round(float(uniform_energy(1.0, 0.1)), 12)
    0.645532938876
    """
    omega, sizes = _weights(omega, A)
    mean = np.sum(omega * sizes**2) / 8  # (1/2) omega |a|^2 mean(cos_+^2)
    return uniform.energy(positive("beta", beta), 2) + mean


def weight_size(omega: ArrayLike, A: ArrayLike | None = None) -> float:
    """C = 2 sum_j |omega_j| |a_j|^2, the size of the perceptron in `mass_bound`."""
    omega, sizes = _weights(omega, A)
    return float(2 * np.sum(np.abs(omega) * sizes**2))


def arc(beta: ArrayLike) -> Real:
    """1/(2 sqrt beta): the angular diameter that `mass_bound` speaks of."""
    return 1 / (2 * np.sqrt(positive("beta", beta)))


def mass_bound(beta: ArrayLike, size: ArrayLike) -> Real:
    """The most mass that two or more atoms within `arc(beta)` carry together.

    For second-order critical points of descent on the circle, sigma 1-Lipschitz with
    sigma(0) = 0, beta large, papers' scaling, `size` = `weight_size(omega, A)`:

        (2 e^{beta - 3/2} + C) / (2 e^{beta - 3/2} + (3/8) e^{beta - 1/8}),

    0.5742 + O(e^{-beta}). In the scaling of published code, C grows like e^beta and the
    bound exceeds one: `code_mass_bound`.
    """
    beta, C = together(beta=positive("beta", beta), size=_not_negative("size", size))
    return (_NEAR + C * np.exp(-beta)) / (_NEAR + _FAR)


def code_mass_bound(size: ArrayLike) -> Real:
    """`mass_bound` for the kernel e^{beta(<x,y> - 1)}: the same at every beta.

    Vacuous (at least one) as soon as C >= (3/8) e^{-1/8} = 0.331.
    """
    return (_NEAR + _not_negative("size", size)) / (_NEAR + _FAR)


def atoms_bound(
    beta: ArrayLike, size: ArrayLike, least: ArrayLike, arcs: int, length: ArrayLike
) -> Real:
    """At most this many atoms of mass >= `least` lie inside `arcs` arcs of a length.

    (M/eps) (1 + 2 L sqrt beta) times `mass_bound`.
    """
    together(beta=beta, size=size, least=least, length=length)
    beta, M = positive("beta", beta), whole("arcs", arcs, 1)
    cells = 1 + 2 * positive("length", length) * np.sqrt(beta)
    return M / positive("least", least) * cells * mass_bound(beta, size)


def strictness_threshold(beta: ArrayLike, kappa: ArrayLike = 0.0) -> Real:
    """2 e^beta + 2 kappa: where v'' is above it on the support, kappa is certain."""
    beta, kappa = together(beta=positive("beta", beta), kappa=kappa)
    if np.any(beta > 700):
        raise InputError(f"`beta` must be at most 700, got {np.max(beta):g}.")
    return 2 * np.exp(beta) + 2 * kappa


def antipodal_curvature(beta: ArrayLike) -> Real:
    """e^{-beta}: the Hessian of two equal antipodal atoms without perceptron.

    K''(pi)/beta = e^{-beta} with K = e^{beta cos}, in units of |xi|^2 in L^2(mu), for
    the motion that changes their distance; turning both costs nothing.
    """
    return np.exp(-positive("beta", beta))


def cluster_threshold(beta: ArrayLike, d: int, scale: float = 1.0) -> Real:
    """min(scale/sqrt beta, pi/(2 d)): the angle at which published code counts."""
    together(beta=beta, scale=scale)
    beta, d = positive("beta", beta), whole("d", d, 2)
    return np.minimum(positive("scale", scale) / np.sqrt(beta), np.pi / (2 * d))


def _weights(omega: ArrayLike, A: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    omega = np.atleast_1d(real("omega", omega))
    if omega.ndim != 1:
        raise InputError(f"`omega` must be a vector, got shape {omega.shape}.")
    if A is None:
        return omega, np.ones(len(omega))
    rows = np.atleast_2d(real("A", A))
    if rows.ndim != 2 or len(rows) != len(omega):
        raise InputError(
            "`A` must be a matrix with one row per entry of `omega`, got shape "
            f"{rows.shape} for {len(omega)} weights."
        )
    return omega, np.linalg.norm(rows, axis=1)


def _not_negative(name: str, value: ArrayLike) -> np.ndarray:
    array = real(name, value)
    if np.any(array < 0):
        raise InputError(
            f"`{name}` must not be negative, got {array.min():g}. "
            "Use `weight_size(omega, A)`."
        )
    return array
