"""The pictures of statistical transport: rates, the torus, Bures barycenters."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from pushforward.plot.style import new_figure
from pushforward.studies.statistical_transport.study import (
    DIMENSIONS,
    Parameters,
    covariances,
    mean_distances,
    sliced_means,
    slope,
    torus_means,
)
from pushforward.transport import Gaussian, gaussian_barycenter

INK = "#1b1b1f"
FAINT = "#b9bbc6"
BLUE, RED = "#0072b2", "#d55e00"
Data = dict[str, Any]


def compute_rates(parameters: Parameters) -> Data:
    """E W_1 against n in five dimensions, and the sliced distance in dimension 8."""
    out: Data = {"sizes": np.array(parameters.sizes)}
    for d in DIMENSIONS:
        out[f"d{d}"] = mean_distances(parameters, d)
        out[f"slope{d}"] = slope(parameters.sizes, out[f"d{d}"])
    out["sliced"] = sliced_means(parameters)
    out["slope_sliced"] = slope(parameters.sizes, out["sliced"])
    return out


def draw_rates(data: Data) -> Figure:
    """One line per dimension with its theoretical slope behind it."""
    figure = new_figure(7.0, 4.8)
    axes = figure.subplots()
    sizes, shades = data["sizes"], colormaps["viridis"](np.linspace(0.05, 0.8, 5))
    for d, color in zip(DIMENSIONS, shades, strict=True):
        values = data[f"d{d}"]
        guide = values[-1] * (sizes / sizes[-1]) ** -(1 / max(d, 2))
        axes.loglog(sizes, guide, color=FAINT, lw=1, ls="--", zorder=0)
        label = f"d = {d}: {data[f'slope{d}']:.2f}"
        axes.loglog(sizes, values, "o-", color=color, ms=4, lw=1.6, label=label)
    label = f"sliced, d = 8: {data['slope_sliced']:.2f}"
    axes.loglog(sizes, data["sliced"], "s:", color=RED, ms=4, lw=1.6, label=label)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    low, high = axes.get_ylim()
    inside = [
        level for level in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8) if low <= level <= high
    ]
    axes.set_yticks(inside, [f"{level:g}" for level in inside])
    axes.minorticks_off()
    axes.set(xlabel="sample size n", ylabel=r"mean of $W_1(\mu_n, \nu_n)$")
    axes.set_title("two uniform samples: the curse of dimension", loc="left")
    axes.legend(
        frameon=False, title="slope", loc="center left", bbox_to_anchor=(1.0, 0.5)
    )
    return _plain(figure)


def compute_torus(parameters: Parameters) -> Data:
    """n E W_2^2 on the flat torus with standard errors."""
    means, errors = torus_means(parameters)
    return {
        "sizes": np.array(parameters.torus_sizes),
        "means": means,
        "errors": errors,
    }


def draw_torus(data: Data) -> Figure:
    """Linear in log n, with the slope 1 / (2 pi) of the theory."""
    figure = new_figure(6.2, 4.2)
    axes = figure.subplots()
    logs = np.log(data["sizes"])
    weight = 1 / data["errors"] ** 2
    theory = 1 / (2 * np.pi)
    level = np.sum(weight * (data["means"] - theory * logs)) / weight.sum()
    axes.plot(logs, level + theory * logs, color=RED, lw=1.4, label=r"slope $1/2\pi$")
    axes.errorbar(
        logs, data["means"], 2 * data["errors"], fmt="o", color=BLUE, ms=5, capsize=3,
        label="simulation, two standard errors",
    )  # fmt: skip
    axes.set_xticks(logs, [str(n) for n in data["sizes"]])
    axes.set(xlabel="sample size n", ylabel=r"$n\;E\,W_2^2(\mu_n, \nu_n)$")
    axes.set_title("flat torus: the critical dimension two", loc="left")
    axes.legend(frameon=False)
    return _plain(figure)


def compute_barycenter(parameters: Parameters) -> Data:
    """Ellipses of plane covariances and their barycenter; gradient norms for steps."""
    members = covariances(count=5, d=2, seed=3)
    circle = np.linspace(0, 2 * np.pi, 200)
    ring = np.stack([np.cos(circle), np.sin(circle)])

    def ellipse(gaussian: Gaussian) -> np.ndarray:
        return np.linalg.cholesky(gaussian.covariance) @ ring

    center = gaussian_barycenter(members)
    out: Data = {
        "members": np.stack([ellipse(g) for g in members]),
        "center": ellipse(center.gaussian),
    }
    for step in (1.0, 0.5):
        run = gaussian_barycenter(covariances(), step=step)
        out[f"norms{step}"] = np.array(run.gradient_norms)
    return out


def draw_barycenter(data: Data) -> Figure:
    """Left, unit ellipses; right, linear convergence of the gradient norm."""
    figure = new_figure(9.0, 4.2)
    left, right = figure.subplots(1, 2)
    for x, y in data["members"]:
        left.plot(x, y, color=FAINT, lw=1.3)
    left.plot(*data["center"], color=BLUE, lw=2.4)
    left.set(aspect="equal")
    left.set_title("five covariances and their barycenter", loc="left")
    for step, color in ((1.0, BLUE), (0.5, RED)):
        norms = data[f"norms{step}"]
        right.semilogy(norms, "o-", color=color, ms=3, lw=1.3, label=f"step {step:g}")
    right.set(xlabel="iteration", ylabel="gradient norm")
    right.set_title("Bures gradient descent, five 4 x 4 covariances", loc="left")
    right.legend(frameon=False)
    return _plain(figure)


def _plain(figure: Figure) -> Figure:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.title.set_color(INK)
    return figure


FIGURES: dict[str, tuple[Callable[[Parameters], Data], Callable[[Data], Figure]]] = {
    "rates": (compute_rates, draw_rates),
    "torus": (compute_torus, draw_torus),
    "barycenter": (compute_barycenter, draw_barycenter),
}
