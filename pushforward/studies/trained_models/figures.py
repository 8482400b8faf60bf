"""Figures of the study of trained models; each needs the models in the cache."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot import cosine_histograms
from pushforward.plot.probing import NAMES, STYLE, kinetic_curve
from pushforward.plot.style import DEPTHS, PALETTE, SOFT, new_figure, styled
from pushforward.studies.trained_models.study import (
    MODELS,
    Parameters,
    examination,
    tiny_collapse,
    tiny_training,
)

Arrays = dict[str, np.ndarray]


def _cosines(name: str):
    def compute(parameters: Parameters) -> Arrays:
        """Unit tokens of six layers."""
        recording = examination(name, parameters).recording
        trajectory = recording.trajectory()
        depth = recording.depth
        chosen = np.array(sorted({0, 1, depth // 2, depth - 2, depth - 1, depth}))
        return {"layers": chosen, "points": np.asarray(trajectory.points)}

    def draw(data: Arrays) -> Figure:
        """Histograms of cosines, as in the published figure."""
        return cosine_histograms(data["points"], layers=data["layers"].tolist())

    return compute, draw


def compute_layers(parameters: Parameters) -> Arrays:
    """Mean cosine, clusters and effective rank by layer for both models."""
    data: Arrays = {}
    for name in MODELS:
        table = examination(name, parameters).table
        data[f"{name} cosine"] = table.mean_cosine
        data[f"{name} quantiles"] = table.quantiles
        data[f"{name} clusters"] = table.clusters[:, 2] / table.clusters[0, 0]
        data[f"{name} rank"] = table.effective_rank
    return data


@styled
def draw_layers(data: Arrays) -> Figure:
    """Three observables against relative depth."""
    figure = new_figure(9.4, 3.0)
    axes = figure.subplots(1, 3)
    titles = {
        "cosine": "mean cosine, 5 to 95 % shaded",
        "clusters": "clusters at 0.6 rad per token",
        "rank": "effective rank",
    }
    for ax, (part, title) in zip(axes, titles.items(), strict=True):
        for name, color in zip(MODELS, PALETTE, strict=False):
            values = data[f"{name} {part}"]
            depth = np.linspace(0, 1, len(values))
            ax.plot(depth, values, "o-", ms=3, color=color, label=name)
            if part == "cosine":
                low, _, high = data[f"{name} quantiles"].T
                ax.fill_between(depth, low, high, color=color, alpha=0.12, lw=0)
        ax.set_title(title)
        ax.set_xlabel("depth (0 embeddings, 1 last layer)")
    axes[1].set_ylim(bottom=0)
    axes[2].set_ylim(bottom=0)
    axes[2].legend()
    return figure


def compute_betas(parameters: Parameters) -> Arrays:
    """Effective and seen inverse temperatures of every head."""
    data: Arrays = {}
    for name in MODELS:
        one = examination(name, parameters)
        data[f"{name} effective"] = one.effective_beta
        data[f"{name} seen"] = np.asarray(one.seen_beta)
    return data


@styled
def draw_betas(data: Arrays) -> Figure:
    """Heads as points, by layer: from the weights, and on the text."""
    figure = new_figure(9.0, 4.6)
    grid = figure.subplots(2, 2, sharex="col")
    for column, name in zip(grid.T, MODELS, strict=True):
        for ax, part in zip(column, ("effective", "seen"), strict=True):
            values = data[f"{name} {part}"]
            layer = np.arange(1, len(values) + 1)
            places = np.repeat(layer[:, None], values.shape[1], axis=1)
            ax.plot(places, values, ".", ms=4, color=PALETTE[0], alpha=0.6)
            ax.plot(layer, np.median(values, axis=1), "-", color=PALETTE[1])
            ax.axhline(0, color=SOFT, lw=0.5)
        column[0].set_title(name)
        column[1].set_xlabel("layer")
    grid[0, 0].set_ylabel("effective β, from weights")
    grid[1, 0].set_ylabel("β seen on the text")
    return figure


def compute_motion(parameters: Parameters) -> Arrays:
    """Shares of motion explained, by layer."""
    data: Arrays = {}
    for name in MODELS:
        one = examination(name, parameters)
        data[f"{name} layers"] = np.array(one.fitted) + 1
        data[f"{name} own"] = np.asarray(one.own)[list(one.fitted)]
        for share in ("linear", "both", "attention", "shuffled", "plain"):
            data[f"{name} {share}"] = one.shares(share)
    return data


@styled
def draw_motion(data: Arrays) -> Figure:
    """What explains the motion of tokens."""
    figure = new_figure(10.0, 3.3)
    axes = figure.subplots(1, 2, sharey=True)
    for ax, name in zip(axes, MODELS, strict=True):
        for share, label in NAMES.items():
            color, style = STYLE[share]
            values = data[f"{name} {share}"]
            ax.plot(
                data[f"{name} layers"], values, style, ms=4, color=color, label=label
            )
        ax.set_title(name)
        ax.set_xlabel("layer")
    axes[0].set_ylabel("share of the motion explained")
    axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def compute_sensitivity(parameters: Parameters) -> Arrays:
    """The last token's sensitivity to every position."""
    data: Arrays = {}
    for name in parameters.felt:
        found = examination(name, parameters).sensitivity
        assert found is not None
        data[f"{name} positions"] = found.positions
        data[f"{name} share"] = found.share
    return data


@styled
def draw_sensitivity(data: Arrays) -> Figure:
    """Medians of neighbors over the points."""
    names = [key.removesuffix(" share") for key in data if key.endswith(" share")]
    figure = new_figure(4.3 * len(names), 3.0)
    axes = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for ax, name in zip(axes, names, strict=True):
        x, y = data[f"{name} positions"], data[f"{name} share"]
        ax.plot(x, y, ".", ms=3, color=SOFT, alpha=0.6)
        parts = np.array_split(np.arange(len(x)), 12)
        middle = [np.median(y[p]) for p in parts]
        ax.plot([x[p].mean() for p in parts], middle, "o-", ms=4, color=PALETTE[0])
        theory = kinetic_curve(x)
        scaled = theory * np.median(y) / np.median(theory)
        ax.plot(x, scaled, color=PALETTE[1], label="kinetic theory, scaled")
        ax.legend(loc="upper center")
        ax.set_yscale("log")
        ax.set_title(name)
        ax.set_xlabel("position in the text")
    axes[0].set_ylabel("sensitivity of the last token")
    return figure


def compute_tiny(parameters: Parameters) -> Arrays:
    """Collapse of random models, and cosines before and after training."""
    training = tiny_training(parameters)
    return tiny_collapse(parameters) | {"cosines": training["cosines"]}


@styled
def draw_tiny(data: Arrays) -> Figure:
    """Left: random weights, by placement of the norm. Right: training."""
    figure = new_figure(8.4, 3.0)
    left, right = figure.subplots(1, 2)
    for name, color in (("post", PALETTE[1]), ("pre", PALETTE[0])):
        layer = np.arange(data[name].shape[1])
        left.plot(layer, data[name].T, color=color, lw=0.7, alpha=0.5)
        label = f"norm {'after' if name == 'post' else 'before'} each sublayer"
        left.plot(layer, data[name].mean(axis=0), "o-", ms=3, color=color, label=label)
    left.set_title("random weights")
    left.legend(loc="lower right")
    for values, label, shade in zip(
        data["cosines"], ("before", "after training"), (0.45, 0.9), strict=True
    ):
        right.plot(values, "o-", color=DEPTHS(shade), label=label)
    right.set_title("a model that learned to count")
    right.legend()
    for ax in (left, right):
        ax.set_xlabel("layer")
    left.set_ylabel("mean cosine")
    return figure


FIGURES = {
    "cosines_minilm": _cosines("minilm"),
    "cosines_smollm2": _cosines("smollm2"),
    "layers": (compute_layers, draw_layers),
    "betas": (compute_betas, draw_betas),
    "motion": (compute_motion, draw_motion),
    "sensitivity": (compute_sensitivity, draw_sensitivity),
    "tiny": (compute_tiny, draw_tiny),
}
