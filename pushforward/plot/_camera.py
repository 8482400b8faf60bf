"""Where a sphere is looked at from."""

import dataclasses

import numpy as np

from pushforward.errors import InputError


@dataclasses.dataclass(frozen=True)
class Camera:
    """An orthographic view from (azimuth, elevation), in degrees; the z axis points up.

    >>> Camera(azimuth=0.0, elevation=0.0).see(np.array([[1.0, 0.0, 0.0]])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    azimuth: float = -60.0
    elevation: float = 22.0

    def __post_init__(self) -> None:
        angles = np.array([self.azimuth, self.elevation], dtype=float)
        if not np.isfinite(angles).all() or abs(self.elevation) > 90:
            raise InputError(
                "a camera needs a finite azimuth and an elevation in [-90, 90] "
                f"degrees, got azimuth={self.azimuth}, elevation={self.elevation}."
            )

    @property
    def axes(self) -> np.ndarray:
        """Rows: to the right, up, and toward the eye."""
        a, e = np.radians([self.azimuth, self.elevation])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        eye = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        return np.stack([right, np.cross(eye, right), eye])

    def see(self, points: np.ndarray) -> np.ndarray:
        """(..., 3) points as (across, up, depth); depth > 0 is the near side."""
        return points @ self.axes.T + 0.0  # no negative zeros

    def turned(self, degrees: float) -> "Camera":
        """The same view after walking around the z axis."""
        return Camera(self.azimuth + degrees, self.elevation)

    @classmethod
    def facing(cls, points: np.ndarray, weights: np.ndarray) -> "Camera":
        """The view that shows the most mass on the near side, away from the rim.

        Searched over azimuths, a little above or below the equator.
        """
        views = [cls(a, e) for e in (22, -22) for a in np.arange(-180.0, 180.0, 5)]
        eyes = np.stack([view.axes[2] for view in views])
        shown = np.tanh(2.5 * (points @ eyes.T - 0.2))  # (n, views)
        return views[int(np.argmax(np.round(weights @ shown, 12)))]
