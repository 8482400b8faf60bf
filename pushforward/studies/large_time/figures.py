"""Pictures of deep networks: decay laws, classes on the move, decision regions."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from pushforward.control.neural.targets import chess, circles, lifted, moons
from pushforward.control.space_time import (
    SpaceTimeProblem,
    cosine_lift,
    train_space_time,
    width_profile,
)
from pushforward.plot.networks import (
    class_trajectories,
    decay_by_layer,
    lift,
    norms_by_layer,
    power_laws,
    regions_by_layer,
    width_heat_maps,
)
from pushforward.plot.style import new_figure, styled
from pushforward.studies.large_time.study import (
    GOAL,
    KEY,
    Parameters,
    chess_run,
    chess_sparse,
    circles_run,
    scalar_sweep,
    tracked,
)
from pushforward.theory import depth as theory


def compute_risk(p: Parameters) -> dict[str, Any]:
    """Final risk against depth, with the bound and the sharper law."""
    runs = scalar_sweep()
    horizons = np.array([float(r.problem.horizon) for r in runs])
    return {
        "horizons": horizons,
        "risk": np.array([r.risk()[-1] for r in runs]),
        "bound": theory.scalar_minimal_norm(0.5, math.e) / horizons,
        "law": theory.squared_risk_constant(0.5, math.e, 1.0) / horizons**2,
    }


def draw_risk(data: dict[str, Any]) -> Figure:
    """Log axes."""
    return power_laws(
        data["horizons"],
        {"optimal training": data["risk"]},
        {
            r"$\lambda^2\|v^*\|^2/((1+e^2)\,T^2)$": data["law"],
            r"bound $\lambda\|v^*\|^2/T$": data["bound"],
        },
    ).figure  # type: ignore[return-value]


def compute_tracking(p: Parameters) -> dict[str, Any]:
    """Distance to the targets for two horizons."""
    curves = {}
    for horizon in (20.0, 40.0):
        run = tracked(horizon, p.layers)
        curves[f"T = {horizon:g}"] = (run.times, np.sqrt(run.risk()))
    rate = theory.tracking_rates(np.tanh(GOAL), 1 / 3, 0.5)[-1]
    return {"curves": curves, "rate": float(rate)}


def draw_tracking(data: dict[str, Any]) -> Figure:
    """Semilog, dashed: the predicted rate."""
    return decay_by_layer(
        data["curves"], rates={"T = 40": data["rate"]}, ylabel="distance to targets"
    ).figure  # type: ignore[return-value]


def compute_circles(p: Parameters) -> dict[str, Any]:
    """Sixty samples through the trained network."""
    points, labels = circles(0)
    run = circles_run(p)
    return {
        "states": run.trajectory(lifted(points)),
        "labels": labels,
        "times": run.times,
        "risk": run.risk(),
        "norms": run.norms(),
    }


@styled
def draw_circles(data: dict[str, Any]) -> Figure:
    """Trajectories, risk by layer, norm of the control by layer."""
    figure = new_figure(9.4, 2.9)
    ax = figure.add_subplot(1, 3, 1)
    class_trajectories(data["states"][:, :, [0, 2]], data["labels"], ax=ax)
    ax.set_ylabel(r"$x_3$ (output)")
    ax.set_aspect("auto")
    ax = figure.add_subplot(1, 3, 2)
    decay_by_layer({"risk": (data["times"], data["risk"])}, ax=ax)
    ax = figure.add_subplot(1, 3, 3)
    norms_by_layer(data["times"], data["norms"], ax=ax, ylabel="|u|")
    return figure


def compute_lift(p: Parameters) -> dict[str, Any]:
    """The chess board in R^3 before and after."""
    points, labels = chess(1, per_cell=40)
    return {"states": chess_run(p).trajectory(lifted(points)), "labels": labels}


def draw_lift(data: dict[str, Any]) -> Figure:
    """Two panels."""
    return lift(data["states"], data["labels"])


def compute_regions(p: Parameters) -> dict[str, Any]:
    """What every second layer of the chess network would answer."""
    run = chess_run(p)
    axis = np.linspace(-1.6, 1.6, 90)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    states = run.trajectory(lifted(grid))
    layers = [0, 1, 2, 3, 4, 6, 9, 16]
    outputs = jax.vmap(jax.vmap(run.readout))(jnp.asarray(states[layers]))[..., 0]
    regions = (np.asarray(outputs) > 0).astype(int).reshape(len(layers), 90, 90)
    points, labels = chess(1, per_cell=15)
    return {
        "axis": axis,
        "regions": regions,
        "points": points,
        "labels": labels,
        "layers": layers,
    }


def draw_regions(data: dict[str, Any]) -> Figure:
    """Eight panels."""
    return regions_by_layer(
        data["axis"], data["regions"], data["points"], data["labels"], data["layers"]
    )


def compute_chess_layers(p: Parameters) -> dict[str, Any]:
    """Risk and l1 mass by layer, smooth and exactly sparse."""
    smooth, sparse = chess_run(p), chess_sparse(p)
    return {
        "times": smooth.times,
        "risk": {"L2": smooth.risk(), "L1": sparse.trained.risk()},
        "mass": {"L2": np.abs(smooth.controls).sum(axis=1), "L1": sparse.layer_norms},
    }


@styled
def draw_chess_layers(data: dict[str, Any]) -> Figure:
    """Risk on the left, masses on the right."""
    figure = new_figure(9.0, 2.7)
    curves = {name: (data["times"], risk) for name, risk in data["risk"].items()}
    decay_by_layer(curves, ax=figure.add_subplot(1, 3, 1))
    for k, (name, mass) in enumerate(data["mass"].items()):
        ax = figure.add_subplot(1, 3, 2 + k)
        norms_by_layer(data["times"], mass, ax=ax)
        ax.set_title(f"{name}: {int(np.sum(mass == 0))} layers exactly zero")
    return figure


def compute_width(p: Parameters) -> dict[str, Any]:
    """A diamond-shaped network on the moons."""
    points, labels = moons(1, 20)
    grids = width_profile([*range(6, 14), 13, *range(13, 5, -1)])
    problem = SpaceTimeProblem(
        cosine_lift(points), labels, grids, lam=0.01, horizon=4.0
    )
    weights, _, _ = train_space_time(problem, steps=p.width_steps, key=KEY)
    states = np.asarray(problem.states(weights))
    return {
        "grids": grids,
        "states": states[:, [0, 5, 12]],
        "labels": labels[[0, 5, 12]],
    }


def draw_width(data: dict[str, Any]) -> Figure:
    """One heat map per sample."""
    states = [data["states"][:, k] for k in range(data["states"].shape[1])]
    titles = [f"label {label:+.0f}" for label in data["labels"]]
    return width_heat_maps(data["grids"], states, titles)


FIGURES = {
    "risk_by_depth": (compute_risk, draw_risk),
    "tracking": (compute_tracking, draw_tracking),
    "circles": (compute_circles, draw_circles),
    "chess_lift": (compute_lift, draw_lift),
    "chess_regions": (compute_regions, draw_regions),
    "chess_layers": (compute_chess_layers, draw_chess_layers),
    "diamond": (compute_width, draw_width),
}
