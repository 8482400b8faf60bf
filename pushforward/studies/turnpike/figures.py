"""The pictures of the survey: spectra, two layers, heat maps, values."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pushforward.control.classical.heat import CubicBoundary, tie
from pushforward.control.classical.wave import (
    NoTracking,
    PositionAndVelocity,
    Tracking,
    optimal_transport_inflow,
    wave_hamiltonian,
)
from pushforward.plot.control import (
    space_time,
    spectra,
    square_snapshots,
    turnpike_layers,
    two_minimizers,
    value_collapse,
)
from pushforward.plot.style import new_figure, styled
from pushforward.studies.turnpike.study import (
    SQUARE_CONTROL,
    Parameters,
    example,
    scalar_example,
    semilinear,
    square,
    square_distance,
    square_path,
)
from pushforward.theory import turnpike as theory


def compute_spectra(p: Parameters) -> dict[str, Any]:
    """Wave Hamiltonians with and without tracking."""
    kinds: dict[str, Tracking] = {
        "no tracking": NoTracking(),
        "tracking": PositionAndVelocity(),
    }
    found = {
        name: np.linalg.eigvals(wave_hamiltonian(p.wave_nodes, kind))
        for name, kind in kinds.items()
    }
    return {"spectra": found, "cloud": theory.wave_cloud(0.5)}


def draw_spectra(data: dict[str, Any]) -> Figure:
    """Two panels."""
    return spectra(data["spectra"], cloud=data["cloud"])


def compute_layers(p: Parameters) -> dict[str, Any]:
    """Distances to the turnpike for several horizons."""
    lq = example()
    runs = []
    for horizon in (3.0, 6.0, 9.0, 12.0):
        path = lq.path(np.array([1.4, 1.4]), horizon, save=1201)
        runs.append((path.times, path.deviation()))
    return {"runs": runs, "rate": lq.rate}


def draw_layers(data: dict[str, Any]) -> Figure:
    """Semilog, all horizons overlaid."""
    return turnpike_layers(data["runs"], data["rate"]).figure  # type: ignore


def compute_transport(p: Parameters) -> dict[str, Any]:
    """Optimal transport from a cosine."""
    x = (np.arange(p.cells) + 0.5) / p.cells
    path = optimal_transport_inflow(1.28 + 0.5 * np.cos(np.pi * x), 10)
    return {"times": path.times, "x": x, "states": path.states}


def draw_transport(data: dict[str, Any]) -> Figure:
    """Heat map: the datum leaves, one half stays, a triangle fades at the end."""
    return space_time(data["times"], data["x"], data["states"]).figure  # type: ignore


def compute_semilinear(p: Parameters) -> dict[str, Any]:
    """Semilinear heat from rest to rest of the horizon."""
    _, path = semilinear(p.heat_steps)
    x = np.arange(1, 50) / 50
    return {"times": path.times, "x": x, "states": path.states}


def draw_semilinear(data: dict[str, Any]) -> Figure:
    """Heat map with a flat middle."""
    return space_time(data["times"], data["x"], data["states"]).figure  # type: ignore


def compute_square(p: Parameters) -> dict[str, Any]:
    """Heat on the square: four moments, and distances for three horizons."""
    problem, points = square(p.square)
    path = square_path(p.square, 15.0)
    moments = (0.0, 0.5, 7.5, 15.0)
    return {
        "points": points,
        "moments": moments,
        "states": path.states[[round(10 * t) for t in moments]],
        "runs": [square_distance(p.square, t1) for t1 in (5.0, 10.0, 15.0)],
        "rate": problem.rate(),
    }


@styled
def draw_square(data: dict[str, Any]) -> Figure:
    """Snapshots: start, rise, turnpike, end; then the two layers."""
    figure = new_figure(10.8, 2.5)
    grid = figure.add_gridspec(1, 5, width_ratios=(1, 1, 1, 1, 2.4))
    square_snapshots(
        data["points"],
        data["states"],
        [f"t = {t:g}" for t in data["moments"]],
        edge=SQUARE_CONTROL[1],
        axes=[figure.add_subplot(grid[0, k]) for k in range(4)],
    )
    ax = figure.add_subplot(grid[0, 4])
    turnpike_layers(data["runs"], data["rate"], ax=ax, ylabel="distance")
    return figure


def compute_minimizers(p: Parameters) -> dict[str, Any]:
    """The stationary cost at the tie and its two states."""
    outer, plus, minus, cost = tie(p.cubic_nodes)
    problem = CubicBoundary(p.cubic_nodes, outer=outer)
    v = np.linspace(-3.0, 8.0, 111)
    profiles = [(problem.nodes, problem.state(b)) for b in (plus, minus)]
    return {
        "v": v,
        "cost": np.array([problem.cost(s) for s in v]),
        "minima": [(plus, cost), (minus, problem.cost(minus))],
        "profiles": profiles,
    }


def draw_minimizers(data: dict[str, Any]) -> Figure:
    """Cost and profiles."""
    return two_minimizers(data["v"], data["cost"], data["minima"], data["profiles"])


def compute_values(p: Parameters) -> dict[str, Any]:
    """V(T, x) - T V_s on a grid of x."""
    lq = scalar_example()
    x = np.linspace(-1.0, 2.0, 61)
    values = {
        T: np.array([lq.value(T, np.array([s])) - T * lq.static.cost for s in x])
        for T in (0.5, 1.0, 2.0, 4.0)
    }
    limit = np.array([lq.value_limit(np.array([s])) for s in x])
    return {"x": x, "values": values, "limit": limit}


def draw_values(data: dict[str, Any]) -> Figure:
    """Curves falling on the limit."""
    return value_collapse(data["x"], data["values"], data["limit"]).figure  # type: ignore


FIGURES = {
    "spectra": (compute_spectra, draw_spectra),
    "layers": (compute_layers, draw_layers),
    "transport": (compute_transport, draw_transport),
    "semilinear": (compute_semilinear, draw_semilinear),
    "square": (compute_square, draw_square),
    "two_minimizers": (compute_minimizers, draw_minimizers),
    "value_collapse": (compute_values, draw_values),
}
