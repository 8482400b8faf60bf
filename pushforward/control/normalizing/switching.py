"""Wide networks run one neuron at a time: at random (Maurey) or in turn."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from pushforward._checks import positive, whole
from pushforward.control.normalizing.bases import AbstractLaw
from pushforward.control.normalizing.normalizing_flow import NormalizingFlow
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
