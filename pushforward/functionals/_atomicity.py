"""Is a limit a sum of atoms? Three tests, and what each one saw."""

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError
from pushforward.functionals._minimizer import Minimizer
from pushforward.measures import Particles


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
    x = best.problem.grid(n)
    gap = np.abs(x[:, None] - best.positions[None, :])
    if best.problem.bounds is None:
        gap = np.minimum(gap, 2 * np.pi - gap)
    far = gap.min(axis=1) > radius
    if not far.any():
        raise InputError(f"`radius` must leave room between atoms, got {radius:g}.")
    excess = best.excess(x)
    free = np.ones(best.count, dtype=bool)
    if best.problem.bounds is not None:
        free = np.abs(best.positions) < 1.0
    curvature = float(best.curvature[free].min(initial=np.inf))
    lowest = min(float(excess.min()), -best.gap)
    return Contact(float(excess[far].min()), curvature, lowest, best.tol)
