"""Showing how far a long flow has come."""

import sys
import time
from collections.abc import Callable

from pushforward.errors import InputError


def reporter(progress) -> Callable:
    """A function of (t, measure, steps) from what the user asked for."""
    if progress is None or progress is False:
        return lambda t, mu, steps: None
    if progress is True:
        return _Line()
    if callable(progress):
        return progress
    raise InputError(f"`progress` must be True or a function, got {progress!r}.")


class _Line:
    """One line on stderr, rewritten at most five times a second."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, t: float, mu, steps: int) -> None:
        now = time.monotonic()
        if now - self.last > 0.2:
            self.last = now
            sys.stderr.write(f"\r t = {t:<12.6g} {steps} steps")
            sys.stderr.flush()
