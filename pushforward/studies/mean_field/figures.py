"""Every figure of the study.

The density and its particles; growth about the uniform density.

Noise: the bifurcation from the uniform density, and the law given common noise.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import theory
from pushforward.plot.style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.mean_field import runs
from pushforward.studies.mean_field.study import Parameters

RATES = ((2, pf.Fourier(48)), (3, pf.Zonal(3, 32)), (8, pf.Zonal(8, 32)))


def compute_clustering(p: Parameters) -> dict[str, np.ndarray]:
    """A rough start at beta = 9 as a density, and tokens drawn from it."""
    experiment = runs.clustering()
    run, tokens = experiment.run(), runs.clustering_tokens(p).run()
    x = np.asarray(tokens.points)
    return {
        "times": np.asarray(run.times),
        "density": run.observe(lambda mu: mu.values),
        "resolution": run.observe(lambda mu: mu.resolution_error),
        "token times": np.asarray(tokens.times),
        "angles": np.arctan2(x[..., 1], x[..., 0]) % (2 * np.pi),
        "end": np.array(experiment.t1),
    }


@styled
def draw_clustering(data: dict[str, np.ndarray]) -> Figure:
    """Density as color, forty tokens as lines; the density ends where modes run out."""
    figure = new_figure(7.6, 3.6)
    ax = figure.subplots()
    times, density = data["times"], data["density"]
    theta = np.linspace(0, 2 * np.pi, density.shape[1] + 1)
    closed = np.concatenate([density, density[:, :1]], axis=1)
    shade = np.log10(np.clip(closed, 0.03, 30.0))
    mesh = ax.pcolormesh(times, theta, shade.T, cmap=DEPTHS, shading="gouraud")
    bar = figure.colorbar(mesh, ax=ax, pad=0.01, ticks=[-1, 0, 1])
    bar.ax.set_yticklabels(["0.1", "1", "10"])
    bar.set_label("density (uniform = 1)")
    t, angles = data["token times"], data["angles"]
    for i in range(0, angles.shape[1], 25):
        jumps = np.abs(np.diff(angles[:, i])) > np.pi
        line = np.where(np.append(jumps, False), np.nan, angles[:, i])
        ax.plot(t, line, color=PALETTE[1], lw=0.5, alpha=0.9)
    _ended(ax, data, "tokens go on", 0.2)
    ax.set_xlim(0, float(data["end"]))
    ax.set_ylim(0, 2 * np.pi)
    ax.set_yticks([0, np.pi, 2 * np.pi], ["0", "π", "2π"])
    ax.set_xlabel("time")
    ax.set_ylabel("angle")
    ax.set_title(
        "Self-attention on the circle, β = 9: the density and 40 of its tokens"
    )
    return figure


def _ended(ax: Axes, data: dict[str, np.ndarray], rest: str, height: float) -> None:
    """Where the modes of the density ran out, if they did."""
    last = data["times"][-1]
    if last < data["end"] * (1 - 1e-9):
        ax.axvline(last, color=INK, lw=0.8, ls=(0, (2, 2)))
        words = f" unresolved:\n {rest}"
        ax.annotate(words, (last, height), color=INK, fontsize=7.5, va="bottom")


def compute_sampling(p: Parameters) -> dict[str, np.ndarray]:
    """The error of n particles."""
    errors = runs.sampling_errors(p.sizes, p.replicas, p.seed)
    return {"n": np.array(p.sizes, float), "error": errors}


@styled
def draw_sampling(data: dict[str, np.ndarray]) -> Figure:
    """Error against n, with the slope of the square root."""
    figure = new_figure(4.4, 3.2)
    ax = figure.subplots()
    n, error = data["n"], data["error"]
    constant = np.exp(np.mean(np.log(error * np.sqrt(n))))
    ax.loglog(n, constant / np.sqrt(n), color=SOFT, ls=(0, (4, 2.5)), lw=1.1)
    ax.loglog(n, error, "o", color=PALETTE[0], ms=5.5)
    ax.annotate(
        f"{constant:.2f} / √n",
        (n[-1], constant / np.sqrt(n[-1])),
        xytext=(-30, 26),
        textcoords="offset points",
        color=SOFT,
        ha="center",
    )
    ax.set_xlabel("particles n")
    ax.set_ylabel("error of modes 1 to 4")
    ax.set_title("n particles against the density, β = 2, t = 1")
    return figure


def compute_rates(p: Parameters) -> dict[str, np.ndarray]:
    """Growth measured in runs at beta = 16, and the Bessel rates."""
    data: dict[str, np.ndarray] = {"degrees": np.arange(1, 13)}
    for d, basis in RATES:
        measured = [runs.grown(16.0, basis, int(k)) for k in (1, 2, 3, 4, 6, 8, 11)]
        data[f"measured {d}"] = np.array(measured)
        data[f"predicted {d}"] = theory.stability.growth_rates(16.0, d, 12)[1:]
    return data


@styled
def draw_rates(data: dict[str, np.ndarray]) -> Figure:
    """Lines are theory, circles are runs of densities."""
    figure = new_figure(5.0, 3.2)
    ax = figure.subplots()
    for i, (d, _) in enumerate(RATES):
        predicted = data[f"predicted {d}"]
        ax.plot(data["degrees"], predicted, color=PALETTE[i], label=f"d = {d}")
        ax.plot(
            [1, 2, 3, 4, 6, 8, 11],
            data[f"measured {d}"],
            "o",
            mfc="white",
            mec=PALETTE[i],
            ms=5,
            zorder=3,
        )
    ax.plot([], [], "o", mfc="white", mec=INK, ms=5, label="runs of densities")
    ax.axhline(0, color=SOFT, lw=0.5)
    ax.set_xticks(range(1, 13))
    ax.set_xlabel("degree k")
    ax.set_ylabel("growth rate about uniform")
    ax.set_title("Self-attention, β = 16")
    ax.legend()
    return figure


BETAS = (0.0, 1.0, 2.0)
RATIOS = (0.85, 1.7)  # range of kappa over its threshold
SIGMA, STEP, END = 0.5, 0.01, 4.0


def compute_bifurcation(p: Parameters) -> dict[str, np.ndarray]:
    """Order parameters at rest against kappa, by flow and by fixed point."""
    low, high = RATIOS
    ratios = np.concatenate([[0.9], 1 + np.geomspace(0.1, high - 1, p.kappas)])
    fine = np.concatenate([[low, 1.0], 1 + np.geomspace(2e-3, high - 1, 40)])
    data = {"ratios": ratios, "fine": fine}
    for beta in BETAS:
        threshold = theory.stability.noise_threshold(beta, 2)
        found = [runs.stationary_order(beta, float(r * threshold)) for r in ratios]
        data[f"flow {beta:g}"] = np.array(found)
        data[f"theory {beta:g}"] = theory.noisy.bifurcation(fine * threshold, beta)
    return data


@styled
def draw_bifurcation(data: dict[str, np.ndarray]) -> Figure:
    """Lines are fixed points, circles are densities that have come to rest."""
    figure = new_figure(5.2, 3.3)
    ax = figure.subplots()
    for i, beta in enumerate(BETAS):
        line, dots = data[f"theory {beta:g}"], data[f"flow {beta:g}"]
        ax.plot(data["fine"], line, color=PALETTE[i], label=f"β = {beta:g}")
        ax.plot(data["ratios"], dots, "o", mfc="white", mec=PALETTE[i], ms=5, zorder=3)
    ax.plot([], [], "o", mfc="white", mec=INK, ms=5, label="density at rest")
    ax.axvline(1, color=SOFT, lw=0.6, ls=(0, (2, 2)))
    ax.set_xlim(*RATIOS)
    ax.set_ylim(-0.03, 1)
    ax.set_xlabel("κ / threshold  (less noise to the right)")
    ax.set_ylabel("order parameter")
    ax.set_title("Noisy attention on the circle leaves the uniform state")
    ax.legend(loc="lower right")
    return figure


def compute_common(p: Parameters) -> dict[str, np.ndarray]:
    """One path of common noise: the law, its mean angle, and the exact path."""
    run, z = runs.given_the_noise(SIGMA, STEP, END, p.seed)
    return {
        "times": np.asarray(run.times),
        "density": run.observe(lambda mu: mu.values),
        "mode": run.observe(lambda mu: mu.mode(1)),
        "exact": z,
        "exact times": STEP * np.arange(len(z)),
        "end": np.array(END),
    }


@styled
def draw_common(data: dict[str, np.ndarray]) -> Figure:
    """The law given the noise as color; order parameter below."""
    figure = new_figure(7.2, 4.6)
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=[1.7, 1])
    times, density = data["times"], data["density"]
    theta = np.linspace(0, 2 * np.pi, density.shape[1] + 1)
    closed = np.concatenate([density, density[:, :1]], axis=1)
    shade = np.log10(np.clip(closed, 0.03, 30.0))
    mesh = top.pcolormesh(times, theta, shade.T, cmap=DEPTHS, shading="gouraud")
    bar = figure.colorbar(mesh, ax=top, pad=0.01, ticks=[-1, 0, 1])
    bar.ax.set_yticklabels(["0.1", "1", "10"])
    bar.set_label("density")
    angle = np.angle(data["exact"]) % (2 * np.pi)
    jumps = np.append(np.abs(np.diff(angle)) > np.pi, False)
    line = np.where(jumps, np.nan, angle)
    after = data["exact times"]
    top.plot(after, line, color=PALETTE[1], lw=1.0, label="mean direction, exact")
    _ended(top, data, "the exact path goes on", np.pi)
    top.set_yticks([0, np.pi, 2 * np.pi], ["0", "π", "2π"])
    top.set_ylabel("angle")
    frame = {"frameon": True, "facecolor": "white", "edgecolor": "none"}
    top.legend(loc="upper right", labelcolor=INK, framealpha=0.9, **frame)
    top.set_title("One path of common noise: the law of a token given the noise")
    low.plot(times, np.abs(data["mode"]), color=PALETTE[0], label="density")
    exact = np.abs(data["exact"])
    low.plot(after, exact, color=INK, ls=(0, (4, 2.5)), lw=1.1, label="Poisson kernel")
    alone = theory.kuramoto.order_parameter(after, runs.R_0)
    low.plot(after, alone, color=SOFT, lw=0.8, label="without noise")
    low.set_ylim(0, 1)
    low.set_xlim(0, float(data["end"]))
    low.set_xlabel("time")
    low.set_ylabel("order parameter")
    low.legend(loc="lower right")
    return figure


FIGURES = {
    "density-and-tokens": (compute_clustering, draw_clustering),
    "sampling-error": (compute_sampling, draw_sampling),
    "growth-rates": (compute_rates, draw_rates),
    "noise-bifurcation": (compute_bifurcation, draw_bifurcation),
    "law-given-the-noise": (compute_common, draw_common),
}
