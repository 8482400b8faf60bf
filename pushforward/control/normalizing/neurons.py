"""Neuron by neuron: wide networks that are switched, and Knothe-Rosenblatt maps that
are learned from samples.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray
from scipy.special import ndtr, ndtri

from pushforward._checks import above_zero, positive, whole
from pushforward.control._checks import finite
from pushforward.control.normalizing.normalizing_flow import (
    AbstractLaw,
    NormalizingFlow,
)
from pushforward.errors import InputError
from pushforward.fields import Perceptron


def maurey(
    field: Perceptron,
    t1: float,
    steps: int,
    *,
    key: PRNGKeyArray,
    base: AbstractLaw | None = None,
    given=(),
) -> NormalizingFlow:
    """The flow of v(x) = sum_k w_k (a_k.x + b_k)_+ by random single neurons.

    In each of `steps` intervals of length t1 / steps one neuron k runs with weight
    w_k / p_k, drawn with probability p_k proportional to |w_k|. The L^2 error is of
    order steps^{-1/2} in every dimension and for every number of neurons. With few
    neurons `in_turn` is far better.

    >>> field = Perceptron(W=jnp.eye(2), A=jnp.eye(2), b=jnp.zeros(2))
    >>> maurey(field, 1.0, steps=100, key=jax.random.key(0)).pieces
    100
    """
    W, A, b = _neurons(field)
    steps, t1 = whole("steps", steps, 1), float(positive("t1", t1))
    sizes = np.linalg.norm(W, axis=1)
    if not sizes.sum() > 0:
        raise InputError("`field` does not move anything: its `W` is zero.")
    p = sizes / sizes.sum()
    drawn = np.asarray(jax.random.choice(key, len(p), (steps,), p=jnp.asarray(p)))
    w = W[drawn] / p[drawn][:, None]
    durations = np.full(steps, t1 / steps)
    return NormalizingFlow(w, A[drawn], b[drawn], durations, base, given)


def in_turn(
    field: Perceptron,
    t1: float,
    rounds: int,
    *,
    base: AbstractLaw | None = None,
    given=(),
) -> NormalizingFlow:
    """The flow of the same field by all neurons in turn, `rounds` times.

    Each runs for t1 / rounds; every second round goes backward through them, which
    makes two rounds symmetric: the error is of order rounds^{-2} away from the kinks
    for an even number of rounds, and of order 1 / rounds in general.
    """
    W, A, b = _neurons(field)
    rounds, t1 = whole("rounds", rounds, 1), float(positive("t1", t1))
    forth = np.arange(len(b))
    order = np.concatenate([forth[:: 1 - 2 * (r % 2)] for r in range(rounds)])
    durations = np.full(len(order), t1 / rounds)
    return NormalizingFlow(W[order], A[order], b[order], durations, base, given)


def _neurons(field: Perceptron) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not isinstance(field, Perceptron) or field.activation is not jax.nn.relu:
        raise InputError(
            f"`field` must be a Perceptron with the ReLU activation, got {field!r}: "
            "only then is every piece known in closed form."
        )
    field = field.without_output_bias()
    return np.asarray(field.W).T, np.asarray(field.A), np.asarray(field.b)


RIDGE = 1e-2  # times the number of samples: random neurons overlap
REACH = 2.5  # kinks lie within this many standard deviations
SHARP = 0.3  # smoothing of the distribution function over that of the condition
FEWEST = 10  # samples below which conditional ranks say nothing

Pieces = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def knothe_rosenblatt(
    samples,
    *,
    key: PRNGKeyArray,
    given: int = 0,
    neurons: int = 32,
    rounds: int = 8,
    bandwidth: float = 0.7,
) -> NormalizingFlow:
    """A triangular flow from the standard Gaussian to the law of the samples.

    The first `given` coordinates are left alone and conditioned on. Conditional ranks
    come from Gaussian kernels, `bandwidth` times the rule of thumb; the velocity is
    refitted in each of `rounds` intervals at the points where the flow then is, with
    `neurons` random kinks. About rounds * (neurons + d) pieces per coordinate. Kernels
    need more samples with every coordinate: meant for a handful of them.

    >>> x = np.random.default_rng(0).normal(size=(200, 2)) @ [[1.0, 2.0], [0.0, 1.0]]
    >>> flow = knothe_rosenblatt(x, key=jax.random.key(0))
    >>> y = flow.sample(jax.random.key(1), 2000)
    >>> 0.8 < float(jnp.corrcoef(y.T)[0, 1]) < 0.95  # 2 / sqrt(5) is 0.894
    True
    """
    x = finite("samples", samples, (None, None))
    n, d = x.shape
    given = whole("given", given, 0)
    if given >= d:
        raise InputError(f"`given` must be less than the {d} coordinates, got {given}.")
    if n < FEWEST:
        raise InputError(f"`samples` must have at least {FEWEST} rows, got {n}.")
    neurons, rounds = whole("neurons", neurons, 1), whole("rounds", rounds, 1)
    width = above_zero("bandwidth", bandwidth, "It multiplies the rule of thumb.")
    spread = x.std(axis=0)
    if not np.all(spread > 0):
        j = int(np.argmin(spread))
        raise InputError(f"`samples` are constant in coordinate {j}: leave it out.")
    rng = np.random.default_rng(np.asarray(jax.random.bits(key, (4,))))
    center = x.mean(axis=0)
    s = (x - center) / spread
    parts: list[Pieces] = []
    for j in range(given, d):
        z = ndtri(conditional_ranks(s[:, : j + 1], width))
        fitted = _fit_coordinate(s[:, : j + 1], z, neurons, rounds, rng)
        parts += [_in_data_units(p, j, center, spread) for p in fitted]
        parts[-len(fitted)] = _affine(j, d, center[j], spread[j])
    w, a, b, durations = (np.concatenate(c) for c in zip(*parts, strict=True))
    return NormalizingFlow(w, a, b, durations, given=range(given))


def conditional_ranks(
    s: Float[np.ndarray, "n k"], width: float
) -> Float[np.ndarray, "n"]:
    """P(X_k <= s_k given X_{<k} = s_{<k}) at each sample, by Gaussian kernels.

    The samples are standardized. Ranks stay inside (0, 1).
    """
    n, k = s.shape
    h = width * n ** (-1.0 / (k + 3))
    last = ndtr((s[:, None, -1] - s[None, :, -1]) / (SHARP * h))
    apart = ((s[:, None, :-1] - s[None, :, :-1]) ** 2).sum(axis=2)
    kernel = np.exp(-0.5 * apart / h**2)
    ranks = (kernel * last).sum(axis=1) / kernel.sum(axis=1)
    return np.clip(ranks, 0.5 / n, 1 - 0.5 / n)


def _fit_coordinate(s, z, neurons: int, rounds: int, rng) -> list[Pieces]:
    """The pieces of every round, in standardized units, after a place for the start."""
    k, x = s.shape[1], s[:, -1]
    points = np.column_stack([s[:, :-1], z])
    found: list[Pieces] = [(np.zeros((0, k)),) * 2 + (np.zeros(0),) * 2]
    for r in range(rounds):
        a, b = _random_neurons(k, neurons, rng)
        active = np.maximum(points @ a.T + b, 0.0)
        velocity = (x - points[:, -1]) / (1 - r / rounds)
        gram = active.T @ active + RIDGE * len(x) * np.eye(len(b))
        c = np.linalg.solve(gram, active.T @ velocity)
        w = np.zeros_like(a)
        w[:, -1] = c
        durations = np.full(len(b), 1 / rounds)
        for w_k, a_k, b_k in zip(c, a, b, strict=True):
            exponent = a_k[-1] * w_k / rounds
            growth = np.expm1(exponent) / exponent if exponent else 1.0
            reached = np.maximum(points @ a_k + b_k, 0.0)
            points[:, -1] += w_k / rounds * growth * reached
        found.append((w, a, b, durations))
    return found


def _random_neurons(k: int, count: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Random kinks, and the neurons (+-x_i)_+ and 1 that make affine velocities."""
    a = rng.standard_normal((count, k))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b = rng.uniform(-REACH, REACH, count)
    plain = np.concatenate([np.eye(k), -np.eye(k), np.zeros((1, k))])
    constant = np.concatenate([np.zeros(2 * k), [1.0]])
    return np.concatenate([plain, a]), np.concatenate([constant, b])


def _in_data_units(pieces: Pieces, j: int, center, spread) -> Pieces:
    """The same neurons for x = center + spread * s, in all d coordinates."""
    w, a, b, durations = pieces
    d = len(center)
    wide_w, wide_a = np.zeros((len(b), d)), np.zeros((len(b), d))
    wide_w[:, j] = w[:, -1] * spread[j]
    wide_a[:, : j + 1] = a / spread[: j + 1]
    return wide_w, wide_a, b - wide_a @ center, durations


def _affine(j: int, d: int, shift: float, scale: float) -> Pieces:
    """x_j -> shift + scale x_j on the whole line: both half lines, then a shift."""
    e = np.eye(d)[j]
    rate = np.log(scale)
    w = np.stack([np.sign(rate) * e, -np.sign(rate) * e, shift * e])
    a = np.stack([e, -e, 0 * e])
    return w, a, np.array([0.0, 0.0, 1.0]), np.array([abs(rate), abs(rate), 1.0])
