"""Retention times in minutes, whatever a table has them in."""

import numpy as np

from pushforward.errors import InputError
from pushforward.statistics._dialects import MINUTES, SECONDS, Layout

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
