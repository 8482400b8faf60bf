"""The best mixture with at most k atoms near a given one, by Newton's method, and the
best weights on a grid.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import nnls

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.statistics.mixtures._everywhere import Solution
from pushforward.statistics.mixtures._likelihood import AbstractSample, loss
from pushforward.statistics.mixtures._noise import Chart
from pushforward.statistics.mixtures._whitening import as_data

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


MOST = 20_000  # nodes


@dataclass(frozen=True, eq=False)
class FixedGrid:
    """Only the weights are fitted, on `nodes` (m, d) in the units of the locations.

    The gap of the fit is still the one over all of space: it says what the grid costs.
    Nodes without weight are left out.

    >>> import numpy as np
    >>> from pushforward.statistics import npmle
    >>> fit = npmle(np.array([-2.0, 2.0]), method=FixedGrid(np.linspace(-3, 3, 7)))
    >>> fit.atoms.tolist()
    [[-2.0], [2.0]]
    """

    nodes: object

    def solve(self, sample: AbstractSample, chart: Chart) -> Solution:
        """Sequential non-negative least squares, once."""
        nodes = as_data("nodes", self.nodes, sample.places.shape[1])
        return _on_nodes(sample, sample.inside(chart.whiten(np.unique(nodes, axis=0))))


@dataclass(frozen=True)
class EvenGrid:
    """The same on `count` nodes along each axis, evenly over the range of the data.

    Evenly in units of the noise: of counts, in the root of the rate or the like.
    """

    count: int

    def __post_init__(self) -> None:
        whole("count", self.count, 2, "These are nodes along an axis.")

    def solve(self, sample: AbstractSample, chart: Chart) -> Solution:
        """Sequential non-negative least squares, once."""
        low, high = sample.places.min(axis=0), sample.places.max(axis=0)
        if self.count ** len(low) > MOST:
            raise InputError(
                f"`count` must keep the grid below {MOST} nodes, got {self.count} "
                f"along each of {len(low)} axes."
            )
        axes = np.linspace(low, high, self.count).T
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        nodes = np.unique(grid.reshape(-1, len(low)), axis=0)
        return _on_nodes(sample, sample.inside(nodes))


def _on_nodes(sample: AbstractSample, nodes: np.ndarray) -> Solution:
    start = np.full(len(nodes), 1 / len(nodes))
    table = sample.log_kernel(nodes).T
    if not np.isfinite(table.max(axis=1)).all():
        raise InputError(
            "`nodes` must leave every observation possible; add one inside (0, 1), or "
            "a positive rate."
        )
    weights = optimal_weights(table, sample.weights, start)
    return Solution(nodes[weights > 0], weights[weights > 0], [])
