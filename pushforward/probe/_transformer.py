"""What every trained model is here: an embedding, layers, and a last normalization."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.probe._attention_weights import HeadWeights


class Sublayers(NamedTuple):
    """What one layer did: the tokens that its attention read, and what it computed."""

    inputs: Float[Array, "n d"]
    attention: Float[Array, "h n n"]
    update: Float[Array, "n d"]


class States(NamedTuple):
    """A forward pass: hidden states before and after every layer, and its parts.

    `hidden[0]` are the embeddings, `hidden[l]` what layer l leaves on the residual
    stream; the last normalization of a decoder is applied to `last` alone.
    """

    hidden: Float[Array, "l n d"]
    inputs: Float[Array, "l n d"]
    attention: Float[Array, "l h n n"]
    update: Float[Array, "l n d"]
    last: Float[Array, "n d"]


@dataclasses.dataclass(frozen=True)
class About:
    """What a configuration says beyond the shapes of the weights.

    `context` is the longest text in tokens; `eps` stands in the denominators of norms.
    """

    name: str
    depth: int
    context: int
    vocabulary: int
    eps: float
    activation: str
    causal: bool
    shared: bool = False


class AbstractTransformer(eqx.Module):
    """A trained model in JAX. `layers` holds all layers stacked along a first axis.

    When `shared`, there is one layer, applied `depth` times.
    """

    about: eqx.AbstractVar[About]
    layers: eqx.AbstractVar[Any]
    rotary: eqx.AbstractVar[Any]

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.about.name

    @property
    def depth(self) -> int:
        """The number of layers it was trained with."""
        return self.about.depth

    @property
    def causal(self) -> bool:
        """Whether a token sees only itself and what stands before it."""
        return self.about.causal

    @property
    def shared(self) -> bool:
        """Whether all layers have the same weights."""
        return self.about.shared

    @property
    def activation(self) -> Callable[[Array], Array]:
        """The nonlinearity of the perceptrons."""
        return ACTIVATIONS[self.about.activation]

    @abc.abstractmethod
    def embed(self, ids: Int[Array, "n"]) -> Float[Array, "n d"]:
        """The tokens before the first layer."""

    @abc.abstractmethod
    def reads(self, layer, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """What the attention of a layer reads: x, or x normalized with its gain."""

    @abc.abstractmethod
    def apply(
        self, layer, x: Float[Array, "n d"]
    ) -> tuple[Float[Array, "n d"], Sublayers]:
        """One layer."""

    @abc.abstractmethod
    def last(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The normalization after the last layer; x itself where there is none."""

    @abc.abstractmethod
    def heads(self, layer) -> HeadWeights:
        """The attention weights of a layer."""

    @abc.abstractmethod
    def mlp(self, layer) -> tuple[Array | None, ...]:
        """(W, A, b, c, G) of W s(A u + b) + c, or of W (s(G u) * (A u))."""

    def layer(self, k: int):
        """The weights of layer k, counted from 0."""
        if not 0 <= k < self.depth:
            raise InputError(f"`layer` must be 0 ... {self.depth - 1}, got {k}.")
        stored = 0 if self.shared else k
        return jax.tree_util.tree_map(lambda leaf: leaf[stored], self.layers)

    def __repr__(self) -> str:
        kind = "causal" if self.causal else "full"
        return f"{type(self).__name__}({self.name}, {self.depth} layers, {kind})"


def depth_of(model: AbstractTransformer, depth: int | None) -> int:
    """The trained depth, or another one where the layers share their weights."""
    if depth is None or depth == model.depth:
        return model.depth
    depth = whole("depth", depth, 1, "It is a number of layers.")
    if depth > model.depth and not model.shared:
        raise InputError(
            f"`depth` = {depth} is beyond the {model.depth} trained layers of "
            f"{model.name}, whose layers have weights of their own. Only a model with "
            "shared weights, such as ALBERT, can be continued."
        )
    return depth


def forward(
    model: AbstractTransformer, ids: Int[np.ndarray, "n"], *, depth: int | None = None
) -> States:
    """Run the model on token ids; all hidden states, attention matrices, updates."""
    return _forward(model, jnp.asarray(ids), depth_of(model, depth))


@eqx.filter_jit
def _forward(model: AbstractTransformer, ids: Int[Array, "n"], depth: int) -> States:
    x = model.embed(ids)
    last, (hidden, parts) = run_layers(model, x, depth)
    frames = jnp.concatenate([x[None], hidden])
    return States(frames, parts.inputs, parts.attention, parts.update, model.last(last))


def run_layers(model: AbstractTransformer, x: Float[Array, "n d"], depth: int):
    """All layers on tokens x, one compiled body; the end, and what each layer did."""
    stored = jnp.zeros(depth, int) if model.shared else jnp.arange(depth)

    def step(x, k):
        layer = jax.tree_util.tree_map(lambda leaf: leaf[k], model.layers)
        after, parts = model.apply(layer, x)
        return after, (after, parts)

    return jax.lax.scan(step, x, stored)


def layer_norm(x: Float[Array, "n d"], gain, bias, eps: float) -> Float[Array, "n d"]:
    """(x - mean) / sqrt(var + eps) * gain + bias, over the coordinates of a token."""
    centered = x - x.mean(axis=-1, keepdims=True)
    scale = jax.lax.rsqrt(jnp.mean(centered**2, axis=-1, keepdims=True) + eps)
    return centered * scale * gain[None, :] + bias[None, :]


def rms_norm(x: Float[Array, "n d"], gain, eps: float) -> Float[Array, "n d"]:
    """x / sqrt(mean x^2 + eps) * gain."""
    scale = jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + eps)
    return x * scale * gain[None, :]


def exact_gelu(x: Array) -> Array:
    """x Phi(x), with the error function."""
    return jax.nn.gelu(x, approximate=False)


def tanh_gelu(x: Array) -> Array:
    """The approximation of x Phi(x) by a hyperbolic tangent."""
    return jax.nn.gelu(x, approximate=True)


ACTIVATIONS = {
    "gelu": exact_gelu,
    "gelu_new": tanh_gelu,
    "gelu_pytorch_tanh": tanh_gelu,
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
    "tanh": jnp.tanh,
}


def activation_of(config: dict, key: str) -> str:
    """The name of a nonlinearity that is known here."""
    name = config.get(key)
    if name not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise InputError(f"the activation {name!r} is not known; known: {known}.")
    return name


def stacked(layers: list):
    """Layers of one shape as one, along a first axis."""
    return jax.tree_util.tree_map(lambda *leaf: jnp.asarray(np.stack(leaf)), *layers)


def taken(arrays: dict[str, np.ndarray], name: str, shape: tuple) -> Any:
    """A weight by name, in float32, of the shape that the configuration promises."""
    if name not in arrays:
        raise InputError(f"the weights have no tensor {name!r}; is the file complete?")
    found = np.asarray(arrays[name])
    if found.shape != shape:
        raise InputError(f"{name} has shape {found.shape}, config.json says {shape}.")
    return found.astype(np.float32)
