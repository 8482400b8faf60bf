"""Figures of the GULP study: the task picks lambda; maps; limits; convergence."""

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from pushforward.plot.representations import plot_dendrogram, plot_embedding
from pushforward.plot.style import new_figure
from pushforward.statistics.representations.gulp import (
    GulpMatrix,
    gulp,
    gulp_matrix,
)
from pushforward.statistics.representations.similarities import (
    cca,
    cka,
    procrustes,
)
from pushforward.studies.gulp.study import (
    Parameters,
    digit_networks,
    prediction_gaps,
)

Arrays = dict[str, np.ndarray]
BASELINES = ("CCA", "CKA", "Procrustes")


def compute_prediction(parameters: Parameters) -> Arrays:
    """Spearman correlation of each distance with the held-out prediction gap."""
    networks = digit_networks(parameters)
    upper = np.triu_indices(len(networks.names), 1)
    ours = gulp_matrix(networks.train, parameters.lambdas).squared[:, *upper]
    pairs = [
        (networks.train[i], networks.train[j]) for i, j in zip(*upper, strict=True)
    ]
    others = np.array(
        [[1.0 - cca(*p).mean_squared, cka(*p).distance, procrustes(*p)] for p in pairs]
    ).T
    rng = np.random.default_rng(parameters.seed)
    table = []
    for lam in parameters.task_lambdas:
        gap = prediction_gaps(networks, lam, parameters.label_draws, rng)[upper]
        table.append([spearmanr(gap, d).statistic for d in (*others, *ours)])
    return {
        "tasks": np.array(parameters.task_lambdas),
        "lambdas": np.array(parameters.lambdas),
        "baselines": np.array(table)[:, : len(BASELINES)],
        "gulp": np.array(table)[:, len(BASELINES) :],
    }


def draw_prediction(data: Arrays) -> Figure:
    """Bars of Spearman correlation per task; GULP at the task's lambda stands out."""
    tasks = data["tasks"]
    figure = new_figure(3.6 * len(tasks), 3.4)
    axes = np.atleast_1d(figure.subplots(1, len(tasks), sharey=True))
    names = [*BASELINES, *(f"{lam:g}" for lam in data["lambdas"])]
    for ax, task, base, ours in zip(
        axes, tasks, data["baselines"], data["gulp"], strict=True
    ):
        colors = ["0.72"] * len(base)
        colors += ["#1b7f4b" if lam == task else "#9cc9b2" for lam in data["lambdas"]]
        ax.bar(range(len(names)), [*base, *ours], color=colors)
        ax.axhline(0.0, color="0.3", lw=0.8)
        ax.set_xticks(range(len(names)), names, rotation=60, ha="right", size=8)
        ax.set_title(f"task $\\lambda$ = {task:g}", size=10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("Spearman with prediction gap")
    figure.supxlabel("baselines, then GULP by its lambda", size=9)
    return figure


def compute_maps(parameters: Parameters) -> Arrays:
    """Distances between the networks on a coarse grid of lambdas."""
    networks = digit_networks(parameters)
    grid = [1e-4, 1e-2, 1.0, 100.0]
    found = gulp_matrix(networks.train, grid, names=networks.names)
    return {
        "names": np.array(networks.names),
        "depths": np.array(networks.depths),
        "lambdas": found.lambdas,
        "squared": found.squared,
    }


def _matrix(data: Arrays) -> tuple[GulpMatrix, list[str]]:
    names = tuple(str(n) for n in data["names"])
    groups = [f"depth {d}" for d in data["depths"]]
    return GulpMatrix(names, data["lambdas"], data["squared"]), groups


def draw_maps(data: Arrays) -> Figure:
    """Maps of the networks as lambda sweeps, colored by depth."""
    matrix, groups = _matrix(data)
    return plot_embedding(matrix, groups=groups)


def draw_tree(data: Arrays) -> Figure:
    """Dendrogram at lambda = 0.01."""
    matrix, groups = _matrix(data)
    return plot_dendrogram(matrix, 1e-2, groups=groups)


def gaussian_pair(
    n: int, rng: np.random.Generator, mixing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """n samples of two correlated Gaussian representations of dimension five."""
    Z = rng.normal(size=(n, 10)) @ mixing
    return Z[:, :5], Z[:, 5:]


def population_squared(mixing: np.ndarray, lam: float) -> float:
    """GULP squared of the Gaussian pair's true covariance, by the trace formula."""
    S = mixing.T @ mixing
    a, b = np.trace(S[:5, :5]), np.trace(S[5:, 5:])
    S_a, S_b, C = S[:5, :5] / a, S[5:, 5:] / b, S[:5, 5:] / np.sqrt(a * b)
    H_a = np.linalg.solve(S_a + lam * np.eye(5), S_a)
    H_b = np.linalg.solve(S_b + lam * np.eye(5), S_b)
    cross = np.linalg.solve(S_a + lam * np.eye(5), C)
    back = np.linalg.solve(S_b + lam * np.eye(5), C.T)
    return float(np.trace(H_a @ H_a) + np.trace(H_b @ H_b) - 2 * np.trace(cross @ back))


def compute_convergence(parameters: Parameters) -> Arrays:
    """Root-mean-square error of the plug-in estimate against sample size."""
    rng = np.random.default_rng(parameters.seed + 1)
    mixing = rng.normal(size=(10, 10))
    grid = np.array([1e-2, 0.1, 1.0])
    truth = np.array([population_squared(mixing, lam) for lam in grid])
    rows = []
    for n in parameters.sample_sizes:
        draws = (gaussian_pair(n, rng, mixing) for _ in range(parameters.repeats))
        errors = np.array([gulp(A, B, grid).squared for A, B in draws]) - truth
        rows.append(np.sqrt(np.square(errors).mean(0)))
    return {
        "sizes": np.array(parameters.sample_sizes),
        "lambdas": grid,
        "rmse": np.array(rows),
    }


def draw_convergence(data: Arrays) -> Figure:
    """Plug-in error against n, with the root-n slope as a guide."""
    figure = new_figure(5.0, 3.8)
    ax = figure.subplots()
    colors = ("#440154", "#21918c", "#5ec962")
    for lam, rmse, color in zip(data["lambdas"], data["rmse"].T, colors, strict=False):
        label = f"$\\lambda$ = {lam:g}"
        ax.loglog(data["sizes"], rmse, "o-", color=color, label=label)
    guide = 1.6 * data["rmse"].max() * np.sqrt(data["sizes"][0] / data["sizes"])
    ax.loglog(data["sizes"], guide, "--", color="0.5", label=r"$n^{-1/2}$")
    ax.set_xticks(data["sizes"], [f"{n:,}" for n in data["sizes"]])
    ax.minorticks_off()
    ax.set_xlabel("samples n")
    ax.set_ylabel("RMSE of squared GULP")
    ax.legend(frameon=False, loc="lower left", ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


FIGURES = {
    "prediction": (compute_prediction, draw_prediction),
    "maps": (compute_maps, draw_maps),
    "tree": (compute_maps, draw_tree),
    "convergence": (compute_convergence, draw_convergence),
}
