"""Where the layer norm sits sets the speed: Post-LN and Pre-LN, equiangular tokens.

Tokens are r theta_i with common radius r and common cosine rho between directions.
Post-LN is SA, 1 - rho decays like e^{-2t}; Pre-LN divides the speed by a growing r,
and 1 - rho decays like 1/t^2. [karagodin2025normalization], [rigollet2025meanfield]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from pushforward.errors import NumericalError
from pushforward.theory import equiangular
from pushforward.theory._checks import Real, between, nonnegative, scalar, whole


class PreNormState(NamedTuple):
    """Cosine, common radius, and 1 - rho without cancellation, at the times asked."""

    rho: Real
    radius: Real
    gap: Real


def post_norm(t: ArrayLike, beta: float, n: int, start: float = 0.0) -> Real:
    """Common cosine at time t with Post-LN: the equiangular law of SA."""
    return equiangular.gamma(t, beta, n, start)


def pre_norm(
    t: ArrayLike, beta: float, n: int, start: float = 0.0, radius: float = 1.0
) -> PreNormState:
    """Common cosine and radius at time t with Pre-LN.

    d rho/dt = (SA rate)/r,
    d r/dt = (e^{beta (1-rho)} + (n-1) rho) / (e^{beta (1-rho)} + n - 1)

    >>> state = pre_norm(100.0, 2.0, 16)
    >>> round(float(state.gap * 100.0**2), 4)
    2.45
    """
    n, times, beta = whole("n", n, 2), nonnegative("t", t), scalar("beta", beta)
    start = scalar("start", between("start", start, -1 / (n - 1), 1))
    radius = scalar("radius", between("radius", radius, 0, np.inf))

    def speeds(_, state):
        gap, r = np.exp(-state[0]), state[1]
        own = np.exp(min(beta * gap, 0.0))  # attention to itself against the others
        others = (n - 1) * np.exp(-max(beta * gap, 0.0))
        closing = 2 * (n - (n - 1) * gap) * np.exp(-max(beta * gap, 0.0))
        return [
            closing / (own + others) / r,
            (own + others * (1 - gap)) / (own + others),
        ]

    grid, inverse = np.unique(times, return_inverse=True)
    solution = solve_ivp(
        speeds,
        (0.0, max(float(grid[-1]), 1e-12)),
        [-np.log1p(-start), radius],  # -log(1 - rho) keeps the gap exact near 0
        method="DOP853",
        t_eval=grid,
        rtol=1e-12,
        atol=1e-13,
    )
    if not solution.success:
        raise NumericalError(f"Pre-LN law: {solution.message}", partial=solution)
    log_gap, r = (row[inverse].reshape(times.shape) for row in solution.y)
    gap = np.exp(-log_gap)
    return PreNormState((1 - gap)[()], r[()], gap[()])
