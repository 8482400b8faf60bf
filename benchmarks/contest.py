"""How a comparison is timed: all contestants in turn, round after round."""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

Contestants = dict[str, Callable[[], object]]
OURS = "ours"
PAUSE, WARM_UP = 0.15, 0.1  # seconds
LONG = 5.0  # seconds: a call that took them needs no call before it that does not count


class Span(NamedTuple):
    """What one call took: wall seconds, and CPU seconds of all threads.

    On a loaded machine a wall clock punishes whoever makes two threads wait for each
    other; CPU seconds do not.
    """

    wall: float
    cpu: float


def contest(contestants: Contestants, rounds: int) -> dict[str, list[Span]]:
    """The span of every contestant in every round.

    Interleaved: whatever else the machine is doing slows all of them alike. A pause and
    calls that do not count go before each that does, or whoever comes next would pay
    for the threads of the last one, which spin for a tenth of a second after numpy's
    products, for the memory that it filled, and for a second core that fell asleep.
    """
    spans: dict[str, list[Span]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            time.sleep(PAUSE)
            if not spans[name] or spans[name][-1].wall < LONG:
                _warmed_up(run)
            start = Span(time.perf_counter(), time.process_time())
            run()
            end = Span(time.perf_counter(), time.process_time())
            spans[name].append(Span(end.wall - start.wall, end.cpu - start.cpu))
    return spans


def _warmed_up(run: Callable[[], object]) -> None:
    begin = time.perf_counter()
    while time.perf_counter() - begin < WARM_UP:
        run()


def compared(
    contestants: Contestants, rounds: int, common: dict, floor: str, error: float
) -> Iterator[dict]:
    """One row per peer: medians, and the median over rounds of peer over ours.

    CPU seconds are the least of all rounds: what is above it was caused by others.
    """
    spans = contest(contestants, rounds)
    ours = spans.pop(OURS)
    for peer, theirs in spans.items() or {"none": []}.items():
        ratios = [b.wall / a.wall for a, b in zip(ours, theirs, strict=False)]
        yield {
            **common,
            "our seconds": statistics.median(a.wall for a in ours),
            "peer": peer,
            "peer seconds": statistics.median(b.wall for b in theirs)
            if theirs
            else None,
            "ratio": statistics.median(ratios) if ratios else None,
            "our CPU": min(a.cpu for a in ours),
            "peer CPU": min((b.cpu for b in theirs), default=None),
            "error": error,
            "floor": floor,
        }


def rounds_of(quick: bool) -> int:
    """At least five, except in a hurry."""
    return 3 if quick else 5
