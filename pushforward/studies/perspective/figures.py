"""Every figure of the study; here: phase diagrams."""

from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import theory
from pushforward.plot import phase_diagram
from pushforward.plot.style import new_figure, styled
from pushforward.studies.perspective import _figure_circle, _figure_energy
from pushforward.studies.perspective._ensemble import PROBABILITY, replicas, seen
from pushforward.studies.perspective._plateaus import CLOSE
from pushforward.studies.perspective.runs import T1, N, phase
from pushforward.studies.perspective.study import Parameters

BETAS = (0.1, 9.0)
# Row by row as in the paper; B = Q^T K has entries of variance one, and V is scaled
# to spectral radius about one, which only fixes the unit of time.
ENSEMBLES = {
    "a": "Q, K, V Ginibre",
    "b": "QᵀK Wigner, V ⪰ 0",
    "c": "Q, K Ginibre, V = QᵀK",
    "d": "QᵀK Wigner, V = QᵀK",
}


def shares(p: Parameters, d: int) -> np.ndarray:
    """P(<x_1, x_2> >= 0.999) over (beta, t) in dimension d, n = 32 tokens."""
    betas = np.linspace(*BETAS, p.phase_betas)
    close = seen(replicas(phase(p, d), betas, p.phase_replicas), CLOSE)
    return close.reshape(len(betas), p.phase_replicas, -1).mean(axis=1)


def compute_phase(p: Parameters) -> dict[str, np.ndarray]:
    """One diagram per dimension, and the curve gamma_beta(t) = 0.999."""
    betas = np.linspace(*BETAS, p.phase_betas)
    return {
        "betas": betas,
        "times": np.linspace(0.0, T1, p.phase_frames),
        "dimensions": np.array(p.phase_dimensions),
        "shares": np.array([shares(p, d) for d in p.phase_dimensions]),
        "curve": np.asarray(theory.equiangular.merging_time(betas, N)),
    }


@styled
def draw_phase(data: dict[str, np.ndarray]) -> Figure:
    """A grid of phase diagrams; the equiangular curve is dashed."""
    panels = len(data["dimensions"])
    columns = 2 if panels in (2, 4) else min(3, panels)
    titles = [f"d = {d}" for d in data["dimensions"]]
    curve = data["curve"], data["betas"]
    return _grid(data, titles, columns, curve)


def _grid(data: dict[str, np.ndarray], titles, columns: int, curve) -> Figure:
    rows = -(-len(titles) // columns)
    figure = new_figure(3.5 * columns, 2.6 * rows)
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for ax in axes[len(titles) :]:
        ax.set_axis_off()
    for ax, title, values in zip(axes, titles, data["shares"], strict=False):
        phase_diagram(
            data["times"],
            data["betas"],
            values,
            curve=curve,
            curve_label="γ(t) = 0.999",
            ax=ax,
            xlabel="t",
            ylabel="β",
            label="share of close pairs",
            limits=(0.0, 1.0),
        )
        ax.set_title(title, loc="left")
        ax.set_xlim(0.0, float(data["times"][-1]))
    return figure


def random_weights(name: str, d: int, key: PRNGKeyArray) -> tuple[Array, Array]:
    """B = Q^T K and V of an ensemble of figure 5."""
    one, two, three = (jax.random.normal(k, (d, d)) for k in jax.random.split(key, 3))
    ginibre, wigner = one.T @ two / np.sqrt(d), (one + one.T) / np.sqrt(2.0)
    choices: dict[str, Callable[[], tuple[Array, Array]]] = {
        "a": lambda: (ginibre, three / np.sqrt(d)),
        "b": lambda: (wigner, three @ three.T / (4 * d)),
        "c": lambda: (ginibre, ginibre / np.sqrt(d)),
        "d": lambda: (wigner, wigner / (2 * np.sqrt(d))),
    }
    return choices[name]()


def _weighted_shares(p: Parameters, name: str) -> np.ndarray:
    d, count = p.weights_d, p.weights_replicas
    betas = np.linspace(*BETAS, p.weights_betas)
    key_w, key_x = jax.random.split(pf.key_for(p.seed, f"weights {name}"))
    drawn = [random_weights(name, d, key) for key in jax.random.split(key_w, count)]
    x = pf.Sphere(d).project(jax.random.normal(key_x, (count, N, d)))
    begun = [pf.Given(pf.Sphere(d), points) for points in x]
    times = np.linspace(0.0, T1, p.phase_frames)
    systems = [
        # <Q x, x'> = x^T B x' for Q = B^T: one product instead of two.
        pf.Experiment(
            start, pf.Attention(b, Q=B.T, V=V), T1, save=times, solver=PROBABILITY
        )
        for b in betas
        for start, (B, V) in zip(begun, drawn, strict=True)
    ]
    return seen(systems, CLOSE).reshape(len(betas), count, -1).mean(axis=1)


def compute_weights(p: Parameters) -> dict[str, np.ndarray]:
    """One diagram per ensemble of weights, redrawn for every replica."""
    return {
        "betas": np.linspace(*BETAS, p.weights_betas),
        "times": np.linspace(0.0, T1, p.phase_frames),
        "d": np.array([p.weights_d]),
        "shares": np.array([_weighted_shares(p, name) for name in ENSEMBLES]),
    }


@styled
def draw_weights(data: dict[str, np.ndarray]) -> Figure:
    """Four phase diagrams."""
    titles = [f"({k}) {words}, d = {data['d'][0]}" for k, words in ENSEMBLES.items()]
    return _grid(data, titles, 2, None)


FIGURES = {
    "figure-3-phase-diagrams": (
        compute_phase,
        draw_phase,
    ),
    "figure-5-random-weights": (
        compute_weights,
        draw_weights,
    ),
    **_figure_circle.FIGURES,
    **_figure_energy.FIGURES,
}
