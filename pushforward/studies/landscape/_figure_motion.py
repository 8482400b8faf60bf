"""Particles with the published weights on the circle: where, how, and how low."""

import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import functionals as fn
from pushforward import plot
from pushforward.plot.style import HAIR, PALETTE, SOFT, new_figure, styled
from pushforward.studies.landscape.runs import official_run, published, published_energy
from pushforward.studies.landscape.study import Parameters

RUNS = {
    "ascent, attention alone": (True, False),
    "ascent, with perceptron": (True, True),
    "descent, attention alone": (False, False),
    "descent, with perceptron": (False, True),
}
BINS = 72


def compute_runs(p: Parameters) -> dict[str, np.ndarray]:
    """Points and energies of the four runs, the minimizer, the neurons."""
    data = {}
    for name, (ascent, perceptron) in RUNS.items():
        run = official_run(p.seed, p.tokens, ascent, perceptron)
        data[f"times {name}"] = np.asarray(run.times)
        data[f"points {name}"] = np.asarray(run.points)
        values = run.observe(published_energy(float(perceptron)))
        data[f"energy {name}"] = np.asarray(values)
    found, P = fn.minimize(published_energy()), published()
    data["minimizer"] = np.stack([found.positions, found.masses])
    data["minimum"] = np.asarray(found.value)
    data["neurons"] = np.arctan2(P.A[:, 1], P.A[:, 0])
    data["omega"] = np.asarray(P.omega)
    return data


@styled
def draw_histograms(data: dict[str, np.ndarray]) -> Figure:
    """Where the particles are at the end, over the half-circles of the neurons."""
    figure = new_figure(11.0, 3.0)
    figure.get_layout_engine().set(wspace=0.12)
    axes = figure.subplots(1, 4, subplot_kw={"projection": "polar"})
    for ax, name in zip(axes, RUNS, strict=True):
        x = data[f"points {name}"][-1]
        angle = np.arctan2(x[:, 1], x[:, 0])
        share, edges = np.histogram(angle, BINS, (-np.pi, np.pi))
        if "with" in name:
            _shade(ax, data)
        height = np.sqrt(share / len(x))  # area, not height, is mass
        ax.bar(edges[:-1] + np.pi / BINS, height, 2 * np.pi / BINS, 0.35, color=INKY)
        if name == "descent, with perceptron":
            s, m = data["minimizer"]
            ax.plot(s, 0.35 + np.sqrt(m), "o", mfc="none", color=PALETTE[1], ms=6)
        turn = np.linspace(0, 2 * np.pi, 181)
        ax.plot(turn, np.full(181, 0.35), color=HAIR, lw=0.8, zorder=1)
        ax.set_ylim(0, 1.36)
        ax.set_yticks([])
        ax.set_xticks(np.radians([0, 90, 180, 270]), ["0°", "90°", "180°", "270°"])
        ax.spines["polar"].set_visible(False)
        ax.grid(False)
        ax.set_title(name)
    figure.supxlabel(
        "shaded: neuron active (blue ω > 0, orange ω < 0); rings: certified minimizer",
        fontsize=8,
        color=SOFT,
    )
    return figure


INKY = "#3b4656"


def _shade(ax, data) -> None:
    for angle, omega in zip(data["neurons"], data["omega"], strict=True):
        color = PALETTE[0] if omega > 0 else PALETTE[1]
        ax.bar(angle, 1.36, np.pi, color=color, alpha=0.12, zorder=0, lw=0)


@styled
def draw_trajectories(data: dict[str, np.ndarray]) -> Figure:
    """Angles against time for the four runs."""
    figure = new_figure(9.0, 5.2)
    axes = figure.subplots(2, 2, sharey=True)
    for ax, name in zip(axes.flat, RUNS, strict=True):
        run = pf.Trajectory.recorded(
            pf.Circle(), data[f"points {name}"], data[f"times {name}"]
        )
        plot.rainbow(run, ax=ax, log_time=True)
        ax.set_title(name)
    for ax in axes[:, 1]:
        ax.set_ylabel("")
    for ax in axes[0]:
        ax.set_xlabel("")
    return figure


@styled
def draw_energies(data: dict[str, np.ndarray]) -> Figure:
    """Energy against time, up and down, with the certified minimum."""
    figure = new_figure(8.4, 3.0)
    axes = figure.subplots(1, 2)
    for k, name in enumerate(RUNS):
        ax, color = axes[k // 2], PALETTE[k % 2]
        label = name.split(", ")[1]
        ax.semilogx(
            data[f"times {name}"][1:],
            data[f"energy {name}"][1:],
            color=color,
            label=label,
        )
    axes[1].axhline(data["minimum"], color=SOFT, lw=0.9, ls=(0, (4, 2.5)))
    axes[1].annotate(
        "certified minimum, with perceptron",
        (0.5, float(data["minimum"])),
        (0, -11),
        textcoords="offset points",
        color=SOFT,
        fontsize=8,
    )
    axes[0].set_title("ascent")
    axes[1].set_title("descent")
    for ax in axes:
        ax.set_xlabel("time")
        ax.grid(axis="y", color=HAIR)
    axes[0].legend(loc="upper left")
    axes[1].legend(loc="upper right", bbox_to_anchor=(1.0, 0.9))
    axes[1].set_ylim(0.158, None)
    axes[0].set_ylabel("energy, code scaling, β = 1")
    return figure


FIGURES = {
    "histograms": (compute_runs, draw_histograms),
    "trajectories": (compute_runs, draw_trajectories),
    "energies": (compute_runs, draw_energies),
}
