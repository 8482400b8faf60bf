"""Every claim of the study."""

import functools

import numpy as np

from pushforward.studies.density_modes.study import (
    Parameters,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import density_modes as theory

DERIVED = paper("derived here")

FINE = 12  # points of the grid per width of the kernel
FAR = 6.0  # widths beyond which a kernel is nothing


@functools.cache
def modes(n: int, beta: float, draws: int, seed: int) -> tuple[np.ndarray, ...]:
    """Where the modes are, for each draw of n normal points."""
    rng = np.random.default_rng(seed)
    return tuple(_modes(rng.normal(size=n), beta) for _ in range(draws))


def _modes(x: np.ndarray, beta: float) -> np.ndarray:
    """Down-crossings of the derivative; each point reaches only its neighborhood."""
    h = beta**-0.5 / FINE
    low = x.min() - 2 * FINE * h
    t = low + h * np.arange(int((np.ptp(x) + 4 * FINE * h) / h) + 2)
    slope, half = np.zeros(len(t)), int(FAR * FINE)
    nearest = np.round((x - low) / h).astype(int)
    for k in range(-half, half + 1):
        there = nearest + k
        inside = (there >= 0) & (there < len(t))
        u = x[inside] - t[there[inside]]
        slope += np.bincount(
            there[inside], u * np.exp(-beta * u**2 / 2), minlength=len(t)
        )
    # between groups far apart both sides are zero: no crossing there
    return t[:-1][(slope[:-1] > 0) & (slope[1:] <= 0)]


def counts(n: int, beta: float, draws: int, seed: int, end: float = np.inf):
    """The mean number of modes with |t| <= end, and its standard error."""
    found = modes(n, beta, draws, seed)
    number = np.array([np.sum(np.abs(t) <= end) for t in found])
    return number.mean(), number.std() / np.sqrt(draws)


def window(n: int, beta: float) -> float:
    """T of the window |t| <= T, with omega = 1."""
    return float(np.sqrt(2 * np.log(n) - np.log(beta) - 1))


def two_points(p: Parameters):
    """n = 2 exactly: 1 + erfc(beta^{-1/2})."""
    mean, error = counts(2, 10.0, 4 * p.draws, p.seed)
    claim = "two points, beta = 10: mean number of modes"
    known = theory.of_two_points(10.0)
    return within(claim, DERIVED, "identity", mean, known, 4 * error)


# n, beta -> counted by another program: in the window and on the line, with errors
KNOWN = {
    (100, 10.0): ((1.344, 0.009), (1.658, 0.013)),
    (100, 100.0): ((7.07, 0.03), (9.94, 0.04)),
    (1000, 10.0): ((1.002, 0.002), (1.133, 0.014)),
    (1000, 100.0): ((6.84, 0.05), (8.83, 0.06)),
    (1000, 1000.0): ((29.40, 0.12), (37.4, 0.15)),
    (10_000, 100.0): ((2.61, 0.11), (4.20, 0.15)),
    (10_000, 1000.0): ((34.05, 0.34), (40.8, 0.4)),
}


@functools.cache
def _counted(p: Parameters) -> np.ndarray:
    """For every pair: counts and errors in the window, and on the line."""
    rows = []
    for n, beta in KNOWN:
        draws = p.draws // {100: 1, 1000: 2, 10_000: 4}[n]
        ends = (window(n, beta), np.inf)
        rows.append([counts(n, beta, draws, p.seed, end) for end in ends])
    return np.array(rows)


def in_the_window(p: Parameters):
    """Kac-Rice with Gaussian derivatives, seven pairs: off by a few percent."""
    found = _counted(p)[:, 0]
    known = np.array([theory.in_window(beta, n) for n, beta in KNOWN])
    gap = np.abs(found[:, 0] - known) - 4 * found[:, 1]
    claim = "n = 100 to 10,000, beta = 10 to 1000: modes in the window, off Kac-Rice"
    note = "relative, beyond four standard errors; the formula is not exact at finite n"
    worst = float((gap / known).max())
    return at_most(claim, paper("Kac-Rice"), "theorem", worst, 0.02, note)


def counts_of_another_program(p: Parameters):
    """The same seven pairs, in the window and on the whole line."""
    known = np.array(list(KNOWN.values()))
    found = _counted(p)
    far = np.abs(found[..., 0] - known[..., 0]) / np.hypot(found[..., 1], known[..., 1])
    claim = "the same pairs, in the window and on the line: off another count"
    note = "in standard errors of both, the farthest of fourteen"
    where = paper("main theorem")
    return at_most(claim, where, "experiment", far.max(), 4.0, note)


def leading_order(p: Parameters):
    """sqrt(beta log beta) with its constant, approached like 1 / log n."""
    ratios = [theory.in_window(n, n) / theory.leading(n, n) for n in (1e8, 1e16, 1e32)]
    claim = (
        "beta = n: (1 - Kac-Rice / leading order) log n at n = 1e8, 1e16, 1e32: spread"
    )
    gaps = (1 - np.array(ratios)) * np.log([1e8, 1e16, 1e32])
    return at_most(
        claim, paper("main theorem"), "theorem", np.ptp(gaps) / gaps.mean(), 0.1
    )


def growth(p: Parameters):
    """The number grows like sqrt(beta log beta), and not like sqrt(beta)."""
    mean, error = counts(1000, 1000.0, p.draws // 8, p.seed)
    share = mean / np.sqrt(1000 * np.log(1000))
    claim = "n = beta = 1000: modes over sqrt(beta log beta); the limit is 0.389848"
    note = f"errors of order 1 / log n; standard error {error / 83:.2g}"
    return within(claim, paper("main theorem"), "theorem", share, 0.389848, 0.1, note)


def small_beta(p: Parameters):
    """A fixed interval, beta far below n^{2/5}: one mode."""
    mean, _ = counts(1000, 2.0, p.draws // 4, p.seed, 1.0)
    claim = "n = 1000, beta = 2: mean number of modes in [-1, 1]"
    return within(claim, paper("fixed interval"), "theorem", mean, 1.0, 0.05)


def constants(p: Parameters):
    """The paper's Theta hides constants."""
    return open_claim(
        "Theta(n^{-1/2} beta^{5/4}) modes in an interval, n^{2/5} << beta << n^{2/3}",
        paper("fixed interval"),
        "theorem",
        "constants are not explicit, and the range is short for n that can be drawn",
    )


CLAIMS = (
    two_points,
    in_the_window,
    counts_of_another_program,
    leading_order,
    growth,
    small_beta,
    constants,
)
