"""Phase diagrams in coarse form, row by row, in the background.

A cell is the state that a click on it loads: the same field, the same seeds, only the
tolerance of the solver is looser. Each cell averages the seeds 0, 1, 2.
"""

import dataclasses
import math
import pathlib

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.errors import InputError
from pushforward.web import _objects
from pushforward.web._state import State
from pushforward.web._worker import Job

KINDS = ("t-beta", "beta-n", "beta-d", "noise-beta")
STATISTICS = ("close", "clusters", "time", "order")
SEEDS = (0, 1, 2)
T1, LATEST = 30.0, 200.0  # of a cell; LATEST where the time to one cluster is asked
LOOSE = pf.Adaptive(rtol=1e-5, atol=1e-7)
BETAS = tuple(np.round(np.linspace(0.5, 9.0, 18), 6).tolist())
FINE = tuple(np.round(np.linspace(0.5, 9.0, 35), 6).tolist())  # a run has all times
WIDE = tuple(np.round(np.geomspace(1.0, 64.0, 19), 3).tolist())
STRONGEST = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5)  # ends of the noise axis
LABELS = {
    "t1": "time t",
    "beta": "inverse temperature β",
    "n": "tokens n",
    "d": "dimension d",
    "noise": "noise σ, per √time",
}


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
            "label": LABELS[self.key],
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
            raise InputError(f"`kind` must be one of {KINDS}, got {self.kind[:40]!r}.")
        if self.statistic not in STATISTICS:
            raise InputError(
                f"`statistic` must be one of {STATISTICS}, got {self.statistic[:40]!r}."
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
        enough = 1.4 * critical_noise(BETAS[0], self.d)
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
            sigma = [critical_noise(float(b), self.d) for b in fine]
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


def critical_noise(beta: float, d: int) -> float:
    """The sigma at which the uniform measure becomes stable.

    A wave of degree k grows at lambda_k and decays at (sigma^2 / 2) k (k + d - 2).
    """
    k_max = int(20 + 4 * math.sqrt(beta))
    k = np.arange(1, k_max + 1)
    rates = theory.stability.growth_rates(beta, d, k_max)[1:]
    return float(np.sqrt(np.max(2 * rates / (k * (k + d - 2)))))


def compute(job: Job, files: pathlib.Path, kind: str, statistic: str, n: int, d: int):
    """Every row, told as it is done."""
    diagram = Diagram(kind, statistic, n, d)
    x, y = diagram.axes
    for row, value in enumerate(y.values):
        job.check()
        job.say("row", row=row, values=_row(job, diagram, x, y.key, value))
    job.say("done")


def _row(job: Job, diagram: Diagram, x: Axis, key: str, value) -> list[float]:
    base = dataclasses.replace(diagram.base, **{key: value})
    if diagram.kind == "t-beta":  # one run has all times
        times = np.concatenate([[0.0], x.values])
        runs = [_observed(base, seed, times) for seed in SEEDS]
        name = diagram.statistic
        return np.mean([run[name][1:] for run in runs], axis=0).tolist()
    found = []
    for place in x.values:
        job.check()
        cell = dataclasses.replace(base, **{x.key: place})
        values = [_cell(diagram.statistic, cell, seed) for seed in SEEDS]
        found.append(float(np.mean(values)))
    return found


def _cell(statistic: str, state: State, seed: int) -> float:
    if statistic != "time":
        times = np.array([0.0, state.t1])
        return float(_observed(state, seed, times)[statistic][-1])
    times = np.concatenate([[0.0], np.geomspace(0.5, state.t1, 40)])
    close = _observed(state, seed, times)["close"]
    reached = np.flatnonzero(close >= 1.0)
    return float(times[reached[0]]) if len(reached) else state.t1


def _observed(state: State, seed: int, times: np.ndarray) -> dict[str, np.ndarray]:
    """Close pairs, number of clusters, and length of the mean, at the times."""
    cell = dataclasses.replace(state, seed=seed)
    if cell.noise == 0:
        cell = dataclasses.replace(cell, solver="adaptive")
    made = _objects.setup(cell)
    seen: dict[str, list] = {"close": [], "clusters": [], "order": []}

    def watch(t: float, mu: pf.Particles, steps: int) -> None:
        points = np.asarray(mu.points)[: cell.n]
        shares = (points @ points.T >= 0.999).sum() - cell.n
        seen["close"].append(shares / max(cell.n * (cell.n - 1), 1))
        labels = pf.measures.components(mu.space, points, made.radius)
        seen["clusters"].append(float(labels.max() + 1))
        seen["order"].append(float(np.linalg.norm(points.mean(axis=0))))

    options = {**made.options, "save": pf.OnlyObservables(times), "progress": watch}
    if cell.noise == 0:
        options["solver"] = LOOSE
    pf.flow(made.field, made.mu, cell.t1, **options)
    return {name: np.array(values) for name, values in seen.items()}
