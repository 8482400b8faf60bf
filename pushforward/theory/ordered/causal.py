"""Causal attention: the end of every token, and how long early tokens hold others.

Two causal tokens are in `two_tokens`, the number of centers in `parking`.
[karagodin2024causal]
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from pushforward.errors import InputError
from pushforward.theory._checks import (
    between,
    positive,
    real,
    representable,
    scalar,
    square,
    whole,
)


def consensus_rates(n: int) -> np.ndarray:
    """Rates 1 - 1/k, k = 2..n, at which tokens 2..n approach the first (V = I).

    Slowest is token 2, at rate 1/2, for every beta, Q and K.
    """
    return 1 - 1 / np.arange(2, whole("n", n, 2) + 1)


def first_token(t: float, x_0: ArrayLike, V: ArrayLike) -> np.ndarray:
    """Token 1 at time t: e^{tV} x_0 / |e^{tV} x_0|, the flow of Oja."""
    x_0, V, t = real("x_0", x_0), square("V", V), scalar("t", t)
    if x_0.shape != (len(V),) or not x_0.any():
        raise InputError(
            f"`x_0` must be a non-zero vector of length {len(V)} like V, "
            f"got shape {x_0.shape}."
        )
    # e^{tV} up to a factor: the shift keeps the exponential in range
    top = np.linalg.eigvals(t * V).real.max()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = expm(t * V - top * np.eye(len(V))) @ x_0
        x = x / np.linalg.norm(x)
    representable("e^{tV} x_0", x, "a shorter time or smaller V")
    return x


class FinalConfiguration(Enum):
    """Where all tokens end, by the largest eigenvalue of V and its multiplicity."""

    FIRST_TOKEN = "the initial position of token 1 (theorem)"
    ONE_POINT = "the normalized projection of token 1 on the top eigenspace"
    TWO_POINTS = "two antipodal points, plus or minus the top eigenvector"
    CLOUD = "a cloud of points around the top eigenspace"
    TWO_CLOUDS = "two clouds around plus and minus the top eigenvector"
    OPEN = "the top eigenvalue is zero or not real: not in the atlas"


def final_configuration(V: ArrayLike) -> FinalConfiguration:
    """The atlas of final configurations, for any Q, K and beta.

    The first row is proven, the others are conjectures seen in experiments.

    >>> final_configuration([[2.0, 0.0], [0.0, 1.0]]).name
    'TWO_POINTS'
    """
    V = square("V", V)
    values = np.linalg.eigvals(V)
    tol = 1e-9 * max(1.0, float(np.abs(values).max()))
    top = values[values.real.argmax()]
    multiplicity = int((np.abs(values - top) <= tol).sum())
    if abs(top.imag) > tol or abs(top.real) <= tol:
        return FinalConfiguration.OPEN
    if top.real > 0 and np.abs(V - top.real * np.eye(len(V))).max() <= tol:
        return FinalConfiguration.FIRST_TOKEN
    if top.real > 0:
        one = multiplicity > 1
        return FinalConfiguration.ONE_POINT if one else FinalConfiguration.TWO_POINTS
    one = multiplicity > 1
    return FinalConfiguration.CLOUD if one else FinalConfiguration.TWO_CLOUDS


def center_lifetime(beta: float, c: float, epsilon: float, index: int) -> float:
    """Time up to which a strong center moves less than epsilon c beta^{-1/2}.

    T = epsilon delta / (s h(delta)) with delta = c beta^{-1/2}, s = `index` the place
    of the center in the sequence (1 for the first token) and h = `circle.attraction`.
    Asks that earlier tokens are farther than (1 + 2 epsilon) delta, and c > 1. d = 2.

    >>> round(center_lifetime(64.0, 4.0, 0.1, 1), 4)
    263.5256
    """
    beta, c, epsilon = _center(beta, c, epsilon)
    index = whole("index", index, 1)
    delta = c / np.sqrt(beta)
    if delta >= np.pi:
        raise InputError(
            f"`c` must be below pi sqrt(beta) = {np.pi * np.sqrt(beta):.6g}, got {c}: "
            "the circle has no two points that far apart."
        )
    rest = epsilon * delta / (index * np.sin(delta))  # h without its exponential
    return _exp(2 * beta * np.sin(delta / 2) ** 2 + np.log(rest))


def center_lifetime_bound(beta: float, c: float, epsilon: float, index: int) -> float:
    """The simpler sufficient time epsilon exp(c^2/2 - c^4/(24 beta)) / s."""
    beta, c, epsilon = _center(beta, c, epsilon)
    index = whole("index", index, 1)
    return _exp(c**2 / 2 * (1 - c**2 / (12 * beta)) + np.log(epsilon / index))


@dataclass(frozen=True)
class FrozenCenters:
    """Whether frozen centers capture every free token, and the bounds that decide."""

    least_beta: float
    least_c: float
    most_free_tokens: float
    holds: bool


def frozen_centers(beta: float, c: float, epsilon: float, n_free: int) -> FrozenCenters:
    """Conditions under which free tokens end within O(epsilon beta^{-1/2}) of a center.

    Centers pairwise farther than c beta^{-1/2} on the circle; epsilon < 0.1,
    c >= 5.5 + 2 epsilon, beta >= (c-1-2 epsilon)^2/2, and
    n_free <= epsilon/(c-1) exp(3 (c-1-2 epsilon)^2/8).
    """
    beta, c, epsilon = _center(beta, c, epsilon)
    n_free = whole("n_free", n_free, 1)
    reach = c - 1 - 2 * epsilon
    least_beta, least_c = reach**2 / 2, 5.5 + 2 * epsilon
    most = _exp(3 * reach**2 / 8 + np.log(epsilon / (c - 1)))
    holds = epsilon < 0.1 and c >= least_c and beta >= least_beta and n_free <= most
    return FrozenCenters(least_beta, least_c, most, bool(holds))


def _exp(logarithm: float) -> float:
    with np.errstate(over="ignore"):
        value = np.exp(np.asarray(logarithm))
    return float(representable("the result", value, "a smaller c"))


def _center(beta: float, c: float, epsilon: float) -> tuple[float, float, float]:
    return (
        scalar("beta", positive("beta", beta)),
        scalar("c", between("c", c, 1, np.inf)),
        scalar("epsilon", positive("epsilon", epsilon)),
    )
