"""Pieces gathered into blocks, and the scan that applies them.

One piece, x' = w (a.x + b)_+ for a time T, has the closed form

    x + u (a.x + b)_+,   u = w (e^{cT} - 1) / c,   c = a.w,   log det = cT 1{a.x + b > 0}.

A strip shift is four such shears with weights of size A/delta that cancel; run one
by one they cost log10(A/delta) digits. Neighbors with the same `a`, parallel `w` and
c = 0 commute, so their sum is a piecewise-linear profile of z = a.x,

    x + e sum_g slope_g clip(z - start_g, 0, length_g),

whose segments of slope zero drop out. Each term is as small as what it moves, no
digit is lost, and there is half the work. [geshkovski2026conditional]
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import is_traced

GROUP = 4  # a strip shift; longer runs are cut
CHUNK = 4096  # points per pass on a CPU: they stay in the cache
WIDE_CHUNK = 262144  # on an accelerator: few launches
BUDGET = 2**24  # numbers per chunk at most, so that memory stays linear


class Blocks(NamedTuple):
    """B maps x + e sum_g slope_g clip(a.x - start_g, 0, length_g), applied in order.

    `log_factor` is the log-determinant where a.x > threshold.
    """

    a: Array
    e: Array
    start: Array
    slope: Array
    length: Array
    threshold: Array
    log_factor: Array


def forward_blocks(w, a, b, durations) -> Blocks:
    """The blocks of pieces run in order."""
    if is_traced(w, a, b, durations):
        return _single(w, a, b, durations, jnp)
    numbers = [np.asarray(v) for v in (w, a, b, durations)]
    return _grouped(*numbers)


def inverse_blocks(w, a, b, durations) -> Blocks:
    """The blocks of the same pieces undone: last first, with -w for w."""
    return forward_blocks(-w[::-1], a[::-1], b[::-1], durations[::-1])


def _single(w, a, b, durations, np_) -> Blocks:
    """One block per piece; also under a JAX transformation."""
    exponent = np_.sum(a * w, axis=1) * durations
    small = np_.abs(exponent) < 1e-300  # shears, where (e^s - 1)/s is one
    ratio = np_.where(
        small, 1.0, np_.expm1(exponent) / np_.where(small, 1.0, exponent)
    )
    e = w * (durations * ratio)[:, None]
    one = np_.ones((len(b), 1), dtype=e.dtype)
    return Blocks(a, e, -b[:, None], one, one * np.inf, -b, exponent)


def _grouped(w, a, b, durations) -> Blocks:
    single = _single(w, a, b, durations, np)
    k = len(b)
    if k == 0:
        return single
    first = _first_of_group(w, a, single.log_factor)
    group = np.cumsum(first) - 1
    place = np.arange(k) - np.flatnonzero(first)[group]
    width = int(place.max()) + 1
    if width == 1:
        return single
    lead = np.flatnonzero(first)
    count = len(lead)
    axis = np.argmax(np.abs(w[lead]), axis=1)
    several = np.bincount(group) > 1
    e = np.where(several[:, None], np.eye(w.shape[1])[axis], single.e[lead])
    start = np.full((count, width), np.inf)
    jump = np.zeros((count, width))
    start[group, place] = -b
    along = single.e[np.arange(k), axis[group]]
    jump[group, place] = np.where(several[group], along, 1.0)
    order = np.argsort(start, axis=1, kind="stable")
    start, jump = (np.take_along_axis(v, order, axis=1) for v in (start, jump))
    slope = np.cumsum(jump, axis=1)
    with np.errstate(invalid="ignore"):  # inf - inf past the last knot
        length = np.diff(start, axis=1, append=np.inf)
    slope[np.isinf(start)] = 0.0
    segments = _without_flats(start, slope, length)
    threshold, log_factor = single.threshold[lead], single.log_factor[lead]
    return Blocks(a[lead], e, *segments, threshold, log_factor)


def _first_of_group(w, a, exponent) -> np.ndarray:
    """Which pieces begin a group: others extend the shear of their predecessor."""
    shear = exponent == 0
    same = np.all(a[1:] == a[:-1], axis=1)
    axis = np.argmax(np.abs(w), axis=1)
    parallel = axis[1:] == axis[:-1]
    # only along an axis: elsewhere rounding leaves a.w and cross products nonzero
    aligned = np.count_nonzero(w, axis=1) == 1
    joins = shear[1:] & shear[:-1] & same & parallel & aligned[1:] & aligned[:-1]
    first = np.concatenate([[True], ~joins])
    run_start = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    return (np.arange(len(first)) - run_start) % GROUP == 0


def _without_flats(start, slope, length) -> tuple[np.ndarray, ...]:
    """Segments of slope zero moved to the end and cut off."""
    flat = slope == 0
    order = np.argsort(flat, axis=1, kind="stable")
    width = max(1, int((~flat).sum(axis=1).max()))
    start, slope, length = (
        np.take_along_axis(v, order, axis=1)[:, :width] for v in (start, slope, length)
    )
    flat = slope == 0
    return np.where(flat, 0.0, start), slope, np.where(flat, 0.0, length)


def apply(
    blocks: Blocks, x: Float[Array, "n d"]
) -> tuple[Float[Array, "n d"], Float[Array, "n"]]:
    """Images of the rows of x, and the log-determinant at each of them."""
    n, d = x.shape
    if n == 0 or len(blocks.threshold) == 0:
        return x, jnp.zeros(n, x.dtype)
    blocks = jax.tree_util.tree_map(lambda v: jnp.asarray(v, x.dtype), blocks)
    wide = jax.default_backend() != "cpu"
    chunk = min(WIDE_CHUNK if wide else CHUNK, max(1, BUDGET // d), n)
    return _scan(blocks, x, chunk, 4 if d <= 3 else 1)


@functools.partial(jax.jit, static_argnums=(2, 3))
def _scan(blocks: Blocks, x: Array, chunk: int, unroll: int):
    n, d = x.shape
    count = -(-n // chunk)
    padded = jnp.zeros((count * chunk, d), x.dtype).at[:n].set(x)
    chunks = padded.reshape(count, chunk, d).transpose(0, 2, 1)

    def through(points):
        start = (points, jnp.zeros(chunk, x.dtype))
        return jax.lax.scan(_step, start, blocks, unroll=unroll)[0]

    y, log_det = jax.lax.map(through, chunks)
    return y.transpose(0, 2, 1).reshape(-1, d)[:n], log_det.reshape(-1)[:n]


def _step(carry, block: Blocks):
    """One block on a (d, chunk) array: coordinates first, so that points are lanes."""
    x, log_det = carry
    d = x.shape[0]
    if d <= 3:  # spelled out: one fused loop, no reduction
        z = functools.reduce(jnp.add, [block.a[i] * x[i] for i in range(d)])
    else:
        z = block.a @ x
    shift = jnp.zeros_like(z)
    for g in range(block.start.shape[0]):
        ramp = jnp.clip(z - block.start[g], 0.0, block.length[g])
        shift = shift + block.slope[g] * ramp
    x = x + block.e[:, None] * shift[None, :]
    log_det = log_det + jnp.where(z > block.threshold, block.log_factor, 0.0)
    return (x, log_det), None
