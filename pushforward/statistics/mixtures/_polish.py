"""The best mixture with at most k atoms near a given one, by Newton's method, and the
best weights on a grid.
"""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dgeqrf
from scipy.optimize import nnls

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.statistics.mixtures._everywhere import Solution
from pushforward.statistics.mixtures._likelihood import AbstractSample
from pushforward.statistics.mixtures._modes import nodes_of
from pushforward.statistics.mixtures._noise import Chart
from pushforward.statistics.mixtures._whitening import as_data

PENALTY = 1e4  # weight of the row that makes the weights sum to one


def optimal_weights(
    log_table: Float[np.ndarray, "m n"],
    data_weights: Float[np.ndarray, "n"],
    start: Float[np.ndarray, "m"],
    *,
    tol: float = 1e-13,
    rounds: int = 100,
) -> Float[np.ndarray, "m"]:
    """Weights with max_j D(mu_j) - 1 <= tol on the support whose log kernel is given.

    `log_table[j, i]` is log L_i(mu_j). Weights off the optimal face are exactly
    zero.
    """
    table = np.exp(log_table - log_table.max(axis=0))
    w = start / start.sum()
    for _ in range(rounds):
        f = w @ table
        s = table / f
        if float((s @ data_weights).max()) - 1 <= tol:
            break
        direction = _newton_point(s, data_weights) - w
        step = _backtrack(data_weights, (direction @ table) / f)
        if step == 0:
            break
        w = np.maximum(w + step * direction, 0)
        w /= w.sum()
    return w


def _newton_point(
    s: Float[np.ndarray, "m n"], p: Float[np.ndarray, "n"]
) -> Float[np.ndarray, "m"]:
    """Least squares over the simplex; its triangular factor has the same minimum."""
    m, n = s.shape
    root = np.sqrt(p)
    system = np.full((m + 1, n + 1), PENALTY)
    np.multiply(s, root, out=system[:m, :n])
    system[m, :n] = 2 * root
    factor, _, _, _ = dgeqrf(system.T, lwork=64 * (m + 1), overwrite_a=True)
    factor = np.triu(factor[: m + 1])
    q, _ = nnls(factor[:, :m], factor[:, m], maxiter=50 * m)
    return q / q.sum()


def _backtrack(p: Float[np.ndarray, "n"], change: Float[np.ndarray, "n"]) -> float:
    """Armijo step along a `change` of f / f; zero where rounding leaves no gain."""
    slope, step = float(-p @ change), 1.0
    while step > 1e-10:
        if (step * change > -1).all():
            # log1p of the ratio: the gain is far below the rounding of the loss itself
            gain = float(-p @ np.log1p(step * change))
            if gain <= 1e-4 * step * min(slope, 0.0):
                return step
        step /= 2
    return 0.0


GONE = 1e-9  # atoms of less weight are dropped: the certificate brings them back
ROUNDING = 1e-14  # of the loss
FLAT = 1e-6  # curvature below which a Newton step is no longer believed


class _Mixture(NamedTuple):
    """Atoms and weights of any sum, L = l(rho) + sum w, and R_ji = L_i(mu_j) / f_i.

    R is kept for each part of the sample.
    """

    atoms: Float[np.ndarray, "k d"]
    weights: Float[np.ndarray, "k"]
    value: float
    ratios: list[Float[np.ndarray, "k n"]]

    @classmethod
    def of(
        cls, sample: AbstractSample, atoms: np.ndarray, weights: np.ndarray
    ) -> "_Mixture":
        """One table of the kernel serves the value and its derivatives."""
        value, ratios = float(weights.sum()), []
        for part in sample.parts:
            R = part.log_kernel(atoms)
            top = R.max(axis=0)
            R -= top
            np.exp(R, out=R)
            f = weights @ R
            R /= f
            value -= float(part.weights @ (np.log(f) + top))
            ratios.append(R)
        return cls(atoms, weights, value, ratios)

    def alive(self) -> "_Mixture":
        """Without the atoms that are gone."""
        kept = self.weights > GONE
        if kept.all():
            return self
        w = self.weights[kept]
        ratios = [R[kept] / (w @ R[kept]) for R in self.ratios]
        return _Mixture(self.atoms[kept], w, self.value, ratios)


def polish(
    sample: AbstractSample,
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
    *,
    tol: float = 1e-12,
    rounds: int = 40,
) -> tuple[Float[np.ndarray, "j d"], Float[np.ndarray, "j"]]:
    """Atoms and weights at a local minimum of L, or as near as `rounds` steps come.

    There D = 1 and grad D = 0 at each atom, up to `tol`.

    The caller certifies the result: a minimum over k atoms with D > 1 elsewhere is
    not an NPMLE.
    """
    now, before = _Mixture.of(sample, atoms, weights), np.inf
    for _ in range(rounds):
        slope, bend = _derivatives(sample, now)
        size = float(np.abs(slope / np.sqrt(now.weights)).max())
        if size < tol or (size < 1e-8 and size >= before):
            break  # converged, or rounding is all that is left
        before = size
        moved = _downhill(sample, now, _newton(slope, bend))
        if moved is None:
            break
        now = moved
    return now.atoms, now.weights / now.weights.sum()


def _downhill(
    sample: AbstractSample, now: _Mixture, step: Float[np.ndarray, "a k"]
) -> _Mixture | None:
    """The step, shortened until L falls; None when rounding leaves nothing."""
    root = np.sqrt(now.weights)
    change, shift = root * step[0], (step[1:] / root).T
    fall = float((change / now.weights).min())
    length = min(1.0 / max(1.0, np.abs(shift).max()), 0.99 / max(0.99, -fall))
    for _ in range(30):
        atoms = sample.inside(now.atoms + length * shift)
        found = _Mixture.of(sample, atoms, now.weights + length * change)
        if found.value <= now.value + ROUNDING:
            return found.alive()
        length /= 2
    return None


def _newton(
    slope: Float[np.ndarray, "a k"], bend: Float[np.ndarray, "m m"]
) -> Float[np.ndarray, "a k"]:
    """The Newton step; downhill along every axis where the Hessian is not convex."""
    flat = slope.reshape(-1)
    try:
        step = -cho_solve(cho_factor(bend, check_finite=False), flat)
    except LinAlgError:
        bends, axes = np.linalg.eigh(bend)
        step = -axes @ (axes.T @ flat / np.maximum(np.abs(bends), FLAT))
    return step.reshape(slope.shape)


def _derivatives(sample: AbstractSample, at: _Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Gradient (1 + d, k) and Hessian of L in (w / sqrt w_j, sqrt w_j mu)."""
    k, d = at.atoms.shape
    root, own = np.sqrt(at.weights), np.arange(k)
    slope, bend = np.zeros((1 + d, k)), np.zeros((1 + d, k, 1 + d, k))
    slope[0], own_bend = 1, np.zeros((k, d, d))
    for part, R in zip(sample.parts, at.ratios, strict=True):
        p, score = part.weights, part.scores(at.atoms)  # (d, k, n)
        scaled = np.empty((1 + d, k, len(p)))
        np.multiply(R, root[:, None] * np.sqrt(p), out=scaled[0])
        np.multiply(scaled[0], score, out=scaled[1:])
        flat = scaled.reshape(-1, len(p))
        bend += (flat @ flat.T).reshape(bend.shape)
        share = p * R
        moment = share * score
        slope[0] -= R @ p
        slope[1:] -= moment.sum(axis=2)
        own_bend += part.information(share, at.atoms)
        for a, b in product(range(d), repeat=2):
            own_bend[:, a, b] -= np.einsum("kn,kn->k", moment[a], score[b])
    for a in range(d):
        bend[0, own, 1 + a, own] += slope[1 + a]
        bend[1 + a, own, 0, own] += slope[1 + a]
        for b in range(d):
            bend[1 + a, own, 1 + b, own] += own_bend[:, a, b]
    return slope * root, bend.reshape(k + k * d, -1)


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
        axes = list(np.linspace(low, high, self.count).T)
        nodes = np.unique(nodes_of(axes), axis=0)
        return _on_nodes(sample, sample.inside(nodes))


def _on_nodes(sample: AbstractSample, nodes: np.ndarray) -> Solution:
    start = np.full(len(nodes), 1 / len(nodes))
    table = sample.log_kernel(nodes)
    if not np.isfinite(table.max(axis=0)).all():
        raise InputError(
            "`nodes` must leave every observation possible; add one inside (0, 1), or "
            "a positive rate."
        )
    weights = optimal_weights(table, sample.weights, start)
    return Solution(nodes[weights > 0], weights[weights > 0], [])
