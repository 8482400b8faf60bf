"""The three ways a call can fail, each with a message that names the fix."""

from __future__ import annotations

from collections.abc import Iterable


class PushforwardError(Exception):
    """Everything this package raises on purpose.

    A message reads "`argument` must be so, got value. Fix."; its parts are here, so
    that nobody else takes messages apart.
    """

    @property
    def argument(self) -> str:
        """The argument it is about: the first name in backquotes, or nothing."""
        parts = str(self).split("`")
        return parts[1] if len(parts) > 2 else ""

    @property
    def problem(self) -> str:
        """What is wrong: the first sentence."""
        return str(self).partition(". ")[0]

    @property
    def fix(self) -> str:
        """What to do about it: the sentences after the first."""
        return str(self).partition(". ")[2]


class InputError(PushforwardError, ValueError):
    """A value that cannot be used: names the argument, the value and the fix."""

    def within(self, path: str, names: Iterable[str]) -> InputError:
        """The same about the argument of an object at `path`, which takes `names`."""
        text = str(self)
        if self.argument in names and text.startswith("`"):
            return InputError(f"`{path}.{text[1:]}")
        return InputError(f"`{path}`: {text}")


class NumericalError(PushforwardError, ArithmeticError):
    """A computation that broke down; carries the partial result.

    `partial` is whatever had been computed when it stopped, or None.
    """

    def __init__(self, message: str, partial: object = None):
        self.partial = partial
        PushforwardError.__init__(self, message)


class StoreError(PushforwardError, OSError):
    """A run or file on disk that is missing, torn, locked or of another version."""
