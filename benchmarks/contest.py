"""How a comparison is timed: all contestants in turn, round after round."""

import statistics
import time
from collections.abc import Callable, Iterator

Contestants = dict[str, Callable[[], object]]
OURS = "ours"


def contest(contestants: Contestants, rounds: int) -> dict[str, list[float]]:
    """Wall seconds of every contestant in every round; the first call does not count.

    Interleaved: whatever else the machine is doing slows all of them alike.
    """
    for run in contestants.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def compared(
    contestants: Contestants, rounds: int, common: dict, floor: str, error: float
) -> Iterator[dict]:
    """One row per peer: medians, and the median over rounds of peer over ours."""
    seconds = contest(contestants, rounds)
    ours = seconds.pop(OURS)
    for peer, theirs in seconds.items() or {"none": []}.items():
        ratios = [b / a for a, b in zip(ours, theirs, strict=False)]
        yield {
            **common,
            "our seconds": statistics.median(ours),
            "peer": peer,
            "peer seconds": statistics.median(theirs) if theirs else None,
            "ratio": statistics.median(ratios) if ratios else None,
            "error": error,
            "floor": floor,
        }


def rounds_of(quick: bool) -> int:
    """At least five, except in a hurry."""
    return 3 if quick else 5
