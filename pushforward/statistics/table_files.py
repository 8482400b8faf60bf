"""Read the feature tables that laboratories have, and say what was decided.

From text to a layout: recognized, turned, overridden, or refused with an example.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
from pathlib import Path

import numpy as np

from pushforward._checks import as_path
from pushforward.errors import InputError
from pushforward.statistics._delimited import (
    DELIMITERS,
    Cells,
    has_decimal_comma,
    read_text,
    readings,
)
from pushforward.statistics._dialects import (
    IDS,
    MINUTES,
    SECONDS,
    Layout,
    among,
    mass_columns,
    numbers_of,
    recognize,
    time_columns,
)
from pushforward.statistics.imputation import HalfMinimum
from pushforward.statistics.sample_roles import SampleRoles
from pushforward.statistics.tables import FeatureTable


class NoSuchColumns(InputError):
    """No row of the file is a header with the columns that were named."""


KEYS = ("id", "mz", "rt", "samples", "unit")

EXAMPLE = (
    "A table that reads without help:\n"
    "    id,mz,rt,sample1,sample2,sample3\n"
    "    F1,180.0634,2.31,10500,9800,12100"
)


def lay_out(name: str, text: str, columns: dict[str, str]) -> tuple[Cells, Layout]:
    """The cells of a table and where it keeps what; `columns` overrides."""
    unknown = set(columns) - set(KEYS)
    if unknown:
        raise InputError(
            f"`columns` has unknown keys {sorted(unknown)}. Use {', '.join(KEYS)}."
        )
    if columns.get("unit", MINUTES) not in (MINUTES, SECONDS):
        raise InputError(
            f"`columns` unit must be 'min' or 's', got {columns['unit']!r}."
        )
    if "\nSFH\t" in text or text.startswith("SFH\t"):
        wanted = ("SFH\t", "SMF\t")  # other lines are emptied: they keep their numbers
        lines = (line if line[:4] in wanted else "" for line in text.splitlines())
        text = "\n".join(lines)
    candidates = readings(text)
    for cells in candidates:
        for turned in (cells, _upright(cells)):
            if turned is None:
                continue
            layout = _override(name, turned, columns) or recognize(turned)
            if layout is not None:
                if turned is not cells:
                    layout = replace(layout, dialect="GromovMatcher (transposed)")
                return turned, _finish(name, layout, columns)
    raise InputError(_refusal(name, text, candidates))


def _upright(cells: Cells) -> Cells | None:
    """A table with features in columns, turned; None if its first column has no m/z."""
    first = [row[0].lower() for row in cells.rows[:6]]
    if "rt" not in first or not ({"m/z", "mz"} & set(first)):
        return None
    turned = [list(column) for column in zip(*cells.rows, strict=True)]
    header = [{"m/z": "mz", "": "id"}.get(cell.lower(), cell) for cell in turned[0]]
    return Cells([header, *turned[1:]], cells.delimiter)


def _override(name: str, cells: Cells, columns: dict[str, str]) -> Layout | None:
    """A layout from names the caller gave, in the first row that holds them all."""
    wanted = {k: v.lower() for k, v in columns.items() if k in ("mz", "rt", "id")}
    if not wanted:
        return None
    for at, row in enumerate(cells.rows[:8]):
        names = [cell.lower() for cell in row]
        if not all(value in names for value in wanted.values()):
            continue
        base = recognize(Cells(cells.rows[at:], cells.delimiter))
        place = {k: names.index(v) for k, v in wanted.items()}
        if base is None or base.header != tuple(row):
            if not {"mz", "rt"} <= set(place):
                continue
            known = among(names, IDS)
            if "id" not in place and len(known) == 1:
                place["id"] = known[0]
            used = set(place.values())
            rest = tuple(i for i, n in enumerate(names) if i not in used and n)
            base = Layout("named columns", None, 0, 0, rest, None, 1, tuple(row))
        merged = {"id": base.id, "mz": base.mz, "rt": base.rt} | place
        samples = tuple(i for i in base.samples if i not in merged.values())
        unit = None if "rt" in place else base.unit
        return replace(
            base,
            id=merged["id"],
            mz=place.get("mz", base.mz),
            rt=place.get("rt", base.rt),
            samples=samples,
            unit=unit,
            first=base.first + at,
        )
    raise NoSuchColumns(
        f"{name} has no header row with the columns {sorted(wanted.values())}. Its "
        f"first row is {cells.rows[0][:8]}. Names must match the header."
    )


def _finish(name: str, layout: Layout, columns: dict[str, str]) -> Layout:
    samples = layout.samples
    if "samples" in columns:
        text = columns["samples"].lower()
        fixed = {layout.id, layout.mz, layout.rt}
        samples = tuple(
            i
            for i, cell in enumerate(layout.header)
            if text in cell.lower() and i not in fixed
        )
    if not samples:
        raise InputError(
            f"{name} reads as {layout.dialect} but has no intensity columns. Export "
            "peak areas too, or name them with columns={'samples': 'text in their "
            "names'}."
        )
    return replace(layout, samples=samples, unit=columns.get("unit", layout.unit))


def _refusal(name: str, text: str, candidates: list[Cells]) -> str:
    start = text.strip().splitlines()[0][:120]
    if not candidates:
        return (
            f"{name} is not a table: no delimiter ',' ';' or tab gives its lines one "
            f"width. It starts with {start!r}.\n{EXAMPLE}"
        )
    names = [re.sub(r"\s+", " ", c.lower()) for c in candidates[0].rows[0]]
    mz, rt = mass_columns(names), time_columns(names)
    several = [n for found in (mz, rt) if len(found) > 1 for n in found]
    why = (
        f"ambiguous: columns {[candidates[0].rows[0][i] for i in several]} could each "
        "be the m/z or the retention time"
        if several
        else "of no known dialect: no header names m/z and retention time"
    )
    return (
        f"{name} is {why}. It starts with {start!r}. Name the columns, e.g. "
        f"columns={{'mz': 'Mass', 'rt': 'Time'}}, or --columns mz=Mass,rt=Time on the "
        f"command line.\n{EXAMPLE}"
    )


# Chromatography runs for minutes: a median above this many is seconds.
LONGEST_MEDIAN_MINUTES = 60.0
# ... and a median below this many seconds is minutes.
SHORTEST_MEDIAN_SECONDS = 20.0


def read_table(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    imputation: HalfMinimum | None = None,
    roles: SampleRoles = SampleRoles(),
) -> FeatureTable:
    """A feature table from a delimited file, its dialect recognized by its header.

    Knows MZmine 2, 3 and 4, MS-DIAL, Progenesis QI, XCMS, mzTab-M, metabCombiner, M2S
    (three columns, no header), GromovMatcher (features in columns, rows `m/z` and `RT`)
    and plain tables; delimiters `,` `;` tab; decimal commas. Times become minutes.
    `decisions` of the result says what was decided.

    `columns` overrides by header name: `mz`, `rt`, `id`; `samples` is a text that the
    names of the sample columns contain; `unit` is `min` or `s`. Missing intensities
    are refused unless there is an `imputation`. Blanks and quality controls are no
    samples: `roles` recognizes them by their names, and may drop features by them.
    """
    path = as_path("path", path)
    text = read_text(path)
    cells, layout = lay_out(path.name, text, dict(columns or {}))
    comma = has_decimal_comma(cells, [layout.mz, layout.rt], path.name)
    if comma and cells.delimiter == ",":
        raise InputError(
            f"{path.name} uses ',' both between columns and as decimal mark. Export "
            "it with ';' or tab between columns."
        )
    rows = cells.rows[layout.first :]
    if not rows:
        raise InputError(
            f"{path.name} is an empty table: a {layout.dialect} header and no feature "
            "under it. Export it again with features."
        )
    lines = cells.lines[layout.first :]
    mz = numbers_of(path.name, rows, lines, layout, [layout.mz], comma)[:, 0]
    rt = numbers_of(path.name, rows, lines, layout, [layout.rt], comma)[:, 0]
    values = numbers_of(path.name, rows, lines, layout, list(layout.samples), comma)
    rt, told = _minutes(path.name, rt, layout)
    ids = tuple(
        row[layout.id] if layout.id is not None else f"{path.stem}-{i}"
        for i, row in enumerate(rows, 1)
    )
    names = tuple(layout.header[i] for i in layout.samples)
    kinds = (layout.kinds[i] if layout.kinds else "" for i in layout.samples)
    spelled = tuple(f"{n} {k}".strip() for n, k in zip(names, kinds, strict=True))
    some, sample, words = roles.applied(path.name, spelled, values)
    values, names = values[:, sample], tuple(compress(names, sample))
    decisions = (*_decisions(cells, layout, comma, told), *words)
    if imputation is not None and np.isnan(values).any():
        values, seen, word = imputation.filled(values)
        some, decisions = some & seen, (*decisions, word)
    if not some.all():
        ids, mz, rt = tuple(compress(ids, some)), mz[some], rt[some]
        values = values[some]
    return FeatureTable(ids, mz, rt, values.T.copy(), path.name, decisions, names)


def parse_columns(text: str) -> dict[str, str]:
    """The overrides in `mz=Mass,rt=Time`, as a command line has them."""
    if not isinstance(text, str):
        raise InputError(f"`columns` must be text such as mz=Mass, got {text!r}.")
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key.strip() not in KEYS or not value.strip():
            raise InputError(
                f"`columns` part {part!r} is not one of "
                f"{', '.join(k + '=NAME' for k in KEYS)}. Example: mz=Mass,rt=Time."
            )
        found[key.strip()] = value.strip()
    return found


def _minutes(name: str, rt: np.ndarray, layout: Layout) -> tuple[np.ndarray, str]:
    if not np.isfinite(rt).any():
        return rt, "retention time missing"
    median = float(np.nanmedian(rt))
    label = layout.header[layout.rt]
    fix = (
        "pass columns={'unit': 's'} or {'unit': 'min'} (--columns unit=s) to say which"
    )
    if layout.unit == MINUTES and median > LONGEST_MEDIAN_MINUTES:
        raise InputError(
            f"{name}: column {label!r} of {layout.dialect} is in minutes, but its "
            f"median {median:g} looks like seconds; {fix}."
        )
    if layout.unit == SECONDS and median < SHORTEST_MEDIAN_SECONDS:
        raise InputError(
            f"{name}: column {label!r} of {layout.dialect} is in seconds, but its "
            f"median {median:g} looks like minutes; {fix}."
        )
    if layout.unit == SECONDS:
        return rt / 60.0, f"retention time in seconds (median {median:g}), now minutes"
    if layout.unit is None and median > LONGEST_MEDIAN_MINUTES:
        return rt / 60.0, f"median retention time {median:g} > 60: seconds, now minutes"
    return rt, f"retention time in minutes (median {median:g})"


def _decisions(cells: Cells, layout: Layout, comma: bool, told: str) -> tuple[str, ...]:
    header = layout.header
    identity = "numbered" if layout.id is None else repr(header[layout.id])
    first, last = header[layout.samples[0]], header[layout.samples[-1]]
    mark = ", decimal comma" if comma else ""
    count = f"{len(layout.samples)} sample columns, {first!r} to {last!r}"
    return (
        f"dialect {layout.dialect}, delimiter {DELIMITERS[cells.delimiter]}{mark}",
        f"id {identity}, m/z {header[layout.mz]!r}, time {header[layout.rt]!r}",
        told,
        f"{count}, {layout.note}" if layout.note else count,
    )
