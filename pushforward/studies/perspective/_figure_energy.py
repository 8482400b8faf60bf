"""Energies along the flows, repulsive codes, layer norms, long contexts."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import plot, theory
from pushforward.plot.style import INK, PALETTE, new_figure, styled
from pushforward.studies.perspective._energy import along_flow, along_flow_unnormalized
from pushforward.studies.perspective.claims import (
    RHO,
    SOLIDS,
    layer_overlap,
    pre_norm_run,
    spread_out,
)
from pushforward.studies.perspective.study import Parameters


def compute_energy(p: Parameters) -> dict[str, np.ndarray]:
    """2 beta e^{-beta} E over time, and its smallest value, that of uniform."""
    run = along_flow(p)
    least = [float(theory.uniform.scaled_energy(b, 3)) for b in run["betas"]]
    unnormalized = along_flow_unnormalized(p)["energy"]
    return {**run, "least": np.array(least), "unnormalized": unnormalized}


@styled
def draw_energy(data: dict[str, np.ndarray]) -> Figure:
    """SA and USA; dotted are the least (uniform) and the largest (Dirac) energies."""
    figure = new_figure(8.0, 3.3)
    axes = figure.subplots(1, 2, sharey=True)
    kinds = (("SA", "energy", "$t$"), ("USA", "unnormalized", r"$e^\beta t$"))
    for ax, (title, name, clock) in zip(axes, kinds, strict=True):
        for k, beta in enumerate(data["betas"]):
            ax.plot(
                data["times"], data[name][k], color=PALETTE[k], label=f"β = {beta:g}"
            )
            ax.axhline(data["least"][k], color=PALETTE[k], ls=":", lw=0.8)
        ax.axhline(1.0, color=INK, ls=":", lw=0.8)
        ax.set(title=title, xlabel=clock, xlim=(0, 40), ylim=(0, 1.04))
    axes[0].set_ylabel("energy, 1 for a single point")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def compute_codes(p: Parameters) -> dict[str, np.ndarray]:
    """The tokens after repulsion, one array per solid."""
    return {name: spread_out(p, name) for name in SOLIDS}


@styled
def draw_codes(data: dict[str, np.ndarray]) -> Figure:
    """Three globes, with edges between nearest neighbors."""
    figure = new_figure(7.5, 2.9)
    camera = plot.Camera(azimuth=20.0, elevation=16.0)
    for ax, (name, points) in zip(figure.subplots(1, 3), data.items(), strict=True):
        mu = pf.Particles(pf.Sphere(3), points)
        plot.sphere(mu, ax=ax, color=PALETTE[0], camera=camera)
        distance = np.linalg.norm(points[:, None] - points, axis=-1)
        near = distance[distance > 0].min() * 1.01
        for i, j in np.argwhere(np.triu((distance > 0) & (distance < near))):
            ends = camera.see(points[[i, j]])
            front = ends[:, 2].mean() > -0.05
            ax.plot(*ends[:, :2].T, color=INK, lw=1.1 if front else 0.5, alpha=0.6)
        ax.set_title(f"{len(points)} tokens: {name}")
    return figure


def compute_norms(p: Parameters) -> dict[str, np.ndarray]:
    """1 - cosine of 16 orthonormal tokens, beta = 2, with Pre-LN and Post-LN."""
    run = pre_norm_run(p)
    times = run["times"]
    early = times[times <= 16.0]
    return {
        "times": times,
        "pre": run["gap"],
        "pre_theory": np.asarray(theory.normalization.pre_norm(times, 2.0, 16).gap),
        "early": early,
        "post_theory": np.asarray(1 - theory.normalization.post_norm(early, 2.0, 16)),
        "post": _post_norm(early),
    }


def _post_norm(times: np.ndarray) -> np.ndarray:
    def gap(mu: pf.Particles):
        return jnp.sum((mu.points[0] - mu.points[1]) ** 2) / 2

    mu = pf.Particles.orthonormal(pf.Sphere(16), 16)
    run = pf.flow(pf.Attention(2.0), mu, times[-1], save=times, observe={"gap": gap})
    return np.asarray(run.observed["gap"])


@styled
def draw_norms(data: dict[str, np.ndarray]) -> Figure:
    """Power law against exponential, on logarithmic axes."""
    figure = new_figure(5.6, 3.2)
    ax = figure.subplots()
    ax.loglog(data["times"][1:], data["pre"][1:], "o", ms=3, label="Pre-LN, particles")
    ax.loglog(
        data["times"][1:],
        data["pre_theory"][1:],
        color=PALETTE[0],
        label="Pre-LN, theory",
    )
    ax.loglog(
        data["early"][1:],
        data["post"][1:],
        "s",
        ms=3,
        color=PALETTE[1],
        label="Post-LN, particles",
    )
    ax.loglog(
        data["early"][1:],
        data["post_theory"][1:],
        color=PALETTE[1],
        label="Post-LN, theory",
    )
    ax.text(200, 3e-4, "t⁻²", color=PALETTE[0])
    ax.text(12.0, 2e-8, "e⁻²ᵗ", color=PALETTE[1])
    ax.set(xlabel="t", ylabel="1 − ⟨θ₁, θ₂⟩", ylim=(1e-12, 2))
    ax.legend(loc="lower right")
    return figure


def compute_context(p: Parameters) -> dict[str, np.ndarray]:
    """Overlap after one layer against gamma / critical, for growing contexts."""
    factor, few = np.linspace(0.4, 1.6, 241), np.linspace(0.5, 1.5, 11)
    critical = float(theory.long_context.critical_gamma(RHO))
    lengths = np.array([100, 10_000, 1_000_000])
    overlap = theory.long_context.output_overlap
    return {
        "factor": factor,
        "lengths": lengths,
        "overlap": np.array([overlap(critical * factor, RHO, int(n)) for n in lengths]),
        "few": few,
        "layer": np.array([layer_overlap(critical * f, RHO, 100) for f in few]),
        "limit": np.array(
            [float(theory.long_context.output_overlap_limit(critical, RHO))]
        ),
    }


@styled
def draw_context(data: dict[str, np.ndarray]) -> Figure:
    """A transition that sharpens as the context grows."""
    figure = new_figure(5.2, 3.1)
    ax = figure.subplots()
    for overlap, exponent in zip(data["overlap"], "²⁴⁶", strict=True):
        ax.plot(data["factor"], overlap, label=f"n = 10{exponent}")
    ax.plot(
        data["few"],
        data["layer"],
        "o",
        ms=4,
        color=PALETTE[0],
        label="one layer, n = 10²",
    )
    ax.plot(1.0, data["limit"], "k*", ms=9, label="4ρ / (1 + 3ρ)")
    ax.axhline(RHO, ls=":", lw=0.8, color=INK)
    ax.set(
        xlabel="β (1 − ρ) / log n", ylabel="overlap after the layer", ylim=(0.2, 1.03)
    )
    ax.legend()
    return figure


FIGURES = {
    "energy": (compute_energy, draw_energy),
    "codes": (compute_codes, draw_codes),
    "layer-norms": (compute_norms, draw_norms),
    "long-context": (compute_context, draw_context),
}
