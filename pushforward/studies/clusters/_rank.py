"""Attention of high dimension loses rank; and the trained model out of reach."""

import functools
from typing import NamedTuple

import jax
import numpy as np

import pushforward as pf
from pushforward.studies import Claim
from pushforward.studies.clusters._systems import attention, rank_of, rescaled
from pushforward.studies.clusters.study import Parameters, at_most, open_claim, paper

# In units of 1 / lambda, the growth rate of V. Double precision ends at 18.
TIMES = np.array([0.0, 2.0, 5.0, 10.0, 18.0])
N = 40


class Fade(NamedTuple):
    """Times, attention matrices (t, n, n), and the growth rate of V."""

    times: np.ndarray
    matrices: np.ndarray
    growth: float


@functools.lru_cache
def fading(p: Parameters) -> Fade:
    """n = 40 tokens in dimension `width`, V = M M^T, attention fed back."""
    d = p.width
    key_M, key_x = jax.random.split(pf.key_for(p.seed, "low rank"))
    M = np.asarray(jax.random.uniform(key_M, (d, d), minval=-1.0, maxval=1.0))
    start = np.asarray(jax.random.uniform(key_x, (N, d), minval=-1.0, maxval=1.0))
    V = M @ M.T
    growth = float(np.linalg.eigvalsh(V)[-1])
    run = rescaled(V, start, TIMES / growth)
    pairs = zip(run.times, run.points, strict=True)
    matrices = np.array([attention(V, t, z) for t, z in pairs])
    return Fade(run.times, matrices, growth)


def rank_falls(p: Parameters) -> Claim:
    """Attention of 40 tokens in high dimension falls to rank at most 7."""
    run = fading(p)
    ranks = [rank_of(P) for P in run.matrices]
    note = (
        f"d = {p.width}, growth rate {run.growth:.0f}, t = {run.times[-1]:.2g}, where "
        f"double precision ends; ranks {ranks}. The published picture moves tokens by "
        "dx/dt = V x; here attention acts on them"
    )
    claim, where = str(rank_falls.__doc__), paper("figure on low rank")
    return at_most(claim, where, "experiment", ranks[-1], 7, note)


def albert(p: Parameters) -> Claim:
    """ALBERT: spectra of the value matrices of 16 heads, and key-query forms."""
    why = (
        "needs the weights of a trained model, which are not distributed with the "
        "library; with them, theory.limit_shapes.predict_limit reads off the regime"
    )
    where = paper("appendix on ALBERT")
    return open_claim(str(albert.__doc__), where, "experiment", why)


CLAIMS = (rank_falls, albert)
