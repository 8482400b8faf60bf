"""Small matrices are fastest with one thread each, several of them side by side."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside, if threadpoolctl is installed; else nothing.

    Threads that share a small product wait for each other in a loop: on a busy machine
    that took ten times the work itself.
    """
    libraries = _libraries()
    if libraries is None:
        yield
        return
    with libraries.limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """What is loaded: to look for it again takes as long as a small fit."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def side_by_side(f: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
    """f of every item, in order, on all cores with one thread of BLAS each."""
    with one_thread(), ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(f, items)
