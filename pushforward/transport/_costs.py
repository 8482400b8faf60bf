"""Ground costs: each is a small frozen object, called on two point clouds."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.spatial.distance import cdist

from pushforward._checks import above_zero
from pushforward._printing import short
from pushforward.errors import InputError
from pushforward.spaces import AbstractSpace, Circle, Euclidean, Sphere

OFF_SPHERE = 1e-6


@runtime_checkable
class Cost(Protocol):
    """c(x_i, y_j) for all pairs."""

    def __call__(
        self, x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "m d"]
    ) -> Float[np.ndarray, "n m"]:
        """The (n, m) table of costs."""


@dataclass(frozen=True)
class SquaredDistance:
    """c = |x - y|^2, without the factor one half."""

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The (n, m) table of costs."""
        return cdist(x, y, "sqeuclidean")


@dataclass(frozen=True)
class InnerProduct:
    """c = -<x, y>: half the squared distance without its two squares."""

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The (n, m) table of costs."""
        return -(x @ y.T)


@dataclass(frozen=True)
class DistancePower:
    """c = |x - y|^p, the cost whose optimal value is W_p^p."""

    p: float = 1.0

    def __post_init__(self) -> None:
        _check_power(self.p)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The (n, m) table of costs."""
        return cdist(x, y) ** self.p


@dataclass(frozen=True)
class SphereDistance:
    """c = angle(x, y)^p for unit vectors: the geodesic distance of the sphere."""

    p: float = 2.0

    def __post_init__(self) -> None:
        _check_power(self.p)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The (n, m) table of costs; refuses points off the sphere."""
        unit_rows(x, y)
        # arcsine of half the chord near, its complement far: both ends keep digits
        near = 2 * np.arcsin(np.minimum(cdist(x, y) / 2, 1.0))
        far = np.pi - 2 * np.arcsin(np.minimum(cdist(x, -y) / 2, 1.0))
        return np.where(near < np.pi / 2, near, far) ** self.p


@dataclass(frozen=True)
class SpaceDistance:
    """c = dist(x, y)^p with the geodesic distance of a space of the library."""

    space: AbstractSpace
    p: float = 2.0

    def __post_init__(self) -> None:
        _check_power(self.p)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The (n, m) table of costs."""
        first, second = np.broadcast_arrays(x[:, None, :], y[None, :, :])
        table = self.space.distance(jnp.asarray(first), jnp.asarray(second))
        return np.asarray(table, dtype=float) ** self.p


@dataclass(frozen=True)
class TorusDistance:
    """c = |x - y|^p on R^d / (period Z)^d."""

    period: float = 1.0
    p: float = 2.0

    def __post_init__(self) -> None:
        _check_power(self.p)
        above_zero("period", self.period, "It is the length of a turn.")

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The (n, m) table of costs."""
        squares = np.zeros((len(x), len(y)))
        for k in range(x.shape[1]):
            gap = np.subtract.outer(x[:, k], y[:, k]) / self.period
            squares += (gap - np.round(gap)) ** 2
        return (self.period * np.sqrt(squares)) ** self.p


@dataclass(frozen=True, eq=False)
class CostTable:
    """A cost given as a matrix, for spaces that are only known by their costs."""

    table: Float[np.ndarray, "n m"]

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The table itself, once its shape and values are checked."""
        table = np.asarray(self.table, dtype=float)
        if table.shape != (len(x), len(y)) or not np.isfinite(table).all():
            raise InputError(
                f"table must be finite of shape {(len(x), len(y))} for these measures, "
                f"got shape {table.shape}."
            )
        return table


def cost_of_spaces(mu: object, nu: object, p: float) -> Cost:
    """dist(x, y)^p in the space of the measures; |x - y|^p where none is named."""
    spaces = [getattr(m, "space", None) for m in (mu, nu)]
    named = [s for s in spaces if isinstance(s, AbstractSpace)]
    if len(named) == 2 and named[0] != named[1]:
        first, second = (short(s) for s in named)
        raise InputError(
            f"mu lives on {first} and nu on {second}: they have no common distance. "
            "Pass `cost`, for example SquaredDistance() for straight lines."
        )
    if not named or isinstance(named[0], Euclidean):
        return SquaredDistance() if p == 2 else DistancePower(p)
    if isinstance(named[0], Sphere | Circle):
        return SphereDistance(p)  # without the table of all coordinates
    return SpaceDistance(named[0], p)


def unit_rows(x: np.ndarray, y: np.ndarray) -> None:
    """Refuse points off the unit sphere."""
    for name, points in (("mu", x), ("nu", y)):
        off = float(np.abs(np.linalg.norm(points, axis=1) - 1).max())
        if off > OFF_SPHERE:
            raise InputError(
                f"points of {name} are off the unit sphere by {off:.2g}; divide each "
                f"row by its norm first."
            )


def is_cost(name: str, cost: object) -> None:
    """Refuse what cannot be called on two clouds, a word above all."""
    if not callable(cost):
        raise InputError(
            f"`{name}` must be a cost, got {short(cost)}. Pass an object such as "
            "SquaredDistance(), SphereDistance() or CostTable(table)."
        )


def _check_power(p: float) -> None:
    above_zero("p", p, "W_2 has p = 2.")
