"""Every figure of the study.

The staircase in normalized-gradient time, and the view from saddle to saddle.

Kinetic coarsening, the rainbow in log-time, and escape time against beta.
"""

import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import plot, theory
from pushforward.observables import cluster_life
from pushforward.plot.style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.metastability.runs import (
    ANGLES,
    ESCAPE_BETAS,
    STAIRCASE_BETAS,
    climb,
    crowd,
    kinetic,
    log_escape,
)
from pushforward.studies.metastability.study import Parameters

PLATEAUS = (0.20, 0.28, 0.44, 0.52, 1.0)


def compute_staircase(p: Parameters) -> dict[str, np.ndarray]:
    """Energy on the clock of arc length over log(beta), one curve per beta."""
    data = {"betas": np.array(STAIRCASE_BETAS)}
    for beta in STAIRCASE_BETAS:
        run = climb(beta)
        data[f"clock {beta:g}"] = run.arc / np.log(beta)
        data[f"energy {beta:g}"] = run.energy
        data[f"log10 t {beta:g}"] = run.tree.log_times / np.log(10) + np.log10(5)
    data["jumps"] = theory.staircase.jump_times(ANGLES, data["betas"])
    return data


@styled
def draw_staircase(data: dict[str, np.ndarray]) -> Figure:
    """Curves from pale (small beta) to dark; dots are the closed-form jump times."""
    figure = new_figure(8.2, 4.4)
    ax = figure.subplots()
    betas = data["betas"]
    shades = DEPTHS(np.linspace(0.35, 1.0, len(betas)))
    for value in PLATEAUS:
        ax.axhline(value, color=SOFT, lw=0.5, ls=(0, (1, 3)), zorder=0)
    for beta, jumps, color in zip(betas, data["jumps"], shades, strict=True):
        clock, energy = data[f"clock {beta:g}"], data[f"energy {beta:g}"]
        end = np.array([clock[-1], 0.135])
        ax.plot(np.append(clock, end[1]), np.append(energy, 1.0), color=color, lw=1.6)
        ax.plot(
            jumps, PLATEAUS[1:], "o", ms=4.5, mfc="white", mec=color, mew=1.1, zorder=3
        )
    ax.plot([], [], "o", ms=4.5, mfc="white", mec=INK, label="jump, closed form")
    for beta, color in zip(betas, shades, strict=True):
        last = data[f"log10 t {beta:g}"][-1]
        label = rf"$\beta$ = {beta:g}, over at $t = 10^{{{last:.1f}}}$"
        ax.plot([], [], color=color, label=label)
    ax.set_xlim(0, 0.135)
    ax.set_ylim(0.15, 1.06)
    ax.set_yticks(PLATEAUS, [f"{v:.2f}" for v in PLATEAUS])
    sizes = ("1 1 1 1 1", "2 1 1 1", "3 1 1", "3 2", "5")
    for value, text in zip(PLATEAUS, sizes, strict=True):
        ax.annotate(
            text,
            (0.1352, value),
            va="center",
            fontsize=7.5,
            color=SOFT,
            annotation_clip=False,
        )
    ax.set_xlabel("arc length / log β")
    ax.set_ylabel(r"$2\beta e^{-\beta} E_\beta$")
    ax.legend(loc="upper left", bbox_to_anchor=(0.02, 0.97))
    return figure


def compute_saddles(p: Parameters) -> dict[str, np.ndarray]:
    """Distance of the tokens to each k-cluster state along the run at beta = 2000."""
    run = climb(2000.0)
    x = run.points
    theta = np.unwrap(np.arctan2(x[..., 1], x[..., 0]), axis=0)
    data = {"arc": run.arc, "theta": theta, "merged": run.tree.arc}
    data["log10 merged"] = run.tree.log_times / np.log(10)
    owner = np.arange(theta.shape[1])
    for k, (gone, into) in enumerate(
        zip(run.tree.absorbed, run.tree.into, strict=True)
    ):
        owner = np.where(owner == gone, into, owner)
        data[f"to {len(owner) - k - 1}"] = _spread(theta, owner)
    return data


def _spread(theta: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Root mean square distance to the center of the own cluster."""
    off = theta.copy()
    for name in np.unique(owner):
        inside = owner == name
        off[:, inside] -= theta[:, inside].mean(axis=1, keepdims=True)
    return np.sqrt((off**2).mean(axis=1))


@styled
def draw_saddles(data: dict[str, np.ndarray]) -> Figure:
    """Tokens above; below, the flow comes close to one saddle after the other."""
    figure = new_figure(7.6, 5.0)
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.3])
    for i in range(data["theta"].shape[1]):
        top.plot(data["arc"], data["theta"][:, i], color=PALETTE[i])
    top.set_ylabel("angle")
    for k in (4, 3, 2, 1):
        away = np.maximum(data[f"to {k}"], 1e-6)
        name = f"{k} clusters" if k > 1 else "one cluster"
        low.semilogy(data["arc"], away, color=PALETTE[5 - k], label=name)
    for arc in data["merged"]:
        top.axvline(arc, color=SOFT, lw=0.5, ls=":")
        low.axvline(arc, color=SOFT, lw=0.5, ls=":")
    low.set_ylim(8e-7, 1)
    low.set_xlim(0, data["arc"][-1])
    low.set_xlabel("arc length (β = 2000)")
    low.set_ylabel("distance to the state of")
    low.legend(loc="lower right", bbox_to_anchor=(0.99, 0.05))
    upper = top.secondary_xaxis("top")
    labels = [rf"$10^{{{value:.1f}}}$" for value in data["log10 merged"]]
    upper.set_xticks(data["merged"], labels)
    upper.set_xlabel("physical time of each merger")
    return figure


EVENTS = (1.3, 2.5, 5.2, 328.4)


def compute_kinetic(p: Parameters) -> dict[str, np.ndarray]:
    """The data of kinetic.py under the exact flow."""
    run = kinetic(False)
    energy = run.observe(pf.InteractionEnergy(4.0))
    times, points = np.asarray(run.times), np.asarray(run.points)
    return {"times": times, "points": points, "energy": energy}


@styled
def draw_kinetic(data: dict[str, np.ndarray]) -> Figure:
    """Angles, and the energy with its plateaus."""
    figure = new_figure(7.2, 4.4)
    top, low = figure.subplots(2, 1, sharex=True)
    run = pf.Trajectory.recorded(pf.Circle(), data["points"], data["times"])
    plot.rainbow(run, ax=top, log_time=True)
    top.set_xlabel("")
    top.set_title("kinetic.py: n = 5, β = 4, exact flow; dotted: mergers at 0.999")
    low.semilogx(data["times"][1:], data["energy"][1:], color=PALETTE[0])
    low.axhline(13 / 25, color=SOFT, lw=0.7, ls=(0, (4, 2.5)))
    low.annotate(
        "13/25", (0.12, 13 / 25), (0, 3), textcoords="offset points", color=SOFT
    )
    for t in EVENTS:
        for ax in (top, low):
            ax.axvline(t, color=INK, lw=0.5, ls=":")
    low.set_ylim(0.3, 1.03)
    low.set_xlabel("time")
    low.set_ylabel(r"$2\beta e^{-\beta} E_\beta$")
    return figure


def compute_rainbow(p: Parameters) -> dict[str, np.ndarray]:
    """A crowd at beta = 100 to one cluster, and its number of clusters."""
    run = crowd(p.seed, p.crowd)
    life = cluster_life(run.trajectory)
    x = run.points
    after = run.times[-1] * 10.0 ** np.array([0.3, 4.0])  # the state no longer changes
    return {
        "times": np.concatenate([run.times, after]),
        "points": np.concatenate([x, x[-1:], x[-1:]]),
        "events": life.events / np.log(10),
        "counts": life.counts,
    }


@styled
def draw_rainbow(data: dict[str, np.ndarray]) -> Figure:
    """Angles above, the number of atoms below, over as many decades as it takes."""
    figure = new_figure(9.0, 5.6)
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    run = pf.Trajectory.recorded(pf.Circle(), data["points"], data["times"])
    plot.rainbow(run, ax=top, log_time=True)
    top.set_xlabel("")
    n, last = data["points"].shape[1], data["events"][-1]
    title = rf"n = {n}, β = 100: one cluster at $t = 10^{{{last:.1f}}}$"
    top.set_title(title)
    edges = np.concatenate([[data["times"][1]], 10.0 ** data["events"]])
    low.step(
        np.append(edges, data["times"][-1]),
        np.append(data["counts"], 1),
        where="post",
        color=INK,
        lw=1.2,
    )
    low.set_yscale("log")
    low.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    low.set_ylabel("atoms")
    low.set_xlabel("time")
    return figure


def compute_escape(p: Parameters) -> dict[str, np.ndarray]:
    """log T of two clusters by the flow, from 90 and from 120 degrees."""
    betas = ESCAPE_BETAS
    return {
        "betas": betas,
        "90°": np.array([log_escape(float(b)) for b in betas]),
        "120°": np.array([log_escape(float(b), -0.5) for b in betas]),
    }


@styled
def draw_escape(data: dict[str, np.ndarray]) -> Figure:
    """Times with the integral on top; beside them the slope of log(beta T)."""
    figure = new_figure(8.0, 3.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    betas, fine = data["betas"], np.linspace(7, 41, 200)
    middle = (betas[1:] + betas[:-1]) / 2
    for name, g_0, color in (("90°", 0.0, PALETTE[0]), ("120°", -0.5, PALETTE[1])):
        log_t = data[name]
        left.plot(
            betas,
            log_t / np.log(10),
            "o",
            ms=5,
            color=color,
            label=f"flow, {name} apart",
        )
        exact = theory.two_tokens.log10_merging_time(fine, g_0)
        left.plot(fine, exact, color=color, lw=0.9)
        asymptote = theory.two_tokens.log10_merging_time_asymptote(fine, g_0)
        left.plot(fine, asymptote, color=INK, lw=0.9, ls=(0, (3, 3)))
        slope = np.diff(np.log(betas) + log_t) / np.diff(betas)
        right.plot(middle, slope, "o-", ms=4, color=color, lw=0.9)
        right.plot(
            middle,
            np.diff(log_t) / np.diff(betas),
            "o-",
            ms=3,
            mfc="white",
            color=color,
            lw=0.6,
        )
        right.axhline(1 - g_0, color=INK, lw=0.8, ls=(0, (3, 3)))
    left.plot([], [], color=SOFT, lw=0.9, label="integral")
    left.plot([], [], color=INK, lw=0.9, ls=(0, (3, 3)), label="asymptote")
    left.set_xlabel("β")
    left.set_ylabel(r"$\log_{10} T$")
    left.legend()
    right.set_xlabel("β")
    right.set_ylim(0.8, 1.6)
    right.set_title("slopes: full dots log(βT), open dots log T")
    return figure


FIGURES = {
    "staircase": (compute_staircase, draw_staircase),
    "saddle-to-saddle": (compute_saddles, draw_saddles),
    "kinetic": (compute_kinetic, draw_kinetic),
    "rainbow": (compute_rainbow, draw_rainbow),
    "escape-times": (compute_escape, draw_escape),
}
