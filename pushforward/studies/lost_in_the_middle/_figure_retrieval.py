"""The retrieval curve from theory, lattice and random prompts on one figure."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.lost_in_the_middle._prompts import WAVES, in_bins
from pushforward.studies.lost_in_the_middle._retrieval import (
    BETA,
    BINS,
    DECAY,
    FINE,
    first_mode,
    profile,
    prompts,
)
from pushforward.studies.lost_in_the_middle.study import Parameters
from pushforward.theory import kinetic, kinetic_lattice

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
    "retrieval": (compute_retrieval, draw_retrieval),
    "estimators": (compute_estimators, draw_estimators),
}
