"""Trained weights as fields: the layers of a model as rules that move a measure."""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

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
from pushforward.probe._attention_weights import HeadWeights, Rotary
from pushforward.probe._loading import Model
from pushforward.probe._recording import load_any
from pushforward.spaces import Euclidean


class RotaryAttention(AbstractField):
    """Causal attention whose queries and keys turn with the position of the token.

    push_i = sum_{j<=i} softmax_j <R_i Q x_i, R_j K x_j> V x_j. Only i - j matters. A
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
        logits = queries @ keys.T + mu.log_weights[None, :]
        logits = jnp.where(jnp.tri(mu.n, dtype=bool), logits, -jnp.inf)
        return Drive(jax.nn.softmax(logits, axis=1) @ (x @ self.V.T))


class GatedPerceptron(AbstractMeanField):
    """push = W (s(G x) * (A x)): a perceptron whose units are opened by gates."""

    W: Float[Array, "d m"]
    A: Float[Array, "m d"]
    G: Float[Array, "m d"]
    activation: Any = eqx.field(static=True)

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """Every point by itself; the measure plays no part."""
        return (self.activation(x @ self.G.T) * (x @ self.A.T)) @ self.W.T

    def drive(self, t, mu: Particles) -> Drive:
        """The push at every particle."""
        return Drive(self.at(t, mu.points, mu))


@dataclasses.dataclass(frozen=True)
class LayerFields:
    """One trained layer: `attention` and `perceptron`, fields on the tokens it reads.

    Biases are linear in a coordinate that is always one: where a model has them the
    fields act on (x, 1) in R^{d+1}, which `tokens` makes and `push` takes off again.
    """

    attention: AbstractField
    perceptron: AbstractField
    lifted: bool

    def tokens(self, x: Float[Array, "n d"]) -> Particles:
        """Tokens as the measure that the fields act on."""
        x = jnp.asarray(x, float)
        if self.lifted:
            x = jnp.concatenate([x, jnp.ones((len(x), 1))], axis=1)
        return Particles(Euclidean(x.shape[1]), x)

    def push(self, field: AbstractField, x: Float[Array, "n d"]) -> Array:
        """What a field of this layer adds to the tokens x."""
        v = field(0.0, self.tokens(x)).v
        return v[:, :-1] if self.lifted else v


def fields(model: Any, layer: int) -> LayerFields:
    """The weights of layer 0, 1, ... of a model as fields, biases and all.

    `attention` acts on `Recording.inputs[layer]`, where it gives
    `Recording.update[layer]`. Encoders give `Heads` of `Attention`, GPT-2 of
    `CausalAttention`, LLaMA-type decoders of `RotaryAttention`.
    """
    found: Model = load_any(model)
    transformer = found.transformer
    weights = transformer.layer(layer)
    heads = transformer.heads(weights)
    lifted = transformer.rotary is None
    matrices = [_matrices(heads, h, lifted) for h in range(len(heads.Q))]
    made: list[AbstractField]
    if transformer.rotary is not None:
        made = [RotaryAttention(*m, transformer.rotary) for m in matrices]
    else:
        kind = CausalAttention if transformer.causal else Attention
        made = [kind(1.0, *m) for m in matrices]
    perceptron = _perceptron(transformer, weights, lifted)
    return LayerFields(Heads(made), perceptron, lifted)


def _matrices(heads: HeadWeights, h: int, lifted: bool) -> tuple[Array, Array, Array]:
    """Q, K, V of a head in float64; with biases as a further column when lifted.

    Rows of attention sum to one, so the biases of values and outputs add a constant
    vector: head 0 carries the one of the outputs.
    """
    Q, K, V, O, q, k, v, o = (
        jnp.asarray(getattr(heads, name), float) for name in "QKVOqkvo"
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


def _perceptron(transformer, weights, lifted: bool) -> AbstractField:
    parts: list[Any] = [
        None if m is None else jnp.asarray(m, float) for m in transformer.mlp(weights)
    ]
    W, A, b, c, G = parts
    s = transformer.activation
    if G is not None:
        return GatedPerceptron(W, A, G, s)
    # The output bias is one more hidden unit that is always on.
    on = 8.0
    W = jnp.concatenate([W, (c / s(jnp.asarray(on)))[:, None]], axis=1)
    A = jnp.concatenate([A, jnp.zeros((1, A.shape[1]))])
    b = jnp.concatenate([b, jnp.full(1, on)])
    if lifted:
        W = jnp.concatenate([W, jnp.zeros((1, W.shape[1]))])
        A = jnp.concatenate([A, jnp.zeros((len(A), 1))], axis=1)
    return Perceptron(W, A, b, s)
