"""The attention of one trained layer: weights of all heads, and what they compute."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class HeadWeights(eqx.Module):
    """Q, K, V, O of every head of a layer, acting on the tokens u that it reads.

    Head h pays A^h_ij = softmax_j <Q u_i + q, K u_j + k> and adds
    O sum_j A^h_ij (V u_j + v); the layer adds `o` once. The factor 1/sqrt(width) of
    the scores is inside Q and q. Heads that share keys and values hold copies.
    """

    Q: Float[Array, "h k d"]
    K: Float[Array, "h k d"]
    V: Float[Array, "h k d"]
    O: Float[Array, "h d k"]
    q: Float[Array, "h k"]
    k: Float[Array, "h k"]
    v: Float[Array, "h k"]
    o: Float[Array, "d"]


class Rotary(eqx.Module):
    """Rotary positions: pairs (r, r + k/2) turn by i base^{-2r/k} at token i.

    Only the difference of two positions enters a product of rotated vectors.
    """

    base: Float[Array, ""]

    def __call__(self, x: Float[Array, "h n k"]) -> Float[Array, "h n k"]:
        """Every vector turned by the angles of its position."""
        _, n, k = x.shape
        rates = self.base ** (-jnp.arange(0, k, 2) / k)
        angles = jnp.arange(n)[:, None] * rates[None, :]
        cos, sin = (f(angles).astype(x.dtype)[None] for f in (jnp.cos, jnp.sin))
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def attend(
    heads: HeadWeights,
    u: Float[Array, "n d"],
    *,
    causal: bool,
    rotary: Rotary | None = None,
) -> tuple[Float[Array, "h n n"], Float[Array, "n d"]]:
    """The attention matrices of a layer and the update that it adds to every token."""
    queries = jnp.einsum("hkd,nd->hnk", heads.Q, u) + heads.q[:, None, :]
    keys = jnp.einsum("hkd,nd->hnk", heads.K, u) + heads.k[:, None, :]
    values = jnp.einsum("hkd,nd->hnk", heads.V, u) + heads.v[:, None, :]
    if rotary is not None:
        queries, keys = rotary(queries), rotary(keys)
    logits = jnp.einsum("hik,hjk->hij", queries, keys)
    if causal:
        logits = jnp.where(jnp.tri(len(u), dtype=bool)[None], logits, -jnp.inf)
    A = jax.nn.softmax(logits, axis=-1)
    update = jnp.einsum("hdk,hnk->nd", heads.O, A @ values) + heads.o[None, :]
    return A, update


def head_weights(
    heads: int,
    matrices: Sequence[np.ndarray],
    biases: Sequence[np.ndarray | None],
) -> Any:
    """HeadWeights from Q, K, V, O of a file and their biases, cut into heads.

    Fewer rows in K and V than in Q mean heads that share them in groups.
    """
    Q, K, V, O = matrices
    width, d = len(Q) // heads, Q.shape[1]
    own = len(K) // width

    def rows(M: np.ndarray) -> np.ndarray:
        return np.repeat(M.reshape(own, width, d), heads // own, axis=0)

    def bias(b: np.ndarray | None, count: int) -> np.ndarray:
        cut = (
            np.zeros((count, width), Q.dtype) if b is None else b.reshape(count, width)
        )
        return np.repeat(cut, heads // count, axis=0)

    q, k, v, o = biases
    scale = np.asarray(1 / np.sqrt(width), Q.dtype)
    made: Any = HeadWeights  # arrays of numpy, until layers are stacked
    return made(
        Q=scale * Q.reshape(heads, width, d),
        K=rows(K),
        V=rows(V),
        O=O.reshape(len(O), heads, width).transpose(1, 0, 2),
        q=scale * bias(q, heads),
        k=bias(k, own),
        v=bias(v, own),
        o=np.zeros(len(O), Q.dtype) if o is None else o,
    )
