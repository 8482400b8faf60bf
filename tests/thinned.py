"""Cases of which `make test` takes a few and `make soak` all."""

from collections.abc import Sequence
from typing import Any

import pytest


def thinned(cases: Sequence[Any], *kept: Any) -> list[Any]:
    """The cases for `parametrize`; those that are not kept are slow."""
    missing = [case for case in kept if case not in cases]
    assert not missing, f"not among the cases: {missing}"
    slow = pytest.mark.slow
    as_values = lambda case: case if isinstance(case, tuple) else (case,)  # noqa: E731
    return [
        case if case in kept else pytest.param(*as_values(case), marks=slow)
        for case in cases
    ]
