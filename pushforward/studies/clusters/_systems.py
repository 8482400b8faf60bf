"""Tokens of the line, the plane and space as one shape, so that all compile once.

Tokens with fewer coordinates get zeros and V gets a zero block, which changes nothing.
Fewer tokens are repeated and share their mass: coincident tokens stay together and
act as one. Time runs in units of 1 / lambda, lambda the growth rate of V.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

import pushforward as pf
from pushforward.errors import NumericalError
from pushforward.observables import attention_matrix, attention_rank, leaders
from pushforward.studies.clusters.study import Parameters

MOST = 40  # tokens of every system
D = 3  # coordinates of every system
SIDE = 5.0  # the paper starts uniformly in [-5, 5]^d
TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-12)
USUAL = pf.Adaptive(rtol=1e-8, atol=1e-10)

# Stored matrices of the published program.
PLANE = np.array([[0.64709742, 0.81911926], [0.61210449, 0.63263484]])
SPACE = np.array(
    [
        [0.2362413, 0.0599536, 0.40506019],
        [0.81321448, 0.49948705, 0.33754772],
        [0.2160645, 0.38505272, 0.14588075],
    ]
)
SPACE_2 = np.array(
    [
        [0.18608476, 0.34391026, 0.13905949],
        [0.35244288, 0.6694859, 0.39992145],
        [0.46685606, 0.17094454, 0.42092308],
    ]
)
CODIMENSION = np.array(
    [
        [0.92761287, 0.94333073, 0.3827744],
        [0.94333073, 0.59991396, 0.47825472],
        [0.3827744, 0.47825472, 0.46668605],
    ]
)


class Path(NamedTuple):
    """Times, in the units of the paper, and tokens (t, n, d)."""

    times: np.ndarray
    points: np.ndarray

    @property
    def end(self) -> np.ndarray:
        """The last tokens."""
        return self.points[-1]


def cube(p: Parameters, purpose: str, d: int, n: int | None = None, side=SIDE):
    """Starts uniform in [-side, side]^d, (replicas, n, d)."""
    shape = (p.replicas, p.tokens if n is None else n, d)
    key = pf.key_for(p.seed, purpose)
    return np.asarray(jax.random.uniform(key, shape, minval=-side, maxval=side))


def lifted(points: ArrayLike) -> pf.Given:
    """The same tokens among `MOST` in R^3: repeated with shared mass, zeros added."""
    points = np.asarray(points, dtype=float)
    n, d = points.shape
    total = max(n, MOST)
    owner = np.arange(total) % n
    weights = 1 / (n * np.bincount(owner)[owner])
    wide = np.pad(points[owner], ((0, 0), (0, max(D - d, 0))))
    return pf.Given(pf.Euclidean(max(D, d)), wide, weights)


@functools.lru_cache
def _field(V: tuple, Q: tuple, K: tuple) -> tuple[pf.RescaledAttention, float]:
    matrix, rate = np.array(V), 1.0
    for _ in range(9):  # until the rate is one to the last bit, or nearly
        factor = float(np.linalg.eig(_padded(matrix))[0].real.max())
        matrix, rate = matrix / factor, rate * factor
    return pf.RescaledAttention(np.array(Q), np.array(K), _padded(matrix)), rate


def _padded(M: np.ndarray) -> np.ndarray:
    short = max(D - len(M), 0)
    return np.pad(M, ((0, short), (0, short)))


def field(V: ArrayLike, Q=None, K=None) -> tuple[pf.RescaledAttention, float]:
    """The rescaled field of V / lambda, and lambda."""
    d = len(np.asarray(V))
    tuples = [
        tuple(map(tuple, _padded(np.eye(d) if M is None else np.asarray(M))))
        for M in (Q, K)
    ]
    return _field(tuple(map(tuple, np.asarray(V, float))), *tuples)


def along(vector, start, times, rate=1.0, solver=USUAL) -> pf.Experiment:
    """Tokens along any field, seen at the times; the field runs `rate` times slower."""
    save = rate * np.asarray(times, dtype=float)
    return pf.Experiment(lifted(start), vector, save[-1], save=save, solver=solver)


def along_rescaled(V, start, times, Q=None, K=None, solver=USUAL) -> pf.Experiment:
    """The rescaled tokens z = e^{-tV} x at the times, from one start (n, d)."""
    vector, rate = field(V, Q, K)
    return along(vector, start, times, rate, solver)


def rescaled(V, start, times, Q=None, K=None, solver=USUAL) -> Path:
    """The path of `along_rescaled`."""
    vector, rate = field(V, Q, K)
    return followed(vector, start, times, rate, solver)


def followed(vector, start, times, rate=1.0, solver=USUAL) -> Path:
    """The path of `along`."""
    n, d = np.shape(start)
    times = np.asarray(times, dtype=float)
    run = along(vector, start, times, rate, solver).run()
    if run.outcome is not None and run.outcome.kind in ("budget", "diverged"):
        raise NumericalError(str(run.outcome), partial=run)
    first = 0 if times[0] == 0 else 1  # a flow also keeps its start
    return Path(times, np.asarray(run.points)[first:, :n, :d])


def attention(V, t: float, z: np.ndarray, Q=None, K=None) -> np.ndarray:
    """The attention matrix of rescaled tokens z at time t."""
    vector, rate = field(V, Q, K)
    mu = lifted(z)(0)
    x = np.asarray(mu.points) @ np.asarray(vector.expansion(rate * t)).T
    beta = np.exp(min(2 * rate * t, 690.0))
    mu = pf.Particles(mu.space, x, np.asarray(mu.weights))
    full = np.asarray(attention_matrix(mu, beta, vector.Q, vector.K))
    n = len(z)
    return np.stack([full[:n, j::n].sum(axis=1) for j in range(n)], axis=1)


def rank_of(P: np.ndarray) -> int:
    """The rank of an attention matrix, up to a thousandth."""
    return attention_rank(jnp.asarray(P))


def leaders_of(P: np.ndarray) -> np.ndarray:
    """Tokens to which some token pays more than half of its attention."""
    return leaders(jnp.asarray(P))
