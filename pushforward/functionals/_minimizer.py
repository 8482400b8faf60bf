"""Minimizers over all probability measures, with the certificate that they are.

Is a limit a sum of atoms? Three tests, and what each one saw.
"""

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Int, Real

from pushforward._checks import positive, whole
from pushforward._printing import short
from pushforward.errors import InputError
from pushforward.functionals._frank_wolfe import AbstractProblem, sliding_frank_wolfe
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._one_coordinate import OneCoordinate
from pushforward.measures import Particles
from pushforward.spaces import AbstractSpace, Circle


@dataclasses.dataclass(frozen=True)
class Minimizer:
    """An atomic measure, its energy, and how far from the minimum it can be.

    - `positions`: angles on the circle, heights z = <x, axis> of parallels on S^2,
      points of R^d.
    - `value`: F(mu); `multiplier`: lambda = int F_mu dmu.
    - `gap`: lambda - min F_mu, and F(mu) - min F <= gap because F is convex.
    - `slope`: the largest |F_mu'| at the atoms that are free to move.
    - `curvature`: F_mu'' at each atom; in R^d its least eigenvalue.
    - `tol`: the gap asked for; `certified` says whether it was reached.
    """

    space: AbstractSpace
    positions: Float[np.ndarray, "k *d"]
    masses: Float[np.ndarray, "k"]
    value: float
    multiplier: float
    gap: float
    slope: float
    curvature: Float[np.ndarray, "k"]
    tol: float
    rounds: int
    problem: AbstractProblem = dataclasses.field(repr=False)

    @property
    def count(self) -> int:
        """The number of atoms (of parallels on S^2)."""
        return len(self.positions)

    @property
    def certified(self) -> bool:
        """Whether the gap is below the tolerance."""
        return self.gap <= self.tol

    @property
    def measure(self) -> Particles:
        """The atoms as particles; on S^2 every parallel as a ring of 64 points."""
        return self.problem.measure(self.space, self.positions, self.masses)

    def variation(
        self, s: Real[ArrayLike, "m *d"] | Sequence | float
    ) -> Float[np.ndarray, "m"]:
        """F_mu at positions; F_mu >= lambda, with equality at the atoms."""
        s = np.atleast_1d(np.asarray(s, dtype=float))
        seen = self.problem.variation(s, self.positions, self.masses)
        return self.problem.unit * seen

    def excess(
        self, s: Real[ArrayLike, "m *d"] | Sequence | float
    ) -> Float[np.ndarray, "m"]:
        """F_mu - lambda: what an atom added there would cost, to first order."""
        return self.variation(s) - self.multiplier

    def __repr__(self) -> str:
        proof = "certified" if self.certified else "NOT certified: raise `rounds`"
        head = (
            f"Minimizer of {self.count} atoms on {short(self.space)}: "
            f"value {self.value:.12g}, gap {self.gap:.1e} ({proof}), "
            f"slope {self.slope:.1e}, {self.rounds} rounds"
        )
        rows = [
            f"  {self.problem.coordinate} {_place(s)}  mass {m:.9f}  curvature {c:.3g}"
            for s, m, c in zip(self.positions, self.masses, self.curvature, strict=True)
        ]
        return "\n".join([head, *rows])


def _place(s: Float[np.ndarray, "*d"] | float) -> str:
    return ", ".join(f"{x:+.9f}" for x in np.atleast_1d(s))


def minimize(
    F: AbstractFunctional,
    space: AbstractSpace | None = None,
    *,
    tol: float = 1e-11,
    rounds: int = 60,
) -> Minimizer:
    """The minimizer of F over all probability measures, with its duality gap.

    F is convex in the measure: a sum of positive multiples of `InteractionEnergy` and
    of potentials `PerceptronPotential`, or a functional that brings a `problem` of its
    own, as `statistics.mixtures.MixtureLikelihood` does. With lambda = int F_mu dmu,

        F(mu) - min F <= gap = lambda - min_x F_mu(x),

    the minimum over x being taken on a grid of 16,000 points refined by bisection.

    - `space`: `Circle()`, or `Sphere(3)` for neurons along one axis; the minimizer is
      then carried by parallels, and `positions` are heights. `Euclidean(d)` for
      mixtures.
    - `tol`: the gap asked for, in units of the largest value of the kernel.
    - `rounds`: of sliding Frank-Wolfe; when they are spent, the best measure found is
      returned with its true gap, and `certified` is False.

    Every particle of a Wasserstein descent keeps its mass, so that `pf.flow` finds
    critical points above this minimum. [alvarezlopez2026perceptrons]

    >>> P = PerceptronPotential([5.0], [[1.0, 0.0]])
    >>> F = pf.functionals.paper_energy(1.0) + P
    >>> best = minimize(F)
    >>> best.count, round(best.value, 10), best.certified
    (3, 0.7021869529, True)
    """
    space = Circle() if space is None else space
    tol = float(positive("tol", tol, "It bounds the duality gap; try 1e-11."))
    rounds = whole("rounds", rounds, 1)
    problem = F.problem(space) or OneCoordinate.of(F, space)
    found, gaps = sliding_frank_wolfe(problem, tol, rounds)
    s, m = problem.ordered(found.positions, found.masses)
    unit = problem.unit
    slope, curvature = problem.at_atoms(s, m)
    return Minimizer(
        space=space,
        positions=s,
        masses=m,
        value=problem.value(s, m) * unit,
        multiplier=float(m @ problem.variation(s, s, m)) * unit,
        gap=found.gap * unit,
        slope=slope * unit,
        curvature=curvature * unit,
        tol=tol * unit,
        rounds=len(gaps) - 1,
        problem=problem,
    )


@dataclasses.dataclass(frozen=True)
class Localization:
    """Clusters of a sequence of measures: how many, and how wide the widest is."""

    counts: Int[np.ndarray, "t"]
    spreads: Float[np.ndarray, "t"]

    @property
    def atomic(self) -> bool:
        """The count no longer changes while clusters keep shrinking (or are points)."""
        steady = bool(np.all(self.counts == self.counts[-1]))
        shrinking = np.diff(self.spreads) < 0
        points = self.spreads[1:] < 1e-9
        return steady and bool(np.all(shrinking | points))


def localization(measures: Sequence[Particles], radius: float) -> Localization:
    """Count clusters at a geodesic radius, and their largest geodesic half-width.

    Pass the last few frames of a trajectory, `[run[k] for k in range(-5, 0)]`.
    """
    if len(measures) < 2:
        raise InputError(
            f"`measures` must be two or more frames to compare, got {len(measures)}."
        )
    rows = [_spread(mu, radius) for mu in measures]
    return Localization(np.array([r[0] for r in rows]), np.array([r[1] for r in rows]))


def _spread(mu: Particles, radius: float) -> tuple[int, float]:
    labels = mu.labels(radius)
    count = int(labels.max()) + 1
    x, w = np.asarray(mu.points), np.asarray(mu.weights)
    centers = np.zeros((count, mu.d))
    np.add.at(centers, labels, w[:, None] * x)
    middle = mu.space.project(jnp.asarray(centers))[labels]
    return count, float(mu.space.distance(mu.points, middle).max())


@dataclasses.dataclass(frozen=True)
class Contact:
    """Where F_mu touches its minimum.

    - `away`: the least of F_mu - lambda farther than `radius` from every atom: what
      adding an atom there would cost, positive when the touching points are isolated.
    - `curvature`: the least F_mu'' at the atoms (free ones: not at a pole).
    - `lowest`: the least of F_mu - lambda anywhere: minus the duality gap.
    """

    away: float
    curvature: float
    lowest: float
    tol: float

    @property
    def isolated(self) -> bool:
        """Only the atoms touch, each with positive curvature; nothing lies below."""
        return self.away > self.tol and self.curvature > 0 and self.lowest >= -self.tol


def contact(best: Minimizer, radius: float = 0.02, n: int = 20_000) -> Contact:
    """Test that F_mu - lambda has isolated zeros, the atoms, and no negative value."""
    if not isinstance(best.problem, OneCoordinate):
        raise InputError(f"`best` must live on a circle or a sphere, got {best.space}.")
    reduced = best.problem.reduced
    x = reduced.grid(n)
    gap = np.abs(x[:, None] - best.positions[None, :])
    if reduced.bounds is None:
        gap = np.minimum(gap, 2 * np.pi - gap)
    far = gap.min(axis=1) > radius
    if not far.any():
        raise InputError(f"`radius` must leave room between atoms, got {radius:g}.")
    excess = best.excess(x)
    free = np.ones(best.count, dtype=bool)
    if reduced.bounds is not None:
        free = np.abs(best.positions) < 1.0
    curvature = float(best.curvature[free].min(initial=np.inf))
    lowest = min(float(excess.min()), -best.gap)
    return Contact(float(excess[far].min()), curvature, lowest, best.tol)
