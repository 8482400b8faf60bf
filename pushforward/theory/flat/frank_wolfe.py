"""Hardmax layers as Frank-Wolfe steps, and how long temperature keeps tokens apart.

A layer moves every token towards the token of the hull that it sees best,
x_i <- x_i + gamma (y_i - x_i), y_i = argmax <B x_i, y>. With B positive the vertices
stay and every token goes to the vertex of its cell; at finite beta all contract to one
point in the end. [alcalde2025frankwolfe]
"""

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import between, real, scalar, whole

MOST = 100_000_000


def hardmax_layers(
    points: ArrayLike, steps: ArrayLike, B: ArrayLike | None = None
) -> Float[np.ndarray, "n d"]:
    """Where tokens are after layers of these steps gamma_0, gamma_1, ...

    >>> hardmax_layers([[3.0], [-1.0]], [1.0, 2 / 3], [[-1.0]]).round(9).tolist()
    [[1.666666667], [0.333333333]]
    """
    x = real("points", points)
    if x.ndim != 2 or np.abs(x).max() > 1e6:
        raise InputError(f"`points` must be (n, d) and moderate, got shape {x.shape}.")
    gammas = np.atleast_1d(between("steps", steps, -1e-9, 1 + 1e-9))
    M = np.eye(x.shape[1]) if B is None else real("B", B)
    if M.shape != (x.shape[1],) * 2 or np.abs(M).max() > 1e6:
        raise InputError(f"`B` must be a moderate square of size {x.shape[1]}.")
    for gamma in gammas.ravel():
        x = x + gamma * (x[np.argmax(x @ M.T @ x.T, axis=1)] - x)
    return x


def hull_limit(
    points: ArrayLike, steps: ArrayLike, B: ArrayLike | None = None
) -> Float[np.ndarray, "n d"]:
    """The same by the theorem, B positive: a x_i + (1 - a) v, a = prod (1 - gamma).

    v is the token that x_i sees best at the start.
    """
    x = real("points", points)
    best = hardmax_layers(x, [1.0], B)
    a = float(np.prod(1 - np.atleast_1d(between("steps", steps, -1e-9, 1 + 1e-9))))
    return a * x + (1 - a) * best


def pair_layers(beta: float, gamma: float, end: float = 0.1) -> int:
    """Layers u <- u (1 - gamma + gamma tanh(beta u^2)) that take u from 1 to the end.

    Two tokens at +u and -u under softmax.

    >>> pair_layers(4.0, 0.5)
    226
    """
    beta, gamma = scalar("beta", beta), scalar("gamma", between("gamma", gamma, 0, 1))
    end = scalar("end", between("end", end, 0, 1))
    if not 0 <= beta <= 10:
        raise InputError(f"`beta` must lie between 0 and 10, got {beta:g}.")
    if beta > 1 and pair_lifetime(beta, gamma) > MOST:
        raise NumericalError("that takes more than 1e8 layers: see `pair_lifetime`.")
    u, count = 1.0, 0
    while u > end:
        u *= 1 - gamma + gamma * math.tanh(beta * u * u)
        count += 1
        if count > MOST:
            raise NumericalError("that takes more than 1e8 layers: raise `gamma`.")
    return count


def pair_lifetime(beta: float, gamma: float) -> float:
    """The same for large beta: e^{2 beta} / (8 beta gamma).

    >>> round(pair_lifetime(8.0, 0.5))
    277691
    """
    beta, gamma = scalar("beta", beta), scalar("gamma", between("gamma", gamma, 0, 1))
    if not 0 < beta <= 300:
        raise InputError(f"`beta` must lie between 0 and 300, got {beta:g}.")
    return math.exp(2 * beta) / (8 * beta * gamma)


def expected_first_jump(beta: float, n: int = 2) -> float:
    """Mean number of layers until one of n tokens at two opposite unit points changes.

    Each jumps with probability 1 / (1 + e^{2 beta}) per layer.

    >>> round(expected_first_jump(2.0), 7)
    28.0513437
    """
    beta, n = scalar("beta", beta), whole("n", n, 1)
    if not 0 <= beta <= 300:
        raise InputError(f"`beta` must lie between 0 and 300, got {beta:g}.")
    stay = -math.log1p(math.exp(-2 * beta))  # of one token
    return -1 / math.expm1(n * stay)
