"""One BLAS thread for many small products.

The solver makes thousands of products of a few hundred rows. Threaded BLAS spins
between them: on a busy machine that costs twenty times the work itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside, if threadpoolctl is installed; else nothing."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield
