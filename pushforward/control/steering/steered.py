"""The result of steering: a schedule, and what it does.

The plan under construction: every piece is applied to every input.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pushforward.control.steering.controls import AbstractControl
from pushforward.control.steering.targets import Cloud, angles
from pushforward.fields import Attention, Perceptron, Switched
from pushforward.flows import Adaptive, Trajectory, flow
from pushforward.measures import Particles


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


WEIGHTS = ("V", "B", "W", "U", "b")


@dataclasses.dataclass(frozen=True, eq=False)
class Steered:
    """One schedule for all inputs, with its certificate.

    - `field`: a `Switched` of attention and perceptrons; flow it like any other.
    - `errors`: W_2 between each input at the end and its target.
    - `norms`: the largest spectral norm of each weight over all pieces.
    - `log`: phase by phase, what each piece does.
    - `finals`: where the inputs are at the end.
    """

    field: Switched = dataclasses.field(repr=False)
    errors: tuple[float, ...]
    norms: dict[str, float]
    log: tuple[Entry, ...] = dataclasses.field(repr=False)
    finals: tuple[Particles, ...] = dataclasses.field(repr=False)

    @property
    def pieces(self) -> int:
        """How many intervals with constant weights."""
        return len(self.field.fields)

    @property
    def switches(self) -> int:
        """How many times the weights jump."""
        return self.pieces - 1

    @property
    def horizon(self) -> float:
        """The time at which everything has arrived."""
        return float(np.asarray(self.field.times)[-1])

    def replay(
        self, mu: Particles, *, save: int | np.ndarray = 101, solver=None
    ) -> Trajectory:
        """The flow of any measure along the schedule, also one it was not built for."""
        solver = solver or Adaptive(rtol=1e-10, atol=1e-12)
        return flow(self.field, mu, self.horizon, save=save, solver=solver)

    def __str__(self) -> str:
        worst = max(self.errors)
        head = (
            f"Steered: {len(self.errors)} inputs, {self.pieces} pieces, "
            f"{self.switches} switches, t = {self.horizon:.4g}, largest W_2 {worst:.2g}"
        )
        norms = ", ".join(f"|{name}| {self.norms[name]:.3g}" for name in WEIGHTS)
        rows = [
            f"{e.phase:<12}{e.duration:>9.4g}{e.closest:>10.3g}{e.widest:>10.2g}  "
            f"{e.action}"
            for e in self.log
        ]
        title = f"{'phase':<12}{'time':>9}{'closest':>10}{'radius':>10}  action"
        return "\n".join([head, norms, title, *rows])


def weight_norms(schedule: Switched) -> dict[str, float]:
    """The largest spectral norm of V, B, W, U and length of b over all pieces."""
    found = dict.fromkeys(WEIGHTS, 0.0)
    for piece in schedule.fields:
        for part in piece.sublayers():
            for name, size in _norms(part).items():
                found[name] = max(found[name], size)
    return found


def _norms(part: object) -> dict[str, float]:
    size = lambda matrix: float(np.linalg.norm(np.asarray(matrix), 2))  # noqa: E731
    if isinstance(part, Attention):
        V = 1.0 if part.V is None else size(part.V)
        Q = 1.0 if part.Q is None else size(part.Q)
        return {"V": V, "B": abs(float(part.beta)) * Q}
    if isinstance(part, Perceptron):
        part = part.without_output_bias()
        return {"W": size(part.W), "U": size(part.A), "b": size(part.b)}
    return {}
