"""Every annotation of the package is executed in tests, its shapes included."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Self, get_args

import jaxtyping
import numpy as np
import typer
from beartype import BeartypeConf, FrozenDict, beartype

# An int is a float, as everywhere in Python, and an integer of numpy is an int. Where
# an array without axes is meant numpy gives a scalar. Commands get the parent of the
# class that typer lets them name. Containers are sampled: a check costs the same for a
# list of two and of a million.
_SAME = FrozenDict(
    {
        int: int | np.integer,
        np.ndarray: np.ndarray | np.generic,
        typer.Context: typer.Context.__base__,
    }
)
_CHECKED = beartype(conf=BeartypeConf(is_pep484_tower=True, hint_overrides=_SAME))


def check(function: Callable) -> Callable:
    """What the hook puts around every function."""
    hints = function.__annotations__
    for name, hint in hints.items():
        if hint is Self or Self in get_args(hint):
            hints[name] = Any  # beartype knows it inside of classes only
    return _CHECKED(function)


def install() -> None:
    """Must run before anything imports pushforward."""
    jaxtyping.install_import_hook("pushforward", "shape_checks.check")


@contextlib.contextmanager
def suspended(
    then: contextlib.AbstractContextManager = contextlib.nullcontext(),
) -> Iterator[Any]:
    """For wrong input on purpose: what answers is the library's own message."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        with then as value:
            yield value
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)
