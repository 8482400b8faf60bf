"""Every figure of the study: the end, the start, and how long it takes."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import PALETTE, new_figure, styled
from pushforward.studies.normalization import runs
from pushforward.studies.normalization.claims import gaps
from pushforward.studies.normalization.study import BETA, N, Parameters
from pushforward.theory import normalization as theory

WORDS = {
    "post": "Post-LN",
    "pre": "Pre-LN",
    "mix": "Mix-LN, switch at 2",
    "peri": "Peri-LN",
    "unit": "nGPT",
    "depth scaled": "LN-scaling",
    "depth": "LN-scaling, no radius",
}
SMALL = 1e-9


def compute_gap(p: Parameters) -> dict[str, np.ndarray]:
    """1 - rho over time: laws and particles of seven schemes."""
    fine = np.geomspace(0.1, p.end, 200)
    data = {"fine": fine}
    for scheme in WORDS:
        law = theory.normalized(scheme, fine, BETA, N, switch=2.0).gap
        data[f"law {scheme}"] = np.asarray(law)
    for scheme in runs.FIELDS:
        data[f"particles {scheme}"] = np.stack(gaps(scheme, p.end))
    return data


@styled
def draw_gap(data: dict[str, np.ndarray]) -> Figure:
    """Lines are laws, circles are particles."""
    figure = new_figure(6.2, 3.9)
    ax = figure.subplots()
    for (scheme, word), color in zip(WORDS.items(), PALETTE, strict=False):
        ax.loglog(data["fine"], data[f"law {scheme}"], color=color, label=word)
        t, gap = data[f"particles {scheme}"][:, 1:]
        seen = gap > 1e-7
        ax.plot(t[seen], gap[seen], "o", ms=3.6, mfc="white", mec=color, zorder=3)
    ax.set_ylim(SMALL, 1.5)
    ax.set_xlabel("time (depth)")
    ax.set_ylabel("1 − ρ")
    ax.set_title(
        f"{N} orthogonal tokens, β = {BETA:g}: laws (lines) and fields (circles)"
    )
    figure.legend(loc="outside right upper")
    return figure


def compute_start(p: Parameters) -> dict[str, np.ndarray]:
    """Speed at an orthogonal start against n, and the time to one cluster."""
    sizes = np.unique(np.geomspace(2, 1e5, 40).astype(int))
    betas = np.linspace(0.2, 5.0, 25)
    data = {"sizes": sizes, "betas": betas}
    for scheme in ("post", "unit"):
        speed = [theory.initial_speed(scheme, 1.0, int(n)) for n in sizes]
        data[f"speed {scheme}"] = np.array(speed)
    for scheme in ("post", "unit", "pre", "peri"):
        times = [theory.time_to(scheme, 0.99, float(b), 2) for b in betas]
        data[f"time {scheme}"] = np.array(times)
    return data


@styled
def draw_start(data: dict[str, np.ndarray]) -> Figure:
    """Left: the start. Right: how long two orthogonal tokens take."""
    figure = new_figure(7.6, 3.2)
    left, right = figure.subplots(1, 2)
    colors = dict(zip(WORDS, PALETTE, strict=False))
    pairs = {"post": "Post- and Pre-LN", "unit": "nGPT and Peri-LN"}
    for scheme, word in pairs.items():
        speed = data[f"speed {scheme}"]
        left.loglog(data["sizes"], speed, color=colors[scheme], label=word)
    left.set_xlabel("tokens n")
    left.set_ylabel("dρ/dt at t = 0")
    left.set_title("Orthogonal start, β = 1: 2/n against 2/√n")
    left.legend()
    for scheme in ("post", "unit", "pre", "peri"):
        times = data[f"time {scheme}"]
        dash = "-" if scheme in ("post", "pre") else (0, (3, 2))
        right.semilogy(
            data["betas"], times, color=colors[scheme], ls=dash, label=WORDS[scheme]
        )
    right.set_xlabel("β")
    right.set_ylabel("time to ρ = 0.99")
    right.set_title("Two tokens: exp(β) becomes exp(exp(β))")
    right.legend()
    return figure


FIGURES = {
    "gap": (compute_gap, draw_gap),
    "start-and-wait": (compute_start, draw_start),
}
