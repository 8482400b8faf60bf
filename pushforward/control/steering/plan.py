"""The plan under construction: every piece is applied to every input."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pushforward.control.steering.controls import AbstractControl
from pushforward.control.steering.geometry import Cloud, angles


@dataclass(frozen=True)
class Entry:
    """One piece of a schedule: which phase, what it does, for how long, and after it
    the smallest angle between the centers of two inputs and the largest radius."""

    phase: str
    action: str
    duration: float
    closest: float
    widest: float


@dataclass
class Plan:
    """Inputs on their way, and the pieces that have brought them here."""

    clouds: list[Cloud]
    rng: np.random.Generator
    report: Callable
    controls: list[AbstractControl] = field(default_factory=list)
    log: list[Entry] = field(default_factory=list)

    def append(
        self, phase: str, action: str, control: AbstractControl, duration: float
    ) -> None:
        """Move every input by one more piece."""
        self.clouds = [control.move(cloud, duration) for cloud in self.clouds]
        self.controls.append(control)
        entry = Entry(phase, action, duration, self.closest, self.widest)
        self.log.append(entry)
        self.report(sum(e.duration for e in self.log), None, len(self.log))

    @property
    def closest(self) -> float:
        """The smallest angle between the centers of two inputs; nan for one input."""
        if len(self.clouds) < 2:
            return float("nan")
        centers = np.stack([cloud.center for cloud in self.clouds])
        theta = angles(centers, centers)
        np.fill_diagonal(theta, np.inf)
        return float(theta.min())

    @property
    def widest(self) -> float:
        """The largest radius of an input."""
        return max(cloud.radius for cloud in self.clouds)

    def others(self, i: int, mine: np.ndarray) -> np.ndarray:
        """All points except the rows `mine` of input i."""
        kept = [c.points for k, c in enumerate(self.clouds) if k != i]
        return np.concatenate([*kept, self.clouds[i].points[~mine]])
