"""Many sequences of tokens on the circle, and what becomes of them."""

import functools

import jax
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.observables import Absorption, Centers, Clusters

TIMES = np.array([0.0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50])
ABSORBED = 0.05  # radians; the paper does not say which radius it used
SOLVER = pf.Adaptive(rtol=1e-6, atol=1e-8)  # counts and shares need no more


def sequence(seed: int, n: int, run: int, d: int = 2) -> pf.Particles:
    """Run number `run`: n independent uniform tokens."""
    space = pf.Circle() if d == 2 else pf.Sphere(d)
    key = jax.random.fold_in(pf.key_for(seed, "causal sequences"), run)
    return pf.Particles.uniform(space, n, key=key)


@functools.lru_cache(maxsize=4096)
def followed(seed: int, n: int, run: int, field_name: str, beta: float) -> np.ndarray:
    """Points at TIMES under causal or full attention: (times, n, 2)."""
    fields = {"causal": pf.CausalAttention, "full": pf.Attention}
    mu = sequence(seed, n, run)
    run_of_it = pf.flow(
        fields[field_name](beta), mu, TIMES[-1], save=TIMES, solver=SOLVER
    )
    return np.asarray(run_of_it.points)


def cluster_counts(p, field_name: str, beta: float, t: float) -> np.ndarray:
    """Clusters at time t, one number per run: gaps above 0.5 beta^{-1/2} separate."""
    k = int(np.flatnonzero(t == TIMES)[0])
    count = Clusters(0.5 / np.sqrt(beta))
    points = [followed(p.seed, p.n, r, field_name, beta)[k] for r in range(p.runs)]
    return np.array([count(pf.Particles(pf.Circle(), x)).count for x in points])


def absorption(p, runs: int, beta: float = 64.0) -> tuple[np.ndarray, np.ndarray]:
    """Share absorbed by Renyi centers and by strong centers: (runs, times) each."""
    delta = float(theory.parking.center_scale(beta))
    shares = []
    for r in range(runs):
        found = Centers(delta)(sequence(p.seed, p.n, r))
        points = followed(p.seed, p.n, r, "causal", beta)
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
