"""Pictures and a report page of a matching of two feature tables."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.plot.page import (
    folded,
    gallery,
    image,
    listing,
    numbers,
    paragraph,
    section,
    table,
    write_page,
)
from pushforward.plot.style import new_figure, styled
from pushforward.statistics.matching.matching import Matching, Reason

Arrays = dict[str, np.ndarray]
JUDGED = ("rightly dropped", "true match", "missed", "false match")
DOUBTFUL = 12  # rows of a table
MOST = 2000  # matches in a table that folds
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


@styled
def draw_drift(data: Arrays) -> Figure:
    """Retention times of candidate pairs, the fitted drift and its band."""
    figure = new_figure(5.0, 4.0)
    ax = figure.subplots()
    _scatter(ax, data, data["times"], counted=False)
    (grid, curve), cut = data["curve"].T, float(data["cut"])
    ax.fill_between(grid, curve - cut, curve + cut, color=BLUE, alpha=0.15, lw=0)
    ax.plot(grid, curve, color=BLUE, lw=1.8, label=f"drift $\\pm$ {cut:.2g} min")
    low, high = data["times"][:, 1].min(), data["times"][:, 1].max()
    ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    ax.set_xlabel(f"retention time in {data['names'][0]} (min)")
    ax.set_ylabel(f"retention time in {data['names'][1]} (min)")
    ax.legend(loc="upper left", markerscale=1.6)
    return figure


@styled
def draw_pairs(data: Arrays) -> Figure:
    """The matching as a matrix, features of both tables in order of time."""
    figure = new_figure(4.4, 4.6)
    ax = figure.subplots()
    _scatter(ax, data, data["places"], counted=True)
    ax.set_xlabel(f"features of {data['names'][0]}, by time")
    ax.set_ylabel(f"features of {data['names'][1]}, by time")
    ax.set_aspect("equal")
    ax.margins(0.02)
    figure.legend(loc="outside upper center", ncols=2, markerscale=2)
    return figure


@styled
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
    title = "precision / recall of all matches"
    ax.legend(loc="lower right", title=title, title_fontsize=8)
    return figure


@styled
def draw_masses(data: Arrays) -> Figure:
    """Mass errors of the pairs, matched and dropped, in parts per million."""
    figure = new_figure(5.0, 2.4)
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
    ax.legend()
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
    drawn = [
        image("Retention-time drift", draw_drift(data), "Times, and their drift."),
        image("Matching", draw_pairs(data), "Features in order of time."),
        image("Mass errors", draw_masses(data), "Mass errors of the pairs."),
    ]
    if judge is not None:
        figure = draw_precision_recall(data)
        drawn.append(image("By score", figure, "As fewer matches are asked for."))
    parts.append(gallery(*drawn))
    kept = np.flatnonzero(matching.kept)
    least = kept[np.argsort(matching.score[kept], kind="stable")]
    words = paragraph("The matches of least score; look at these first.")
    doubtful = _listed(matching, least[:DOUBTFUL])
    every = folded(f"All {len(kept)} matches", _listed(matching, least[:MOST][::-1]))
    parts.append(section("Doubtful matches", words, doubtful, every))
    parts.append(_dropped(matching))
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
    A, B = matching.A, matching.B
    first = [
        (str(len(matching.matches)), "one-to-one matches"),
        (str(A.p), f"features of {A.name}, {A.n} samples"),
        (str(B.p), f"features of {B.name}, {B.n} samples"),
    ]
    parts = [numbers(first), *(paragraph(x) for x in str(matching).splitlines()[1:])]
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
    return parts


def _dropped(matching: Matching) -> str:
    """What became of the pairs inside the gate, and the strongest that were dropped."""
    counts = [[reason.value, matching.reasons.count(reason)] for reason in Reason]
    lost = np.flatnonzero(~matching.kept)
    lost = lost[np.argsort(-matching.coupling[lost], kind="stable")]
    some = paragraph(f"The strongest of the {len(lost)} that were dropped:")
    several = _listed(matching, lost[:DOUBTFUL], reasons=True)
    shown = [some, several] if len(lost) else []
    outcome = table(["pairs whose masses agree", "count"], counts)
    gone = [(t.name, i, why) for t in matching.tables for i, why in t.left_out.items()]
    before = folded(
        f"{len(gone)} features left out before matching",
        table(["table", "id", "why"], gone[:MOST]),
    )
    return section("What was dropped, and why", outcome, *shown, *[before][: len(gone)])


def _listed(m: Matching, chosen: np.ndarray, *, reasons: bool = False) -> str:
    """A table of pairs."""
    rows = [
        [
            m.A.ids[m.pairs.rows[s]],
            m.B.ids[m.pairs.cols[s]],
            f"{m.A.mz[m.pairs.rows[s]]:.4f}",
            f"{m.A.rt[m.pairs.rows[s]]:.2f}",
            f"{m.B.rt[m.pairs.cols[s]]:.2f}",
            f"{m.residual[s]:.3f}",
            m.reasons[s].value.partition(": ")[2] if reasons else f"{m.score[s]:.3f}",
        ]
        for s in chosen
    ]
    last = "why" if reasons else "score"
    head = ["id in A", "id in B", "m/z", "min in A", "min in B", "off the drift", last]
    return table(head, rows)
