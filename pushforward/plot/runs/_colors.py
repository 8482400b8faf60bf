"""What the color of a token says: which cluster it ends in, or where it started."""

import dataclasses
from typing import TypeAlias

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb, to_rgba_array

from pushforward.errors import InputError
from pushforward.observables import CLUSTER_RADIUS
from pushforward.plot.runs._history import History
from pushforward.plot.style import OTHER, PALETTE


def wheel(angle: np.ndarray, lightness: np.ndarray | float = 0.62) -> np.ndarray:
    """A cyclic color for each angle: a circle of hues in the perceptual OKLab space.

    Lightness also swings a little, so that opposite angles differ without hue.
    """
    L = lightness + 0.07 * np.cos(angle - 1.9)
    a, b = 0.125 * np.cos(angle + 0.4), 0.125 * np.sin(angle + 0.4)
    cone = np.stack(
        [
            L + 0.3963377774 * a + 0.2158037573 * b,
            L - 0.1055613458 * a - 0.0638541728 * b,
            L - 0.0894841775 * a - 1.2914855480 * b,
        ],
        axis=-1,
    )
    linear = cone**3 @ _CONES_TO_RGB.T
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055
    )


_CONES_TO_RGB = np.array(  # the published OKLab constants
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)
WHEEL = ListedColormap(wheel(np.linspace(-np.pi, np.pi, 256)).tolist(), "wheel")


@dataclasses.dataclass(frozen=True)
class ByCluster:
    """One color per cluster of the last frame, largest first.

    Clusters are components at the geodesic `radius`. Earlier frames show, in the same
    colors, which tokens will end together. With more than ten clusters, lone tokens
    and the smallest clusters are gray.
    """

    radius: float = CLUSTER_RADIUS

    def of(self, history: History) -> np.ndarray:
        """(n, 3) colors."""
        last = history.frame(-1)
        labels = last.labels(self.radius)
        mass = np.bincount(labels, history.weights[-1])
        rank = np.empty(len(mass), dtype=int)
        rank[np.argsort(-np.round(mass, 12), kind="stable")] = np.arange(len(mass))
        if len(mass) > len(PALETTE):
            rank[np.bincount(labels) == 1] = len(PALETTE)
        table = np.array([to_rgb(c) for c in (*PALETTE, OTHER)])
        return table[np.minimum(rank[labels], len(PALETTE))]


@dataclasses.dataclass(frozen=True)
class ByStart:
    """Hue is the longitude of the first frame, lightness its height; cyclic for d = 2.

    For d > 3 the first two coordinates give the longitude.
    """

    def of(self, history: History) -> np.ndarray:
        """(n, 3) colors."""
        start = history.points[0]
        longitude = np.arctan2(start[:, 1], start[:, 0])
        if history.d != 3:
            return wheel(longitude)
        size = np.maximum(np.linalg.norm(start, axis=1), 1e-300)
        return wheel(longitude, 0.60 + 0.15 * start[:, 2] / size)


Color: TypeAlias = ByCluster | ByStart | str | np.ndarray | None


def colors_of(history: History, color: Color) -> np.ndarray:
    """(n, 3) colors from `ByCluster`, `ByStart`, a color name or a color per token."""
    if color is None:
        color = ByCluster()
    if isinstance(color, ByCluster | ByStart):
        return color.of(history)
    n = history.points.shape[1]
    try:
        table = to_rgba_array(color)[:, :3]
    except (ValueError, TypeError) as error:
        raise InputError(
            f"`color` must be plot.ByCluster(radius), plot.ByStart(), a color name or "
            f"{n} colors, got {color!r:.60}."
        ) from error
    if len(table) not in (1, n):
        raise InputError(
            f"`color` must be one color or {n}, one per token; got {len(table)}."
        )
    return np.broadcast_to(table, (n, 3))
