"""The global minimizer of attention plus perceptron, certified by a duality gap."""

import numpy as np

from pushforward._checks import positive, whole
from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._minimizer import Minimizer
from pushforward.functionals._reduced import AbstractReduced, Angles, parallels
from pushforward.functionals._sliding import sliding_frank_wolfe
from pushforward.functionals._terms import Terms
from pushforward.spaces import Circle, Sphere


def minimize(
    F: AbstractFunctional,
    space: Circle | Sphere | None = None,
    *,
    tol: float = 1e-11,
    rounds: int = 60,
) -> Minimizer:
    """The minimizer of F over all probability measures, with its duality gap.

    F is a sum of positive multiples of `InteractionEnergy` and of potentials
    `PerceptronPotential`: convex in the measure. With lambda = int F_mu dmu,

        F(mu) - min F <= gap = lambda - min_x F_mu(x),

    the minimum over x being taken on a grid of 16,000 points refined by bisection.

    - `space`: `Circle()`, or `Sphere(3)` for neurons along one axis; the minimizer is
      then carried by parallels, and `positions` are heights.
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
    terms = Terms.of(F)
    terms.check_convex()
    unit = terms.scale  # the largest kernel value becomes one: safe at every beta
    problem = reduced(terms.over(unit), space)
    found = sliding_frank_wolfe(problem, tol, rounds)
    s, m = found.s, found.m
    if problem.bounds is None:  # an atom at pi is at pi, not at -pi
        s = np.where(s < 1e-9 - np.pi, s + 2 * np.pi, s)
    order = np.argsort(s)
    s, m = s[order], m[order]
    _, slope, curvature = problem.variation(s, s, m)
    if problem.bounds is not None:
        slope = slope[np.abs(s) < 1.0]
    return Minimizer(
        space=space,
        positions=s,
        masses=m,
        value=problem.value(s, m) * unit,
        multiplier=found.multiplier * unit,
        gap=found.gap * unit,
        slope=float(np.abs(slope).max(initial=0.0)) * unit,
        curvature=curvature * unit,
        tol=tol * unit,
        rounds=found.rounds,
        problem=reduced(terms, space),
    )


def reduced(terms: Terms, space: Circle | Sphere) -> AbstractReduced:
    """The functional in one coordinate: angles, or heights on S^2."""
    circle = isinstance(space, Circle) or (isinstance(space, Sphere) and space.d == 2)
    if not (circle or (isinstance(space, Sphere) and space.d == 3)):
        raise InputError(
            f"`space` must be Circle() or Sphere(3), got {space!r}. In higher "
            "dimension only particles are available: pf.flow(pf.GradientFlow(F), ...)."
        )
    for neurons in terms.neurons:
        if neurons.A.shape[1] != space.d:
            raise InputError(
                f"`A` must have rows of dimension {space.d} on {space!r}, got shape "
                f"{neurons.A.shape}."
            )
    return Angles(terms) if circle else parallels(terms)
