"""A trained model: an embedding, layers, a last norm, and the one forward pass."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward._checks import AnyArray, whole
from pushforward.errors import InputError
from pushforward.probe.models._layer import (
    ACTIVATIONS,
    About,
    Layer,
    Norm,
    Sublayers,
    apply,
)


class Words(eqx.Module):
    """From token ids to tokens: tables of words and positions, norms and linear maps.

    x = lift(norm(scale * widen(words[ids]) + positions[place] + kind)); each part but
    the words may be missing. `pad` is the id of the padding token in models that count
    places from `pad + 1` and skip padding; `skipped` rows of positions are never used.
    """

    words: Any  # (v, k); rows are read when they are needed
    positions: Float[AnyArray, "p e"] | None = None
    kind: Float[AnyArray, "e"] | None = None
    norm: Norm | None = None
    widen: tuple[Float[AnyArray, "e k"], Float[AnyArray, "e"]] | None = None
    lift: tuple[Float[AnyArray, "d e"], Float[AnyArray, "d"]] | None = None
    scale: float = eqx.field(static=True, default=1.0)
    skipped: int = eqx.field(static=True, default=0)
    pad: int | None = eqx.field(static=True, default=None)

    def __call__(self, ids: Int[Array, "n"]) -> Float[Array, "n d"]:
        """The tokens before the first layer."""
        x = self.scale * jnp.asarray(self.words[ids], jnp.float32)
        if self.widen is not None:
            x = x @ self.widen[0].T + self.widen[1][None, :]
        if self.positions is not None:
            x = x + self.positions[self._places(ids)]
        if self.kind is not None:
            x = x + self.kind[None, :]
        if self.norm is not None:
            x = self.norm(x)
        return x if self.lift is None else x @ self.lift[0].T + self.lift[1][None, :]

    def _places(self, ids: Int[Array, "n"]) -> Int[Array, "n"]:
        if self.pad is None:
            return self.skipped + jnp.arange(len(ids))
        real = (ids != self.pad).astype(int)
        return self.pad + jnp.cumsum(real) * real


class Patches(eqx.Module):
    """From an image (channels, height, width) to tokens: one per patch, one in front.

    x_0 = first + positions[0], x_i = W patch_i + b + positions[i]; patches row by row.
    """

    W: Float[AnyArray, "d c p p"]
    b: Float[AnyArray, "d"]
    first: Float[AnyArray, "d"]
    positions: Float[AnyArray, "n d"]

    def __call__(self, image: Float[Array, "c y x"]) -> Float[Array, "n d"]:
        """The tokens before the first layer."""
        d, c, p, _ = self.W.shape
        rows, columns = image.shape[1] // p, image.shape[2] // p
        cut = image.reshape(c, rows, p, columns, p).transpose(1, 3, 0, 2, 4)
        x = cut.reshape(rows * columns, c * p * p) @ self.W.reshape(d, -1).T
        x = jnp.concatenate([self.first[None], x + self.b[None, :]])
        return x + self.positions


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
