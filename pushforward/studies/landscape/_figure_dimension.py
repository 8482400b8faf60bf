"""Higher dimension: clusters on S^2 against beta, the globe, and (d, beta) maps."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import plot, theory
from pushforward.plot.style import PALETTE, new_figure, styled
from pushforward.studies.landscape.runs import BETAS, on_the_sphere, weights
from pushforward.studies.landscape.study import Parameters

DIMENSIONS = np.array([2, 3, 4, 6, 10, 16])
MAP_BETAS = np.array([0.1, 0.3, 1.0, 2.0, 4.0, 7.0, 12.0, 20.0])
MAPS = {
    "ascent, attention alone": (-1.0, 0.0),
    "ascent, with perceptron": (-1.0, 1.0),
    "descent, with perceptron": (1.0, 1.0),
}
T1 = 20.0


@functools.cache
def sphere_run(seed: int, n: int, beta: float, strength: float = 1.0):
    """Descent on S^2 with the weights of seed 111, as in the shipped configuration."""
    return on_the_sphere(seed, n, beta, strength).run()


def compute_clusters(p: Parameters) -> dict[str, np.ndarray]:
    """Clusters and heaviest mass at the end, against beta, in both scalings."""
    rows = np.zeros((2, 2, len(BETAS)))
    for k, beta in enumerate(BETAS):
        radius = float(theory.landscape.cluster_threshold(beta, 3)) / 2
        for row, strength in enumerate((1.0, np.exp(-beta))):
            final = sphere_run(p.seed, p.crowd, float(beta), float(strength)).final
            masses = np.bincount(final.labels(radius), np.asarray(final.weights))
            rows[row, :, k] = len(masses), masses.max()
    return {"betas": BETAS, "rows": rows, "n": np.asarray(p.crowd)}


@styled
def draw_clusters(data: dict[str, np.ndarray]) -> Figure:
    """Both against the square root of beta."""
    figure = new_figure(7.6, 2.9)
    left, right = figure.subplots(1, 2)
    root = np.sqrt(data["betas"])
    names = ("scaling of the code", r"scaling of the paper ($\omega e^{-\beta}$)")
    for k, name in enumerate(names):
        count, mass = data["rows"][k]
        left.plot(root, count, "o-", ms=4, color=PALETTE[k], label=name)
        right.plot(root, mass, "o-", ms=4, color=PALETTE[k])
    left.legend()
    left.set_ylabel("clusters")
    right.set_ylabel("mass of the heaviest")
    right.set_ylim(0, 1)
    left.set_yscale("log")
    left.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    left.set_ylim(1, 1.3 * float(data["n"]))
    left.minorticks_off()
    for ax in (left, right):
        ax.set_xlabel("√β")
    left.set_title(f"S², descent with perceptron, {int(data['n'])} particles, t = 300")
    return figure


def compute_sphere(p: Parameters) -> dict[str, np.ndarray]:
    """Frames of the descent at beta = 5."""
    run = sphere_run(p.seed, p.crowd, 5.0)
    return {"times": np.asarray(run.times), "points": np.asarray(run.points)}


@styled
def draw_sphere(data: dict[str, np.ndarray]) -> Figure:
    """Four globes in time."""
    run = pf.Trajectory.recorded(pf.Sphere(3), data["points"], data["times"])
    return plot.frames(run, [0.0, 3.0, 30.0, 300.0])


def heaviest(points: np.ndarray, beta: float) -> float:
    """Mass of the largest cluster at the threshold of the published code."""
    d = points.shape[1]
    mu = pf.Particles.normalized(pf.Sphere(d), points)
    labels = mu.labels(float(theory.landscape.cluster_threshold(beta, d)) / 2)
    return float(np.bincount(labels).max() / len(points))


def compute_collapse(p: Parameters) -> dict[str, np.ndarray]:
    """Mean mass of the heaviest cluster at t = 20 over (beta, d), three flows."""
    mass = np.zeros((len(MAPS), len(MAP_BETAS), len(DIMENSIONS)))
    for column, d in enumerate(DIMENSIONS):
        ends = _ends(int(d), p.crowd, p.seeds)
        for row, k in np.ndindex(mass.shape[:2]):
            one = [
                heaviest(ends[seed, row, k], float(MAP_BETAS[k]))
                for seed in range(p.seeds)
            ]
            mass[row, k, column] = np.mean(one)
    return {"d": DIMENSIONS, "betas": MAP_BETAS, "mass": mass}


def _ends(d: int, n: int, seeds: int) -> np.ndarray:
    """Final points (seeds, maps, betas, n, d) of one dimension in one compiled call."""
    keys = [jax.random.key(seed) for seed in range(seeds)]
    start = [pf.Particles.uniform(pf.Sphere(d), n, key=key).points for key in keys]
    neurons = [weights(d, 111 + seed) for seed in range(seeds)]

    def end(x, omega, A, sign, strength, beta):
        P = pf.PerceptronPotential(omega, A)
        E = (0.5 / beta) * pf.InteractionEnergy(beta) + strength * P
        mu, flow = pf.Particles(pf.Sphere(d), x), pf.GradientFlow(sign * E)
        return pf.flow(flow, mu, T1, save=2, solver=pf.Heun(0.1)).final.points

    cells = jax.vmap(end, (None, None, None, None, None, 0))
    cells = jax.vmap(cells, (None, None, None, 0, 0, None))
    cells = jax.vmap(cells, (0, 0, 0, None, None, None))
    omega, A = jnp.stack([P.omega for P in neurons]), jnp.stack([P.A for P in neurons])
    signs, strengths = (jnp.asarray(a) for a in zip(*MAPS.values(), strict=True))
    betas = jnp.asarray(MAP_BETAS)
    return np.asarray(
        jax.jit(cells)(jnp.stack(start), omega, A, signs, strengths, betas)
    )


@styled
def draw_collapse(data: dict[str, np.ndarray]) -> Figure:
    """Three maps: dark is one cluster."""
    figure = new_figure(10.0, 3.1)
    axes = figure.subplots(1, 3, sharey=True)
    for ax, name, values in zip(axes, MAPS, data["mass"], strict=True):
        last = ax is axes[-1]
        plot.phase_diagram(
            data["d"],
            data["betas"],
            values,
            ax=ax,
            xlabel="dimension d",
            ylabel="β" if ax is axes[0] else "",
            label="mass of the heaviest cluster" if last else "",
            limits=(0.0, 1.0),
            log_x=True,
            log_y=True,
        )
        ax.set_title(f"{name}, t = {T1:g}")
        ax.set_xticks([2, 4, 8, 16], ["2", "4", "8", "16"])
        ax.minorticks_off()
    return figure


FIGURES = {
    "clusters": (compute_clusters, draw_clusters),
    "sphere": (compute_sphere, draw_sphere),
    "collapse": (compute_collapse, draw_collapse),
}
