"""What is asked for: sources and targets, checked and cut into masses, and the geometry
of clouds on the sphere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushforward.errors import InputError
from pushforward.measures import Particles
from pushforward.spaces import Sphere
from pushforward.transport import SphereDistance, optimal_plan


class Cloud(NamedTuple):
    """One input on its way: points (n, d) and weights (n,)."""

    points: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, mu: Particles) -> "Cloud":
        """Points on the sphere to rounding, weights that sum to one."""
        points = np.asarray(mu.points, dtype=float)
        weights = np.asarray(mu.weights, dtype=float)
        return cls(unit(points), weights / weights.sum())

    @property
    def barycenter(self) -> np.ndarray:
        """int x dmu, inside the ball."""
        return self.weights @ self.points

    @property
    def center(self) -> np.ndarray:
        """The direction of the barycenter."""
        return unit(self.barycenter)

    @property
    def radius(self) -> float:
        """The angle of the cap around the center that holds every point."""
        return float(angles(self.points, self.center[None]).max())


def unit(x: np.ndarray) -> np.ndarray:
    """x / |x| along the last axis."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def angles(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The angles between all rows of x and all rows of y, digits kept at both ends."""
    product = np.clip(x @ y.T, -1.0, 1.0)
    theta = np.arccos(product)
    # arccos loses half of the digits near 0 and pi: chords there
    for near in (True, False):
        i, j = np.nonzero(product > 0.99 if near else product < -0.99)
        chord = np.linalg.norm(x[i] - y[j] if near else x[i] + y[j], axis=-1)
        small = 2 * np.arcsin(np.minimum(chord / 2, 1.0))
        theta[i, j] = small if near else np.pi - small
    return theta


def tangent(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """P_x v, the part of v orthogonal to x."""
    return v - np.sum(x * v, axis=-1, keepdims=True) * x


def random_directions(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """n uniform points of the sphere of R^d."""
    return unit(rng.standard_normal((n, d)))


def capped(clouds: list[Cloud], margin: float = 0.0) -> bool:
    """Whether the caps around the clouds are pairwise disjoint."""
    if len(clouds) < 2:
        return True
    radii = np.array([cloud.radius for cloud in clouds])
    centers = np.stack([cloud.center for cloud in clouds])
    room = angles(centers, centers) - radii[:, None] - radii[None, :]
    np.fill_diagonal(room, np.inf)
    return bool(room.min() > margin)


CLOSEST = 0.01  # radians between two atoms of targets
ATOMS = 16  # a target with more atoms than this is taken for a sample
FEATURES = 256


@dataclass(frozen=True, eq=False)
class Sampled:
    """A target known by a sample: reached through a transport map, in `atoms` atoms.

    The optimal map T from the source to the sample is replaced by one that is constant
    on `atoms` parts of equal mass: W_2 <= |T - T'|_{L^2(mu)}.
    """

    measure: Particles
    atoms: int = 8

    def __post_init__(self) -> None:
        if not isinstance(self.measure, Particles):
            raise InputError(
                f"`measure` must be Particles, got {type(self.measure).__name__}."
            )
        if isinstance(self.atoms, bool) or int(self.atoms) != self.atoms:
            raise InputError(f"`atoms` must be a whole number, got {self.atoms!r}.")
        if not 1 <= self.atoms <= self.measure.n:
            raise InputError(
                f"`atoms` must lie between 1 and the size of the sample "
                f"({self.measure.n}), got {self.atoms}."
            )


@dataclass(frozen=True, eq=False)
class Goal:
    """Masses to cut, and where each part goes: given atoms, or the mean of a map."""

    masses: np.ndarray
    atoms: np.ndarray | None
    image: np.ndarray | None
    target: Particles

    def place(self, k: int, taken: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Where the k-th part belongs."""
        if self.atoms is not None:
            return self.atoms[k]
        assert self.image is not None
        return unit(weights[taken] @ self.image[taken])

    @property
    def is_point(self) -> bool:
        """Whether everything goes to one place."""
        return len(self.masses) == 1


def checked_sources(sources: Sequence[Particles]) -> list[Cloud]:
    """Distinct measures on one sphere of dimension d >= 3, as arrays."""
    sources = _listed("sources", sources)
    for i, mu in enumerate(sources):
        _on_sphere(f"sources[{i}]", mu)
    dimensions = [mu.d for mu in sources]
    if len(set(dimensions)) > 1:
        raise InputError(
            f"`sources` must lie on one sphere, got dimensions {dimensions}."
        )
    if dimensions[0] == 2:
        raise InputError(
            "`sources` must have d >= 3, got points of the circle: a flow on a circle "
            "keeps the cyclic order of points, so that targets cannot be matched at "
            "will. Embed the circle in Sphere(3)."
        )
    clouds = [Cloud.of(mu) for mu in sources]
    _distinct(clouds)
    return clouds


def checked_goals(clouds: list[Cloud], targets: Sequence | np.ndarray) -> list[Goal]:
    """One goal per source; no two atoms of any targets in one place."""
    if isinstance(targets, np.ndarray) and targets.ndim == 2:
        targets = list(targets)
    targets = _listed("targets", targets)
    if len(targets) != len(clouds):
        raise InputError(
            f"`targets` must have one entry per source: {len(clouds)} sources, "
            f"{len(targets)} targets."
        )
    d = clouds[0].points.shape[1]
    pairs = enumerate(zip(clouds, targets, strict=True))
    goals = [_goal(f"targets[{i}]", cloud, target, d) for i, (cloud, target) in pairs]
    given = [
        (i, a) for i, g in enumerate(goals) if g.atoms is not None for a in g.atoms
    ]
    refuse_overlap([i for i, _ in given], np.array([a for _, a in given]))
    return goals


def refuse_overlap(owner: list[int], atoms: np.ndarray) -> None:
    """Two atoms in one place cannot both be reached: distinct points stay distinct."""
    if len(atoms) < 2:
        return
    theta = angles(atoms, atoms)
    np.fill_diagonal(theta, np.inf)
    if theta.min() < CLOSEST:
        i, j = np.unravel_index(theta.argmin(), theta.shape)
        raise InputError(
            f"`targets` must not overlap: an atom of targets[{owner[i]}] and one of "
            f"targets[{owner[j]}] are {theta.min():.3g} rad apart, and {CLOSEST:g} is "
            "the least. A flow keeps distinct points distinct: move one of them a "
            "little; the error in W_2 is what you move it by."
        )


def _goal(name: str, cloud: Cloud, target: object, d: int) -> Goal:
    if isinstance(target, Sampled):
        return _sampled(name, cloud, target, d)
    if not isinstance(target, Particles):
        target = _point(name, target, d)
    _on_sphere(name, target)
    _same_dimension(name, target.d, d)
    if target.n > ATOMS:
        raise InputError(
            f"`{name}` has {target.n} atoms, more than {ATOMS}: each would be cut out "
            "by itself. Pass Sampled(measure, atoms=8) to reach it through a map."
        )
    masses = np.asarray(target.weights, dtype=float)
    atoms = np.asarray(target.points, dtype=float)
    kept = masses > 0
    return Goal(masses[kept], unit(atoms[kept]), None, target)


def _sampled(name: str, cloud: Cloud, target: Sampled, d: int) -> Goal:
    _on_sphere(name, target.measure)
    _same_dimension(name, target.measure.d, d)
    nu = Cloud.of(target.measure)
    plan = optimal_plan(tuple(cloud), tuple(nu), cost=SphereDistance())
    masses = np.full(target.atoms, 1.0 / target.atoms)
    return Goal(masses, None, np.nan_to_num(plan.map), target.measure)


def _point(name: str, target: object, d: int) -> Particles:
    try:
        x = np.asarray(target, dtype=float)
    except (TypeError, ValueError, OverflowError):
        x = np.empty(0)
    if x.ndim != 1 or not x.size:
        raise InputError(
            f"`{name}` must be a point of shape ({d},), Particles, or Sampled(...), "
            f"got {target!r}."
        )
    _same_dimension(name, len(x), d)
    return Particles(Sphere(d), x[None])


def _same_dimension(name: str, found: int, d: int) -> None:
    if found != d:
        raise InputError(
            f"`{name}` must have the dimension of the sources, {d}, got {found}."
        )


def _on_sphere(name: str, mu: object) -> None:
    if not isinstance(mu, Particles) or not kind_of_sphere(mu):
        what = repr(mu.space) if isinstance(mu, Particles) else type(mu).__name__
        raise InputError(
            f"`{name}` must be Particles on a sphere, such as "
            f"Particles(Sphere(3), points), got {what}."
        )


def kind_of_sphere(mu: Particles) -> bool:
    """Whether points are unit vectors; the circle is one, and refused later."""
    return isinstance(mu.space, Sphere) or type(mu.space).__name__ == "Circle"


def _listed(name: str, value: object) -> list:
    if isinstance(value, Particles) or not isinstance(value, Sequence):
        raise InputError(
            f"`{name}` must be a list with one entry per input, got "
            f"{type(value).__name__}. For one input pass [mu]."
        )
    if not len(value):
        raise InputError(f"`{name}` must not be empty.")
    return list(value)


def _distinct(clouds: list[Cloud]) -> None:
    """Refuse two equal measures; equality is seen by random plane waves."""
    rng, d = np.random.default_rng(0), clouds[0].points.shape[1]
    waves = rng.standard_normal((d, FEATURES)) * rng.choice(
        [1.0, 10.0, 100.0], FEATURES
    )
    seen = np.stack([c.weights @ np.exp(1j * (c.points @ waves)) for c in clouds])
    gaps = np.abs(seen[:, None] - seen[None]).max(axis=-1)
    np.fill_diagonal(gaps, np.inf)
    if gaps.min() < 1e-9:
        i, j = sorted(np.unravel_index(gaps.argmin(), gaps.shape))
        raise InputError(
            f"`sources` must be pairwise distinct, but sources[{i}] and sources[{j}] "
            "are the same measure: one flow cannot send one measure to two places. "
            "Drop one of them."
        )
