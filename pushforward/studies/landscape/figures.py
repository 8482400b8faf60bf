"""Figures: minimizers and their atoms, and what published code and prints miss."""

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import functionals as fn
from pushforward import theory
from pushforward.plot.style import HAIR, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.landscape import _figure_dimension, _figure_motion
from pushforward.studies.landscape._minima import OMEGAS
from pushforward.studies.landscape.claims import heaviest_arc, printed_primitive
from pushforward.studies.landscape.runs import best, critical_points, published
from pushforward.studies.landscape.study import Parameters

PI_TICKS = (np.pi * np.arange(-1, 1.5, 0.5), ["−π", "−π/2", "0", "π/2", "π"])


def compute_landscape(p: Parameters) -> dict[str, np.ndarray]:
    """F - lambda on a grid, and the atoms, for omega = 5 to 0.1 at beta = 1."""
    grid = np.linspace(-np.pi, np.pi, 2001)
    data = {"grid": grid, "omegas": np.array(OMEGAS)}
    for k, omega in enumerate(OMEGAS):
        found = best(1.0, omega)
        data[f"excess {k}"] = found.excess(grid)
        data[f"atoms {k}"] = np.stack([found.positions, found.masses])
    return data


@styled
def draw_landscape(data: dict[str, np.ndarray]) -> Figure:
    """One row per omega; the neuron is active in the shaded half."""
    omegas, grid = data["omegas"], data["grid"]
    figure = new_figure(6.4, 7.6)
    rows = figure.subplots(len(omegas), 1, sharex=True)
    for k, (ax, omega) in enumerate(zip(rows, omegas, strict=True)):
        excess, (angle, mass) = np.maximum(data[f"excess {k}"], 0), data[f"atoms {k}"]
        ax.axvspan(-np.pi / 2, np.pi / 2, color=HAIR, alpha=0.35, lw=0)
        ax.axhline(0, color=SOFT, lw=0.6)
        ax.plot(grid, excess, color=PALETTE[0])
        end = angle > np.pi - 1e-9  # an atom at pi is also at -pi
        shown = np.append(angle, angle[end] - 2 * np.pi)
        area = 420 * np.append(mass, mass[end])
        ax.scatter(shown, 0 * shown, area, color=PALETTE[1], zorder=3, lw=0)
        ax.set_yscale("function", functions=(_root, np.square))
        top = float(excess.max())
        ax.set_ylim(0, 1.05 * top)
        ax.set_yticks([0, top / 10, top], ["0", f"{top / 10:.1g}", f"{top:.1g}"])
        ax.set_title(f"ω = {omega:g}: {len(angle)} atoms", loc="left")
        for dot in ax.collections:
            dot.set_clip_on(False)
    rows[len(omegas) // 2].set_ylabel(r"$F_\mu - \lambda$ (square-root axis)")
    rows[-1].set_xticks(*PI_TICKS)
    rows[-1].set_xlim(-np.pi, np.pi)
    rows[-1].set_xlabel("angle; shaded: the neuron is active. Area of a dot: its mass")
    return figure


def _root(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(x, 0.0))


def compute_atoms(p: Parameters) -> dict[str, np.ndarray]:
    """Rows (omega, angle, mass) of all minimizers, for beta = 1 and beta = 5."""
    data = {}
    for beta, low, high in ((1.0, 0.03, 30.0), (5.0, 3.0, 300.0)):
        rows = []
        for omega in np.geomspace(low, high, p.omegas):
            found = best(beta, float(omega))
            for s, m in zip(found.positions, found.masses, strict=True):
                rows.append((omega, s, m))
        data[f"{beta:g}"] = np.array(rows)
    return data


@styled
def draw_atoms(data: dict[str, np.ndarray]) -> Figure:
    """Angles above, counts below; omega falls to the right."""
    figure = new_figure(8.4, 4.6)
    axes = figure.subplots(2, 2, sharex="col", height_ratios=[2.6, 1])
    for column, (beta, rows) in enumerate(data.items()):
        top, low = axes[0, column], axes[1, column]
        omega, angle, mass = rows.T
        top.axhspan(-np.pi / 2, np.pi / 2, color=HAIR, alpha=0.35, lw=0)
        for shift in (-2 * np.pi, 0.0, 2 * np.pi):  # an atom at pi is also at -pi
            top.scatter(omega, angle + shift, 150 * mass, color=PALETTE[1], lw=0)
        top.set_ylim(-1.06 * np.pi, 1.06 * np.pi)
        top.set_yticks(*PI_TICKS)
        values, counts = np.unique(omega, return_counts=True)
        low.step(values, counts, where="mid", color=INK)
        low.set_xscale("log")
        low.invert_xaxis()
        low.set_xlabel("ω, falling")
        top.set_title(f"β = {beta}: atoms of the minimizer")
    axes[0, 0].set_ylabel("angle")
    axes[1, 0].set_ylabel("atoms")
    return figure


def compute_parallels(p: Parameters) -> dict[str, np.ndarray]:
    """Heights and masses on S^2 against omega, and F - lambda at omega = 1."""
    rows, grid, data = [], np.linspace(-1, 1, 1001), {}
    for omega in (*np.geomspace(0.1, 30.0, p.omegas // 2), 1.0):
        P = pf.PerceptronPotential([omega], [[0.0, 0.0, 1.0]])
        found = fn.minimize(fn.paper_energy(1.0) + P, pf.Sphere(3))
        if omega == 1.0:
            data = {"grid": grid, "excess": found.excess(grid)}
            data["atoms"] = np.stack([found.positions, found.masses])
            continue
        for z, m in zip(found.positions, found.masses, strict=True):
            rows.append((omega, z, m))
    return {**data, "rows": np.array(rows)}


@styled
def draw_parallels(data: dict[str, np.ndarray]) -> Figure:
    """The first variation over the height, and the parallels against omega."""
    figure = new_figure(8.0, 3.0)
    left, right = figure.subplots(1, 2)
    excess = np.maximum(data["excess"], 0)
    z, m = data["atoms"]
    left.axvspan(0, 1, color=HAIR, alpha=0.35, lw=0)
    left.plot(data["grid"], excess, color=PALETTE[0])
    left.scatter(z, 0 * z, 200 * m, color=PALETTE[1], zorder=3, clip_on=False, lw=0)
    left.set_yscale("function", functions=(_root, np.square))
    left.set_ylim(0, float(excess.max()))
    left.set_yticks([0, 0.001, 0.01, 0.1], ["0", "0.001", "0.01", "0.1"])
    left.set_xticks([-1, -0.5, 0, 0.5, 1])
    left.set_xlabel("height z = ⟨x, a⟩")
    left.set_ylabel(r"$F_\mu - \lambda$")
    left.set_title("S², β = ω = 1: two parallels")
    omega, height, mass = data["rows"].T
    right.axhspan(0, 1, color=HAIR, alpha=0.35, lw=0)
    right.scatter(omega, height, 150 * mass, color=PALETTE[1], lw=0)
    right.set_xscale("log")
    right.invert_xaxis()
    right.set_ylim(-1.06, 1.06)
    right.set_xlabel("ω, falling")
    right.set_ylabel("height")
    right.set_title("parallels of the minimizer, β = 1")
    return figure


def compute_corrections(p: Parameters) -> dict[str, np.ndarray]:
    """The mass bound in both scalings, heaviest arcs, and two slopes for GELU."""
    L = theory.landscape
    betas = np.geomspace(0.01, 30.0, 200)
    size = L.weight_size(published().omega, published().A)
    found = critical_points(p.seed, p.draws, 4.0)
    s = jnp.linspace(-3, 3, 301)
    right = jax.vmap(jax.grad(fn.primitive_of(fn.exact_gelu)))(s)
    return {
        "betas": betas,
        "bound": np.asarray(L.mass_bound(betas, size)),
        "code": np.asarray(L.code_mass_bound(size)),
        "arcs": np.array([heaviest_arc(mu, float(L.arc(4.0))) for mu in found]),
        "s": np.asarray(s),
        "printed": np.asarray(jax.vmap(jax.grad(printed_primitive))(s)) / 2,
        "right": np.asarray(right) / 2,
        "sigma": np.asarray(fn.exact_gelu(s)),
    }


@styled
def draw_corrections(data: dict[str, np.ndarray]) -> Figure:
    """Left the bound and its counterexample, right the primitive of GELU."""
    figure = new_figure(8.8, 3.3)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    left.semilogx(data["betas"], data["bound"], color=PALETTE[0], label="bound, paper")
    code = float(data["code"])
    left.axhline(code, color=PALETTE[4], label="bound, code scaling: vacuous")
    left.axhline(1.0, color=SOFT, lw=0.7)
    limit = theory.landscape.MASS_LIMIT
    left.axhline(limit, color=SOFT, lw=0.8, ls=(0, (4, 2.5)), label="0.5742")
    arcs = data["arcs"]
    left.plot(np.full(len(arcs), 4.0), arcs, "o", ms=4, color=INK, label="descent")
    pair = theory.landscape.ANTIPODAL_BETA
    left.plot([pair], [1.0], "x", ms=8, mew=2, color=PALETTE[1], label="antipodal pair")
    left.axhline(limit, xmax=0.35, color=PALETTE[1], lw=1.4)
    left.annotate(
        "printed for every β > 0 and ω = 0",
        (0.011, limit),
        (0, -11),
        textcoords="offset points",
        color=PALETTE[1],
        fontsize=8,
    )
    left.set_ylim(0, 4)
    left.set_xlabel("β")
    left.set_ylabel("mass in an arc of 1/(2√β)")
    left.legend(loc="upper right", bbox_to_anchor=(1.0, 0.83))
    right.plot(data["s"], data["sigma"], color=SOFT, lw=3.2, label="σ = GELU")
    right.plot(data["s"], data["right"], color=PALETTE[0], label="φ′/2, with −Φ")
    right.plot(
        data["s"], data["printed"], color=PALETTE[1], label="φ′/2, as in the code"
    )
    right.set_xlabel("s")
    right.legend()
    return figure


FIGURES = {
    "landscape": (compute_landscape, draw_landscape),
    "atoms": (compute_atoms, draw_atoms),
    "parallels": (compute_parallels, draw_parallels),
    **_figure_motion.FIGURES,
    **_figure_dimension.FIGURES,
    "corrections": (compute_corrections, draw_corrections),
}
