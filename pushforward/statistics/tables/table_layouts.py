"""Where a feature table keeps what: recognized, turned, overridden, or refused."""

import re
from dataclasses import replace

from pushforward.errors import InputError
from pushforward.statistics.tables._delimited import Cells, readings
from pushforward.statistics.tables._dialects import (
    IDS,
    MINUTES,
    SECONDS,
    Layout,
    among,
    mass_columns,
    recognize,
    time_columns,
)


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
    first, second = ("1", "2") if names[0] == "1" else ("Mass", "Time")
    return (
        f"{name} is {why}. It starts with {start!r}. Name the columns, e.g. "
        f"columns={{'mz': '{first}', 'rt': '{second}'}}, or --columns "
        f"mz={first},rt={second} on the command line.\n{EXAMPLE}"
    )


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
