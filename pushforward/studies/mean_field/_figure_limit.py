"""The density and its particles; growth about the uniform density."""

import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import theory
from pushforward.plot._style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.mean_field import _runs
from pushforward.studies.mean_field.study import Parameters

CLUSTERING_BETA, CLUSTERING_END = 9.0, 6.0
RATES = ((2, pf.Fourier(48)), (3, pf.Zonal(3, 32)), (8, pf.Zonal(8, 32)))


def compute_clustering(p: Parameters) -> dict[str, np.ndarray]:
    """A rough start at beta = 9 as a density, and tokens drawn from it."""
    rho = pf.Density.uniform(_runs.CIRCLE, 384)
    for k, size in ((1, 0.08), (2, 0.06), (3, 0.1), (4, 0.14), (5, 0.05)):
        rho = rho.perturbed(k, size)
    run = pf.flow(pf.Attention(CLUSTERING_BETA), rho, CLUSTERING_END, save=181)
    mu = rho.sample(pf.key_for(p.seed, "tokens"), 1000)
    tokens = pf.flow(pf.Attention(CLUSTERING_BETA), mu, CLUSTERING_END, save=181)
    x = np.asarray(tokens.points)
    return {
        "times": np.asarray(run.times),
        "density": run.observe(lambda mu: mu.values),
        "resolution": run.observe(lambda mu: mu.resolution_error),
        "token times": np.asarray(tokens.times),
        "angles": np.arctan2(x[..., 1], x[..., 0]) % (2 * np.pi),
        "end": np.array(CLUSTERING_END),
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
    if times[-1] < data["end"] * (1 - 1e-9):
        ax.axvline(times[-1], color=INK, lw=0.8, ls=(0, (2, 2)))
        ax.annotate(
            " unresolved:\n tokens go on",
            (times[-1], 0.2),
            color=INK,
            fontsize=7.5,
            va="bottom",
        )
    ax.set_xlim(0, float(data["end"]))
    ax.set_ylim(0, 2 * np.pi)
    ax.set_yticks([0, np.pi, 2 * np.pi], ["0", "π", "2π"])
    ax.set_xlabel("time")
    ax.set_ylabel("angle")
    ax.set_title(
        "Self-attention on the circle, β = 9: the density and 40 of its tokens"
    )
    return figure


def compute_sampling(p: Parameters) -> dict[str, np.ndarray]:
    """The error of n particles."""
    errors = _runs.sampling_errors(p.sizes, p.replicas, p.seed)
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
        xytext=(-8, 10),
        textcoords="offset points",
        color=SOFT,
        ha="right",
    )
    ax.set_xlabel("particles n")
    ax.set_ylabel("error of modes 1 to 4")
    ax.set_title("n particles against the density, β = 2, t = 1")
    return figure


def compute_rates(p: Parameters) -> dict[str, np.ndarray]:
    """Growth measured in runs at beta = 16, and the Bessel rates."""
    data: dict[str, np.ndarray] = {"degrees": np.arange(1, 13)}
    for d, basis in RATES:
        measured = [_runs.grown(16.0, basis, int(k)) for k in (1, 2, 3, 4, 6, 8, 11)]
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


FIGURES = {
    "density-and-tokens": (compute_clustering, draw_clustering),
    "sampling-error": (compute_sampling, draw_sampling),
    "growth-rates": (compute_rates, draw_rates),
}
