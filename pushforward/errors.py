"""The three ways a call can fail, each with a message that names the fix."""


class PushforwardError(Exception):
    """Everything this package raises on purpose."""


class InputError(PushforwardError, ValueError):
    """A value that cannot be used: names the argument, the value and the fix."""


class NumericalError(PushforwardError, ArithmeticError):
    """A computation that broke down; carries the partial result.

    `partial` is whatever had been computed when it stopped, or None.
    """

    def __init__(self, message: str, partial: object = None):
        self.partial = partial
        PushforwardError.__init__(self, message)


class StoreError(PushforwardError, OSError):
    """A run or file on disk that is missing, torn, locked or of another version."""
