"""Time against n for the exact and the near-linear sums: plots that show the order."""

import pathlib
import time

import matplotlib
import numpy as np

from benchmarks.exact import drift, tokens
from benchmarks.nearlinear import average

OUT = pathlib.Path("out")


def measured(run, n: int, d: int) -> float:
    """Seconds of the fastest of three drifts, at beta = 9."""
    x = tokens(n, d, "float64")
    run(x, 9.0).block_until_ready()
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        run(x, 9.0).block_until_ready()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def draw() -> pathlib.Path:
    """Exact against near-linear sums on the circle and S^2."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    OUT.mkdir(exist_ok=True)
    figure, axis = plt.subplots(figsize=(6, 4))
    curves = {
        "exact, d = 3": (drift(), 3, (2000, 4000, 8000, 16000)),
        "circle": (average(), 2, (2000, 10_000, 100_000, 1_000_000)),
        "S^2": (average(), 3, (2000, 10_000, 100_000, 1_000_000)),
    }
    for name, (run, d, sizes) in curves.items():
        seconds = [measured(run, n, d) for n in sizes]
        slope = np.polyfit(np.log(sizes[-2:]), np.log(seconds[-2:]), 1)[0]
        axis.loglog(sizes, seconds, "o-", label=f"{name}: order {slope:.2f}")
    axis.set_xlabel("tokens")
    axis.set_ylabel("seconds per drift")
    axis.legend()
    path = OUT / "scaling.png"
    figure.savefig(path, dpi=150, bbox_inches="tight")
    return path
