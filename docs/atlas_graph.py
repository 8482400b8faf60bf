"""Which results build on which, across papers: a picture and a list of it.

The list is `builds_on.txt`: study, its result, study it builds on, that result, how.
Results are the places of claims, so that a reader finds both ends on their pages.
"""

import html
import pathlib
import re

TABLE = pathlib.Path(__file__).with_name("builds_on.txt").read_text()
EDGES = [line.split(" | ") for line in TABLE.splitlines()[1:]]
WIDTH, HEIGHT, GAP_X, GAP_Y = 128, 30, 22, 12


def page(measured: set[tuple[str, str]]) -> str:
    """The picture, then every edge in words; places that are measured are links."""
    lines = [
        "# What builds on what",
        "An arrow goes from a result to one that uses or continues it. A click opens "
        "the page of a paper; the list below says which results, and how.",
        f'```{{raw}} html\n<div class="graph">\n{picture()}\n</div>\n```',
    ]
    for study in sorted({edge[0] for edge in EDGES}):
        lines.append(f"## {words(study)}")
        lines += [
            f"- {_link(child, place, measured)} builds on "
            f"{_link(parent, root, measured)}: {how}."
            for child, place, parent, root, how in EDGES
            if child == study
        ]
    return "\n\n".join(lines) + "\n"


def words(study: str) -> str:
    """The name of a study as words."""
    return study.replace("_", " ")


def slug(place: str) -> str:
    """The anchor that a heading of a page gets."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", place.lower()).strip())


def _link(study: str, place: str, measured: set[tuple[str, str]]) -> str:
    there = f"#{slug(place)}" if (study, place) in measured else ""
    return f"[{words(study)}, {place}]({study}.md{there})"


def picture() -> str:
    """An SVG: columns by the longest way from a paper that builds on none."""
    columns = _columns()
    places = {
        study: (x * (WIDTH + GAP_X) + 8, y * (HEIGHT + GAP_Y) + 8)
        for x, column in enumerate(columns)
        for y, study in enumerate(column)
    }
    wide = len(columns) * (WIDTH + GAP_X) - GAP_X + 16
    high = max(map(len, columns)) * (HEIGHT + GAP_Y) - GAP_Y + 16
    pairs = sorted({(edge[2], edge[0]) for edge in EDGES})
    shapes = [_arrow(*places[a], *places[b]) for a, b in pairs]
    shapes += [_box(study, *at) for study, at in places.items()]
    said = f"{len(places)} papers and {len(pairs)} arrows; the list below has them all"
    return (
        f'<svg viewBox="0 0 {wide} {high}" width="{wide}" role="img" '
        f'aria-label="{said}">\n' + "\n".join(shapes) + "\n</svg>"
    )


def _columns() -> list[list[str]]:
    """Papers by generation; inside a column near the mean height of what they use."""
    parents: dict[str, set[str]] = {}
    for child, _, parent, _, _ in EDGES:
        parents.setdefault(child, set()).add(parent)
        parents.setdefault(parent, set())
    depth: dict[str, int] = {}
    while len(depth) < len(parents):
        for study, used in parents.items():
            if study not in depth and used <= depth.keys():
                depth[study] = 1 + max((depth[u] for u in used), default=-1)
    height: dict[str, float] = {}
    columns = []
    for level in range(max(depth.values()) + 1):
        column = [study for study in sorted(depth) if depth[study] == level]
        column.sort(key=lambda s: _mean([height[u] for u in parents[s]]))
        height |= {study: float(y) for y, study in enumerate(column)}
        columns.append(column)
    return columns


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _arrow(x0: int, y0: int, x1: int, y1: int) -> str:
    """From the right of a box to the left of another; past others between the rows."""
    a, b, half = x0 + WIDTH, x1, GAP_X // 2
    y0, y1 = y0 + HEIGHT // 2, y1 + HEIGHT // 2
    way = f"M{a},{y0} C{a + half},{y0} {b - half},{y1} {b - 5},{y1}"
    if b - a > GAP_X:
        between = y1 + (HEIGHT + GAP_Y) // 2
        c, d = a + GAP_X, b - GAP_X
        way = (
            f"M{a},{y0} C{a + half},{y0} {c - half},{between} {c},{between} "
            f"L{d},{between} C{d + half},{between} {b - half},{y1} {b - 5},{y1}"
        )
    return (
        f'<path d="{way}"/>'
        f'<path class="head" d="M{b - 6},{y1 - 3} L{b},{y1} L{b - 6},{y1 + 3} Z"/>'
    )


def _box(study: str, x: int, y: int) -> str:
    return (
        f'<a href="{study}.html"><rect x="{x}" y="{y}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="6"/><text x="{x + WIDTH // 2}" y="{y + 19}">'
        f"{html.escape(words(study))}</text></a>"
    )
