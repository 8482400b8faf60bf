"""From what a model reads to its first tokens: words with positions, or patches."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward._shapes import AnyArray
from pushforward.probe._layer import Norm


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
