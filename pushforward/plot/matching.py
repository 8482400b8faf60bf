"""Pictures and a report page of a matching of two feature tables."""

import base64
import html
import io
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.statistics.match_files import write_atomically
from pushforward.statistics.matching import Matching, Reason

GREEN, RED, GRAY, BLUE, ORANGE = "#1b7f4b", "#c8372d", "#b9bec6", "#2563a8", "#e08a1e"


def plot_drift(matching: Matching, truth: np.ndarray | None = None) -> Figure:
    """Retention times of candidate pairs, the fitted drift and its band."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    ax = figure.subplots()
    x = matching.A.rt[matching.pairs.rows]
    y = matching.B.rt[matching.pairs.cols]
    for name, mask, color, size in _classes(matching, truth):
        ax.scatter(x[mask], y[mask], s=size, c=color, label=name, linewidths=0)
    grid = np.linspace(x.min(), x.max(), 300)
    curve = matching.drift(grid)
    cut = matching.drift.cut
    band = f"drift $\\pm$ {cut:.2g} min"
    ax.fill_between(grid, curve - cut, curve + cut, color=BLUE, alpha=0.15, lw=0)
    ax.plot(grid, curve, color=BLUE, lw=1.8, label=band)
    low, high = y.min(), y.max()
    ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    ax.set_xlabel(f"retention time in {matching.A.name} (min)")
    ax.set_ylabel(f"retention time in {matching.B.name} (min)")
    _tidy(ax)
    ax.legend(edgecolor="none", fontsize=8, loc="upper left", markerscale=1.6)
    return figure


def plot_pairs(matching: Matching, truth: np.ndarray | None = None) -> Figure:
    """The matching as a matrix, features of both tables in order of time."""
    figure = Figure(figsize=(5.6, 5.6), layout="constrained")
    ax = figure.subplots()
    place_a = np.argsort(np.argsort(matching.A.rt))
    place_b = np.argsort(np.argsort(matching.B.rt))
    x, y = place_a[matching.pairs.rows], place_b[matching.pairs.cols]
    for name, mask, color, size in _classes(matching, truth):
        label = f"{name} ({int(mask.sum())})"
        ax.scatter(x[mask], y[mask], s=size, c=color, label=label, linewidths=0)
    ax.set_xlabel(f"features of {matching.A.name}, by time")
    ax.set_ylabel(f"features of {matching.B.name}, by time")
    ax.set_aspect("equal")
    ax.margins(0.02)
    _tidy(ax)
    figure.legend(
        loc="outside upper center", ncols=4, frameon=False, fontsize=8, markerscale=2
    )
    return figure


def plot_precision_recall(matching: Matching, truth: np.ndarray) -> Figure:
    """Precision against recall as the score falls, with and without transport."""
    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    ax = figure.subplots()
    cases = [("with transport", matching, GREEN, "o")]
    if matching.ablation is not None:
        cases.append(("mass and time only", matching.ablation, ORANGE, "s"))
    lowest = 1.0
    for name, found, color, marker in cases:
        curve, end = found.precision_recall(truth), found.accuracy(truth)
        label = f"{name}: {end.precision:.3f} / {end.recall:.3f}"
        ax.plot(curve.recall, curve.precision, color=color, lw=1.8)
        ax.plot(end.recall, end.precision, marker, color=color, ms=7, label=label)
        tail = curve.precision[curve.recall > 0.1]
        lowest = min(lowest, tail.min(initial=end.precision))
    ax.set_xlim(0, 1.02)
    ax.set_ylim(min(lowest - 0.02, 0.95), 1.005)
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    _tidy(ax)
    title = "precision / recall of all matches"
    ax.legend(
        frameon=False, fontsize=8, loc="lower right", title=title, title_fontsize=8
    )
    return figure


def write_report(
    matching: Matching, path: str | Path, *, truth: np.ndarray | None = None
) -> None:
    """One self-contained HTML page: what was read, what was found, the pictures.

    Nothing is fetched from anywhere; the file is written whole or not at all.
    """
    figures = [
        ("Retention-time drift", plot_drift(matching, truth)),
        ("Matching", plot_pairs(matching, truth)),
    ]
    if truth is not None:
        figures.append(("Precision and recall", plot_precision_recall(matching, truth)))
    body = [_summary(matching, truth)]
    body += [f"<h2>{title}</h2>{_image(title, figure)}" for title, figure in figures]
    write_atomically(path, [PAGE.replace("BODY", "\n".join(body))])


def _classes(
    matching: Matching, truth: np.ndarray | None
) -> list[tuple[str, np.ndarray, str, float]]:
    """Named groups of candidate pairs with color and size, drawn in this order."""
    kept = matching.kept
    size = float(np.clip(4000.0 / np.sqrt(matching.pairs.count) / 15.0, 4.0, 14.0))
    if truth is None:
        return [("dropped", ~kept, GRAY, size), ("matched", kept, GREEN, size)]
    q = matching.pairs.shape[1]
    codes = matching.pairs.rows * q + matching.pairs.cols
    true = np.isin(codes, np.asarray(truth) @ [q, 1])
    return [
        ("rightly dropped", ~kept & ~true, GRAY, size),
        ("true match", kept & true, GREEN, size),
        ("missed", ~kept & true, ORANGE, 1.3 * size),
        ("false match", kept & ~true, RED, 1.6 * size),
    ]


def _summary(matching: Matching, truth: np.ndarray | None) -> str:
    parts = [f"<p>{html.escape(line)}</p>" for line in str(matching).splitlines()]
    if truth is not None:
        parts.append(f"<p><b>{matching.accuracy(truth)}</b></p>")
        if matching.ablation is not None:
            without = matching.ablation.accuracy(truth)
            parts.append(f"<p>without transport: {without}</p>")
    rows = "".join(
        f"<tr><td>{reason.value}</td><td>{matching.reasons.count(reason)}</td></tr>"
        for reason in Reason
    )
    parts.append(
        f"<table><tr><th>candidate pairs</th><th>count</th></tr>{rows}</table>"
    )
    for table in (matching.A, matching.B):
        if table.decisions:
            lines = "".join(f"<li>{html.escape(d)}</li>" for d in table.decisions)
            parts.append(
                f"<p>How {html.escape(table.name)} was read:</p><ul>{lines}</ul>"
            )
    return "\n".join(parts)


def _image(title: str, figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{title}" src="data:image/png;base64,{data}">'


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Matching of two tables</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto;
       padding: 0 1rem; color: #1d2430; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p { margin: .3rem 0; } img { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { text-align: left; padding: .2rem 1rem .2rem 0;
         border-bottom: 1px solid #d9dde3; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
</style></head><body>
<h1>Matching of two tables</h1>
BODY
</body></html>
"""
