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

Arrays = dict[str, np.ndarray]
JUDGED = ("rightly dropped", "true match", "missed", "false match")
GREEN, RED, GRAY, BLUE, ORANGE = "#1b7f4b", "#c8372d", "#b9bec6", "#2563a8", "#e08a1e"


def picture_of(matching: Matching, truth: np.ndarray | None = None) -> Arrays:
    """What the pictures show, as plain arrays.

    `kind` of a candidate pair: 0 dropped, 1 matched (true), 2 missed, 3 false match.
    """
    rows, cols = matching.pairs.rows, matching.pairs.cols
    kept = matching.kept
    kind = kept.astype(int)
    if truth is not None:
        q = matching.pairs.shape[1]
        true = np.isin(rows * q + cols, np.asarray(truth) @ [q, 1])
        kind = np.select([kept & true, true, kept], [1, 2, 3], 0)
    rt_a, rt_b = matching.A.rt, matching.B.rt
    grid = np.linspace(rt_a[rows].min(), rt_a[rows].max(), 300)
    data = {
        "names": np.array([matching.A.name, matching.B.name]),
        "judged": np.array(truth is not None),
        "kind": kind,
        "times": np.column_stack([rt_a[rows], rt_b[cols]]),
        "places": np.column_stack([_rank(rt_a)[rows], _rank(rt_b)[cols]]),
        "curve": np.column_stack([grid, matching.drift(grid)]),
        "cut": np.array(matching.drift.cut),
    }
    if truth is not None:
        data["with"] = _curve(matching, truth)
        if matching.ablation is not None:
            data["without"] = _curve(matching.ablation, truth)
    return data


def draw_drift(data: Arrays) -> Figure:
    """Retention times of candidate pairs, the fitted drift and its band."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    ax = figure.subplots()
    _scatter(ax, data, data["times"], counted=False)
    (grid, curve), cut = data["curve"].T, float(data["cut"])
    ax.fill_between(grid, curve - cut, curve + cut, color=BLUE, alpha=0.15, lw=0)
    ax.plot(grid, curve, color=BLUE, lw=1.8, label=f"drift $\\pm$ {cut:.2g} min")
    low, high = data["times"][:, 1].min(), data["times"][:, 1].max()
    ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    ax.set_xlabel(f"retention time in {data['names'][0]} (min)")
    ax.set_ylabel(f"retention time in {data['names'][1]} (min)")
    _tidy(ax)
    ax.legend(edgecolor="none", fontsize=8, loc="upper left", markerscale=1.6)
    return figure


def draw_pairs(data: Arrays) -> Figure:
    """The matching as a matrix, features of both tables in order of time."""
    figure = Figure(figsize=(5.6, 5.6), layout="constrained")
    ax = figure.subplots()
    _scatter(ax, data, data["places"], counted=True)
    ax.set_xlabel(f"features of {data['names'][0]}, by time")
    ax.set_ylabel(f"features of {data['names'][1]}, by time")
    ax.set_aspect("equal")
    ax.margins(0.02)
    _tidy(ax)
    figure.legend(
        loc="outside upper center", ncols=2, frameon=False, fontsize=8, markerscale=2
    )
    return figure


def draw_precision_recall(data: Arrays) -> Figure:
    """Precision against recall as the score falls, with and without transport."""
    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    ax = figure.subplots()
    cases = (
        ("with", "with transport", GREEN, "o"),
        ("without", "mass and time only", ORANGE, "s"),
    )
    lowest = 0.97
    for key, name, color, marker in (case for case in cases if case[0] in data):
        recall, precision = data[key].T
        label = f"{name}: {precision[-1]:.3f} / {recall[-1]:.3f}"
        ax.plot(recall, precision, color=color, lw=1.8)
        ax.plot(recall[-1], precision[-1], marker, color=color, ms=7, label=label)
        lowest = min(lowest, precision[recall > 0.1].min(initial=lowest))
    ax.set_xlim(0, 1.02)
    ax.set_ylim(lowest - 0.02, 1.005)
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
    data = picture_of(matching, truth)
    figures = [
        ("Retention-time drift", draw_drift(data)),
        ("Matching", draw_pairs(data)),
    ]
    if truth is not None:
        figures.append(("Precision and recall", draw_precision_recall(data)))
    body = [_summary(matching, truth)]
    body += [f"<h2>{title}</h2>{_image(title, figure)}" for title, figure in figures]
    write_atomically(path, [PAGE.replace("BODY", "\n".join(body))])


def _scatter(ax: Axes, data: Arrays, points: np.ndarray, *, counted: bool) -> None:
    """Candidate pairs by kind; rare and wrong ones are drawn last and larger."""
    size = float(np.clip(270.0 / np.sqrt(len(points)), 4.0, 14.0))
    judged = bool(data["judged"])
    names = JUDGED if judged else ("dropped", "matched", "", "")
    looks = ((GRAY, 1.0), (GREEN, 1.0), (ORANGE, 1.3), (RED, 1.6))
    for kind, (name, (color, scale)) in enumerate(zip(names, looks, strict=True)):
        mask = data["kind"] == kind
        if not name:
            continue
        label = f"{name} ({int(mask.sum())})" if counted else name
        x, y = points[mask].T
        ax.scatter(x, y, s=scale * size, c=color, label=label, linewidths=0)


def _curve(matching: Matching, truth: np.ndarray) -> np.ndarray:
    found = matching.precision_recall(truth)
    return np.column_stack([found.recall, found.precision])


def _rank(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(values))


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
