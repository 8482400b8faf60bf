"""Trained weights as fields: the layers of a model as rules that move a measure."""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import AnyArray
from pushforward.errors import InputError
from pushforward.fields import (
    AbstractField,
    AbstractMeanField,
    Attention,
    CausalAttention,
    Drive,
    Heads,
    Perceptron,
)
from pushforward.measures import AbstractMeasure, Particles
from pushforward.probe._recording import load_any
from pushforward.probe.models._attention_weights import HeadWeights, Rotary, updated
from pushforward.probe.models._layer import Layer
from pushforward.probe.models._loading import Model
from pushforward.probe.models._transformer import Transformer
from pushforward.spaces import Euclidean
from pushforward.sums import Auto, Kernel


class RotaryAttention(AbstractField):
    """Causal attention whose queries and keys turn with the position of the token.

    drive_i = sum_{j<=i} softmax_j <R_i Q x_i, R_j K x_j> V x_j. Only i - j matters. A
    field of ordered tokens: it has no value "at any x".
    """

    Q: Float[Array, "k d"]
    K: Float[Array, "k d"]
    V: Float[Array, "d d"]
    rotary: Rotary

    def drive(self, t, mu: Particles) -> Drive:
        """The average of V x over the past."""
        x = mu.points
        queries = self.rotary((x @ self.Q.T)[None])[0]
        keys = self.rotary((x @ self.K.T)[None])[0]
        one = jnp.ones((), x.dtype)
        past = Kernel(queries, keys, x @ self.V.T, mu.log_weights, one, causal=True)
        return Drive(Auto()(past).average())


class TrainedAttention(AbstractField):
    """The attention of a trained layer with all that is done to its scores.

    A field of ordered tokens: it has no value "at any x".
    """

    heads: HeadWeights
    causal: bool = eqx.field(static=True)

    def drive(self, t, mu: Particles) -> Drive:
        """sum_h O^h sum_j A^h_ij (V^h x_j + v^h) + o; all tokens weigh the same."""
        x = jnp.asarray(mu.points)
        heads = jax.tree_util.tree_map(
            lambda leaf: jnp.asarray(leaf, x.dtype), self.heads
        )
        return Drive(updated(heads, x, causal=self.causal))


class GatedPerceptron(AbstractMeanField):
    """dx/dt = W (s(G x) * (A x)): a perceptron whose units are opened by gates."""

    W: Float[Array, "d m"]
    A: Float[Array, "m d"]
    G: Float[Array, "m d"]
    activation: Any = eqx.field(static=True)

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """Every point by itself; the measure plays no part."""
        return (self.activation(x @ self.G.T) * (x @ self.A.T)) @ self.W.T


@dataclasses.dataclass(frozen=True)
class LayerFields:
    """One trained layer: `attention` and `perceptron`, fields on the tokens it reads.

    Biases are linear in a coordinate that is always one: where a model has them the
    fields act on (x, 1) in R^{d+1}, which `tokens` makes and `push` takes off again.
    """

    attention: AbstractField
    perceptron: AbstractField
    lifted: bool

    def tokens(self, x: Float[AnyArray, "n d"]) -> Particles:
        """Tokens as the measure that the fields act on."""
        x = jnp.asarray(x, float)
        if self.lifted:
            x = jnp.concatenate([x, jnp.ones((len(x), 1))], axis=1)
        return Particles(Euclidean(x.shape[1]), x)

    def push(self, field: AbstractField, x: Float[AnyArray, "n d"]) -> Array:
        """What a field of this layer adds to the tokens x."""
        v = field(0.0, self.tokens(x)).v
        return v[:, :-1] if self.lifted else v


def fields(model: Any, layer: int) -> LayerFields:
    """The weights of layer 0, 1, ... of a model as fields, biases and all.

    `attention` acts on `Recording.inputs[layer]`, where it gives
    `Recording.update[layer]` (before a norm of it, where a model has one there).
    Encoders give `Heads` of `Attention`, GPT-2 of `CausalAttention`, LLaMA-type
    decoders of `RotaryAttention`; what does more to its scores is `TrainedAttention`.
    """
    found: Model = load_any(model)
    transformer = found.transformer
    weights = transformer.layer(layer)
    heads = weights.heads
    rotary = heads.rotary
    biased = any(np.any(np.asarray(getattr(heads, name))) for name in "qkvo")
    lifted = heads.plain and rotary is None
    attention: AbstractField
    if lifted or (heads.plain and not biased):
        matrices = [_matrices(heads, h, lifted) for h in range(len(heads.Q))]
        kind = CausalAttention if transformer.causal else Attention
        made: list[AbstractField] = [
            RotaryAttention(*m, rotary) if rotary is not None else kind(1.0, *m)
            for m in matrices
        ]
        attention = Heads(made)
    else:
        attention = TrainedAttention(heads, transformer.causal)
    return LayerFields(attention, _perceptron(transformer, weights, lifted), lifted)


def _matrices(heads: HeadWeights, h: int, lifted: bool) -> tuple[Array, Array, Array]:
    """Q, K, V of a head in float64; with biases as a further column when lifted.

    Rows of attention sum to one, so the biases of values and outputs add a constant
    vector: head 0 carries the one of the outputs.
    """
    Q, K, V, O, q, k, v, o = (
        jnp.asarray(
            heads.every_head(getattr(heads, name))
            if name in "KVkv"
            else getattr(heads, name),
            float,
        )
        for name in "QKVOqkvo"
    )
    if not lifted:
        return Q[h], K[h], O[h] @ V[h]
    constant = O[h] @ v[h] + (o if h == 0 else jnp.zeros_like(o))
    top = jnp.concatenate([O[h] @ V[h], constant[:, None]], axis=1)
    bottom = jnp.zeros((1, top.shape[1]))
    return (
        jnp.concatenate([Q[h], q[h][:, None]], axis=1),
        jnp.concatenate([K[h], k[h][:, None]], axis=1),
        jnp.concatenate([top, bottom]),
    )


def _perceptron(
    transformer: Transformer, weights: Layer, lifted: bool
) -> AbstractField:
    parts: list[Any] = [
        None if m is None else jnp.asarray(m, float)
        for m in (weights.W, weights.A, weights.b, weights.c, weights.G, weights.g)
    ]
    W, A, b, c, G, g = parts
    s = transformer.activation
    if G is not None:
        if lifted or any(np.any(np.asarray(part)) for part in (b, c, g)):
            raise InputError(
                f"the perceptron of {transformer.name} has gates and biases, for which "
                "there is no field. Use `split_motion` for what it adds."
            )
        return GatedPerceptron(W, A, G, s)
    if lifted:
        c = jnp.append(c, 0.0)
        W = jnp.concatenate([W, jnp.zeros((1, W.shape[1]))])
        A = jnp.concatenate([A, jnp.zeros((len(A), 1))], axis=1)
    return Perceptron(W, A, b, s, c=c)
