"""The attention of one trained layer: weights of all heads, and what they compute."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward._checks import AnyArray
from pushforward.sums import Auto, Kernel


class Rotary(eqx.Module):
    """Rotary positions: pairs (r, r + R) turn by i rates[r] at token i, R = len(rates).

    Coordinates beyond 2 R stay as they are. Only the difference of two positions
    enters a product of rotated vectors.
    """

    rates: Float[AnyArray, "r"]

    def __call__(self, x: Float[Array, "h n k"]) -> Float[Array, "h n k"]:
        """Every vector turned by the angles of its position."""
        half = len(self.rates)
        rates = jnp.asarray(self.rates, float)
        angles = jnp.arange(float(x.shape[1]))[:, None] * rates[None, :]
        cos, sin = (f(angles).astype(x.dtype)[None] for f in (jnp.cos, jnp.sin))
        a, b, rest = jnp.split(x, (half, 2 * half), axis=-1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin, rest], axis=-1)


class Buckets(eqx.Module):
    """A bias of the scores by the distance of two tokens, alike within a bucket.

    Half of the buckets are for tokens behind. Of each half, one half are single
    distances and the rest grow like a geometric sequence up to `farthest`.
    """

    table: Float[AnyArray, "b h"]
    farthest: int = eqx.field(static=True)

    def __call__(self, n: int) -> Float[Array, "h n n"]:
        """The bias that token i adds to its score with token j."""
        lag = np.arange(n)[None, :] - np.arange(n)[:, None]
        half = len(self.table) // 2
        exact = half // 2
        near = np.abs(lag)
        growth = np.log(np.float32(np.maximum(near, 1) / exact))
        growth = growth / np.float32(np.log(self.farthest / exact)) * (half - exact)
        far = np.minimum(exact + growth.astype(int), half - 1)
        bucket = np.where(near < exact, near, far) + half * (lag > 0)
        return jnp.moveaxis(jnp.asarray(self.table)[bucket], -1, 0)


class HeadWeights(eqx.Module):
    """Q, K, V, O of every head of a layer, acting on the tokens u that it reads.

    Head h pays A^h_ij = softmax_j <Q u_i + q, K u_j + k> and adds
    O sum_j A^h_ij (V u_j + v); the layer adds `o` once. The factor of the scores is
    inside Q and q. Heads that share keys and values in groups share K, V, k and v.

    Some models do more to the scores: `rotary` turns queries and keys; `gains` are
    those of an RMS norm of every query (the factor of the scores inside) and key;
    `buckets` are added; `cap` bounds them by cap tanh(. / cap); with a `window` a token
    sees no further back than so many tokens, itself among them.
    """

    Q: Float[AnyArray, "h k d"]
    K: Float[AnyArray, "g k d"]
    V: Float[AnyArray, "g k d"]
    O: Float[AnyArray, "h d k"]
    q: Float[AnyArray, "h k"]
    k: Float[AnyArray, "g k"]
    v: Float[AnyArray, "g k"]
    o: Float[AnyArray, "d"]
    rotary: Rotary | None = None
    buckets: Buckets | None = None
    gains: Float[AnyArray, "2 k"] | None = None
    window: Int[AnyArray, ""] | None = None
    cap: float | None = eqx.field(static=True, default=None)
    eps: float = eqx.field(static=True, default=1e-6)

    @property
    def plain(self) -> bool:
        """Whether scores are <Q u_i + q, K u_j + k>, perhaps turned, and no more."""
        more = (self.buckets, self.gains, self.window, self.cap)
        return all(part is None for part in more)

    def every_head(self, shared: AnyArray) -> AnyArray:
        """What groups of heads share, once for every head."""
        return shared.repeat(len(self.Q) // len(self.K), axis=0)


def scores(
    heads: HeadWeights, u: Float[Array, "n d"], *, causal: bool
) -> Float[Array, "h n n"]:
    """The scores of which softmax makes attention; -inf where a token does not look."""
    queries, keys = _compared(heads, u)
    found = jnp.einsum("hik,hjk->hij", queries, heads.every_head(keys))
    if heads.buckets is not None:
        found = found + heads.buckets(len(u)).astype(found.dtype)
    if heads.cap is not None:
        found = heads.cap * jnp.tanh(found / heads.cap)
    lag = jnp.arange(len(u))[:, None] - jnp.arange(len(u))[None, :]
    seen = lag >= 0 if causal else jnp.ones_like(lag, bool)
    if heads.window is not None:
        seen = seen & (lag < heads.window)
    return jnp.where(seen[None], found, -jnp.inf)


def _compared(
    heads: HeadWeights, u: Float[Array, "n d"]
) -> tuple[Float[Array, "h n k"], Float[Array, "g n k"]]:
    """The queries and keys whose inner products are the scores."""
    queries = jnp.einsum("hkd,nd->hnk", heads.Q, u) + heads.q[:, None, :]
    keys = jnp.einsum("hkd,nd->hnk", heads.K, u) + heads.k[:, None, :]
    if heads.gains is not None:
        queries = _normed(queries, heads.gains[0], heads.eps)
        keys = _normed(keys, heads.gains[1], heads.eps)
    if heads.rotary is not None:
        queries, keys = heads.rotary(queries), heads.rotary(keys)
    return queries, keys


def values(heads: HeadWeights, u: Float[Array, "n d"]) -> Float[Array, "h n k"]:
    """V u_j + v, for every head."""
    own = jnp.einsum("hkd,nd->hnk", heads.V, u) + heads.v[:, None, :]
    return heads.every_head(own)


def attend(
    heads: HeadWeights, u: Float[Array, "n d"], *, causal: bool
) -> tuple[Float[Array, "h n n"], Float[Array, "n d"]]:
    """The attention matrices of a layer and the update that they make."""
    A = jax.nn.softmax(scores(heads, u, causal=causal), axis=-1)
    return A, _update(heads, A @ values(heads, u))


def updated(
    heads: HeadWeights, u: Float[Array, "n d"], *, causal: bool
) -> Float[Array, "n d"]:
    """The update alone. Heads whose scores are inner products make no matrix for it."""
    if heads.buckets is not None or heads.cap is not None or heads.window is not None:
        return attend(heads, u, causal=causal)[1]
    queries, keys = _compared(heads, u)
    n = len(u)
    alike, one = jnp.full(n, -np.log(n), u.dtype), jnp.ones((), u.dtype)

    def average(head: tuple[Array, Array, Array]) -> Array:
        return Auto()(Kernel(*head, alike, one, causal=causal)).average()

    parts = (queries, heads.every_head(keys), values(heads, u))
    return _update(heads, jax.lax.map(average, parts))


def _update(heads: HeadWeights, averages: Float[Array, "h n k"]) -> Array:
    return jnp.einsum("hdk,hnk->nd", heads.O, averages) + heads.o[None, :]


def _normed(x: Float[Array, "h n k"], gain, eps: float) -> Float[Array, "h n k"]:
    scale = jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + eps)
    return x * scale * gain[None, None, :]
