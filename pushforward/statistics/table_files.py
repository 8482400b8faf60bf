"""Read the feature tables that laboratories have, and say what was decided."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pushforward._checks import as_path
from pushforward.errors import InputError
from pushforward.statistics._delimited import (
    DELIMITERS,
    Cells,
    as_number,
    has_decimal_comma,
    read_text,
)
from pushforward.statistics._dialects import MINUTES, SECONDS, Layout
from pushforward.statistics._layouts import KEYS, lay_out
from pushforward.statistics.tables import FeatureTable

# Chromatography runs for minutes: a median above this many is seconds.
LONGEST_MEDIAN_MINUTES = 60.0
# ... and a median below this many seconds is minutes.
SHORTEST_MEDIAN_SECONDS = 20.0


def read_table(
    path: str | Path, *, columns: Mapping[str, str] | None = None
) -> FeatureTable:
    """A feature table from a delimited file, its dialect recognized by its header.

    Knows MZmine 2, 3 and 4, MS-DIAL, Progenesis QI, XCMS, mzTab-M, metabCombiner, M2S
    (three columns, no header), GromovMatcher (features in columns, rows `m/z` and `RT`)
    and plain tables; delimiters `,` `;` tab; decimal commas. Times become minutes.
    `decisions` of the result says what was decided.

    `columns` overrides by header name: `mz`, `rt`, `id`; `samples` is a text that the
    names of the sample columns contain; `unit` is `min` or `s`.
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
    mz = _numbers(path.name, rows, layout, [layout.mz], comma)[:, 0]
    rt = _numbers(path.name, rows, layout, [layout.rt], comma)[:, 0]
    values = _numbers(path.name, rows, layout, list(layout.samples), comma)
    rt, told = _minutes(path.name, rt, layout)
    ids = tuple(
        row[layout.id] if layout.id is not None else f"{path.stem}-{i}"
        for i, row in enumerate(rows, 1)
    )
    decisions = _decisions(cells, layout, comma, told)
    return FeatureTable(ids, mz, rt, values.T.copy(), path.name, decisions)


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


def _numbers(
    name: str, rows: list[list[str]], layout: Layout, columns: list[int], comma: bool
) -> np.ndarray:
    out = np.empty((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            try:
                out[i, j] = as_number(row[column], comma)
            except ValueError:
                label = layout.header[column] if layout.header else column
                raise InputError(
                    f"{name}: column {label!r} holds text, {row[column][:30]!r} in "
                    f"feature row {i + 1}, where numbers are expected. Drop that "
                    "column or name the others, e.g. columns={'samples': 'area'}."
                ) from None
    return out


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
