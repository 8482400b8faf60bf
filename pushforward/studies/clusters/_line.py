"""Tokens of the line: the attention matrix becomes Boolean, theorem 2.1."""

import functools
from typing import NamedTuple

import numpy as np

from pushforward import theory
from pushforward.studies import Claim
from pushforward.studies.clusters._systems import (
    TIGHT,
    Path,
    attention,
    cube,
    leaders_of,
    rank_of,
    rescaled,
)
from pushforward.studies.clusters.study import (
    Parameters,
    at_least,
    at_most,
    paper,
    within,
)

ONE = np.eye(1)  # V = 1; Q = K = 1 as well
LATE = 14.0  # neighbors of a leader, 1e-4 from it, are told apart by then
FIVE = np.array([-0.9, -0.3, 0.2, 0.55, 0.8])
LONG = 8.0  # of the run that is drawn
POSITIVE = np.array([0.1, 0.3, 0.2, 0.55, 0.8])
THEOREM = paper("theorem 2.1")


class Late(NamedTuple):
    """Starts (r, n) and their attention matrices (r, n, n) at the late time."""

    starts: np.ndarray
    matrices: np.ndarray


@functools.lru_cache
def late(p: Parameters) -> Late:
    """Random starts in [-1, 1], and the attention at t = 14."""
    starts = cube(p, "line", 1, side=1.0)
    ends = [rescaled(ONE, x, (0.0, LATE), solver=TIGHT).end for x in starts]
    matrices = np.array([attention(ONE, LATE, z) for z in ends])
    return Late(starts[..., 0], matrices)


@functools.lru_cache
def _five(start: tuple[float, ...], times: tuple[float, ...]) -> Path:
    return rescaled(ONE, np.array(start)[:, None], times, solver=TIGHT)


def _exceptional(x: np.ndarray, P: np.ndarray) -> int:
    """Rows that are not the indicator of the smallest or of the largest token."""
    ends = P[:, [x.argmin(), x.argmax()]].max(axis=1)
    return int((ends < 1 - 1e-6).sum())


def rows(p: Parameters) -> Claim:
    """All rows but at most one point to the smallest or the largest token."""
    run = late(p)
    most = max(_exceptional(x, P) for x, P in zip(*run, strict=True))
    note = f"exceptional rows, the most of {p.replicas} starts, {p.tokens} tokens"
    return at_most(str(rows.__doc__), THEOREM, "theorem", most, 1, note)


def rank(p: Parameters) -> Claim:
    """The limit of the attention matrix has rank at most 3."""
    most = max(rank_of(P) for P in late(p).matrices)
    note = f"the largest of {p.replicas} starts at t = {LATE:g}"
    return at_most(str(rank.__doc__), THEOREM, "theorem", most, 3, note)


def usual_rank(p: Parameters) -> Claim:
    """For almost every start the rank is 1 or 2."""
    share = float(np.mean([rank_of(P) in (1, 2) for P in late(p).matrices]))
    note = f"share of {p.replicas} starts"
    return within(str(usual_rank.__doc__), THEOREM, "theorem", share, 1, 0, note)


def leading(p: Parameters) -> Claim:
    """no token leads but the smallest and the largest of the start."""
    extreme = [
        set(leaders_of(P).tolist()) <= {int(x.argmin()), int(x.argmax())}
        for x, P in zip(*late(p), strict=True)
    ]
    note = f"share of {p.replicas} starts; either one leads all, or both"
    claim, share = str(leading.__doc__), float(np.mean(extreme))
    return within(claim, THEOREM, "theorem", share, 1, 0, note)


def one_sign(p: Parameters) -> Claim:
    """Positive tokens all follow the largest one, and the rank is 1."""
    t = 6.0
    P = attention(ONE, t, _five(tuple(POSITIVE), (0.0, t)).end)
    error = np.abs(P - np.eye(5)[[4] * 5]).max()
    note = f"|P - P*| at t = {t:g}, from {POSITIVE.tolist()}; rank {rank_of(P)}"
    return at_most(str(one_sign.__doc__), THEOREM, "theorem", error, 1e-6, note)


def boolean(p: Parameters) -> Claim:
    """Five tokens at t = 4.5: the attention matrix is rows (e1, e1, e5, e5, e5)."""
    z = _five(tuple(FIVE), (0.0, 4.5)).end
    P = attention(ONE, 4.5, z)
    follows = theory.leaders.attention_limit(z[:, 0])
    error = np.abs(P - np.eye(5)[follows]).max()
    note = f"|P - P*|, from {FIVE.tolist()}"
    return at_most(str(boolean.__doc__), THEOREM, "theorem", error, 1e-6, note)


def coefficients(p: Parameters) -> Claim:
    """Five tokens escape like c e^t: e^-t x at t = 4.5, against an independent run."""
    z = _five(tuple(FIVE), (0.0, 4.5)).end[:, 0]
    other = [-0.515602, -0.496267, 0.456242, 0.464103, 0.468578]
    error = np.abs(z - other).max()
    where, note = paper("section 2"), "the other run is a stiff solver in x, 6 digits"
    return at_most(str(coefficients.__doc__), where, "experiment", error, 1e-6, note)


def double_exponential(p: Parameters) -> Claim:
    """Rows of escaped tokens converge like exp(-c e^t): slope of log c e^t in t."""
    times = (4.0, 4.5, 5.0)
    run = _five(tuple(FIVE), (0.0, *times))
    missing = [
        np.delete(attention(ONE, t, z)[2:], 4, axis=1).sum(axis=1)
        for t, z in zip(times, run.points[1:], strict=True)
    ]
    slope = np.diff(np.log(-np.log(missing)), axis=0) / np.diff(times)[:, None]
    worst = slope.ravel()[np.abs(slope - 1).argmax()]
    note = "the three positive of five tokens, t = 4 to 5; the worst slope"
    claim, where = str(double_exponential.__doc__), paper("theorem 2.1, proof")
    return within(claim, where, "theorem", worst, 1.0, 0.05, note)


@functools.lru_cache
def escape(p: Parameters) -> Path:
    """One random start over time, in rescaled coordinates."""
    return rescaled(*escaping(p), solver=TIGHT)


def escaping(p: Parameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """V, start and times of that run."""
    times = np.linspace(0.0, LONG, p.frames)
    return ONE, cube(p, "line", 1, side=1.0)[0], times


def gaps_grow(p: Parameters) -> Claim:
    """Tokens keep their order and the gaps between neighbors never shrink."""
    run = escape(p)
    x = np.exp(run.times)[:, None] * run.points[..., 0]
    x = x[run.times <= 5.0]  # later the gaps are below the rounding of e^t
    gaps = np.diff(x[:, np.argsort(x[0])], axis=1)
    least = np.diff(gaps, axis=0).min()
    note = f"least increment over {len(x)} times to t = 5; {p.tokens} tokens"
    claim, where = str(gaps_grow.__doc__), paper("section 2")
    return at_least(claim, where, "theorem", least, -1e-9, note)


def escape_radius(p: Parameters) -> Claim:
    """A token farther than A from 0 moves outward, A^2 = n^2 exp(-A^2)."""
    n = p.tokens
    A = theory.leaders.escape_radius(n)
    # The most adverse others: y exp(A y) is least at y = -1 / A.
    starts = [np.r_[A, np.full(n - 1, -1 / A)], *cube(p, "escape", 1)[..., 0]]
    outward = []
    for x in starts:
        speed = attention(ONE, 0.0, x[:, None]) @ x
        outward.append((np.sign(x) * speed)[np.abs(x) >= A].min())
    note = f"least outward speed, n = {n}, A = {A:.6f}; one start is the most adverse"
    claim, where = str(escape_radius.__doc__), paper("section 2, proof")
    return at_least(claim, where, "theorem", min(outward), 0.0, note)


def pair(p: Parameters) -> Claim:
    """Two tokens +-u: w = u^2 obeys dw/dt = 2 w tanh w, from w = 1/4 to t = 2."""
    u = rescaled(ONE, [[-0.5], [0.5]], (0.0, 2.0), solver=TIGHT).end[1, 0]
    w = float((np.exp(2.0) * u) ** 2)
    law = float(theory.leaders.pair_square(2.0, 0.25))
    claim, where = str(pair.__doc__), paper("section 2")
    return within(claim, where, "identity", w, law, 1e-8)


def middle(p: Parameters) -> Claim:
    """The exceptional row: for tokens (-u, 0, u) the middle one attends evenly."""
    z = rescaled(ONE, [[-0.7], [0.0], [0.7]], (0.0, 1.0)).end
    error = np.abs(attention(ONE, 1.0, z)[1] - 1 / 3).max()
    note = "t = 1; the state is unstable, and rounding ends it near t = 4"
    return at_most(str(middle.__doc__), THEOREM, "identity", error, 1e-12, note)


CLAIMS = (
    rows,
    rank,
    usual_rank,
    leading,
    one_sign,
    boolean,
    coefficients,
    double_exponential,
    gaps_grow,
    escape_radius,
    pair,
    middle,
)
