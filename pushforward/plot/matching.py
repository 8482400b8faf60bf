"""Pictures and a report page of a matching of two feature tables."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.plot.page import (
    image,
    listing,
    paragraph,
    section,
    table,
    write_page,
)
from pushforward.plot.style import new_figure
from pushforward.statistics.matching.matching import Matching, Reason

Arrays = dict[str, np.ndarray]
JUDGED = ("rightly dropped", "true match", "missed", "false match")
DOUBTFUL = 15  # rows of a table
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
        "ppm": 1e6 * (matching.B.mz[cols] / matching.A.mz[rows] - 1),
    }
    if truth is not None:
        data["with"] = _curve(matching, truth)
        if matching.ablation is not None:
            data["without"] = _curve(matching.ablation, truth)
    return data


def draw_drift(data: Arrays) -> Figure:
    """Retention times of candidate pairs, the fitted drift and its band."""
    figure = new_figure(6.4, 4.4)
    ax = figure.subplots()
    _scatter(ax, data, data["times"], counted=False)
    (grid, curve), cut = data["curve"].T, float(data["cut"])
    ax.fill_between(grid, curve - cut, curve + cut, color=BLUE, alpha=0.15, lw=0)
    ax.plot(grid, curve, color=BLUE, lw=1.8, label=f"drift $\\pm$ {cut:.2g} min")
    low, high = data["times"][:, 1].min(), data["times"][:, 1].max()
    ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    ax.set_xlabel(f"retention time in {data['names'][0]} (min)")
    ax.set_ylabel(f"retention time in {data['names'][1]} (min)")
    tidy(ax)
    ax.legend(edgecolor="none", fontsize=8, loc="upper left", markerscale=1.6)
    return figure


def draw_pairs(data: Arrays) -> Figure:
    """The matching as a matrix, features of both tables in order of time."""
    figure = new_figure(5.6, 5.6)
    ax = figure.subplots()
    _scatter(ax, data, data["places"], counted=True)
    ax.set_xlabel(f"features of {data['names'][0]}, by time")
    ax.set_ylabel(f"features of {data['names'][1]}, by time")
    ax.set_aspect("equal")
    ax.margins(0.02)
    tidy(ax)
    figure.legend(
        loc="outside upper center", ncols=2, frameon=False, fontsize=8, markerscale=2
    )
    return figure


def draw_precision_recall(data: Arrays) -> Figure:
    """Precision against recall as the score falls, with and without transport."""
    figure = new_figure(5.2, 4.2)
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
    tidy(ax)
    title = "precision / recall of all matches"
    ax.legend(
        frameon=False, fontsize=8, loc="lower right", title=title, title_fontsize=8
    )
    return figure


def draw_masses(data: Arrays) -> Figure:
    """Mass errors of the pairs, matched and dropped, in parts per million."""
    figure = new_figure(6.4, 2.8)
    ax = figure.subplots()
    kept = np.isin(data["kind"], (1, 3))
    span = (data["ppm"].min(), data["ppm"].max() + 1e-9)
    cases = [(kept, GREEN, "matched"), (~kept, GRAY, "dropped")]
    parts, colors, labels = zip(
        *((data["ppm"][mask], *look) for mask, *look in cases if mask.any()),
        strict=True,
    )
    looks = {"color": colors, "label": labels}
    ax.hist(parts, bins=60, range=span, stacked=True, **looks)
    ax.set_xlabel("m/z error (ppm)")
    ax.set_ylabel("pairs")
    ax.yaxis.get_major_locator().set_params(integer=True)
    tidy(ax)
    ax.legend(frameon=False, fontsize=8)
    return figure


def write_report(
    matching: Matching,
    path: str | Path,
    *,
    truth: np.ndarray | None = None,
    complete: bool = True,
) -> None:
    """One self-contained HTML page: what was read, what was found, the pictures.

    A `truth` that is not `complete` lists some of the true pairs only: then nothing is
    said of precision. Nothing is fetched from anywhere; the file is written whole or
    not at all.
    """
    judge = truth if complete else None
    data = picture_of(matching, judge)
    parts = _summary(matching, truth, complete)
    parts.append(
        section("Retention-time drift", image("Retention-time drift", draw_drift(data)))
    )
    parts.append(section("Mass errors", image("Mass errors", draw_masses(data))))
    parts.append(section("Matching", image("Matching", draw_pairs(data))))
    if judge is not None:
        figure = draw_precision_recall(data)
        parts.append(section("Precision and recall", image("By score", figure)))
    parts.append(_doubtful(matching))
    for table_ in (matching.A, matching.B):
        if table_.decisions:
            title = f"How {table_.name} was read"
            parts.append(section(title, listing(table_.decisions)))
    write_page(path, "Matching of two tables", parts)


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
        label = label if mask.any() else "_nolegend_"
        x, y = points[mask].T
        ax.scatter(x, y, s=scale * size, c=color, label=label, linewidths=0)


def _curve(matching: Matching, truth: np.ndarray) -> np.ndarray:
    found = matching.precision_recall(truth)
    return np.column_stack([found.recall, found.precision])


def _rank(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(values))


def _summary(matching: Matching, truth: np.ndarray | None, complete: bool) -> list[str]:
    parts = [paragraph(line) for line in str(matching).splitlines()]
    if truth is not None and complete:
        parts.append(paragraph(str(matching.accuracy(truth))))
        if matching.ablation is not None:
            without = matching.ablation.accuracy(truth)
            parts.append(paragraph(f"without transport: {without}"))
    elif truth is not None:
        found = matching.accuracy(truth, partial=True)
        parts.append(
            paragraph(
                f"Of {len(truth)} known pairs {found.true} were found; {found.false} "
                "matches contradict one. The list is not complete, so that precision "
                "is not known."
            )
        )
    rows = [[reason.value, matching.reasons.count(reason)] for reason in Reason]
    return [*parts, table(["candidate pairs", "count"], rows)]


def _doubtful(matching: Matching) -> str:
    """The matches of least score, to look at first."""
    kept = np.flatnonzero(matching.kept)
    least = kept[np.argsort(matching.score[kept], kind="stable")][:DOUBTFUL]
    rows = [
        [
            matching.A.ids[matching.pairs.rows[s]],
            matching.B.ids[matching.pairs.cols[s]],
            f"{matching.A.mz[matching.pairs.rows[s]]:.4f}",
            f"{matching.residual[s]:.3f}",
            f"{matching.score[s]:.3f}",
        ]
        for s in least
    ]
    words = paragraph("The matches of least score; look at these first.")
    header = ["id in A", "id in B", "m/z", "off the drift (min)", "score"]
    return section("Doubtful matches", words, table(header, rows))


def tidy(ax: Axes) -> None:
    """No frame above and on the right, small ticks."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
