"""The best mixture with at most k atoms near a given one, by Newton's method.

    L(w, mu) = -sum_i p_i log f(X_i) + sum_j w_j ,     w >= 0,

whose derivatives are 1 - D(mu_j) in w_j and -w_j grad D(mu_j) in mu_j. The multiplier
of the constraint is one because sum_j w_j D(mu_j) = 1 always; so the weights sum to
one by themselves at the end. Steps go downhill in every eigenvector of the Hessian.

The best weights on a fixed support: a convex problem, by sequential NNLS.

    min over the simplex of  -sum_i p_i log (A w)_i ,

Newton's quadratic model at w, with S = A / (A w), g = S^T p, H = S^T diag(p) S, is
q^T H q / 2 - 2 g^T q on the simplex: one non-negative least squares. (Without the
sum constraint the linear term would be 2 g - 1.)
"""

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import nnls

from pushforward.statistics.mixtures._likelihood import AbstractSample, loss

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

    `log_table[i, j]` is log L_i(mu_j). Weights off the optimal face are exactly
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


GONE = 1e-9  # atoms of less weight are dropped: the certificate brings them back
ROUNDING = 1e-14  # of the loss


def polish(
    sample: AbstractSample,
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
    *,
    rounds: int = 40,
) -> tuple[Float[np.ndarray, "j d"], Float[np.ndarray, "j"]]:
    """Atoms and weights at a local minimum of L, or as near as `rounds` steps come.

    The caller certifies the result: a minimum over k atoms with D > 1 elsewhere is
    not an NPMLE.
    """
    value, before = _penalized(sample, atoms, weights), np.inf
    for _ in range(rounds):
        slope, bend = _derivatives(sample, atoms, weights)
        size = float(np.abs(slope).max())
        if size < 1e-15 or (size < 1e-11 and size >= before):
            break  # converged, or rounding is all that is left
        before = size
        moved = _downhill(sample, atoms, weights, value, slope, bend)
        if moved is None:
            break
        atoms, weights, value = moved
    return atoms, weights / weights.sum()


def _penalized(sample: AbstractSample, atoms: np.ndarray, weights: np.ndarray) -> float:
    return loss(sample, atoms, weights) + float(weights.sum())


def _downhill(
    sample: AbstractSample,
    atoms: np.ndarray,
    weights: np.ndarray,
    value: float,
    slope: np.ndarray,
    bend: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """A Newton step, shortened until L falls; None when rounding leaves nothing."""
    k, d = atoms.shape
    root = np.sqrt(weights)
    step = _newton(slope, bend)
    change, shift = root * step[:k], step[k:].reshape(k, d) / root[:, None]
    fall = float((change / weights).min())
    length = min(1.0 / max(1.0, np.abs(shift).max()), 0.99 / max(0.99, -fall))
    for _ in range(30):
        w, mu = weights + length * change, sample.inside(atoms + length * shift)
        found = _penalized(sample, mu, w)
        if found <= value + ROUNDING:
            kept = w > GONE
            return mu[kept], w[kept], found
        length /= 2
    return None


def _newton(slope: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """The Newton step on the Hessian, made convex by the least shift that was tried."""
    shift = 0.0
    while True:
        try:
            factor = cho_factor(bend + shift * np.eye(len(bend)))
            return -cho_solve(factor, slope)
        except LinAlgError:
            shift = max(1e-12, 30 * shift)


def _derivatives(
    sample: AbstractSample, atoms: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of L in (w / sqrt w_j, sqrt w_j mu), units of their own."""
    k, d = atoms.shape
    logs = sample.log_kernel(atoms).T
    r = np.exp(logs - logs.max(axis=1, keepdims=True))
    r /= (r @ weights)[:, None]  # R_ij = L_ij / f_i
    score = sample.scores(atoms)  # (n, k, d)
    moment = r[:, :, None] * score
    p, root = sample.weights, np.sqrt(weights)
    value, gradient = p @ r, np.tensordot(p, moment, 1)
    scaled = np.concatenate(
        [r * root, (moment * root[:, None]).reshape(len(r), k * d)], axis=1
    )
    bend = (p[:, None] * scaled).T @ scaled
    known = sample.information(p[:, None] * r, atoms)
    for j in range(k):
        block = slice(k + j * d, k + (j + 1) * d)
        second = (p * r[:, j] * score[:, j].T) @ score[:, j]
        bend[block, block] -= second - known[j]
        bend[j, block] -= gradient[j]
        bend[block, j] -= gradient[j]
    slope = np.concatenate(
        [root * (1 - value), -(root[:, None] * gradient).reshape(-1)]
    )
    return slope, bend
