"""Read the feature tables that laboratories have, and say what was decided.

From text to a layout (`table_layouts`), to numbers, to the samples that count.
"""

from collections.abc import Mapping
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pushforward._checks import as_path
from pushforward.errors import InputError
from pushforward.statistics.tables._delimited import (
    DELIMITERS,
    Cells,
    has_decimal_comma,
    read_text,
    told_apart,
)
from pushforward.statistics.tables._dialects import Layout, numbers_of
from pushforward.statistics.tables._rows import (
    HalfMinimum,
    in_minutes,
    refuse_lost,
    refuse_missing,
    refuse_ragged,
    refuse_repeated_ids,
    without_words,
)
from pushforward.statistics.tables.sample_roles import SampleRoles
from pushforward.statistics.tables.table_layouts import lay_out
from pushforward.statistics.tables.tables import FeatureTable


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
    and plain tables; delimiters `,` `;` tab; decimal commas; with the extra `tables`
    .xlsx (one sheet of several as book.xlsx#NAME) and .parquet; .npy, whose columns are
    named by number if they have no names. Times become minutes. `decisions` of the
    result says what was decided.

    `columns` overrides by header name: `mz`, `rt`, `id`; `samples` is a text that the
    names of the sample columns contain; `unit` is `min` or `s`. Missing intensities
    are refused unless there is an `imputation`. Blanks and quality controls are no
    samples: `roles` recognizes them by their names, and may drop features by them.
    """
    path = as_path("path", path)
    given = dict(columns or {})
    cells, layout = lay_out(path.name, read_text(path), given)
    lines = cells.lines or tuple(range(1, len(cells.rows) + 1))
    numbered = list(zip(lines, cells.rows, strict=True))[layout.first :]
    looked_at = (layout.mz, layout.rt, *layout.samples)
    comma = has_decimal_comma(path.name, numbered, looked_at)
    if comma and cells.delimiter == ",":
        raise InputError(
            f"{path.name} uses ',' both between columns and as decimal mark. Export "
            "it with ';' or tab between columns."
        )
    words: tuple[str, ...] = ()
    if "samples" not in given:
        layout, words = without_words(cells, layout, comma)
    features, told = _features(path, cells, layout, comma)
    decisions = (*_decisions(cells, layout, comma, told), *words)
    return _of_samples(path.name, features, layout, decisions, imputation, roles)


class _Features(NamedTuple):
    """What the rows say, before blanks, controls and gaps are dealt with."""

    ids: tuple[str, ...]
    lines: tuple[int, ...]
    mz: Float[np.ndarray, "p"]
    rt: Float[np.ndarray, "p"]
    values: Float[np.ndarray, "p n"]


def _features(
    path: Path, cells: Cells, layout: Layout, comma: bool
) -> tuple[_Features, str]:
    rows, lines = cells.rows[layout.first :], cells.lines[layout.first :]
    if not rows:
        raise InputError(
            f"{path.name} is an empty table: a {layout.dialect} header and no feature "
            "under it. Export it again with features."
        )
    refuse_ragged(path.name, cells, layout)
    places = [layout.mz, layout.rt, *layout.samples]
    numbers = numbers_of(path.name, rows, lines, layout, places, comma)
    mz, rt, values = numbers[:, 0], numbers[:, 1], numbers[:, 2:]
    refuse_lost(path.name, "mz", mz, lines)
    refuse_lost(path.name, "rt", rt, lines)
    rt, told = in_minutes(path.name, rt, layout)
    ids = tuple(
        row[layout.id] if layout.id is not None else f"{path.stem}-{i}"
        for i, row in enumerate(rows, 1)
    )
    refuse_repeated_ids(path.name, ids, lines)
    return _Features(ids, lines, mz, rt, values), told


def _of_samples(
    name: str,
    features: _Features,
    layout: Layout,
    decisions: tuple[str, ...],
    imputation: HalfMinimum | None,
    roles: SampleRoles,
) -> FeatureTable:
    """Blanks and controls left out, gaps filled or refused."""
    ids, lines, mz, rt, values = features
    names = tuple(layout.header[i] for i in layout.samples)
    kinds = (layout.kinds[i] if layout.kinds else "" for i in layout.samples)
    spelled = tuple(f"{n} {k}".strip() for n, k in zip(names, kinds, strict=True))
    drops, sample, words = roles.applied(name, spelled, values)
    names, again = told_apart(tuple(compress(names, sample)), "samples")
    values, decisions = values[:, sample], (*decisions, *words, *again)
    gaps = None
    if imputation is not None and np.isnan(values).any():
        gaps = np.isnan(values)
        values, seen, word = imputation.filled(values)
        drops, decisions = {**drops, "measured nowhere": ~seen}, (*decisions, word)
    some = ~np.any([np.zeros(len(ids), dtype=bool), *drops.values()], axis=0)
    left_out = {i: why for why, mask in drops.items() for i in compress(ids, mask)}
    if left_out:
        ids, lines = tuple(compress(ids, some)), tuple(compress(lines, some))
        mz, rt, values = mz[some], rt[some], values[some]
        gaps = None if gaps is None else gaps[some]
    refuse_missing(name, values, ids, names, lines)
    lost = None if gaps is None else gaps.T.copy()
    return FeatureTable(
        ids, mz, rt, values.T.copy(), name, decisions, names, lost, left_out
    )


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
