"""The best weights on a fixed support: a convex problem, by sequential NNLS.

    min over the simplex of  -sum_i p_i log (A w)_i ,

Newton's quadratic model at w, with S = A / (A w), g = S^T p, H = S^T diag(p) S, is
q^T H q / 2 - 2 g^T q on the simplex: one non-negative least squares. (Without the
sum constraint the linear term would be 2 g - 1.)
"""

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

PENALTY = 1e4  # weight of the row that makes the weights sum to one


def optimal_weights(
    log_table: Float[np.ndarray, "n m"],
    data_weights: Float[np.ndarray, "n"],
    start: Float[np.ndarray, "m"],
    *,
    tol: float = 1e-13,
    rounds: int = 100,
) -> Float[np.ndarray, "m"]:
    """Weights with max_j D(mu_j) - 1 <= tol on the support whose log kernel is given.

    `log_table[i, j]` is log phi(X_i - mu_j). Weights off the optimal face are exactly
    zero.
    """
    table = np.exp(log_table - log_table.max(axis=1, keepdims=True))
    w = start / start.sum()
    for _ in range(rounds):
        f = table @ w
        s = table / f[:, None]
        if float((s.T @ data_weights).max()) - 1 <= tol:
            break
        direction = _newton_point(s, data_weights) - w
        step = _backtrack(table, data_weights, w, direction)
        if step == 0:
            break
        w = np.maximum(w + step * direction, 0)
        w /= w.sum()
    return w


def _newton_point(s: np.ndarray, p: np.ndarray) -> np.ndarray:
    root = np.sqrt(p)
    system = np.concatenate([root[:, None] * s, np.full((1, s.shape[1]), PENALTY)])
    target = np.append(2 * root, PENALTY)
    if len(system) > 2 * s.shape[1]:  # tall: the triangular factor has the same normal
        stacked = np.column_stack([system, target])
        factor = np.asarray(np.linalg.qr(stacked, mode="r"))
        system, target = factor[:, :-1], factor[:, -1]
    q, _ = nnls(system, target, maxiter=50 * s.shape[1])
    return q / q.sum()


def _backtrack(
    table: np.ndarray, p: np.ndarray, w: np.ndarray, direction: np.ndarray
) -> float:
    """Armijo step along `direction`; zero when rounding leaves nothing to gain."""
    f, change = table @ w, table @ direction
    slope = float(-p @ (change / f))
    step = 1.0
    while step > 1e-10:
        ratio = 1 + step * change / f
        # log1p of the ratio: the gain is far below the rounding of the loss itself
        if (ratio > 0).all():
            gain = float(-p @ np.log1p(step * change / f))
            if gain <= 1e-4 * step * min(slope, 0.0):
                return step
        step /= 2
    return 0.0
