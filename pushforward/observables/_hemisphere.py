"""Whether all tokens lie in one open hemisphere, which forces collapse."""

import numpy as np
from scipy.optimize import linprog, nnls

from pushforward._checks import measure
from pushforward.errors import NumericalError
from pushforward.measures import Particles


def in_hemisphere(mu: Particles) -> bool:
    """Whether some w has <x_i, w> > 0 for every token: a linear program.

    maximize m subject to <x_i, w> >= m, |w_k| <= 1; tokens share a hemisphere if and
    only if the maximum is positive.
    """
    measure("mu", mu)
    x = np.asarray(mu.points, dtype=float)
    n, d = x.shape
    constraints = np.hstack([-x, np.ones((n, 1))])
    bounds = [(-1.0, 1.0)] * d + [(None, 1.0)]
    objective = np.r_[np.zeros(d), -1.0]
    solution = linprog(objective, A_ub=constraints, b_ub=np.zeros(n), bounds=bounds)
    if not solution.success:
        raise NumericalError(f"the hemisphere program failed: {solution.message}")
    return bool(np.asarray(solution.x)[-1] > 1e-9)


def hemisphere_margin(mu: Particles) -> float:
    """max over unit w of min_i <x_i, w>, when it is positive; zero otherwise.

    It is the distance from the origin to the convex hull of the tokens, found by
    nonnegative least squares.
    """
    measure("mu", mu)
    x = np.asarray(mu.points, dtype=float)
    system = np.vstack([x.T, np.ones(len(x))])
    target = np.r_[np.zeros(x.shape[1]), 1.0]
    lam, _ = nnls(system, target)
    nearest = x.T @ (lam / lam.sum())
    length = float(np.linalg.norm(nearest))
    return 0.0 if length < 1e-9 else float((x @ nearest).min() / length)
