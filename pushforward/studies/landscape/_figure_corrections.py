"""Printed statements beside what the simulation follows."""

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from pushforward import functionals as fn
from pushforward import theory
from pushforward.plot.style import INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.landscape._bounds import heaviest_arc, printed_primitive
from pushforward.studies.landscape.runs import critical_points, published
from pushforward.studies.landscape.study import Parameters


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


FIGURES = {"corrections": (compute_corrections, draw_corrections)}
