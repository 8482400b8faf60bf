"""What a notebook shows of a run or a measure that is the last line of a cell."""

import html
from collections.abc import Sequence
from typing import Any

from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.plot._principal import projection
from pushforward.plot._ring import circle
from pushforward.plot._sphere import sphere
from pushforward.plot._summary import summary
from pushforward.plot.page import table
from pushforward.plot.style import styled
from pushforward.spaces import Sphere

ROWS = 20


@styled
def picture(value: Any) -> bytes | None:
    """The PNG of a run of tokens, its summary, or of tokens; None for all else.

    None leaves a notebook with the line of text: for batches, for densities, and for
    runs that kept only observables.
    """
    if isinstance(value, Trajectory):
        if value.measures is None or not _tokens(value.final, 2) or len(value) < 2:
            return None
        return summary(value)._repr_png_()  # type: ignore[attr-defined]
    return _cloud(value) if _tokens(value, 2) else None


def _tokens(value: Any, axes: int) -> bool:
    return isinstance(value, Particles) and value.points.ndim == axes


def _cloud(mu: Particles) -> bytes:
    """The tokens of one frame."""
    round_ = isinstance(mu.space, Sphere)
    draw = {2: circle, 3: sphere}.get(mu.d, projection) if round_ else projection
    return draw(mu).get_figure(root=True)._repr_png_()  # type: ignore


def report_table(text: str, head: Sequence[str], rows: Sequence[Sequence]) -> str:
    """What a notebook shows of a report: its text, and the first of its rows."""
    shown = f"<pre>{html.escape(text)}</pre>" + table(head, rows[:ROWS])
    more = len(rows) - ROWS
    return shown + (f"<p>and {more} more</p>" if more > 0 else "")
