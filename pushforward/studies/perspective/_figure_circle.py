"""Figures 4 and 6, the growth of waves, and the clock of layers."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import plot, theory
from pushforward.plot.style import INK, PALETTE, new_figure, styled
from pushforward.studies.perspective import runs
from pushforward.studies.perspective._circle import (
    WAVES,
    clock,
    from_uniform,
    growth_measured,
)
from pushforward.studies.perspective.runs import SNAPSHOTS
from pushforward.studies.perspective.study import Parameters


def compute_plateaus(p: Parameters) -> dict[str, np.ndarray]:
    """One run of 32 tokens on the circle for beta = 4 and for beta = 9."""
    both = [runs.circle(p, beta).run() for beta in (4.0, 9.0)]
    x = np.stack([np.asarray(run.points) for run in both])
    times = np.asarray(both[0].times)
    return {"times": times, "points": x, "betas": np.array([4.0, 9.0])}


@styled
def draw_plateaus(data: dict[str, np.ndarray]) -> Figure:
    """Angles over time, and the circle at three times, one row per temperature."""
    figure = new_figure(9.2, 4.2)
    rows = figure.subplots(2, 4, width_ratios=[2.4, 1, 1, 1])
    for row, beta, points in zip(rows, data["betas"], data["points"], strict=True):
        plot.rainbow(
            pf.Trajectory.recorded(pf.Circle(), points, data["times"]), ax=row[0]
        )
        row[0].set_title(f"β = {beta:g}")
        for ax, t in zip(row[1:], SNAPSHOTS, strict=True):
            past = data["times"] <= t
            run = pf.Trajectory.recorded(pf.Circle(), points[past], data["times"][past])
            plot.circle(run, ax=ax, color=plot.ByStart(), trails=False)
            count = pf.observables.Clusters(0.1)(run.final).count
            ax.set_title(f"t = {t:g}, {count} clusters")
        for t in SNAPSHOTS:
            row[0].axvline(t, color=INK, lw=0.5, ls=":")
    return figure


def compute_slope(p: Parameters) -> dict[str, np.ndarray]:
    """g(tau) in closed form, and as the derivative of the simulated pull."""
    tau, few = np.linspace(-np.pi, np.pi, 401), np.linspace(-3.0, 3.0, 25)
    betas = np.array([2.0, 6.0])

    @jax.jit
    @functools.partial(jax.vmap, in_axes=(0, None))
    @functools.partial(jax.vmap, in_axes=(None, 0))
    def simulated(beta, angle):
        def pull(angle):
            x = pf.Circle().points(jnp.stack([0.0 * angle, angle]))
            field = pf.UnnormalizedAttention(beta, log_scale=-beta)
            return 2 * field(0.0, pf.Particles(pf.Circle(), x)).v[0, 1]

        return jax.grad(pull)(angle)

    return {
        "tau": tau,
        "betas": betas,
        "g": np.array([theory.circle.attraction_slope(tau, b) for b in betas]),
        "few": few,
        "simulated": np.asarray(simulated(jnp.asarray(betas), jnp.asarray(few))),
        "peak": np.array([theory.circle.peak_angle(b) for b in betas]),
    }


@styled
def draw_slope(data: dict[str, np.ndarray]) -> Figure:
    """Two panels, as in the paper; the zero of g is marked."""
    figure = new_figure(7.2, 2.7)
    axes = figure.subplots(1, 2, sharey=True)
    for k, (ax, beta) in enumerate(zip(axes, data["betas"], strict=True)):
        ax.axhline(0, lw=0.5, color=INK)
        ax.axvspan(
            -data["peak"][k], data["peak"][k], color=PALETTE[0], alpha=0.08, lw=0
        )
        ax.plot(data["tau"], data["g"][k], color=PALETTE[0], label="closed form")
        ax.plot(
            data["few"],
            data["simulated"][k],
            "o",
            ms=3,
            color=PALETTE[1],
            label="field",
        )
        ax.set_title(f"β = {beta:g}, g > 0 up to τ* = {data['peak'][k]:.2f}")
        ax.set_xlabel("τ")
        ax.set_xticks([-np.pi, 0, np.pi], ["−π", "0", "π"])
    axes[0].set_ylabel(r"$g(\tau)\, e^{-\beta}$")
    axes[1].legend()
    return figure


def compute_growth(p: Parameters) -> dict[str, np.ndarray]:
    """lambda_k(beta) in theory and from particles; clusters against beta."""
    betas, grid = np.array([1.0, 4.0, 9.0, 16.0, 64.0]), np.geomspace(0.5, 100.0, 120)
    return {
        "betas": betas,
        "rates": np.array([theory.stability.growth_rates(b, 2, 20) for b in betas]),
        "waves": np.array(WAVES),
        "measured": growth_measured(p),
        "grid": grid,
        "dominant": np.array([theory.stability.dominant_degree(b, 2) for b in grid]),
        "counted_at": np.array(p.rate_betas),
        "counted": from_uniform(p),
    }


@styled
def draw_growth(data: dict[str, np.ndarray]) -> Figure:
    """The spectrum on the left, what it predicts on the right."""
    figure = new_figure(8.2, 3.1)
    left, right = figure.subplots(1, 2)
    k = np.arange(data["rates"].shape[1])
    for i, beta in enumerate(data["betas"]):
        left.plot(
            k, data["rates"][i], "-", lw=1, marker=".", ms=4, label=f"β = {beta:g}"
        )
        mine = data["waves"][:, 0] == beta
        at = data["waves"][mine, 1], data["measured"][mine]
        left.plot(*at, "o", mfc="none", ms=8, color=PALETTE[i])
    left.axhline(2 / math.e, lw=0.7, ls=":", color=INK)
    left.text(20, 2 / math.e, "2/e", ha="right", va="bottom")
    left.set(
        xlabel="degree k",
        ylabel=r"growth rate $\lambda_k$",
        title="waves about the uniform measure (rings: particles)",
    )
    left.set_xticks(range(0, 21, 5))
    left.set_ylim(-0.03, 0.92)
    left.legend(loc="upper center", ncols=5, columnspacing=0.9, handlelength=1.2)
    right.step(data["grid"], data["dominant"], where="mid", label="fastest wave")
    right.plot(
        data["grid"], np.sqrt(2 * data["grid"]), "--", color=INK, lw=1, label="√(2β)"
    )
    right.plot(
        data["counted_at"],
        data["counted"],
        "o",
        label="clusters at t = 30, nearly uniform start",
    )
    right.set(
        xlabel="β",
        ylabel="number of clusters",
        xscale="log",
        title="the fastest wave and the clusters it leaves",
    )
    right.legend(loc="upper left")
    return figure


def compute_clock(p: Parameters) -> dict[str, np.ndarray]:
    """Two tokens at a right angle, beta = 6."""
    return clock(p)


@styled
def draw_clock(data: dict[str, np.ndarray]) -> Figure:
    """The cosine under the exact flow and under layers, which are late."""
    figure = new_figure(5.6, 3.0)
    ax = figure.subplots()
    ax.plot(data["times"], data["exact"], color=INK, label="exact flow")
    for h in ("0.1", "0.05"):
        ax.plot(data["layer times"], data[f"layers {h}"], label=f"layers, h = {h}")
    ax.axvline(data["merging"][0], ls=":", lw=0.8, color=INK)
    ax.text(data["merging"][0] - 0.4, 0.05, "predicted merging", ha="right")
    ax.set(xlabel="t", ylabel="⟨x₁, x₂⟩", xlim=(0, 45), ylim=(0, 1.02))
    ax.legend(loc="upper left")
    return figure


FIGURES = {
    "figure-4-plateaus": (compute_plateaus, draw_plateaus),
    "figure-6-slope": (compute_slope, draw_slope),
    "growth-rates": (compute_growth, draw_growth),
    "layers-run-slow": (compute_clock, draw_clock),
}
