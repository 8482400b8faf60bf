"""The rows of a feature table: what is wrong with one is told by its line; retention
times in minutes; and intensities that are missing.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from pushforward.errors import InputError
from pushforward.statistics.tables._delimited import Cells, as_number
from pushforward.statistics.tables._dialects import MINUTES, SECONDS, Layout


def place(lines: tuple[int, ...], row: int) -> str:
    """Where a feature stands in its file."""
    return f"line {lines[row]}" if lines else f"feature row {row + 1}"


def refuse_ragged(name: str, cells: Cells, layout: Layout) -> None:
    """Every feature has the cells that the header has; empty ones more do no harm."""
    widths, first = cells.widths, layout.first
    if not widths:
        return
    wide = widths[max(first - 1, 0)]
    named = [k + 1 for k, cell in enumerate(cells.rows[max(first - 1, 0)]) if cell]
    for k in range(first, len(cells.rows)):
        if widths[k] < named[-1] or any(cells.rows[k][wide:]):
            raise InputError(
                f"{name}, {place(cells.lines, k)}: {widths[k]} cells where the header "
                f"has {wide}: columns would shift. Mend the line; if rows begin with a "
                "name, give that column a name in the header."
            )


def without_words(
    cells: Cells, layout: Layout, comma: bool
) -> tuple[Layout, tuple[str, ...]]:
    """No column is a sample in which nothing is a number and something is a word."""
    rows = cells.rows[layout.first :]
    words = [i for i in layout.samples if _all_words([row[i] for row in rows], comma)]
    if not words or len(words) == len(layout.samples):
        return layout, ()
    samples = tuple(i for i in layout.samples if i not in words)
    names = ", ".join(repr(layout.header[i]) for i in words[:5])
    told = f"no samples, for they hold words: {names}" + (", ..." if words[5:] else "")
    return replace(layout, samples=samples), (told,)


def _all_words(cells: list[str], comma: bool) -> bool:
    some = False
    for cell in cells:
        try:
            if not np.isnan(as_number(cell, comma)):
                return False
        except ValueError:
            some = True
    return some


def refuse_repeated_ids(
    name: str, ids: tuple[str, ...], lines: tuple[int, ...]
) -> None:
    """Every feature has an id of its own."""
    first: dict[str, int] = {}
    for k, one in enumerate(ids):
        if one in first:
            count = len(ids) - len(set(ids))
            raise InputError(
                f"{name} has duplicated ids: {count} repeat, the first is {one!r} in "
                f"{place(lines, first[one])} and {place(lines, k)}. Give every feature "
                "its own id (or drop the id column: features are then numbered)."
            )
        first[one] = k


def refuse_lost(
    name: str, label: str, values: Float[np.ndarray, "p"], lines: tuple[int, ...]
) -> None:
    """Every feature has a mass and a time."""
    lost = np.flatnonzero(~np.isfinite(values))
    if lost.size:
        raise InputError(
            f"{name}, {place(lines, int(lost[0]))}: `{label}` is not finite for "
            f"{lost.size} of {len(values)} features, this one first. Drop those "
            "features."
        )


def refuse_missing(
    name: str,
    values: Float[np.ndarray, "p n"],
    ids: tuple[str, ...],
    samples: tuple[str, ...],
    lines: tuple[int, ...],
) -> None:
    """Intensities that are missing are filled by a rule that is asked for, or not."""
    lost = ~np.isfinite(values)
    if lost.any():
        feature, sample = np.argwhere(lost)[0]
        raise InputError(
            f"{name} has {int(lost.sum())} missing (NaN) intensities in "
            f"{int(lost.any(1).sum())} of {len(values)} features, the first for "
            f"feature {ids[feature]!r} in {place(lines, int(feature))}, sample "
            f"{samples[sample]!r}. Impute them (--impute, or "
            "read_table(path, imputation=HalfMinimum())) or drop those features."
        )


# Chromatography runs for minutes: a median above this many is seconds.
LONGEST_MEDIAN_MINUTES = 60.0
# ... and a median below this many seconds is minutes.
SHORTEST_MEDIAN_SECONDS = 20.0


def in_minutes(name: str, rt: np.ndarray, layout: Layout) -> tuple[np.ndarray, str]:
    """The times and a word on their unit; refused where header and values disagree."""
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


@dataclass(frozen=True)
class HalfMinimum:
    """What is missing was below detection: half the feature's least positive value.

    A feature that no sample has is left out.
    """

    def filled(
        self, values: Float[np.ndarray, "p n"]
    ) -> tuple[Float[np.ndarray, "p n"], Bool[np.ndarray, "p"], str]:
        """Values without gaps, the features that have any, and what was done."""
        lost = np.isnan(values)
        least = np.where(values > 0, values, np.inf).min(axis=1, initial=np.inf)
        some = np.isfinite(least)
        filled = np.where(lost, least[:, None] / 2, values)
        word = f"{int(lost[some].sum())} missing intensities are half their minimum"
        gone = f", {int((~some).sum())} features without any left out"
        return filled, some, word + (gone if not some.all() else "")
