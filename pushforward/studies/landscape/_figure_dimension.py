"""Higher dimension: clusters on S^2 against beta, the globe, and (d, beta) maps."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import functionals as fn
from pushforward import plot, theory
from pushforward.plot._style import PALETTE, new_figure, styled
from pushforward.studies._replay import replayed
from pushforward.studies.landscape.study import Parameters

BETAS = np.array([0.01, 0.05, 0.1, 0.5, 1, 3, 5, 7, 10, 15, 25, 35, 50])
DIMENSIONS = np.array([2, 3, 4, 6, 8, 12, 16])
MAP_BETAS = np.array([0.1, 0.3, 1.0, 2.0, 4.0, 7.0, 12.0, 20.0])
MAPS = {
    "ascent, attention alone": (-1.0, 0.0),
    "ascent, with perceptron": (-1.0, 1.0),
    "descent, with perceptron": (1.0, 1.0),
}
T1 = 20.0


def weights(d: int, seed: int) -> pf.PerceptronPotential:
    """d neurons drawn as the published code draws them."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return pf.PerceptronPotential(rng.normal(size=d), A)


@functools.cache
def sphere_run(seed: int, n: int, beta: float):
    """Descent on S^2 with the weights of seed 111, as in the shipped configuration."""
    mu = pf.Particles.uniform(pf.Sphere(3), n, key=jax.random.key(seed))
    E = fn.code_energy(beta) + weights(3, 111)
    times = np.array([1.0, 3.0, 10.0, 30.0, 100.0, 300.0])
    solver = pf.Adaptive(1e-6, 1e-8)
    return pf.flow(pf.GradientFlow(E), mu, 300.0, save=times, solver=solver)


def compute_clusters(p: Parameters) -> dict[str, np.ndarray]:
    """Number of clusters and heaviest mass at the end, against beta."""
    count, mass = [], []
    for beta in BETAS:
        radius = float(theory.landscape.cluster_threshold(beta, 3)) / 2
        final = sphere_run(p.seed, p.crowd, float(beta)).final
        masses = np.bincount(final.labels(radius), np.asarray(final.weights))
        count.append(len(masses))
        mass.append(masses.max())
    n = np.asarray(p.crowd)
    return {"betas": BETAS, "count": np.array(count), "mass": np.array(mass), "n": n}


@styled
def draw_clusters(data: dict[str, np.ndarray]) -> Figure:
    """Both against the square root of beta."""
    figure = new_figure(7.6, 2.9)
    left, right = figure.subplots(1, 2)
    root = np.sqrt(data["betas"])
    left.plot(root, data["count"], "o-", ms=4, color=PALETTE[0])
    right.plot(root, data["mass"], "o-", ms=4, color=PALETTE[1])
    left.set_ylabel("clusters")
    right.set_ylabel("mass of the heaviest")
    right.set_ylim(0, 1)
    left.set_ylim(0, None)
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
    run = replayed(pf.Sphere(3), data["points"], data["times"])
    return plot.frames(run, [0.0, 3.0, 30.0, 300.0])


def heaviest(points: np.ndarray, beta: float) -> float:
    """Mass of the largest cluster at the threshold of the published code."""
    d = points.shape[1]
    mu = pf.Particles.normalized(pf.Sphere(d), points)
    labels = mu.labels(float(theory.landscape.cluster_threshold(beta, d)) / 2)
    return float(np.bincount(labels).max() / len(points))


def compute_collapse(p: Parameters) -> dict[str, np.ndarray]:
    """Mean mass of the heaviest cluster at t = 20 over (beta, d), three flows."""
    shape = (len(MAPS), len(MAP_BETAS), len(DIMENSIONS))
    mass = np.zeros(shape)
    for column, d in enumerate(DIMENSIONS):
        for seed in range(p.seeds):
            ends = _ends(int(d), p.crowd, seed)
            for row, k in np.ndindex(shape[:2]):
                mass[row, k, column] += heaviest(ends[row, k], MAP_BETAS[k]) / p.seeds
    return {"d": DIMENSIONS, "betas": MAP_BETAS, "mass": mass}


def _ends(d: int, n: int, seed: int) -> np.ndarray:
    """Final points (maps, betas, n, d) of one dimension in one compiled call."""
    mu = pf.Particles.uniform(pf.Sphere(d), n, key=jax.random.key(seed))
    P = weights(d, 111 + seed)

    def end(sign, strength, beta):
        E = (0.5 / beta) * pf.InteractionEnergy(beta) + strength * P
        flow = pf.GradientFlow(sign * E)
        return pf.flow(flow, mu, T1, save=2, solver=pf.Heun(0.1)).final.points

    cells = jax.vmap(jax.vmap(end, (None, None, 0)), (0, 0, None))
    signs, strengths = (jnp.asarray(a) for a in zip(*MAPS.values(), strict=True))
    return np.asarray(jax.jit(cells)(signs, strengths, jnp.asarray(MAP_BETAS)))


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
