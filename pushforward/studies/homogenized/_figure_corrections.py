"""Where the notes correct the paper: the slow clock and the modified equation."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot._style import HAIR, INK, PALETTE, new_figure, styled
from pushforward.studies.homogenized._chains import soft_chain, soft_diffusion
from pushforward.studies.homogenized._hard import slow_pair
from pushforward.studies.homogenized._layers import ETAS, errors
from pushforward.studies.homogenized.study import Parameters
from pushforward.theory import homogenized_pair

STEPS = (1.0, 0.5, 0.25)


def compute_slow(p: Parameters) -> dict[str, np.ndarray]:
    """artanh u of two tokens at slow time 1/4, and both laws."""
    y, brownian = homogenized_pair.slow_law(0.25, 0.0, 2.0)
    z, printed = homogenized_pair.slow_law(0.25, 0.0, 1.0)
    return {
        "samples": slow_pair(p.replicas, p.seed),
        "brownian": np.stack([y, brownian]),
        "published": np.stack([z, printed]),
    }


@styled
def draw_slow(data: dict[str, np.ndarray]) -> Figure:
    """The histogram follows Brownian motion."""
    figure = new_figure(5.6, 3.2)
    ax = figure.add_subplot()
    bins = np.linspace(-2.5, 2.5, 36)
    ax.hist(data["samples"], bins, density=True, color=HAIR, label="layers, d = 64")
    ax.plot(*data["brownian"], color=PALETTE[0], label="corrected: √2 Brownian")
    ax.plot(
        *data["published"],
        color=PALETTE[1],
        ls=(0, (4, 2.5)),
        label="published equation",
    )
    ax.set_xlim(-2.6, 2.6)
    ax.set_xlabel("artanh u")
    ax.set_ylabel("density")
    ax.set_title("two tokens at zero temperature, slow time s/d = 1/4")
    ax.legend(loc="upper left", fontsize=7.5)
    return figure


def compute_layers(p: Parameters) -> dict[str, np.ndarray]:
    """Errors of the three equations, and P(R > .9) against the step."""
    chance = [(soft_chain(e, p.replicas, p.seed)[:, 2] > 0.9).mean(1) for e in STEPS]
    limit = (soft_diffusion(p.replicas // 4, p.seed)[:, 2] > 0.9).mean(1)
    rows = [*chance, limit]
    return {
        **{k: np.abs(v) for k, v in errors().items() if k != "m"},
        "chance": np.array([r.mean() for r in rows]),
        "chance error": np.array([r.std() / np.sqrt(len(r)) for r in rows]),
    }


def _equal_layers(ax, data: dict[str, np.ndarray]) -> None:
    names = {
        "ODE": "layers − ODE",
        "published": "layers − published modified equation",
        "corrected": "layers − corrected, radial term",
        "tangential": "tangential layers − published",
    }
    for k, (name, label) in enumerate(names.items()):
        ax.loglog(ETAS, data[name], "o-", ms=4, color=PALETTE[k], label=label)
    for power, scale in ((1, 0.3), (2, 0.05)):
        guide = scale * np.array(ETAS) ** power
        ax.loglog(ETAS, guide, color=INK, lw=0.7, ls=(0, (2, 2)))
        where = (ETAS[-1], guide[-1])
        text = rf"$\eta^{power}$"
        ax.annotate(text, where, (-16, -3), textcoords="offset points")
    ax.set_xticks(ETAS, [f"{e:g}" for e in ETAS])
    ax.minorticks_off()
    ax.set_xlim(0.04, 0.22)
    ax.set_xlabel("η")
    ax.set_ylabel("|error of m(1)|")
    ax.set_title("equal layers, β = 2, n = 4, d = 3")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7.5)


def _random_layers(ax, data: dict[str, np.ndarray]) -> None:
    at, y = np.array([*STEPS, 0.0]) ** 2, data["chance"]
    error = 2 * data["chance error"]
    ax.errorbar(at, y, error, fmt="o", ms=4, color=PALETTE[0], capsize=2.5)
    ax.annotate("diffusion", (0.0, y[-1]), (10, 4), textcoords="offset points")
    ax.set_xlabel(r"$\eta^2$")
    ax.set_ylabel("P(R > 0.9) at s = 2")
    ax.set_ylim(0.0, None)
    ax.set_title("random layers, β = 4")


@styled
def draw_layers(data: dict[str, np.ndarray]) -> Figure:
    """Left, deterministic layers; right, random ones."""
    figure = new_figure(9.0, 3.3)
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
    _equal_layers(left, data)
    _random_layers(right, data)
    return figure


FIGURES = {
    "slow-clock": (compute_slow, draw_slow),
    "layers": (compute_layers, draw_layers),
}
