"""Ensembles of 32 tokens: plateaus with several clusters, and how many there are."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import pushforward as pf
from pushforward.studies import Claim
from pushforward.studies.perspective import runs
from pushforward.studies.perspective._ensemble import replicas, seen
from pushforward.studies.perspective.runs import PLATEAU_TIMES as TIMES
from pushforward.studies.perspective.study import Parameters, paper, within

CIRCLE_BETAS = (0.0, 1 / runs.N, 1.0, 4.0, 9.0, 25.0)
CLOSE = pf.observables.ClosePairs(0.999)

# Published pictures give no digits; these are the values of an independent program,
# from 100 to 1000 replicas, with the band within which an independent run should fall.
BAND = 0.04
SHARES = {
    (2, 1.0): (0.145, 0.864, 0.993, 1.000),
    (2, 4.0): (0.236, 0.449, 0.506, 0.535),
    (2, 9.0): (0.212, 0.313, 0.336, 0.352),
    (8, 4.0): (0.035, 0.630, 0.792, 0.866),
    (8, 6.0): (0.030, 0.268, 0.416, 0.485),
    (8, 9.0): (0.018, 0.095, 0.168, 0.200),
}
COUNTS = {
    1.0: (1.002, 0.002),
    4.0: (2.083, 0.009),
    9.0: (3.143, 0.016),
    25.0: (5.213, 0.021),
}


class Shares(NamedTuple):
    """Close pairs (beta, replica, time) and last points (beta, replica, n, d)."""

    betas: tuple[float, ...]
    close: np.ndarray
    points: np.ndarray

    def final(self, beta: float) -> np.ndarray:
        """The last points of every replica at this beta."""
        return self.points[self.betas.index(beta)]


def _run(p: Parameters, d: int, betas: tuple[float, ...]) -> Shares:
    x = seen(replicas(runs.shares(p, d), betas, p.replicas))
    x = x.reshape(len(betas), p.replicas, len(TIMES), runs.N, d)
    i, j = np.triu_indices(runs.N, k=1)
    cosines = (x @ x.swapaxes(-2, -1))[..., i, j]
    return Shares(betas, (cosines >= 0.999).mean(axis=-1), x[:, :, -1])


@functools.lru_cache
def on_circle(p: Parameters) -> Shares:
    """n = 32 on the circle."""
    return _run(p, 2, CIRCLE_BETAS)


@functools.lru_cache
def in_dimension_eight(p: Parameters) -> Shares:
    """n = 32 on the sphere of R^8."""
    return _run(p, 8, (4.0, 6.0, 9.0))


def counts(points: np.ndarray) -> np.ndarray:
    """The number of clusters of each system on the circle, gaps above 0.1 apart."""
    clusters = pf.observables.ClusterCount(0.1)
    return np.array([clusters(pf.Particles(pf.Circle(), x)) for x in points])


def _share(d: int, beta: float) -> Callable[[Parameters], Claim]:
    def claim(p: Parameters) -> Claim:
        run = on_circle(p) if d == 2 else in_dimension_eight(p)
        close = run.close[run.betas.index(beta), :, 1:]
        measured = close.mean(axis=0)
        tolerance = BAND + 4 * close.std(axis=0, ddof=1) / np.sqrt(p.replicas)
        excess = np.abs(measured - SHARES[d, beta]) / tolerance
        worst = float(excess.max())
        # the end, where shares are largest, unless another time is off
        k = len(excess) - 1 if worst <= 1 else int(np.argmax(excess))
        note = (
            f"at t = {TIMES[k + 1]:g}; of t = 5, 10, 20, 30 the worst uses {worst:.2f} "
            f"of its tolerance, the band {BAND} plus four standard errors of "
            f"{p.replicas} replicas"
        )
        numbers = measured[k], SHARES[d, beta][k], tolerance[k]
        return within(words, paper("figure 3"), "experiment", *numbers, note)

    words = (
        f"Figure 3: share of close pairs over time, d = {d}, beta = {beta:g}, n = 32."
    )
    claim.__doc__ = words
    return claim


def _count(beta: float) -> Callable[[Parameters], Claim]:
    def claim(p: Parameters) -> Claim:
        found = counts(on_circle(p).final(beta))
        published, error = COUNTS[beta]
        spread = found.std(ddof=1) / np.sqrt(p.replicas)
        # A sample without a rare event has no spread of its own: one event in all
        # replicas is then within chance.
        spread = max(spread, 1 / p.replicas)
        tolerance = 4 * np.hypot(error, spread)
        note = f"four standard errors of {p.replicas} replicas"
        where = paper("figure 4")
        mean = found.mean()
        return within(words, where, "experiment", mean, published, tolerance, note)

    words = (
        f"Figure 4: mean number of clusters at t = 30 on the circle, beta = {beta:g}."
    )
    claim.__doc__ = words
    return claim


def square_root_law(p: Parameters) -> Claim:
    """The number of clusters on the circle grows like sqrt(beta)."""
    run = on_circle(p)
    betas = np.array([4.0, 9.0, 25.0])
    found = [counts(run.final(beta)) for beta in betas]
    mean = np.array([c.mean() for c in found])
    error = np.array([c.std(ddof=1) for c in found]) / mean / np.sqrt(p.replicas)
    x = np.log(betas) - np.log(betas).mean()
    slope = x @ np.log(mean) / (x @ x)
    tolerance = 0.05 + 4 * np.sqrt((x**2) @ error**2) / (x @ x)
    note = "slope of log count in log beta, t = 30, beta = 4, 9, 25; four errors + 0.05"
    claim, where = str(square_root_law.__doc__), paper("number of clusters")
    return within(claim, where, "conjecture", slope, 0.5, tolerance, note)


CLAIMS = (
    *(_share(d, beta) for d, beta in SHARES),
    *(_count(beta) for beta in COUNTS),
    square_root_law,
)
