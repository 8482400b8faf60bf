"""Compiled programs that may be called from several threads.

jaxlib spreads a batch of factorizations over the threads of XLA and waits for it on one
of them: as many such calls at once as there are threads wait for each other for ever.
"""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import jax

TURN = threading.Lock()


def one_shape(function: Callable) -> Callable:
    """`jit` for arguments of one shape; those that factorize matrices take turns."""
    program, compiling = jax.jit(function), threading.Lock()
    ready: list[tuple[Any, bool]] = []

    def call(*arguments):
        with compiling:
            if not ready:
                lowered = program.lower(*arguments)
                ready.append((lowered.compile(), "lapack" in lowered.as_text()))
        compiled, factorizes = ready[0]
        with TURN if factorizes else contextlib.nullcontext():
            return jax.block_until_ready(compiled(*arguments))

    return call
