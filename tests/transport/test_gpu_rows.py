"""The rows of the GPU's benchmark, at a size that a CPU takes."""

import pytest


@pytest.mark.slow  # compiling takes seconds
def test_the_rows_of_transport_are_made():
    gpu = pytest.importorskip("benchmarks.gpu")
    first, second = gpu.transport_rows(sizes=((60, 3),), iterations=80)
    assert first["seconds"] > 0
    assert first["torch"] is None
    assert 0 <= second["error"] < 1e-2
    assert gpu.shown(second).startswith("entropic plan, proved: n=60 d=3")
