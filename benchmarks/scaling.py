"""Time and memory against n, exact and near-linear: plots that show the order.

python -m benchmarks.scaling docs/images/scaling.png
"""

import pathlib
import sys
import time

import numpy as np

from benchmarks.exact import drift, tokens
from benchmarks.memory import measured as megabytes
from benchmarks.nearlinear import average
from pushforward.plot import save
from pushforward.plot.style import PALETTE, SOFT, new_figure, styled

OUT = pathlib.Path("out/scaling.png")
LARGE = (2000, 10_000, 100_000, 1_000_000)


def seconds(run, n: int, d: int) -> float:
    """CPU seconds of the cheapest of three drifts, at beta = 9."""
    x = tokens(n, d, "float64")
    run(x, 9.0).block_until_ready()
    spans = []
    for _ in range(3):
        start = time.process_time()
        run(x, 9.0).block_until_ready()
        spans.append(time.process_time() - start)
    return min(spans)


def times() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """CPU seconds per drift."""
    curves = {
        "exact, S²": (drift(), 3, (2000, 4000, 8000, 16_000, 32_000)),
        "S²": (average(), 3, LARGE),
        "circle": (average(), 2, LARGE),
    }
    return {
        name: (np.array(sizes), np.array([seconds(run, n, d) for n in sizes]))
        for name, (run, d, sizes) in curves.items()
    }


def memory() -> tuple[np.ndarray, np.ndarray]:
    """Megabytes above the start for one exact drift."""
    sizes = np.array([8192, 16_384, 32_768, 65_536, 131_072])
    return sizes, np.array([megabytes(int(n), "drift")["MB"] for n in sizes])


@styled
def draw(curves: dict, held: tuple[np.ndarray, np.ndarray]):
    """Slopes are those of the last two points."""
    figure = new_figure(8.4, 3.4)
    left, right = figure.subplots(1, 2)
    for color, (name, (n, span)) in zip(PALETTE, curves.items(), strict=False):
        order = np.log(span[-1] / span[-2]) / np.log(n[-1] / n[-2])
        left.loglog(
            n, span, "o-", ms=4, color=color, label=f"{name}: $n^{{{order:.1f}}}$"
        )
    left.set_xlabel("tokens n")
    left.set_ylabel("CPU seconds")
    left.set_title("one drift, β = 9, float64")
    left.legend(loc="upper left")
    n, mb = held
    right.loglog(
        n, n.astype(float) ** 2 * 8 / 1e6, color=SOFT, ls=(0, (4, 2.5)), lw=1.1
    )
    right.annotate(
        "the n × n matrix",
        (n[1], n[1] ** 2 * 8 / 1e6),
        color=SOFT,
        xytext=(8, -12),
        textcoords="offset points",
    )
    right.loglog(n, mb, "o-", ms=4, color=PALETTE[0])
    right.loglog(n, n * 24 / 1e6, color=SOFT, lw=0.8)
    right.annotate(
        "the tokens",
        (n[1], n[1] * 24 / 1e6),
        color=SOFT,
        xytext=(8, -12),
        textcoords="offset points",
    )
    right.annotate(
        "exact drift, S²",
        (n[1], mb[1]),
        color=PALETTE[0],
        xytext=(8, -14),
        textcoords="offset points",
    )
    right.set_xlabel("tokens n")
    right.set_ylabel("megabytes above the start")
    right.set_title("memory of one drift")
    return figure


def drawn(path: pathlib.Path = OUT) -> pathlib.Path:
    """Measure, print and draw."""
    curves, held = times(), memory()
    for name, (n, span) in {**curves, "exact, MB": held}.items():
        print(name, *(f"{a}: {b:.4g}" for a, b in zip(n, span, strict=True)))
    path.parent.mkdir(parents=True, exist_ok=True)
    return save(draw(curves, held), path, dpi=160)


if __name__ == "__main__":
    print(drawn(pathlib.Path(sys.argv[1]) if sys.argv[1:] else OUT))
