"""The exact sum of tokens that see each other: every pair is looked at once.

On the sphere with Q = K = I the kernel is symmetric, e_ij = e^{beta (<x_i, x_j> - 1)}.
A tile above the diagonal serves the rows of its tokens, e F_J, and with F_I e those of
its columns, where F_j = w_j (f_j, 1): half the inner products and half the exponentials
of a sum by rows. By XLA, what the columns receive is kept transposed, since a product
with a transposed tile is three times slower on a CPU.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.sums import _native
from pushforward.sums._blocks import FULL, LOG2_E, exp2, products
from pushforward.sums._kernel import Kernel, KernelSum

Pairs = Callable[[Kernel], tuple[Array, Array]]
Sum = Callable[[Kernel], KernelSum]


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def differentiated_by_rows(kernel: Kernel, by_pairs: Sum, by_rows: Sum) -> KernelSum:
    """The sum by pairs, with the derivative of the same sum by rows."""
    return by_pairs(kernel)


@differentiated_by_rows.defjvp
def _jvp_by_rows(by_pairs: Sum, by_rows: Sum, primals, tangents):
    found = differentiated_by_rows(*primals, by_pairs, by_rows)

    def at_the_same_scale(kernel: Kernel) -> KernelSum:
        out = by_rows(kernel)
        moment = jnp.exp(out.log_scale - found.log_scale)[:, None] * out.moment
        return out._replace(log_scale=found.log_scale, moment=moment)

    return found, jax.jvp(at_the_same_scale, primals, tangents)[1]


def symmetric(kernel: Kernel, pairs: Pairs) -> KernelSum:
    """The sum for tokens on the sphere where the fixed shift e^{beta} is legal."""
    moment, total = pairs(kernel)
    log_scale = jnp.broadcast_to(kernel.beta, total.shape)
    log_own = _log_own(kernel)
    log_total = jnp.log(total + jnp.exp(log_own - log_scale)) + log_scale
    return KernelSum(log_total, log_scale, moment, log_own)


def scaled_by_rows(kernel: Kernel, pairs: Pairs) -> KernelSum:
    """The same with the pull of the others at a scale of its own, in every row."""
    moment, total = pairs(kernel)
    log_scale = kernel.beta + jnp.log(total)
    log_own = _log_own(kernel)
    log_total = jnp.logaddexp(log_scale, log_own)
    return KernelSum(log_total, log_scale, moment / total[:, None], log_own)


def _log_own(kernel: Kernel) -> Float[Array, "n"]:
    own = kernel.beta * jnp.sum(kernel.queries * kernel.keys, axis=1)
    return own + kernel.log_weights


def compiled_pairs(kernel: Kernel) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """sum_{j != i} w_j e^{beta (<x_i, x_j> - 1)} (f_j, 1), by loops in C++.

    Over j < i if causal.
    """
    x, w = kernel.keys, jnp.exp(kernel.log_weights)
    seen = w[:, None] * kernel.values
    scale = kernel.beta * jnp.asarray(LOG2_E, x.dtype)
    results = (
        jax.ShapeDtypeStruct(seen.shape, x.dtype),
        jax.ShapeDtypeStruct(w.shape, x.dtype),
    )
    moment, total = _native.compiled_call(
        f"pairs_{x.dtype}", results, x, seen, w, scale, causal=kernel.causal
    )
    return moment, total


def tiled_pairs(
    kernel: Kernel, width: int
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """The same by XLA, in square tiles of this width, without a mask."""
    n = kernel.keys.shape[0]
    scale = kernel.beta * jnp.asarray(LOG2_E, kernel.keys.dtype)
    w = jnp.exp(kernel.log_weights)[:, None]
    x = _split(kernel.keys, width)
    keys = (scale * x).swapaxes(1, 2)
    seen = _split(jnp.concatenate([w * kernel.values, w], axis=1), width)
    across = seen.swapaxes(1, 2)

    def far(x, keys, seen, across):
        e_ij = exp2(products(x, keys) - scale)
        return jnp.matmul(e_ij, seen, precision=FULL), jnp.matmul(
            across, e_ij, precision=FULL
        )

    def near(x, keys, seen, across):
        e_ij = exp2(products(x, keys) - scale)
        e_ij = jnp.where(jnp.eye(width, dtype=bool), 0.0, e_ij)
        return jnp.matmul(e_ij, seen, precision=FULL), jnp.zeros_like(across)

    def step(sums, pair):
        i, j = pair
        # Cut out of a branch, so that in it the compiler vectorizes the tile.
        parts = jax.lax.cond(i < j, far, near, x[i], keys[j], seen[j], across[i])
        return (_added(sums[0], i, parts[0]), _added(sums[1], j, parts[1])), None

    pairs = tuple(jnp.asarray(a, jnp.int32) for a in np.triu_indices(x.shape[0]))
    start = (jnp.zeros_like(seen), jnp.zeros_like(across))
    (down, right), _ = jax.lax.scan(step, start, pairs)
    sums = (down + right.swapaxes(1, 2)).reshape(-1, seen.shape[2])[:n]
    return sums[:, :-1], sums[:, -1]


def _split(a: Float[Array, "n e"], width: int) -> Float[Array, "t b e"]:
    """Blocks of equal width, padded by zeros, which weigh nothing."""
    a = jnp.pad(a, ((0, -a.shape[0] % width), (0, 0)))
    return a.reshape(-1, width, a.shape[1])


def _added(sums: Array, place: Array, part: Array) -> Array:
    """One block of the sums with a part added."""
    return jax.lax.dynamic_update_index_in_dim(sums, sums[place] + part, place, 0)
