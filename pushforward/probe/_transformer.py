"""A trained model: an embedding, layers, a last norm, and the one forward pass."""

from collections.abc import Callable, Iterator, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import whole
from pushforward._shapes import AnyArray
from pushforward.errors import InputError
from pushforward.probe._embedding import Patches, Words
from pushforward.probe._layer import ACTIVATIONS, About, Layer, Norm, Sublayers, apply


class Transformer(eqx.Module):
    """A trained model in JAX: an embedding, layers, a last norm.

    `layers` is a sequence of `Layer`s; it may read them from disk one by one. When
    `shared`, there is one layer, applied `depth` times.
    """

    embed: Words | Patches
    layers: Sequence[Layer]
    norm: Norm | None
    about: About = eqx.field(static=True)

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

    def last(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The normalization after the last layer; x itself where there is none."""
        return x if self.norm is None else self.norm(x)

    def layer(self, k: int) -> Layer:
        """The weights of layer k, counted from 0."""
        if not 0 <= k < self.depth:
            raise InputError(f"`layer` must be 0 ... {self.depth - 1}, got {k}.")
        return self.layers[0 if self.shared else k]

    def __repr__(self) -> str:
        kind = "causal" if self.causal else "full"
        return f"Transformer({self.name}, {self.depth} layers, {kind})"


def depth_of(model: Transformer, depth: int | None) -> int:
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


# One compiled body for all layers of a model: their weights have the same shapes.
step = eqx.filter_jit(apply)


def steps(
    model: Transformer,
    ids: AnyArray | np.ndarray,
    depth: int | None = None,
    *,
    attention: int = 0,
) -> Iterator[tuple[Float[Array, "n d"], Sublayers | None]]:
    """The tokens after the embedding and after each layer, and what the layer did.

    Nothing is kept here: one layer's weights and parts at a time are in memory.
    Attention matrices are made if those of all layers take at most `attention` bytes.
    """
    x = model.embed(jnp.asarray(ids))
    yield x, None
    depth = depth_of(model, depth)
    for k in range(depth):
        layer = model.layers[0 if model.shared else k]
        matrices = len(layer.heads.Q) * len(x) ** 2 * x.itemsize * depth <= attention
        x, parts = step(model.about, layer, x, matrices)
        x.block_until_ready()  # else layers are read ahead of the arithmetic
        del layer  # before the next one is read
        yield x, parts


def through(model: Transformer, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
    """All layers and the last norm on tokens x, as one function to differentiate."""
    for k in range(model.depth):
        x, _ = apply(model.about, model.layers[0 if model.shared else k], x)
    return model.last(x)
