"""Why a token moved: the motion of a layer, split exactly into who did what.

A layer moves token x_i to z_i. Norms are linear once their scales are known, so that

    z_i - x_i = sum_h sum_j pull[h, i, j] + bias_i + perceptron_i + residual_i + norm_i

where pull[h, i, j] is what head h brought from token j, `residual` what the norms after
a sublayer did to x_i itself and `norm` their biases (both zero for norms before).
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.errors import InputError
from pushforward.probe._recording import Recording, load_any
from pushforward.probe.models._attention_weights import attend, values
from pushforward.probe.models._layer import (
    AFTER,
    BEFORE,
    INSIDE,
    About,
    Layer,
    perceptron,
)


class _Weights(NamedTuple):
    """What single pulls are made of: A, V u + v, O, and the norms after attention."""

    attention: Any
    values: Any
    O: Any
    links: tuple[tuple[Any, Any], ...]


@dataclasses.dataclass(frozen=True, repr=False)
class MotionSplit:
    """The motion of every token in one layer, and its parts, which sum to it.

    `shares[h, i, j]` is the part of token i's motion that head h brought from token j:
    the pull along the motion over its length. With the shares of the other parts they
    sum to one for every token.
    """

    layer: int
    motion: Float[np.ndarray, "n d"]
    heads: Float[np.ndarray, "h n d"]
    bias: Float[np.ndarray, "n d"]
    perceptron: Float[np.ndarray, "n d"]
    residual: Float[np.ndarray, "n d"]
    norm: Float[np.ndarray, "n d"]
    shares: Float[np.ndarray, "h n n"]
    _weights: _Weights

    def __repr__(self) -> str:
        h, n, _ = self.shares.shape
        return f"MotionSplit(layer {self.layer}, {n} tokens, {h} heads)"

    @property
    def total(self) -> Float[np.ndarray, "n d"]:
        """The sum of the parts: the motion, up to rounding."""
        parts = self.bias + self.perceptron + self.residual + self.norm
        return self.heads.sum(axis=0) + parts

    def share(self, part: str) -> Float[np.ndarray, "n"]:
        """The part of every token's motion: "bias", "perceptron", "residual", "norm"
        or "attention", which is all of its heads and its bias.
        """
        known = ("attention", "bias", "perceptron", "residual", "norm")
        if part not in known:
            raise InputError(f"`part` must be one of {', '.join(known)}, got {part!r}.")
        chosen = (
            self.heads.sum(axis=0) + self.bias
            if part == "attention"
            else getattr(self, part)
        )
        length = np.maximum((self.motion**2).sum(axis=1), 1e-300)
        return (chosen * self.motion).sum(axis=1) / length

    def pulls(self, token: int) -> Float[np.ndarray, "h n d"]:
        """The vectors that the heads brought to one token from each token."""
        n = len(self.motion)
        if not 0 <= token < n:
            raise InputError(f"`token` must be 0 ... {n - 1}, got {token}.")
        brought = self._weights.attention[:, token, :, None] * self._weights.values
        out = np.einsum("hdk,hjk->hjd", self._weights.O, brought)
        return self._after(token, out.reshape(-1, out.shape[2])).reshape(out.shape)

    def pull(self, head: int, token: int, source: int) -> Float[np.ndarray, "d"]:
        """What one head brought to one token from another."""
        brought = self._weights.values[head, source] @ self._weights.O[head].T
        brought = self._weights.attention[head, token, source] * brought
        return self._after(token, brought[None])[0]

    def _after(self, token: int, x: np.ndarray) -> np.ndarray:
        """The norms after attention, at the scales that they had at one token."""
        for norm, scale in self._weights.links:
            x = norm.linear(x, np.broadcast_to(scale[token], (len(x), 1)))
        return x


def split_motion(model: Any, recording: Recording, layer: int) -> MotionSplit:
    """Split the motion of all tokens in a layer into attention, perceptron and norms.

    `recording` is `run(model, text)`; `layer` is counted from 0.
    """
    transformer = load_any(model).transformer
    weights = transformer.layer(layer)
    x = jnp.asarray(recording.hidden[layer], jnp.float32)
    found = _parts(transformer.about, weights, x)
    parts = jax.tree_util.tree_map(np.asarray, found)
    return MotionSplit(layer, **parts)


class _Chain(NamedTuple):
    """The norms after a sum, with the scales they had there: linear maps."""

    links: tuple[tuple[Any, Array], ...]

    def __call__(self, x: Array) -> Array:
        for norm, scale in self.links:
            x = norm.linear(x, scale)
        return x

    def transpose(self, g: Array) -> Array:
        for norm, scale in reversed(self.links):
            g = norm.transpose(g, scale)
        return g


def _link(norm: Any, x: Array) -> tuple[tuple[tuple[Any, Array], ...], Array]:
    """A norm as a link of a chain, and its value; nothing where there is no norm."""
    return ((), x) if norm is None else (((norm, norm.scale(x)),), norm(x))


def _bias(norm: Any, x: Array) -> Array:
    none = norm is None or norm.bias is None
    return jnp.zeros_like(x) if none else jnp.broadcast_to(norm.bias, x.shape)


def _chains(about: About, layer: Layer, x: Array):
    """What attention and perceptron computed, and the maps to where the token ends."""
    first, second = layer.norms
    u = layer.norm(0, BEFORE)(x)
    A, update = attend(layer.heads, u, causal=about.causal)
    inside, added = _link(first.get(INSIDE), update)
    after, y = _link(first.get(AFTER), x + added)
    v = layer.norm(1, BEFORE)(x if about.beside else y)
    push = perceptron(about, layer, v)
    within, added = _link(second.get(INSIDE), push)
    last, z = _link(second.get(AFTER), y + added)
    norm = _Chain(last)(_bias(first.get(AFTER), x)) + _bias(second.get(AFTER), x)
    maps = (_Chain(inside + after + last), _Chain(within + last), _Chain(after + last))
    return u, A, push, z, maps, norm


@eqx.filter_jit
def _parts(about: About, layer: Layer, x: Array) -> dict[str, Any]:
    """The fields of a MotionSplit, but for the layer."""
    u, A, push, z, (attention, outer, stream), norm = _chains(about, layer, x)
    heads, own = layer.heads, values(layer.heads, u)
    seen = jnp.einsum("hdk,hnk->hnd", heads.O, A @ own)
    motion = z - x
    length = jnp.sum(motion**2, axis=1, keepdims=True)
    slope = attention.transpose(motion / jnp.maximum(length, 1e-30))
    felt = jnp.einsum("hdk,nd->hnk", heads.O, slope)
    return dict(
        motion=motion,
        heads=jax.vmap(lambda one: attention(one))(seen),
        bias=attention(jnp.broadcast_to(heads.o, x.shape)),
        perceptron=outer(push),
        residual=stream(x) - x,
        norm=norm,
        shares=A * jnp.einsum("hik,hjk->hij", felt, own),
        _weights=_Weights(A, own, heads.O, attention.links),
    )
