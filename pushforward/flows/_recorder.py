"""What is recorded while a measure flows.

Showing how far a long flow has come.
"""

import dataclasses
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.measures import AbstractMeasure


def reporter(progress: Any) -> Callable:
    """A function of (t, measure, steps, observed) from what the user asked for."""
    if progress is None or progress is False:
        return lambda t, mu, steps, observed=None: None
    if progress is True:
        return _Line()
    if hasattr(progress, "observed"):
        return lambda t, mu, steps, observed=None: progress.observed(t, observed, steps)
    if callable(progress):
        return lambda t, mu, steps, observed=None: progress(t, mu, steps)
    raise InputError(f"`progress` must be True or a function, got {progress!r}.")


class _Line:
    """One line on stderr, rewritten at most five times a second."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, t: float, mu, steps: int, observed=None) -> None:
        now = time.monotonic()
        if now - self.last > 0.2:
            self.last = now
            sys.stderr.write(f"\r t = {t:<12.6g} {steps} steps")
            sys.stderr.flush()


def check_observe(observe: object) -> None:
    """Refuse what is not a table of functions of a measure."""
    if not isinstance(observe, Mapping):
        raise InputError(
            f"`observe` must be a dict of named functions, got {observe!r}. "
            'For example observe={"E": InteractionEnergy(9.0)}.'
        )
    for name, look in observe.items():
        if not callable(look) or isinstance(look, AbstractField):
            raise InputError(
                f"`observe` must hold functions of the measure, got {look!r} for "
                f"{name!r}. For example InteractionEnergy(9.0)."
            )


@dataclasses.dataclass(frozen=True)
class Recorder:
    """Observables by name, whether measures are kept, and whom to tell."""

    observe: Mapping[str, Callable]
    keep: bool
    progress: object

    def report(self) -> Callable:
        """A function of (t, measure, steps) that shows progress."""
        return reporter(self.progress)

    def record(self, mu: AbstractMeasure, as_array: Callable) -> dict:
        """Every observable of a measure."""
        return {name: as_array(f(mu)) for name, f in self.observe.items()}

    def kept(self, mu: AbstractMeasure) -> AbstractMeasure | None:
        """The measure itself, unless only observables were asked for."""
        return mu if self.keep else None
