"""The feature tables that laboratories export, told apart by their header."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pushforward.errors import InputError
from pushforward.statistics.tables._delimited import Cells, as_number

MINUTES, SECONDS = "min", "s"
HEADER_DEPTH = 8  # a header is looked for in the first rows only


@dataclass(frozen=True)
class Layout:
    """Where a table keeps what: column numbers, rows of features, unit of time.

    `unit` is None when neither the dialect nor the header fixes it; `kinds` is what
    the dialect says of each column: Sample, QC, Blank.
    """

    dialect: str
    id: int | None
    mz: int
    rt: int
    samples: tuple[int, ...]
    unit: str | None
    first: int
    header: tuple[str, ...]
    note: str = ""
    kinds: tuple[str, ...] = ()


Rule = Callable[[Cells, int, list[str]], Layout | None]


def recognize(cells: Cells) -> Layout | None:
    """The first dialect whose header is among the first rows, or None."""
    for at in range(min(HEADER_DEPTH, len(cells.rows))):
        names = [re.sub(r"\s+", " ", cell.lower()) for cell in cells.rows[at]]
        for rule in RULES:
            layout = rule(cells, at, names)
            if layout is not None:
                return layout
    return _m2s(cells)


def _layout(
    dialect: str, cells: Cells, at: int, columns: tuple[int | None, int, int]
) -> Layout:
    header = tuple(cells.rows[at])
    identity, mz, rt = columns
    return Layout(dialect, identity, mz, rt, (), None, at + 1, header)


def _columns(names: list[str], *wanted: str) -> tuple[int, int, int] | None:
    if any(names.count(name) != 1 for name in wanted):
        return None
    a, b, c = (names.index(name) for name in wanted)
    return a, b, c


def _ending(names: list[str], *endings: str) -> tuple[int, ...]:
    """Columns with the first of these endings that occurs at all."""
    for ending in endings:
        found = tuple(i for i, name in enumerate(names) if name.endswith(ending))
        if found:
            return found
    return ()


def _mzmine2(cells: Cells, at: int, names: list[str]) -> Layout | None:
    columns = _columns(names, "row id", "row m/z", "row retention time")
    if columns is None:
        return None
    samples = _ending(names, " peak area", " peak height")
    layout = _layout("MZmine 2", cells, at, columns)
    return replace(layout, samples=samples, unit=MINUTES)


def _mzmine3(cells: Cells, at: int, names: list[str]) -> Layout | None:
    columns = _columns(names, "id", "mz", "rt")
    files = [n if n.startswith("datafile:") else "" for n in names]
    samples = _ending(files, ":area", ":height")
    if columns is None or not samples:
        return None
    layout = _layout("MZmine 3/4", cells, at, columns)
    return replace(layout, samples=samples, unit=MINUTES)


def _msdial(cells: Cells, at: int, names: list[str]) -> Layout | None:
    columns = _columns(names, "alignment id", "average mz", "average rt(min)")
    if columns is None:
        return None
    above = [[cell.lower() for cell in row] for row in cells.rows[:at]]
    labels = ("file type", "class", "injection order")
    label = next((r for name in labels for r in above if name in r), None)
    last = 0 if label is None else max(label.index(n) for n in labels if n in label)
    summary = {"average", "stdev", "na", ""}
    samples = tuple(
        i
        for i in range(last + 1, len(names))
        if label is not None
        and label[i] not in summary
        and not any(row[i] in ("average", "stdev") for row in above)
    )
    kinds = next((tuple(row) for row in above if "file type" in row), ())
    layout = _layout("MS-DIAL", cells, at, columns)
    return replace(layout, samples=samples, unit=MINUTES, kinds=kinds)


def _progenesis(cells: Cells, at: int, names: list[str]) -> Layout | None:
    columns = _columns(names, "compound", "m/z", "retention time (min)")
    if columns is None:
        return None
    top = [cell.lower() for cell in cells.rows[0]] if at else []
    blocks = [i for i, cell in enumerate(top) if cell] + [len(names)]
    samples: tuple[int, ...] = ()
    note = ""
    for wanted in ("normalised abundance", "normalized abundance", "raw abundance"):
        if wanted in top:
            start = top.index(wanted)
            samples = tuple(range(start, next(b for b in blocks if b > start)))
            note = f"the block '{cells.rows[0][start]}'"
            break
    layout = _layout("Progenesis QI", cells, at, columns)
    return replace(layout, samples=samples, unit=MINUTES, note=note)


def _xcms(cells: Cells, at: int, names: list[str]) -> Layout | None:
    if names.count("mzmed") != 1 or names.count("rtmed") != 1:
        return None
    fixed = {"mzmed", "mzmin", "mzmax", "rtmed", "rtmin", "rtmax", "npeaks"}
    fixed |= {"peakidx", "ms_level", "isotopes", "adduct", "pcgroup", "name", "id", ""}
    identity = next(
        (i for i in (0,) if names[0] in ("", "name", "id", "feature")), None
    )
    rest = [i for i, n in enumerate(names) if n not in fixed and i != identity]
    raw = [i for i in rest if re.search(r"\.(mzx?ml|mzdata|cdf|raw|d)$", names[i])]
    columns = (identity, names.index("mzmed"), names.index("rtmed"))
    layout = _layout("XCMS", cells, at, columns)
    return replace(layout, samples=tuple(raw or rest), unit=SECONDS)


def _mztab(cells: Cells, at: int, names: list[str]) -> Layout | None:
    if names[0] != "sfh":
        return None
    wanted = ("smf_id", "exp_mass_to_charge", "retention_time_in_seconds")
    columns = _columns(names, *wanted)
    if columns is None:
        return None
    samples = tuple(i for i, n in enumerate(names) if n.startswith("abundance_assay["))
    layout = _layout("mzTab-M", cells, at, columns)
    return replace(layout, samples=samples, unit=SECONDS)


def _metabcombiner(cells: Cells, at: int, names: list[str]) -> Layout | None:
    columns = _columns(names, "id", "mz", "rt")
    if columns is None:
        return None
    known = {"adduct", "q", "identity", "name", "formula", "annotation", ""}
    samples = tuple(
        i for i, n in enumerate(names) if i not in columns and n not in known
    )
    return replace(_layout("metabCombiner", cells, at, columns), samples=samples)


def _plain(cells: Cells, at: int, names: list[str]) -> Layout | None:
    """A header that names one mass, one time and, perhaps, one id, in usual words."""
    mz, rt, ids = mass_columns(names), time_columns(names), among(names, IDS)
    if len(mz) != 1 or len(rt) != 1 or len(ids) > 1:
        return None
    identity = ids[0] if ids else None
    unit = re.search(r"\b(min|s|sec|seconds|minutes)\b", names[rt[0]])
    known = MINUTES if unit and unit[1].startswith("m") else SECONDS if unit else None
    used = {identity, mz[0], rt[0]}
    samples = tuple(i for i, n in enumerate(names) if i not in used and n)
    layout = _layout("plain table", cells, at, (identity, mz[0], rt[0]))
    return replace(layout, samples=samples, unit=known)


def mass_columns(names: list[str]) -> list[int]:
    """Columns whose name says m/z, with or without a unit."""
    bare = [re.sub(r"\s*[(\[](da|th|amu|u|dalton)[)\]]$", "", name) for name in names]
    words = {"mz", "m/z", "m.z", "mass", "mass/charge", "mass to charge", "row m/z"}
    return among(bare, words)


def time_columns(names: list[str]) -> list[int]:
    """Columns whose name says retention time, with or without a unit."""
    bare = [
        re.sub(r"[\s_]*[(\[]?\b(min|s|sec|seconds|minutes)\b[)\]]?$", "", n)
        for n in (name.replace("_", " ") for name in names)
    ]
    words = {"rt", "retention time", "ret time", "rtime", "ret. time"}
    return among(bare, words | {"row retention time"})


def among(names: list[str], words: set[str]) -> list[int]:
    """Columns with one of these names."""
    return [i for i, name in enumerate(names) if name in words]


IDS = {"id", "feature", "feature id", "feature_id", "name", "compound", "row id"}


def _rough(cell: str) -> float:
    """The leading number of a cell, NaN when there is none."""
    found = re.match(r"[+-]?\d*[.,]?\d+", cell)
    return float(found[0].replace(",", ".")) if found else float("nan")


def _m2s(cells: Cells) -> Layout | None:
    """Three columns of numbers without header: time, m/z, median intensity."""
    rows = cells.rows
    if len(rows[0]) != 3 or not all(re.match(r"^[+-]?[\d.,]+", c) for c in rows[0]):
        return None
    if not all(_rough(row[0]) < _rough(row[1]) for row in rows[:20]):
        return None  # a time above its mass: the columns are in another order
    header = ("retention time", "m/z", "median intensity")
    return Layout("M2S", None, 1, 0, (2,), MINUTES, 0, header)


RULES: tuple[Rule, ...] = (
    _mzmine2,
    _mzmine3,
    _msdial,
    _progenesis,
    _xcms,
    _mztab,
    _metabcombiner,
    _plain,
)


def numbers_of(
    name: str,
    rows: list[list[str]],
    lines: tuple[int, ...],
    layout: Layout,
    columns: list[int],
    comma: bool,
) -> np.ndarray:
    """Columns of the features as numbers; text is refused with its line."""
    out = np.empty((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            try:
                out[i, j] = as_number(row[column], comma)
            except ValueError:
                label = layout.header[column] if layout.header else column
                where = f"line {lines[i]}" if lines else f"feature row {i + 1}"
                raise InputError(
                    f"{name}, {where}: column {label!r} holds text, "
                    f"{row[column][:30]!r}, where numbers are expected. Leave the cell "
                    "empty if nothing was measured, drop that column, or name the "
                    "others (--columns samples=area)."
                ) from None
    return out
