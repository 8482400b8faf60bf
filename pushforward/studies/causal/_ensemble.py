"""Many sequences of tokens on the circle, and what becomes of them."""

import functools

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.observables import Absorption, Centers, Clusters
from pushforward.studies.causal import runs
from pushforward.studies.causal.runs import TIMES
from pushforward.studies.causal.study import Parameters

ABSORBED = 0.05  # radians; the paper does not say which radius it used


def sequence(seed: int, n: int, run: int, d: int = 2) -> pf.Particles:
    """Run number `run`: n independent uniform tokens."""
    return pf.Uniform(n, d)(seed + run)


@functools.lru_cache(maxsize=4096)
def followed(p: Parameters, run: int, field_name: str, beta: float) -> np.ndarray:
    """Points at TIMES under causal or full attention: (times, n, 2)."""
    return np.asarray(runs.sequence(p, field_name, beta, run).run().points)


def cluster_counts(p, field_name: str, beta: float, t: float) -> np.ndarray:
    """Clusters at time t, one number per run: gaps above 0.5 beta^{-1/2} separate."""
    k = int(np.flatnonzero(t == TIMES)[0])
    count = Clusters(0.5 / np.sqrt(beta))
    points = [followed(p, r, field_name, beta)[k] for r in range(p.runs)]
    return np.array([count(pf.Particles(pf.Circle(), x)).count for x in points])


def absorption(p, count: int, beta: float = 64.0) -> tuple[np.ndarray, np.ndarray]:
    """Share absorbed by Renyi centers and by strong centers: (runs, times) each."""
    delta = float(theory.parking.center_scale(beta))
    shares = []
    for r in range(count):
        found = Centers(delta)(sequence(p.seed, p.n, r))
        points = followed(p, r, "causal", beta)
        frames = [pf.Particles(pf.Circle(), x) for x in points]
        shares.append(
            [
                [Absorption(centers, ABSORBED)(mu) for mu in frames]
                for centers in (found.kept, found.strong)
            ]
        )
    both = np.array(shares)
    return both[:, 0], both[:, 1]


def growth_exponent(betas, counts) -> float:
    """The slope of log(mean count) against log(beta)."""
    means = [float(np.mean(c)) for c in counts]
    return float(np.polyfit(np.log(betas), np.log(means), 1)[0])
