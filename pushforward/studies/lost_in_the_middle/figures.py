"""Figures: the retrieval profile and its wells, and prompts beside the theory."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from pushforward.plot.style import DEPTHS, HAIR, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.lost_in_the_middle._retrieval import (
    BETA,
    BINS,
    DECAY,
    FINE,
    WAVES,
    first_mode,
    in_bins,
    profile,
    prompts,
)
from pushforward.studies.lost_in_the_middle.claims import (
    TWO_WELLS,
    WELLS_TIME,
    groups_run,
    two_wells,
)
from pushforward.studies.lost_in_the_middle.study import Parameters
from pushforward.theory import kinetic, kinetic_lattice

PANELS = (0.25, 0.5, 1.0, 1.2, 1.5, 2.0, 2.4, 5.0)
OVERLAY = tuple(np.round(np.arange(1.0, 2.01, 0.1), 1))
GRID = np.linspace(0.02, 0.98, 800)


def compute_profiles(p: Parameters) -> dict[str, np.ndarray]:
    """S_t above its minimum, for the panels and for the overlay."""
    rows = lambda ts: np.stack(  # noqa: E731
        [kinetic.retrieval(GRID, t, BETA, DECAY) for t in ts]
    )
    return {"panels": rows(PANELS), "overlay": rows(OVERLAY)}


@styled
def draw_profiles(data: dict[str, np.ndarray]) -> Figure:
    """One panel per time with the minimum circled; below, t = 1 to 2 together."""
    figure = new_figure(8.4, 7.2)
    grid = figure.add_gridspec(3, 4, height_ratios=[1, 1, 1.5])
    for k, (t, values) in enumerate(zip(PANELS, data["panels"], strict=True)):
        ax = figure.add_subplot(grid[k // 4, k % 4])
        above = values - values.min()
        ax.plot(GRID, above, color=PALETTE[0])
        low = int(values.argmin())
        if 0 < low < len(GRID) - 1:
            ax.plot(
                GRID[low], 0.0, "o", ms=6, mfc="white", mec=PALETTE[1], clip_on=False
            )
        ax.set_title(f"t = {t:g}" + ("" if low < len(GRID) - 1 else ", no minimum"))
        ax.set_xticks([0, 0.5, 1])
        ax.set_ylim(0.0, None)
        if k % 4 == 0:
            ax.set_ylabel(r"$S_t-\min S_t$")
    ax = figure.add_subplot(grid[2, :])
    for k, (t, values) in enumerate(zip(OVERLAY, data["overlay"], strict=True)):
        color = DEPTHS(0.25 + 0.65 * k / (len(OVERLAY) - 1))
        label = f"t = {t:g}" if t in (1.0, 1.5, 2.0) else None
        ax.plot(GRID, values - values.min(), color=color, lw=1.1, label=label)
        ax.plot(GRID[values.argmin()], 0.0, "o", ms=4, color=color, clip_on=False)
    ax.set_xlabel(r"position of the source $\sigma_0$")
    ax.set_ylabel(r"$S_t-\min S_t$")
    ax.set_ylim(0.0, 1.0)
    ax.set_title("t = 1 to 2: the worst position moves to the end (β = λ = 1, M = 8)")
    ax.legend(loc="upper center")
    return figure


def compute_times(p: Parameters) -> dict[str, np.ndarray]:
    """t_crit and the smallness time against beta, lambda = 1."""
    betas = np.linspace(0.1, 4.8, 95)
    return {
        "betas": betas,
        "critical": np.array([kinetic.critical_time(b, DECAY) for b in betas]),
        "smallness": np.array([kinetic.smallness_time(b, DECAY) for b in betas]),
    }


@styled
def draw_times(data: dict[str, np.ndarray]) -> Figure:
    """Below the dashed line the U shape is a theorem, above the full one it is gone."""
    figure = new_figure(4.8, 3.2)
    ax = figure.add_subplot()
    ax.semilogy(data["betas"], data["critical"], color=PALETTE[0], label=r"$t_{crit}$")
    ax.semilogy(
        data["betas"],
        data["smallness"],
        color=INK,
        lw=1.0,
        ls=(0, (4, 2.5)),
        label="U shape is a theorem below",
    )
    ax.text(3.0, 3.0, "primacy only", color=SOFT, ha="center")
    ax.text(0.75, 0.12, "U shape", color=SOFT, ha="center")
    ax.set_xlabel("β")
    ax.set_ylabel("time")
    ax.set_title("recency disappears after the critical time (λ = 1, M = 8)")
    ax.legend(loc="lower left")
    return figure


def compute_heads(p: Parameters) -> dict[str, np.ndarray]:
    """The signed combination of four heads."""
    return {"source": GRID, "profile": np.asarray(two_wells(GRID))}


@styled
def draw_heads(data: dict[str, np.ndarray]) -> Figure:
    """Two wells, circled."""
    figure = new_figure(5.2, 3.2)
    ax = figure.add_subplot()
    ax.plot(data["source"], data["profile"], color=PALETTE[0])
    for well in kinetic.wells(two_wells):
        ax.plot(well.source, well.value, "o", ms=6, mfc="white", mec=PALETTE[1])
        where = f"{well.source:.3f}"
        ax.annotate(
            where,
            (well.source, well.value),
            (0, -14),
            textcoords="offset points",
            ha="center",
            color=SOFT,
        )
    ax.set_ylim(-5.515, -5.40)
    ax.set_xlabel(r"position of the source $\sigma_0$")
    ax.set_ylabel(r"$\sum_h w_h S^h_t$")
    ax.set_title(f"{len(TWO_WELLS)} signed heads, t = {WELLS_TIME:g}: two wells")
    return figure


def compute_circle(p: Parameters) -> dict[str, np.ndarray]:
    """Four groups of 16 ordered tokens."""
    run = groups_run()
    return {"times": np.asarray(run.times), "points": np.asarray(run.points)}


@styled
def draw_circle(data: dict[str, np.ndarray]) -> Figure:
    """Snapshots on the circle, one color per initial group."""
    figure = new_figure(8.4, 2.0)
    shown = (0.0, 1.0, 2.0, 4.0, 6.0, 8.0)
    turn = np.linspace(0, 2 * np.pi, 200)
    colors = np.repeat([to_rgb(PALETTE[k]) for k in range(4)], 16, axis=0)
    for ax, t in zip(figure.subplots(1, len(shown)), shown, strict=True):
        x = data["points"][int(np.argmin(np.abs(data["times"] - t)))]
        ax.plot(np.cos(turn), np.sin(turn), color=HAIR, lw=0.6)
        # Order as radius: the first token inside, the last on the circle.
        ring = np.linspace(0.82, 1.0, len(x))[:, None]
        ax.scatter(*(ring * x).T, s=9, c=colors, linewidths=0)
        ax.plot(*(0.82 * x[0]), "o", ms=7, mfc="none", mec=INK, mew=0.8)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set_title(f"t = {t:g}")
    figure.suptitle(
        "64 ordered tokens in four groups, β = λ = 1: all join the first (ringed); "
        "the radius shows the order",
        fontsize=9.5,
    )
    return figure


TIME = 1.0


def compute_retrieval(p: Parameters) -> dict[str, np.ndarray]:
    """S_t: closed form, exp(a_n t W) and Monte Carlo in bins."""
    found = prompts(p.tokens, p.prompts, p.seed, TIME)
    binned = profile(found, TIME, FINE, kinetic.codeword_weights(8, WAVES))
    source = np.linspace(0.02, 0.999, 400)
    return {
        "source": source,
        "theory": np.asarray(kinetic.retrieval(source, TIME, BETA, DECAY)),
        "lattice": kinetic_lattice.lattice_retrieval(TIME, p.tokens, BETA, DECAY)[:-1],
        "measured": binned.measured,
        "error": binned.error,
        "prompts": np.array(p.prompts),
    }


@styled
def draw_retrieval(data: dict[str, np.ndarray]) -> Figure:
    """The U: a line, steps of the lattice, and points with two standard errors."""
    figure = new_figure(6.4, 3.8)
    ax = figure.add_subplot()
    n = len(data["lattice"]) + 1
    position = (np.arange(n - 1) + 1) / n
    inside = position > 0.02
    ax.plot(data["source"], data["theory"], color=PALETTE[0], label="theory, N = ∞")
    ax.plot(
        position[inside],
        data["lattice"][inside],
        color=INK,
        lw=1.0,
        ls=(0, (4, 2.5)),
        label=f"lattice, N = {n}",
    )
    middle = [(a + b) / 2 for a, b in FINE]
    ax.errorbar(
        middle,
        data["measured"],
        2 * data["error"],
        fmt="o",
        ms=4.5,
        color=PALETTE[1],
        elinewidth=1.0,
        capsize=2.5,
        label=f"{int(data['prompts'])} random prompts, ± 2 standard errors",
    )
    low = int(data["theory"].argmin())
    ax.plot(data["source"][low], data["theory"][low], "o", ms=8, mfc="none", mec=SOFT)
    ax.set_xlabel(r"position of the source $\sigma_0$")
    ax.set_ylabel(r"retrieval $S_t$")
    ax.set_ylim(1.0, 1.8)
    ax.set_title(f"the middle is lost: t = {TIME:g}, β = λ = 1, M = 8")
    ax.legend(loc="upper center")
    return figure


def compute_estimators(p: Parameters) -> dict[str, np.ndarray]:
    """N Cov of mode 1 with its error, with and without integration by parts."""
    found = prompts(p.tokens, p.prompts, p.seed, TIME)
    smooth, plain = (in_bins(rows @ first_mode(), BINS) for rows in found)
    a = kinetic.mode_rates(BETA)[0]
    source = np.linspace(0.1, 0.85, 200)
    return {
        "smooth": np.stack(smooth),
        "plain": np.stack(plain),
        "source": source,
        "theory": np.asarray(kinetic.correlation(a, TIME, source, decay=DECAY)),
        "size": np.array([p.tokens, p.prompts]),
    }


@styled
def draw_estimators(data: dict[str, np.ndarray]) -> Figure:
    """The same prompts read in two ways, on two scales."""
    figure = new_figure(7.2, 3.0)
    left, right = figure.subplots(1, 2)
    middle = [(a + b) / 2 for a, b in BINS]
    for ax, name, title in (
        (left, "plain", r"$N\cos(\theta_i(0)-\theta_N(t))$"),
        (right, "smooth", r"times $\partial\theta_N(t)/\partial\theta_i(0)$"),
    ):
        mean, error = data[name]
        ax.plot(data["source"], data["theory"], color=PALETTE[0], lw=1.1)
        ax.errorbar(
            middle, mean, 2 * error, fmt="o", ms=4, color=PALETTE[1], capsize=2.5
        )
        ax.set_title(title)
        ax.set_xlabel(r"position $\sigma_0$")
    left.set_ylabel(r"$N\,\mathrm{Cov}$ of mode 1")
    n, number = data["size"]
    figure.suptitle(f"N = {n}, the same {number} prompts, ± 2 standard errors")
    return figure


FIGURES = {
    "profiles": (compute_profiles, draw_profiles),
    "critical-times": (compute_times, draw_times),
    "two-wells": (compute_heads, draw_heads),
    "circle": (compute_circle, draw_circle),
    "retrieval": (compute_retrieval, draw_retrieval),
    "estimators": (compute_estimators, draw_estimators),
}
