"""Entropic Gromov-Wasserstein for clouds of any size, by sums of attention.

    min over couplings P of  sum (A_ik - B_jl)^2 P_ij P_kl + eps KL(P | a b^T),

A_ik and B_jl inner products or squared distances inside each cloud: tables of low rank.
With M = sum_ij P_ij x_i y_j^T, p = |x|^2 and q = |y|^2, the gradient is the cost

    -4 <x_i, M y_j>   for inner products,
    -16 <x_i, M y_j> - 4 p_i q_j   for squared distances of centered clouds,

up to terms of i or of j alone, which marginals fix: an inner product of d + 1 numbers,
so that every step is an entropic plan without a table. The quadratic part is concave on
couplings, so that steps never go up. The objective comes from moments.
[peyre2016gromov] [zhang2024gromov]
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pushforward._checks import above_zero, whole
from pushforward.errors import InputError, NumericalError
from pushforward.transport._atoms import Atoms, as_atoms, as_floats
from pushforward.transport._costs import InnerProduct, SquaredDistance, is_cost
from pushforward.transport.entropic._entropic import Progress, solved
from pushforward.transport.entropic._entropic_plan import EntropicPlan
from pushforward.transport.entropic._pairing import InnerPairing
from pushforward.transport.entropic._sinkhorn import Problem

SHARE = 0.1  # of the gap, in the end of the tolerance, goes to the plan of a step
ROUGH = 1e-3  # the tolerance of the first plans
ENOUGH = 1e-2  # a gap, in units of eps, that is still an answer
STEPS = 20_000  # of Sinkhorn at most, for one plan


@dataclass(frozen=True, eq=False, repr=False)
class EntropicGromovPlan:
    """A stationary coupling, never written out unasked.

    `cost` is sum (A_ik - B_jl)^2 P_ij P_kl, `value` adds the entropy. `gap` bounds what
    a step along the gradient could still gain, <grad, P - Q> with entropies, over all
    couplings Q: zero at stationary points alone. `cross` is M = E[X Y^T], by which the
    problem could be started again. `apply`, `map` and `dense` are those of the
    coupling.
    """

    coupling: EntropicPlan = field(repr=False)
    cross: Float[np.ndarray, "d e"]
    cost: float
    value: float
    gap: float
    iterations: int

    def __repr__(self) -> str:
        size = f"n={self.coupling.source.n}, m={self.coupling.target.n}"
        return f"EntropicGromovPlan({size}, value={self.value:.6g}, gap={self.gap:.1e})"

    @property
    def map(self) -> Float[np.ndarray, "n e"]:
        """E[Y | X = x_i] at each source point."""
        return self.coupling.map

    @property
    def marginal_errors(self) -> tuple[float, float]:
        """L1 distances of the two marginals from the two measures."""
        return self.coupling.marginal_errors

    def apply(self, values: object) -> np.ndarray:
        """E[h(Y) | X = x_i], for h given by its values or as a function of points."""
        return self.coupling.apply(values)  # type: ignore[arg-type]

    def dense(self) -> Float[np.ndarray, "n m"]:
        """The coupling as a plain array."""
        return self.coupling.dense()


def entropic_gromov_plan(
    mu: object,
    nu: object,
    eps: float,
    *,
    inside: InnerProduct | SquaredDistance = SquaredDistance(),
    start: Float[np.ndarray, "d e"] | EntropicGromovPlan | None = None,
    tol: float = 1e-6,
    iterations: int = 500,
    progress: Progress = lambda count, gap: None,
) -> EntropicGromovPlan:
    """A Gromov-Wasserstein coupling of two clouds, which may differ in dimension.

    `inside` is what is compared, squared distances or inner products; eps has its
    square's units. Memory is linear, time that of an entropic plan per step. Not
    convex: the answer depends on `start`, a guess of E[X Y^T] (of centered clouds for
    squared distances) or an earlier answer; without it principal axes are matched, with
    signs by skewness. Steps end when `gap` is below `tol` eps.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).uniform(size=(50, 2)) ** 2 * [1.0, 2.0]
    >>> plan = entropic_gromov_plan(x, x[:, ::-1] + 3.0, 0.5)
    >>> bool(plan.gap < 1e-6), bool(np.abs(plan.cross[0, 0]) < plan.cross[0, 1])
    (True, True)

    [peyre2016gromov] [zhang2024gromov]
    """
    a, b = as_atoms("mu", mu), as_atoms("nu", nu)
    is_cost("inside", inside)
    if not isinstance(inside, InnerProduct | SquaredDistance):
        raise InputError(
            f"`inside` must be SquaredDistance() or InnerProduct(), got {inside!r}; "
            "tables of other distances go to gromov_plan."
        )
    eps = above_zero("eps", eps, "It has the units of `inside`, squared.")
    tol = above_zero("tol", tol, "It bounds the gap, in units of eps.")
    most = whole("iterations", iterations, 1)
    clouds = _Clouds.of(a, b, squared=isinstance(inside, SquaredDistance))
    near, count = max(ROUGH, SHARE * tol), 0  # bounds hold however rough a plan is
    plan = clouds.step(_cross(start, clouds), eps, near, None)
    while True:
        seen = clouds.moments(plan)
        after = clouds.step(seen.cross, eps, near, plan)
        entropy = plan.value - plan.cost
        gap, count = clouds.linear(seen) + entropy - after.dual, count + 1
        progress(count, gap)
        if gap <= tol * eps or count >= most:
            break
        plan, near = after, max(SHARE * tol, min(near, SHARE * gap / eps))
    cost = clouds.cost(seen)
    found = EntropicGromovPlan(plan, seen.cross, cost, cost + entropy, gap, count)
    if not gap <= max(ENOUGH, tol) * eps:
        raise NumericalError(
            f"Gromov steps left a gap of {gap:.1e} after {count}; raise iterations "
            f"(or eps, now {eps:.3g}).",
            partial=found,
        )
    return found


class _Moments(NamedTuple):
    """E[X Y^T] and E[p q] of a coupling."""

    cross: Float[np.ndarray, "d e"]
    squares: float


class _Clouds(NamedTuple):
    """Two clouds, with the squares of their norms, centered, if distances count."""

    a: Atoms
    b: Atoms
    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, "m e"]
    p: Float[np.ndarray, "n"]
    q: Float[np.ndarray, "m"]
    norms: tuple[float, float]  # E |x|^2 and E |y|^2
    squared: bool

    @classmethod
    def of(cls, a: Atoms, b: Atoms, *, squared: bool) -> "_Clouds":
        x, y = a.points, b.points
        p, q = np.zeros(a.n), np.zeros(b.n)
        norms = [0.0, 0.0]
        if squared:
            x, y = x - a.weights @ x, y - b.weights @ y
            p, q = (np.sum(z**2, axis=1) for z in (x, y))
            norms = [float(a.weights @ p), float(b.weights @ q)]
            p, q = p - norms[0], q - norms[1]
        return cls(a, b, x, y, p, q, (norms[0], norms[1]), squared)

    def step(
        self, cross: np.ndarray, eps: float, tol: float, warm: EntropicPlan | None
    ) -> EntropicPlan:
        """The entropic plan of the cost that the gradient is."""
        scale = 4.0 if self.squared else 1.0
        left, right = self.x, scale * self.y @ cross.T
        if self.x.shape[1] > self.y.shape[1]:
            left, right = scale * self.x @ cross, self.y
        if self.squared:
            left = np.column_stack([left, self.p])
            right = np.column_stack([right, self.q])
        x, y = jnp.asarray(left), jnp.asarray(right)
        p, q = jnp.zeros(self.a.n), jnp.zeros(self.b.n)
        pairing = InnerPairing(x, y, p, q, 4.0, False)
        numbers = (self.a.weights, self.b.weights, eps, np.inf)
        problem = Problem(pairing, *(jnp.asarray(z, float) for z in numbers))
        known = None if warm is None else tuple(map(jnp.asarray, warm.potentials))
        silent = lambda count, error: None  # noqa: E731
        return solved(problem, (self.a, self.b), known, (tol, STEPS), silent)  # type: ignore[arg-type]

    def moments(self, plan: EntropicPlan) -> _Moments:
        """Of the coupling, by its sums."""
        seen = plan.carried(np.column_stack([self.y, self.q]))
        return _Moments(self.x.T @ seen[:, :-1], float(self.p @ seen[:, -1]))

    def linear(self, seen: _Moments) -> float:
        """The cost that the gradient is, on the coupling itself."""
        size = float(np.sum(seen.cross**2))
        return -16 * size - 4 * seen.squares if self.squared else -4 * size

    def cost(self, seen: _Moments) -> float:
        """sum (A_ik - B_jl)^2 P_ij P_kl."""
        (a, x), (b, y) = (self.a.weights, self.x), (self.b.weights, self.y)
        own = [
            float(np.sum((z.T @ (w[:, None] * z)) ** 2)) for w, z in ((a, x), (b, y))
        ]
        total = sum(own) - 2 * float(np.sum(seen.cross**2))
        if not self.squared:
            return total
        spread = float(a @ self.p**2 + b @ self.q**2) - 2 * seen.squares
        return 4 * total + 2 * spread + 4 * (self.norms[0] - self.norms[1]) ** 2


def _cross(start: object, clouds: _Clouds) -> Float[np.ndarray, "d e"]:
    """A first M: the one given, or that of matched principal axes."""
    shape = (clouds.x.shape[1], clouds.y.shape[1])
    if start is not None:
        found = as_floats("start", getattr(start, "cross", start))
        if found.shape != shape or not np.isfinite(found).all():
            raise InputError(
                f"`start` must be a finite guess of E[X Y^T], of shape {shape}, got "
                f"shape {found.shape}; leave it out to match principal axes."
            )
        return found
    axes = [
        _axes(w.weights, z) for w, z in ((clouds.a, clouds.x), (clouds.b, clouds.y))
    ]
    count = min(shape)
    (u, s), (v, t) = ((z[0][:, :count], z[1][:count]) for z in axes)
    return (u * (s * t)) @ v.T


def _axes(
    w: Float[np.ndarray, "n"], x: Float[np.ndarray, "n d"]
) -> tuple[Float[np.ndarray, "d d"], Float[np.ndarray, "d"]]:
    """Principal axes, widest first, towards the longer tail, and their widths."""
    variances, axes = np.linalg.eigh(x.T @ (w[:, None] * x))
    axes = axes[:, ::-1]
    skew = w @ (x @ axes) ** 3
    return axes * np.where(skew < 0, -1.0, 1.0), np.sqrt(variances[::-1].clip(0))
