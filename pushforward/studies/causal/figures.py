"""Figures: the atlas of table 1, parking, absorption, and the square-root law."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import pushforward as pf
from pushforward import plot, theory
from pushforward.observables import Centers, Clusters
from pushforward.plot import wheel
from pushforward.plot.style import HAIR, INK, PALETTE, SOFT, mixed, new_figure, styled
from pushforward.studies.causal._counts import (
    TIMES,
    absorption,
    cluster_counts,
    growth_exponent,
    sequence,
)
from pushforward.studies.causal.claims import panel
from pushforward.studies.causal.runs import (
    BETA,
    CIRCLE_BETA,
    PANELS,
    SNAPSHOTS,
    parking,
)
from pushforward.studies.causal.study import Parameters

CAMERA = plot.Camera(azimuth=32.0, elevation=24.0)


def compute_atlas(p: Parameters) -> dict[str, np.ndarray]:
    """Frames of every panel: (panels, times, n, 3)."""
    frames = [panel(p, name) for name in PANELS]
    return {"points": np.stack(frames), "time": np.array(p.atlas_time)}


@styled
def draw_atlas(data: dict[str, np.ndarray]) -> Figure:
    """Trails in the colors of where tokens end; the final places as beads."""
    figure = new_figure(8.4, 6.4)
    axes = figure.subplots(2, 3).ravel()
    panels = zip(axes, PANELS.items(), data["points"], strict=True)
    for ax, (_, V), points in panels:
        run = pf.Trajectory.recorded(pf.Sphere(3), points)
        settles = np.diag(V).max() > 0  # clouds never come to rest: only where they are
        color = plot.ByCluster(0.1) if settles else PALETTE[0]
        plot.sphere(run, ax=ax, camera=CAMERA, color=color, trails=settles)
        entries = ", ".join(f"{value:g}" for value in np.diag(V))
        ending = theory.causal.final_configuration(V).name.lower().replace("_", " ")
        count = pf.observables.Clusters(0.1)(run.final).count
        places = "place" if count == 1 else "places"
        ax.set_title(f"V = diag({entries})\n{ending}; seen: {count} {places}")
    title = (
        f"Causal attention on the sphere, n = 32, β = {BETA:g}, t = {data['time']:g}"
    )
    figure.suptitle(title, fontsize=10.5)
    return figure


RED = PALETTE[1]


def compute_parking(p: Parameters) -> dict[str, np.ndarray]:
    """One sequence of n tokens to t = 150, and its centers."""
    run = parking(p).run()
    delta = float(theory.parking.center_scale(CIRCLE_BETA))
    centers = Centers(delta)(run[0])
    return {
        "times": np.asarray(run.times),
        "points": np.asarray(run.points),
        "kept": centers.kept,
        "strong": centers.strong,
        "delta": np.array(delta),
    }


@styled
def draw_parking(data: dict[str, np.ndarray]) -> Figure:
    """Four moments on the circle, and all angles over time below them."""
    figure = new_figure(9.0, 6.0)
    grid = figure.add_gridspec(2, 4, height_ratios=[1.0, 1.35])
    for k, t in enumerate(SNAPSHOTS):
        _circle(figure.add_subplot(grid[0, k]), data, t)
    _angles(figure.add_subplot(grid[1, :]), data)
    return figure


def _circle(ax: Axes, data: dict[str, np.ndarray], t: float) -> None:
    k = int(np.argmin(np.abs(data["times"] - t)))
    x = data["points"][k]
    ax.plot(
        *np.array([np.cos(a := np.linspace(0, 2 * np.pi, 400)), np.sin(a)]),
        color=HAIR,
        lw=0.8,
        zorder=1,
    )
    hue = wheel(np.arctan2(data["points"][0][:, 1], data["points"][0][:, 0]))
    ax.scatter(x[:, 0], x[:, 1], s=16, c=hue, lw=0, zorder=2)
    for name, color, size in (("kept", INK, 1.13), ("strong", RED, 1.13)):
        c = x[data[name]]
        ax.scatter(size * c[:, 0], size * c[:, 1], s=22, color=color, lw=0, zorder=3)
    ax.set_aspect("equal")
    ax.set_xlim(-1.3, 1.3)
    ax.set_ylim(-1.3, 1.3)
    ax.axis("off")
    count = Clusters(0.5 / np.sqrt(CIRCLE_BETA))(pf.Particles(pf.Circle(), x)).count
    ax.set_title(f"t = {t:g}" + (f": {count} clusters" if t else ""))


def _angles(ax: Axes, data: dict[str, np.ndarray]) -> None:
    x, theta = _clock(data["times"]), _broken(data["points"])
    start = np.arctan2(data["points"][0][:, 1], data["points"][0][:, 0])
    pale = mixed(wheel(start), np.ones(3), np.full(len(start), 0.8))
    lines = [np.column_stack([x, theta[:, i]]) for i in range(theta.shape[1])]
    ax.add_collection(LineCollection(lines, colors=pale, linewidths=0.6))
    for k in data["kept"]:
        strong = k in data["strong"]
        color, z = (RED, 4) if strong else (INK, 3)
        ax.plot(x, theta[:, k], color=color, lw=1.5, zorder=z)
        ax.plot(x[0], theta[0, k], "o", ms=4, color=color, zorder=z, clip_on=False)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(-np.pi, np.pi)
    ticks = np.array([0, 1, 2, 5, 10, 20, 50, 100, 150])
    ax.set_xticks(_clock(ticks), [f"{t:g}" for t in ticks])
    ax.set_yticks(np.pi * np.arange(-1, 1.5, 0.5), ["−π", "−π/2", "0", "π/2", "π"])
    ax.set_xlabel("time (axis: log(1 + t))")
    ax.set_ylabel("angle")
    names = [
        Line2D(
            [], [], color=RED, lw=1.5, label=f"{len(data['strong'])} strong centers"
        ),
        Line2D(
            [],
            [],
            color=INK,
            lw=1.5,
            label=f"{len(data['kept']) - len(data['strong'])} other Rényi centers",
        ),
        Line2D([], [], color=SOFT, lw=0.8, label=f"{theta.shape[1]} tokens, by start"),
    ]
    ax.legend(handles=names, loc="upper center", bbox_to_anchor=(0.5, 1.11), ncols=3)


def _clock(t: np.ndarray) -> np.ndarray:
    return np.log1p(t)


def _broken(points: np.ndarray) -> np.ndarray:
    """Angles in [-pi, pi], with a gap where a token crosses the cut."""
    theta = np.arctan2(points[..., 1], points[..., 0])
    jump = np.abs(np.diff(theta, axis=0)) > np.pi
    theta[1:][jump] = np.nan
    return theta


SERIES = (
    ("causal", "causal, t = 20", "o", PALETTE[0], 0.97),
    ("full", "full attention, t = 20", "s", PALETTE[1], 1.03),
    ("centers", "Rényi centers at the start", "^", INK, 1.0),
)


def compute_absorption(p: Parameters) -> dict[str, np.ndarray]:
    """Shares absorbed at beta = 64: (runs, times) for both kinds of centers."""
    renyi, strong = absorption(p, p.curve_runs)
    return {"times": TIMES, "Rényi centers": renyi, "strong centers": strong}


@styled
def draw_absorption(data: dict[str, np.ndarray]) -> Figure:
    """Mean with the band from the 10th to the 90th percentile."""
    figure = new_figure(5.6, 3.3)
    ax = figure.subplots()
    for name, color in (("Rényi centers", INK), ("strong centers", PALETTE[1])):
        shares = 100 * data[name]
        low, high = np.percentile(shares, [10, 90], axis=0)
        ax.fill_between(data["times"], low, high, color=color, alpha=0.14, lw=0)
        ax.plot(data["times"], shares.mean(axis=0), color=color)
        end = shares.mean(axis=0)[-1]
        ax.annotate(
            name,
            (50, end),
            (4, 0),
            textcoords="offset points",
            color=color,
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
    ax.set_xlim(0, 50)
    ax.set_ylim(0, 100)
    ax.set_xlabel("time")
    ax.set_ylabel("tokens within 0.05 of a center, %")
    runs = len(data["strong centers"])
    ax.set_title(f"n = 200, d = 2, β = 64, δ = 0.5; {runs} runs, band 10–90 %")
    return figure


def compute_law(p: Parameters) -> dict[str, np.ndarray]:
    """Cluster counts at t = 20 and centers at the start, per temperature."""
    betas = np.array(p.betas)
    data = {"betas": betas}
    for name in ("causal", "full"):
        data[name] = np.array([cluster_counts(p, name, b, 20.0) for b in p.betas])
    data["centers"] = np.array(
        [
            [
                Centers(float(theory.parking.center_scale(b)))(
                    sequence(p.seed, p.n, run)
                ).count
                for run in range(p.runs)
            ]
            for b in p.betas
        ]
    )
    return data


@styled
def draw_law(data: dict[str, np.ndarray]) -> Figure:
    """Counts against beta in logarithms, with the parking law on top."""
    figure = new_figure(5.2, 3.5)
    ax = figure.subplots()
    betas = data["betas"]
    fine = np.geomspace(betas[0] / 1.4, betas[-1] * 1.4, 100)
    law = theory.parking.expected_centers_asymptotic(theory.parking.center_scale(fine))
    ax.plot(
        fine,
        law,
        color=SOFT,
        lw=1.1,
        ls=(0, (4, 2.5)),
        label=r"parking law $c_R\, 2\pi/\delta$, $\delta = 4\beta^{-1/2}$",
    )
    for name, label, marker, color, shift in SERIES:
        mean = data[name].mean(axis=1)
        error = data[name].std(axis=1) / np.sqrt(data[name].shape[1])
        slope = growth_exponent(betas, data[name])
        ax.errorbar(
            betas * shift,
            mean,
            error,
            fmt=marker,
            ms=5,
            color=color,
            lw=1,
            capsize=2,
            label=f"{label} (exponent {slope:.2f})",
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(betas, [f"{b:g}" for b in betas])
    ax.set_yticks([4, 6, 10, 20], ["4", "6", "10", "20"])
    ax.minorticks_off()
    ax.set_xlabel("β")
    ax.set_ylabel("number of clusters")
    ax.legend(loc="upper left")
    return figure


FIGURES = {
    "figure-1-atlas": (compute_atlas, draw_atlas),
    "figure-2-parking": (compute_parking, draw_parking),
    "figure-3-absorption": (compute_absorption, draw_absorption),
    "square-root-law": (compute_law, draw_law),
}
