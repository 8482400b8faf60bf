"""Pictures and a report page of a joint matching of several feature tables."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.matching import BLUE, GRAY, GREEN
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
from pushforward.statistics.matching.joint_matching import JointMatching
from pushforward.statistics.matching.matching import Reason
from pushforward.statistics.tables.match_files import table_labels

DOUBTFUL = 12  # rows of a table
PATTERNS = 16  # bars of the picture of groups
PANELS = 10  # pairs of tables drawn
SHORT = ("alone", "strongest", "off the drift", "weak", "weaker than another")


@styled
def draw_groups(joint: JointMatching) -> Figure:
    """How many groups are in which tables, the commonest first."""
    there = joint.groups >= 0
    patterns, counts = np.unique(there, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:PATTERNS]
    patterns, counts = patterns[order], counts[order]
    K = len(joint.tables)
    figure = new_figure(1.9 + 0.42 * len(order), 2.4 + 0.28 * K)
    bars, dots = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, 0.32 * K])
    place = np.arange(len(order))
    bars.bar(place, counts, color=GREEN, width=0.7)
    for x, count in zip(place, counts, strict=True):
        bars.annotate(str(count), (x, count), ha="center", va="bottom", fontsize=8)
    bars.set_ylabel("groups")
    bars.margins(y=0.15)
    for k in range(K):
        inside = patterns[:, k]
        dots.plot(place, np.full(len(place), K - k), "o", color="#dfe3e8", ms=7)
        dots.plot(place[inside], np.full(inside.sum(), K - k), "o", color=BLUE, ms=7)
    dots.set_yticks(range(K, 0, -1), table_labels(joint.tables), fontsize=8)
    dots.set_ylim(0.5, K + 0.5)
    dots.set_xticks([])
    dots.spines[["left", "bottom"]].set_visible(False)
    dots.tick_params(length=0)
    return figure


@styled
def draw_drift_between(joint: JointMatching, a: int, b: int) -> Figure:
    """The drift of times between two of the tables; grouped pairs green."""
    labels, found = table_labels(joint.tables), joint.pairs[a, b]
    figure = new_figure(3.3, 2.9)
    ax = figure.subplots()
    x, y = found.A.rt[found.pairs.rows], found.B.rt[found.pairs.cols]
    ax.scatter(x, y, s=3, c=GRAY, linewidths=0)
    i, j = joint.matches(a, b).T
    ax.scatter(found.A.rt[i], found.B.rt[j], s=4, c=GREEN, linewidths=0)
    grid = np.linspace(x.min(), x.max(), 200)
    curve, cut = found.drift(grid), found.drift.cut
    ax.fill_between(grid, curve - cut, curve + cut, color=BLUE, alpha=0.15, lw=0)
    ax.plot(grid, curve, color=BLUE)
    room = 0.05 * (y.max() - y.min())
    ax.set_ylim(y.min() - room, y.max() + room)
    ax.set_xlabel(f"time in {labels[a]} (min)")
    ax.set_ylabel(f"time in {labels[b]} (min)")
    return figure


@styled
def draw_mass_spread(joint: JointMatching) -> Figure:
    """How far masses of one group are apart, in parts per million of their mean."""
    masses = np.full(joint.groups.shape, np.nan)
    for k, t in enumerate(joint.tables):
        has = joint.groups[:, k] >= 0
        masses[has, k] = t.mz[joint.groups[has, k]]
    mean = np.nanmean(masses, axis=1, keepdims=True)
    figure = new_figure(5.0, 2.6)
    ax = figure.subplots()
    for k, label in enumerate(table_labels(joint.tables)):
        ppm = 1e6 * (masses[:, k] / mean[:, 0] - 1)
        ppm = ppm[np.isfinite(ppm)]
        ax.hist(ppm, bins=60, histtype="step", lw=1.3, label=label)
    ax.set_xlabel("m/z from the mean of the group (ppm)")
    ax.set_ylabel("features")
    ax.legend()
    return figure


def write_joint_report(
    joint: JointMatching,
    path: str | Path,
    *,
    truth: np.ndarray | None = None,
    complete: bool = True,
) -> None:
    """One self-contained page: the groups, the drifts, what is doubtful and dropped."""
    K = len(joint.tables)
    size = (joint.groups >= 0).sum(axis=1)
    first = [(str(len(size)), f"groups of features of {K} tables")]
    first += [(str(int((size == K).sum())), "of them in all tables")]
    lines = str(joint).splitlines()
    parts = [numbers(first), listing(lines[:K]), paragraph(lines[-1])]
    if truth is not None:
        found = joint.accuracy(truth, partial=not complete)
        words = (
            f"Over all pairs of tables: {found}."
            if complete
            else f"Of the pairs in {len(truth)} known groups {found.true} were found "
            f"and {found.missed} were not; {found.false} matches contradict one. The "
            "list is not complete, so that precision is not known."
        )
        parts.append(paragraph(words))
    if len(joint.groups):
        drifts = [
            image("Drift of times", draw_drift_between(joint, a, b))
            for a, b in list(joint.pairs)[:PANELS]
        ]
        parts += [
            gallery(
                image(
                    "Groups", draw_groups(joint), "Groups by the tables they are in."
                ),
                image("Mass errors", draw_mass_spread(joint), "Masses within a group."),
            ),
            section("Drift of times", gallery(*drifts)),
            _doubtful(joint),
        ]
    parts.append(_pairs(joint))
    for one in joint.tables:
        if one.decisions:
            parts.append(section(f"How {one.name} was read", listing(one.decisions)))
    write_page(path, f"Matching of {K} tables", parts)


def _doubtful(joint: JointMatching) -> str:
    """The groups that fewest of their pairs support."""
    order = np.argsort(joint.support, kind="stable")[:DOUBTFUL]
    order = order[joint.support[order] < 1]
    if not len(order):
        return section("Doubtful groups", paragraph("Every pair of tables agrees."))
    labels = table_labels(joint.tables)
    rows = [
        [float(joint.support[g])]
        + [
            t.ids[k] if k >= 0 else ""
            for t, k in zip(joint.tables, joint.groups[g], strict=True)
        ]
        for g in order
    ]
    words = "Groups in which some pairs of tables were not matched directly."
    head = ["matched pairs (share)", *(f"id in {x}" for x in labels)]
    return section("Doubtful groups", paragraph(words), table(head, rows))


def _pairs(joint: JointMatching) -> str:
    """What became of the candidates of each two tables."""
    labels = table_labels(joint.tables)
    rows = []
    for (a, b), found in joint.pairs.items():
        counts = [found.reasons.count(reason) for reason in Reason]
        both = f"{labels[a]}, {labels[b]}"
        rows.append([both, found.pairs.count, *counts, len(joint.matches(a, b))])
    head = ["tables", "candidates", *SHORT, "in a group"]
    words = paragraph(
        "Candidates inside the mass gate, and what became of them when two tables are "
        "matched by themselves: kept as the only one of both features or as the "
        "strongest, or dropped. Last, the pairs that stand in the end."
    )
    gone = [(t.name, i, why) for t in joint.tables for i, why in t.left_out.items()]
    before = folded(
        f"{len(gone)} features left out before matching",
        table(["table", "id", "why"], gone),
    )
    return section("Pairs of tables", words, table(head, rows), *[before][: len(gone)])
