"""Phase diagrams in coarse form, row by row, in the background.

A cell is the state that a click on it loads: the same field, the same seeds, only the
tolerance of the solver is looser. Each cell averages the seeds 0, 1, 2.
"""

import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.errors import InputError
from pushforward.experiments import CONTROLS, ensemble, lanes, structure
from pushforward.observables import (
    CLUSTER_RADIUS,
    ClosePairs,
    ClusterCount,
    order_parameter,
)
from pushforward.web.computing._worker import Job
from pushforward.web.state._experiment import experiment_of
from pushforward.web.state._state import State

KINDS = {
    "t-beta": "time and β",
    "beta-n": "β and n",
    "beta-d": "β and d",
    "noise-beta": "noise and β",
}
CLOSE = ClosePairs(0.999)
# label, what is observed, and whether it lies between 0 and 1
STATISTICS: dict[str, tuple[str, Any, bool]] = {
    "close": ("P(cos > 0.999)", CLOSE, True),
    "clusters": ("cluster count", ClusterCount(CLUSTER_RADIUS), False),
    "time": ("time to one cluster", CLOSE, False),
    "order_parameter": ("order parameter", order_parameter, True),
}
SEEDS = (0, 1, 2)
T1, LATEST = 30.0, 200.0  # of a cell; LATEST where the time to one cluster is asked
LOOSE = pf.Adaptive(rtol=1e-5, atol=1e-7)
BETAS = tuple(np.round(np.linspace(0.5, 9.0, 18), 6).tolist())
FINE = tuple(np.round(np.linspace(0.5, 9.0, 35), 6).tolist())  # a run has all times
WIDE = tuple(np.round(np.geomspace(1.0, 64.0, 19), 3).tolist())
STRONGEST = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5)  # ends of the noise axis


@dataclasses.dataclass(frozen=True)
class Axis:
    """One axis: the key of the state it changes, its values, and its scale."""

    key: str
    values: tuple
    scale: str = "linear"

    def as_json(self) -> dict:
        """As the page draws it."""
        return {
            "name": self.key,
            "label": CONTROLS[self.key].label,
            "scale": self.scale,
            "values": list(self.values),
        }


@dataclasses.dataclass(frozen=True)
class Diagram:
    """What to compute: two axes, a statistic, and the state they start from."""

    kind: str
    statistic: str
    n: int
    d: int

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f"`kind` must be one of {list(KINDS)}, got {self.kind[:40]!r}."
            )
        if self.statistic not in STATISTICS:
            raise InputError(
                f"`statistic` must be one of {list(STATISTICS)}, got "
                f"{self.statistic[:40]!r}."
            )
        if self.kind == "t-beta" and self.statistic == "time":
            raise InputError(
                "`statistic` time has no meaning where time is an axis. Use close."
            )
        if not (2 <= self.n <= 128 and 2 <= self.d <= 128):
            raise InputError(
                f"`n` and `d` must lie in [2, 128], got {self.n} and {self.d}."
            )

    @property
    def name(self) -> str:
        """A file name."""
        return f"{self.kind}-{self.statistic}-n{self.n}-d{self.d}"

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """x and y."""
        beta = Axis("beta", BETAS)
        if self.kind == "t-beta":
            times = tuple(np.linspace(0.0, T1, 49)[1:].tolist())
            return Axis("t1", times), Axis("beta", FINE)
        wide = Axis("beta", WIDE, "log")
        if self.kind == "beta-n":
            return wide, Axis("n", (2, 4, 8, 16, 32, 64), "log")
        if self.kind == "beta-d":
            return wide, Axis("d", (2, 3, 4, 8, 16, 32), "log")
        return Axis("noise", self._noises()), beta

    def _noises(self) -> tuple:
        """From none to well above what keeps uniform tokens uniform."""
        enough = 1.4 * theory.stability.critical_noise(BETAS[0], self.d)
        top = next((s for s in STRONGEST if s >= enough), STRONGEST[-1])
        return tuple(np.round(np.linspace(0.0, top, 17), 6).tolist())

    @property
    def base(self) -> State:
        """The state that a click starts from."""
        t1 = LATEST if self.statistic == "time" else T1
        base = State(n=self.n, d=self.d, t1=t1, frames=101)
        if self.kind != "noise-beta":
            return base
        return dataclasses.replace(base, solver="heun", h=0.05)

    def theory(self) -> dict | None:
        """A curve of `pushforward.theory`, where there is one."""
        x, y = self.axes
        if self.kind == "t-beta" and self.statistic == "close":
            fine = np.linspace(y.values[0], y.values[-1], 120)
            times = np.asarray(theory.equiangular.merging_time(fine, self.n))
            inside = times <= T1
            label = "equiangular tokens: γ(t) = 0.999 (exact as d → ∞)"
            found = times[inside].tolist(), fine[inside].tolist()
            return {"label": label, "x": found[0], "y": found[1]}
        if self.kind == "noise-beta":
            fine = np.linspace(y.values[0], y.values[-1], 60)
            sigma = [theory.stability.critical_noise(b, self.d) for b in fine]
            label = "noise above which uniform tokens stay uniform (exact as n → ∞)"
            return {"label": label, "x": sigma, "y": fine.tolist()}
        return None

    def as_json(self) -> dict:
        """All but the values."""
        x, y = self.axes
        return {
            "kind": self.kind,
            "statistic": self.statistic,
            "x": x.as_json(),
            "y": y.as_json(),
            "theory": self.theory(),
            "state": self.base.differences(),
            "cell": {"x": x.key, "y": y.key},
        }


def compute(job: Job, files: pathlib.Path, kind: str, statistic: str, n: int, d: int):
    """Every row, told as it is done."""
    for row, values in rows_of(Diagram(kind, statistic, n, d)):
        job.check()
        job.say("row", row=row, values=values)
    job.say("done")


def whole(diagram: Diagram) -> dict:
    """A diagram with all its values, as the page reads it."""
    values = [values for _, values in rows_of(diagram)]
    return {**diagram.as_json(), "values": values, "running": False, "done": 1.0}


def rows_of(diagram: Diagram) -> Iterator[tuple[int, list[float]]]:
    """Row after row; where a run has all times, as many at once as there are lanes."""
    rows = diagram.axes[1].values
    most = max(lanes() // len(SEEDS), 1) if diagram.kind == "t-beta" else 1
    for begin in range(0, len(rows), most):
        yield from enumerate(computed(diagram, rows[begin : begin + most]), begin)


def computed(diagram: Diagram, rows) -> list[list[float]]:
    """The values of some rows."""
    asked = [
        (dataclasses.replace(state, seed=seed), times)
        for row in rows
        for state, times in _cells(diagram, row)
        for seed in SEEDS
    ]
    observe = STATISTICS[diagram.statistic][1]
    experiments = [_loose(state, times) for state, times in asked]
    found: list[Any] = [None] * len(asked)
    kinds = [structure(e, observe) for e in experiments]
    for kind in dict.fromkeys(kinds):  # one program each
        places = [k for k, other in enumerate(kinds) if other == kind]
        seen = ensemble([experiments[k] for k in places], [observe] * len(places))
        for k, values in zip(places, seen.values, strict=True):
            found[k] = _told(diagram, asked[k][1], values)
    means = np.array(found).reshape(len(rows), -1, len(SEEDS), np.size(found[0]))
    return means.mean(axis=2).reshape(len(rows), -1).tolist()


def _cells(diagram: Diagram, row) -> Iterator[tuple[State, np.ndarray]]:
    """The states of one row, and the times at which they are looked at."""
    x, y = diagram.axes
    base = dataclasses.replace(diagram.base, **{y.key: row})
    if diagram.kind == "t-beta":  # one run has all times
        yield base, np.concatenate([[0.0], x.values])
        return
    times = np.array([0.0, base.t1])
    if diagram.statistic == "time":
        times = np.concatenate([[0.0], np.geomspace(0.5, base.t1, 40)])
    for value in x.values:
        yield dataclasses.replace(base, **{x.key: value}), times


def _loose(state: State, times: np.ndarray) -> pf.Experiment:
    """The experiment that a click loads, with a looser tolerance."""
    changed: dict[str, Any] = {"save": times, "observe": {}}
    if state.noise == 0:
        changed["solver"] = LOOSE
    return experiment_of(state).vary(**changed)


def _told(diagram: Diagram, times: np.ndarray, values: np.ndarray):
    """What a cell shows: all times, the last, or the first with one cluster."""
    if diagram.kind == "t-beta":
        return values[1:]
    if diagram.statistic != "time":
        return values[-1]
    reached = np.flatnonzero(values >= 1.0)
    return times[reached[0]] if len(reached) else times[-1]
