"""What a lower folder asks of a higher one: the package connects them, see __init__.

`flow(store="run")` needs a store on disk and `trajectory.view()` the page, and both
live above flows. The lower folder names what it needs, and imports nothing.
"""

from collections.abc import Callable
from typing import Any

_CONNECTED: dict[str, Callable[..., Any]] = {}


def connect(name: str, function: Callable[..., Any]) -> None:
    """Let `function` answer to `name`."""
    _CONNECTED[name] = function


def connected(name: str) -> Callable[..., Any]:
    """The function that answers to `name`."""
    return _CONNECTED[name]
