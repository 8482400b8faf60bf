"""Every figure of the study; here: one schedule for all inputs, and its film."""

import functools
import os
import pathlib

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import plot
from pushforward.plot.style import PALETTE, SOFT, new_figure, styled
from pushforward.studies.interpolation.study import (
    POINTS,
    SPACE,
    Parameters,
    clouds,
    crowd,
    learned,
    refined,
    replays,
    to_atoms,
    to_points,
    to_sample,
)

FRAMES = 14  # in every piece


@functools.cache
def frames(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, points (t, 2n, 3) of both inputs, and the input of each point.

    Within a piece frames follow the distance travelled, not the clock: a gate does
    most of its work early.
    """
    steered = to_atoms(seed, n)
    ends = np.asarray(steered.field.times)
    shares = np.linspace(0, 1, FRAMES) ** 2
    times = np.unique(
        np.concatenate(
            [a + (b - a) * shares for a, b in zip(ends, ends[1:], strict=False)]
        )
    )
    runs = [steered.replay(mu, save=times) for mu in clouds(seed, n)[:2]]
    points = np.concatenate([np.asarray(run.points) for run in runs], axis=1)
    return times, points, np.repeat([0, 1], n)


def colors(owner: np.ndarray) -> np.ndarray:
    """One color per input."""
    return np.array([to_rgb(PALETTE[k]) for k in owner])


def film(
    path: str | os.PathLike, p: Parameters, frames_in_all: int = 240
) -> pathlib.Path:
    """Write the film of the construction: two inputs, two atoms each.

    The film plays saved frames at an even pace, so that every piece gets its share.
    """
    _, points, owner = frames(p.seed, p.points)
    run: pf.Trajectory = pf.Trajectory.recorded(SPACE, points)
    return plot.movie(run, path, frames=frames_in_all, color=colors(owner), turn=90.0)


DIMENSIONS = (3, 8)


def compute_phases(p: Parameters) -> dict[str, np.ndarray]:
    """Points of both inputs at the end of every phase."""
    steered = to_atoms(p.seed, p.points)
    times, points, owner = frames(p.seed, p.points)
    ends = np.asarray(steered.field.times)[1:]
    phases = np.array(
        ["slice" if e.phase == "collapse" else e.phase for e in steered.log]
    )
    last = [np.flatnonzero(phases == name).max() for name in dict.fromkeys(phases)]
    return {
        "times": times,
        "points": points,
        "owner": owner,
        "names": np.array(["start", *dict.fromkeys(phases)]),
        "ends": np.array([0.0, *ends[last]]),
    }


@styled
def draw_phases(data: dict[str, np.ndarray]) -> Figure:
    """One globe per phase; blue and orange are the two inputs."""
    count = len(data["names"])
    figure = new_figure(2.3 * count, 2.7)
    view = plot.Camera(-65.0, 28.0)
    start = 0.0
    for ax, name, end in zip(
        np.ravel(figure.subplots(1, count)), data["names"], data["ends"], strict=True
    ):
        within = (data["times"] >= start) & (data["times"] <= end)
        run = pf.Trajectory.recorded(SPACE, data["points"][within])
        plot.sphere(run, ax=ax, camera=view, color=colors(data["owner"]))
        ax.set_title(name if name == "start" else f"{name}, t = {end:.3g}")
        start = end
    return figure


def compute_errors(p: Parameters) -> dict[str, np.ndarray]:
    """Distance of two inputs to their targets, their widths, their distance."""
    steered, runs = to_points(p.seed, p.points, 2), replays(p.seed, p.points)
    points = np.stack([np.asarray(run.points) for run in runs])  # input, time, n, 3
    goals = POINTS[:2, None, None]
    centers = points.mean(axis=2)
    spread = points - centers[:, :, None]
    return {
        "times": np.asarray(runs[0].times),
        "error": np.sqrt(np.mean(np.sum((points - goals) ** 2, axis=-1), axis=-1)),
        "width": np.sqrt(np.mean(np.sum(spread**2, axis=-1), axis=-1)),
        "apart": np.linalg.norm(centers[0] - centers[1], axis=-1),
        "ends": np.asarray(steered.field.times),
        "phases": np.array([entry.phase for entry in steered.log]),
    }


@styled
def draw_errors(data: dict[str, np.ndarray]) -> Figure:
    """Solid: W_2 to the target; dashed: width; gray: distance of the barycenters."""
    figure = new_figure(7.4, 3.8)
    ax = figure.subplots()
    for k, (error, width) in enumerate(zip(data["error"], data["width"], strict=True)):
        ax.semilogy(
            data["times"], error, color=PALETTE[k], label=f"$W_2$, input {k + 1}"
        )
        ax.semilogy(data["times"], width, color=PALETTE[k], lw=0.9, ls=(0, (3, 2)))
    ax.semilogy([], [], color=SOFT, lw=0.9, ls=(0, (3, 2)), label="width of an input")
    ax.semilogy(
        data["times"], data["apart"], color=SOFT, lw=1.4, label="barycenters apart"
    )
    for a, b, name in zip(data["ends"], data["ends"][1:], data["phases"], strict=False):
        ax.axvline(a, color=SOFT, lw=0.5, ls=":")
        if b - a > 2:
            ax.annotate(name, ((a + b) / 2, 14), ha="center", color=SOFT, fontsize=8)
    ax.set_ylim(1e-11, 60)
    ax.set_xlim(0, data["times"][-1])
    ax.set_xlabel("time")
    ax.set_ylabel("distance")
    ax.legend(loc="lower left")
    return figure


def compute_switches(p: Parameters) -> dict[str, np.ndarray]:
    """Pieces by phase against the number of inputs."""
    counts = [
        [
            [sum(e.phase == name for e in crowd(p.seed, d, n, p.points).log)]
            for name in ("disentangle", "cluster", "match")
        ]
        for d in DIMENSIONS
        for n in p.inputs
    ]
    shape = (len(DIMENSIONS), len(p.inputs), 3)
    atoms = np.array(p.atoms)
    errors = [to_sample(p.seed, p.points, k).errors[0] for k in p.atoms]
    pieces = [to_sample(p.seed, p.points, k).pieces for k in p.atoms]
    return {
        "inputs": np.array(p.inputs),
        "counts": np.array(counts).reshape(shape),
        "atoms": atoms,
        "errors": np.array(errors),
        "pieces": np.array(pieces),
    }


@styled
def draw_switches(data: dict[str, np.ndarray]) -> Figure:
    """Left: pieces for N point targets. Right: error to a sample through a map."""
    figure = new_figure(8.2, 3.3)
    left, right = figure.subplots(1, 2)
    for row, (d, counts) in enumerate(zip(DIMENSIONS, data["counts"], strict=True)):
        total = counts.sum(axis=1)
        left.plot(data["inputs"], total, "o-", color=PALETTE[row], label=f"d = {d}")
        left.plot(
            data["inputs"], counts[:, 0], "o--", ms=4, mfc="white", color=PALETTE[row]
        )
    left.plot([], [], "o--", color=SOFT, mfc="white", ms=4, label="to disentangle")
    left.plot(data["inputs"], 3 * data["inputs"], color=SOFT, lw=0.8, label="3 N")
    left.set_xlabel("inputs N")
    left.set_ylabel("pieces")
    left.legend()
    right.loglog(data["atoms"], data["errors"], "o-", color=PALETTE[0], label="$W_2$")
    for k, e, m in zip(data["atoms"], data["errors"], data["pieces"], strict=True):
        right.annotate(
            f"{m} pieces", (k, e), (6, 5), textcoords="offset points", color=SOFT
        )
    half = data["errors"][0] * (data["atoms"] / data["atoms"][0]) ** -0.5
    right.loglog(data["atoms"], half, color=SOFT, lw=0.8, label="atoms$^{-1/2}$")
    right.set_xticks(data["atoms"], [str(k) for k in data["atoms"]], minor=False)
    right.minorticks_off()
    right.set_yticks(data["errors"], [f"{e:.2f}" for e in data["errors"]])
    right.set_xlabel("values of the map")
    right.set_ylabel("$W_2$ to the sample")
    right.legend(loc="lower left")
    return figure


def compute_training(p: Parameters) -> dict[str, np.ndarray]:
    """Losses step by step, and the errors at the end."""
    runs = {
        "refined, 2 pieces": refined(p.seed, p.steps),
        "learned, 4 pieces": learned(p.seed, p.steps),
    }
    names = np.array(list(runs))
    histories = np.stack([run.history for run in runs.values()])
    errors = np.array([max(run.errors) for run in runs.values()])
    return {"names": names, "histories": histories, "errors": errors}


@styled
def draw_training(data: dict[str, np.ndarray]) -> Figure:
    """Mean Sinkhorn divergence against the steps of Adam."""
    figure = new_figure(6.2, 3.4)
    ax = figure.subplots()
    rows = zip(data["names"], data["histories"], data["errors"], strict=True)
    for k, (name, history, error) in enumerate(rows):
        label = f"{name}: $W_2$ = {error:.1e}"
        ax.semilogy(history, color=PALETTE[k], label=label)
    ax.set_xlabel("steps of Adam")
    ax.set_ylabel("Sinkhorn divergence")
    ax.legend()
    return figure


FIGURES = {
    "phases": (compute_phases, draw_phases),
    "errors": (compute_errors, draw_errors),
    "switches": (compute_switches, draw_switches),
    "training": (compute_training, draw_training),
}
FILMS = {"phases": film}
