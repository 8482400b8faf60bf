"""Angles, barycenters and caps of point clouds on the sphere, as plain arrays."""

from typing import NamedTuple

import numpy as np

from pushforward.measures import Particles


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
