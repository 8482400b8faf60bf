"""One layer of any trained model: norms, attention, perceptron, as the data say.

Families differ in which norms there are and where, in gates, in what is done to the
scores, and in whether attention and perceptron act side by side.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import AnyArray
from pushforward.probe.models._attention_weights import HeadWeights, attend, updated


class Norm(eqx.Module):
    """gain * (x - m) / sqrt(mean |x - m|^2 + eps) + bias, over coordinates of a token.

    m is their mean (LayerNorm), or zero (RMS norm) when not `centered`.
    """

    gain: Float[AnyArray, "d"]
    bias: Float[AnyArray, "d"] | None
    eps: float = eqx.field(static=True)
    centered: bool = eqx.field(static=True)

    def __call__(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """Every token normalized."""
        found = self.linear(x, self.scale(x))
        return found if self.bias is None else found + self.bias[None, :]

    def scale(self, x: Float[Array, "n d"]) -> Float[Array, "n 1"]:
        """1 / sqrt(mean |x - m|^2 + eps) of every token."""
        square = jnp.mean(self._shifted(x) ** 2, axis=-1, keepdims=True)
        return jax.lax.rsqrt(square + self.eps)

    def linear(
        self, x: Float[AnyArray, "n d"], scale: Float[AnyArray, "n 1"]
    ) -> Float[AnyArray, "n d"]:
        """gain * (x - m) * scale: the norm of a sum, at the scale of the sum."""
        return self._shifted(x) * scale * self.gain[None, :]

    def transpose(
        self, g: Float[Array, "n d"], scale: Float[Array, "n 1"]
    ) -> Float[Array, "n d"]:
        """The adjoint of `linear`: <linear(x), g> = <x, transpose(g)>."""
        return self._shifted(g * self.gain[None, :]) * scale

    def _shifted(self, x: AnyArray) -> AnyArray:
        return x - x.mean(axis=-1, keepdims=True) if self.centered else x


# Where norms may sit: before a sublayer, on what it adds, and after adding it.
BEFORE, INSIDE, AFTER = ("before", "inside", "after")


class Layer(eqx.Module):
    """One layer: attention, then (or, if `beside`, beside it) a perceptron.

        y = after(x + inside(attention(before(x))))
        z = after(y + inside(W s(A v + b) + c)),   v = before(y), or before(x) if beside

    `norms[0]` are the norms of attention by place, `norms[1]` those of the perceptron;
    one that is missing does nothing. With a gate the perceptron is
    W (s(G v + g) * (A v + b)) + c.
    """

    heads: HeadWeights
    norms: tuple[dict[str, Norm], dict[str, Norm]]
    A: Float[AnyArray, "m d"]
    b: Float[AnyArray, "m"]
    W: Float[AnyArray, "d m"]
    c: Float[AnyArray, "d"]
    G: Float[AnyArray, "m d"] | None = None
    g: Float[AnyArray, "m"] | None = None

    def norm(self, sublayer: int, place: str) -> Callable[[Array], Array]:
        """A norm of this layer, or the identity."""
        return self.norms[sublayer].get(place, lambda x: x)


class Sublayers(NamedTuple):
    """What one layer did: the tokens that its attention read, and what it computed.

    `attention` is None where its matrices were not asked for.
    `update` is what attention added to the tokens and `perceptron` what the perceptron
    added, each before any norm that follows the addition.
    """

    inputs: Float[Array, "n d"]
    attention: Float[Array, "h n n"] | None
    update: Float[Array, "n d"]
    perceptron: Float[Array, "n d"]


@dataclasses.dataclass(frozen=True)
class About:
    """What a configuration says beyond the weights.

    `context` is the longest text in tokens; `scheme` says where the norms sit. `image`
    is the shape of the images that a model reads instead of a text.
    """

    name: str
    depth: int
    context: int
    vocabulary: int
    activation: str
    causal: bool
    scheme: str
    shared: bool = False
    beside: bool = False
    image: tuple[int, int, int] | None = None


def apply(
    about: About, layer: Layer, x: Float[Array, "n d"], matrices: bool = True
) -> tuple[Float[Array, "n d"], Sublayers]:
    """One layer on tokens x, with its attention matrices or without."""
    u = layer.norm(0, BEFORE)(x)
    attention = None
    if matrices:
        attention, update = attend(layer.heads, u, causal=about.causal)
    else:
        update = updated(layer.heads, u, causal=about.causal)
    update = layer.norm(0, INSIDE)(update)
    y = layer.norm(0, AFTER)(x + update)
    v = layer.norm(1, BEFORE)(x if about.beside else y)
    push = layer.norm(1, INSIDE)(perceptron(about, layer, v))
    return layer.norm(1, AFTER)(y + push), Sublayers(u, attention, update, push)


def perceptron(about: About, layer: Layer, v: Float[Array, "n d"]) -> Array:
    """W s(A v + b) + c, or W (s(G v + g) * (A v + b)) + c."""
    s = ACTIVATIONS[about.activation]
    inner = v @ layer.A.T + layer.b[None, :]
    if layer.G is None or layer.g is None:
        inner = s(inner)
    else:
        inner = s(v @ layer.G.T + layer.g[None, :]) * inner
    return inner @ layer.W.T + layer.c[None, :]


def exact_gelu(x: Array) -> Array:
    """x Phi(x), with the error function."""
    return jax.nn.gelu(x, approximate=False)


def tanh_gelu(x: Array) -> Array:
    """The approximation of x Phi(x) by a hyperbolic tangent."""
    return jax.nn.gelu(x, approximate=True)


def quick_gelu(x: Array) -> Array:
    """The approximation of x Phi(x) by x / (1 + e^{-1.702 x})."""
    return x * jax.nn.sigmoid(1.702 * x)


ACTIVATIONS = {
    "gelu": exact_gelu,
    "gelu_new": tanh_gelu,
    "gelu_fast": tanh_gelu,
    "gelu_pytorch_tanh": tanh_gelu,
    "quick_gelu": quick_gelu,
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
    "swish": jax.nn.silu,
    "tanh": jnp.tanh,
}
