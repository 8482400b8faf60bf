"""The minimizer of a landscape, with the certificate that it is one."""

import dataclasses

import numpy as np
from jaxtyping import Float

from pushforward.functionals._reduced import AbstractReduced, Angles, Parallels
from pushforward.measures import Particles
from pushforward.spaces import Circle, Sphere

RING = 64  # points on a parallel: a trapezoidal rule, exact to rounding for beta < 30


@dataclasses.dataclass(frozen=True)
class Minimizer:
    """An atomic measure, its energy, and how far from the minimum it can be.

    - `positions`: angles on the circle, heights z = <x, axis> of parallels on S^2.
    - `value`: F(mu); `multiplier`: lambda = int F_mu dmu.
    - `gap`: lambda - min F_mu, and F(mu) - min F <= gap because F is convex.
    - `slope`: the largest |F_mu'| at the atoms that are free to move.
    - `curvature`: F_mu'' at each atom.
    - `tol`: the gap asked for; `certified` says whether it was reached.
    """

    space: Circle | Sphere
    positions: Float[np.ndarray, "k"]
    masses: Float[np.ndarray, "k"]
    value: float
    multiplier: float
    gap: float
    slope: float
    curvature: Float[np.ndarray, "k"]
    tol: float
    rounds: int
    problem: AbstractReduced = dataclasses.field(repr=False)

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
        """The atoms on the circle; on S^2 every parallel as a ring of 64 points."""
        if isinstance(self.problem, Parallels):
            return _rings(self.space, self.positions, self.masses, self.problem.axis)
        points = np.stack([np.cos(self.positions), np.sin(self.positions)], axis=1)
        return Particles(self.space, points, self.masses)

    def variation(self, s: np.ndarray) -> Float[np.ndarray, "m"]:
        """F_mu at angles or heights; F_mu >= lambda, with equality at the atoms."""
        s = np.atleast_1d(np.asarray(s, dtype=float))
        return self.problem.variation(s, self.positions, self.masses)[0]

    def excess(self, s: np.ndarray) -> Float[np.ndarray, "m"]:
        """F_mu - lambda: what an atom added there would cost, to first order."""
        return self.variation(s) - self.multiplier

    def __repr__(self) -> str:
        kind = "angle" if isinstance(self.problem, Angles) else "height"
        proof = "certified" if self.certified else "NOT certified: raise `rounds`"
        head = (
            f"Minimizer of {self.count} atoms on {repr(self.space).split('  #')[0]}: "
            f"value {self.value:.12g}, gap {self.gap:.1e} ({proof}), "
            f"slope {self.slope:.1e}, {self.rounds} rounds"
        )
        rows = [
            f"  {kind} {s:+.9f}  mass {m:.9f}  curvature {c:.3g}"
            for s, m, c in zip(self.positions, self.masses, self.curvature, strict=True)
        ]
        return "\n".join([head, *rows])


def _rings(space, heights, masses, axis) -> Particles:
    """RING points on every parallel; one at a pole."""
    spare = np.eye(3)[int(np.argmin(np.abs(axis)))]
    e1 = np.cross(axis, spare)
    e1 /= np.linalg.norm(e1)
    e2 = np.cross(axis, e1)
    angle = 2 * np.pi * np.arange(RING) / RING
    around = np.cos(angle)[:, None] * e1 + np.sin(angle)[:, None] * e2
    points, weights = [], []
    for z, m in zip(heights, masses, strict=True):
        pole = abs(z) == 1.0
        ring = np.array([z * axis]) if pole else z * axis + np.sqrt(1 - z**2) * around
        points.append(ring)
        weights.append(np.full(len(ring), m / len(ring)))
    return Particles(space, np.concatenate(points), np.concatenate(weights))
