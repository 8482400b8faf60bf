"""A low-rank sum for clustered clouds in any dimension, which measures its own error.

e^{beta <q, k>} = e^{beta |q|^2 / 2} e^{beta |k|^2 / 2} G(q, k) with the Gaussian kernel
G(q, k) = e^{-beta |q - k|^2 / 2}, which is seen through r landmarks Z among the keys:
G(q, k) ~ G(q, Z) G(Z, Z)^{-1} G(Z, k). Two passes over n x r tiles replace the n x n
sum. For negative beta queries change sign.
"""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums._by_rows import error_on, recompute_exactly
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums.modes._spectral import tolerance

CANDIDATES = 4  # keys looked at for each landmark
RESOLVED = 1e-12  # a landmark that adds less is left out: rounding would decide
ROWS = 2048  # points that see the landmarks at once


class Nystrom(AbstractSum):
    """The sum through `rank` landmarks: fast on clustered clouds, never chosen for you.

    Landmarks are picked by a pivoted Cholesky factorization of the kernel on a random
    sample of the keys, so that each is what the others explain least. There is no bound
    of the error beforehand. Therefore `check` rows, drawn at random, are summed exactly
    every time, and the sum stops with an error when an average or the logarithm of a
    total is off by more than `tol` there; `error(kernel)` says by how much. Rows whose
    total falls below their own term are isolated and are recomputed exactly.

    The cost is n times 2 `rank` instead of n times n. It works where tokens have
    gathered: beta^{1/2} times the width of a cluster should be of order one or less.
    It fails on spread-out clouds, where the kernel of width beta^{-1/2} asks for as
    many landmarks as there are tokens, soon for large beta and d > 3. The landmarks
    change with the tokens, so a flow cannot be solved more accurately than the error.

    >>> import jax, pushforward as pf
    >>> space, key = pf.Sphere(8), jax.random.key(0)
    >>> mu = pf.Particles.clustered(space, 500, centers=4, scale=0.02, key=key)
    >>> through_landmarks = pf.Attention(4.0, sums=pf.Nystrom(128))(0.0, mu).v
    >>> bool(abs(through_landmarks - pf.Attention(4.0)(0.0, mu).v).max() < 1e-4)
    True
    """

    rank: int = eqx.field(static=True)
    tol: float = eqx.field(static=True)
    check: int = eqx.field(static=True)
    seed: int = eqx.field(static=True)

    def __init__(
        self, rank: int = 256, *, tol: float = 1e-3, check: int = 64, seed: int = 0
    ):
        self.rank = whole("rank", rank, 1, "It is a number of landmarks.")
        self.tol = tolerance(tol)
        self.check = whole("check", check, 1, "It is a number of rows.")
        self.seed = whole("seed", seed, 0)

    def __call__(self, kernel: Kernel) -> KernelSum:
        """As accurate as the landmarks allow, and an error if that is not `tol`."""
        out, error = self._measured(kernel)
        text = (
            f"a Nystrom sum of rank {self.rank} is off by more than {self.tol:g}; "
            "raise `rank` or `tol`, or use sums.Exact()."
        )
        out = eqx.error_if(out, ~(error <= self.tol), text)
        return jax.tree_util.tree_map(lambda a: a.astype(kernel.keys.dtype), out)

    def error(self, kernel: Kernel) -> Float[Array, ""]:
        """The largest error on the sampled rows, of averages and log totals."""
        return self._measured(kernel)[1]

    def _measured(self, kernel: Kernel) -> tuple[KernelSum, Float[Array, ""]]:
        if kernel.causal:
            raise InputError(
                "Nystrom sums see all tokens alike and cannot have a causal mask. "
                "Use sums.Exact()."
            )
        wide = jax.tree_util.tree_map(lambda a: a.astype(jnp.float64), kernel)
        return _nystrom(wide, self.rank, self.tol, self.check, self.seed)


class _Gaussian(NamedTuple):
    """e^{-size |x - y|^2 / 2} in the form of products."""

    size: Float[Array, ""]

    def __call__(self, x: Float[Array, "m d"], y: Float[Array, "r d"]) -> Array:
        half = lambda a: jnp.sum(a**2, axis=1) / 2  # noqa: E731
        exponent = x @ y.T - half(x)[:, None] - half(y)[None, :]
        return jnp.exp(self.size * jnp.minimum(exponent, 0.0))


@partial(jax.jit, static_argnames=("rank", "tol", "check", "seed"))
def _nystrom(kernel: Kernel, rank: int, tol: float, check: int, seed: int):
    """The sum, and its error on random rows."""
    keys, size = kernel.keys, jnp.abs(kernel.beta)
    q = jnp.where(kernel.beta < 0, -1.0, 1.0) * kernel.queries
    gaussian = _Gaussian(size)
    log_w = kernel.log_weights + size * jnp.sum(keys**2, axis=1) / 2
    top = jax.lax.stop_gradient(log_w.max())
    w = jnp.exp(log_w - top)[:, None]
    for_landmarks, for_rows = jax.random.split(jax.random.key(seed))
    still = jax.lax.stop_gradient
    sample = _drawn(for_landmarks, still(log_w), CANDIDATES * rank)
    pivots, kept = _pivots(_Gaussian(still(size)), still(keys)[sample], rank)
    Z = keys[sample[pivots]]
    seen = _data(gaussian, Z, keys, jnp.concatenate([w, w * kernel.values], axis=1))
    y = _evaluated(gaussian, Z, q, _solved(gaussian(Z, Z), kept, seen))
    log_scale = top + size * jnp.sum(q**2, axis=1) / 2
    log_own, least, moment = None, jnp.zeros(len(q)), y[:, 1:]
    if kernel.own:
        log_own = kernel.beta * jnp.sum(kernel.queries * keys, axis=1)
        log_own = log_own + kernel.log_weights
        least = jnp.exp(log_own - log_scale)
        moment = moment - least[:, None] * kernel.values
    total = jnp.maximum(y[:, 0], jnp.finfo(y.dtype).tiny)
    out = KernelSum(log_scale + jnp.log(total), log_scale, moment, log_own)
    out = recompute_exactly(kernel, out, ~(y[:, 0] > (1 - tol) * still(least)))
    rows = _drawn(for_rows, jnp.zeros(len(q)), check)
    return out, error_on(*still((kernel, out)), rows)


def _drawn(key: Array, log_weights: Float[Array, "n"], count: int) -> Int[Array, "c"]:
    """At most `count` different indices, drawn by weight, in increasing order."""
    n = log_weights.shape[0]
    if count >= n:
        return jnp.arange(n)
    luck = log_weights + jax.random.gumbel(key, (n,))
    return jnp.sort(jax.lax.top_k(luck, count)[1])


def _pivots(
    gaussian: _Gaussian, points: Float[Array, "c d"], rank: int
) -> tuple[Int[Array, "r"], Bool[Array, "r"]]:
    """Each landmark is the point that those before it explain least; which matter."""
    c = points.shape[0]
    rank = min(rank, c)

    def step(j, state):
        L, left, pivots, kept = state
        p = jnp.argmax(left)
        column = gaussian(points, points[p][None])[:, 0] - L @ L[p]
        good = left[p] > RESOLVED
        column = jnp.where(good, column / jnp.sqrt(jnp.maximum(left[p], RESOLVED)), 0.0)
        left = jnp.maximum(left - column**2, 0.0).at[p].set(0.0)
        return L.at[:, j].set(column), left, pivots.at[j].set(p), kept.at[j].set(good)

    start = (
        jnp.zeros((c, rank)),
        jnp.ones(c),
        jnp.zeros(rank, int),
        jnp.zeros(rank, bool),
    )
    return jax.lax.fori_loop(0, rank, step, start)[2:]


def _solved(S: Float[Array, "r r"], kept: Bool[Array, "r"], seen: Array) -> Array:
    """S^{-1} times what the landmarks saw; those that are not kept see nothing."""
    both = kept[:, None] & kept[None, :]
    S = jnp.where(both, S, jnp.eye(len(kept)))
    factor = jnp.linalg.cholesky(S + jnp.finfo(S.dtype).eps * jnp.eye(len(kept)))
    seen = jnp.where(kept[:, None], seen, 0.0)
    return jax.scipy.linalg.cho_solve((factor, True), seen)


def _data(gaussian, Z, keys, u) -> Float[Array, "r e"]:
    """sum_j G(Z, k_j) u_j, a block of keys at a time."""

    @jax.checkpoint
    def add(total, block):
        k, u = block
        return total + gaussian(k, Z).T @ u, None

    start = jnp.zeros((Z.shape[0], u.shape[1]))
    return jax.lax.scan(add, start, (_blocks(keys), _blocks(u)))[0]


def _evaluated(gaussian, Z, q, table) -> Float[Array, "m e"]:
    """G(q_i, Z) times the table, a block of queries at a time."""
    one = jax.checkpoint(lambda q: gaussian(q, Z) @ table)
    return jax.lax.map(one, _blocks(q)).reshape(-1, table.shape[1])[: q.shape[0]]


def _blocks(a: Float[Array, "n e"]) -> Float[Array, "s b e"]:
    """Blocks of equal size, padded by zeros."""
    n, e = a.shape
    count = -(-n // ROWS)
    width = -(-n // count)
    return jnp.pad(a, ((0, count * width - n), (0, 0))).reshape(count, width, e)
