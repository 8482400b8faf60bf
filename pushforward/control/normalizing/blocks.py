"""Pieces gathered into blocks, and the scan that applies them.

One piece, x' = w (a.x + b)_+ for a time T, has the closed form

    x + u (a.x + b)_+,   u = w (e^{cT} - 1) / c,   c = a.w,
    log det = cT 1{a.x + b > 0}.

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
FEW = 4  # coordinates that are kept in arrays of their own
BUDGET = 2**24  # numbers per chunk at most, so that memory stays linear

Numbers = Array | np.ndarray


class ShearStack(NamedTuple):
    """B maps x + e sum_g slope_g clip(a.x - start_g, 0, length_g), applied in order.

    `log_factor` is the log-determinant where a.x > threshold.
    """

    a: Numbers
    e: Numbers
    start: Numbers
    slope: Numbers
    length: Numbers
    threshold: Numbers
    log_factor: Numbers


def forward_blocks(w, a, b, durations) -> ShearStack:
    """The blocks of pieces run in order."""
    if is_traced(w, a, b, durations):
        return _single(w, a, b, durations, jnp)
    numbers = [np.asarray(v) for v in (w, a, b, durations)]
    return _grouped(*numbers)


def inverse_blocks(w, a, b, durations) -> ShearStack:
    """The blocks of the same pieces undone: last first, with -w for w."""
    return forward_blocks(-w[::-1], a[::-1], b[::-1], durations[::-1])


def _single(w, a, b, durations, np_) -> ShearStack:
    """One block per piece; also under a JAX transformation."""
    exponent = np_.sum(a * w, axis=1) * durations
    small = np_.abs(exponent) < 1e-300  # shears, where (e^s - 1)/s is one
    ratio = np_.where(small, 1.0, np_.expm1(exponent) / np_.where(small, 1.0, exponent))
    e = w * (durations * ratio)[:, None]
    one = np_.ones((len(b), 1), dtype=e.dtype)
    return ShearStack(a, e, -b[:, None], one, one * np.inf, -b, exponent)


def _grouped(w, a, b, durations) -> ShearStack:
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
    start, slope, length = _without_flats(start, slope, length)
    threshold, log_factor = single.threshold[lead], single.log_factor[lead]
    return ShearStack(a[lead], e, start, slope, length, threshold, log_factor)


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


def _without_flats(start, slope, length) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    blocks: ShearStack, x: Float[Array, "n d"]
) -> tuple[Float[Array, "n d"], Float[Array, "n"]]:
    """Images of the rows of x, and the log-determinant at each of them.

    Points go through in chunks of a few fixed sizes, blocks are filled up with
    identities to a few fixed numbers: another flow seldom means another compilation.
    """
    n, d = x.shape
    if n == 0 or len(blocks.threshold) == 0:
        return x, jnp.zeros(n, x.dtype)
    blocks = ShearStack(*(jnp.asarray(v, x.dtype) for v in _filled(blocks)))
    most = CHUNK if jax.default_backend() == "cpu" else WIDE_CHUNK
    chunk = min(most, max(1, BUDGET // d), _round_up(n))
    count = -(-n // chunk)
    padded = jnp.zeros((count * chunk, d), x.dtype).at[:n].set(x)
    chunks = padded.reshape(count, chunk, d)
    if is_traced(blocks, x):
        y, log_det = jax.lax.map(lambda c: _scan(blocks, c), chunks)
        return y.reshape(-1, d)[:n], log_det.reshape(-1)[:n]
    # one call per chunk: independent calls share the cores among them
    parts = [_scan(blocks, c) for c in chunks]
    y, log_det = (jnp.concatenate(part) for part in zip(*parts, strict=True))
    return y[:n], log_det[:n]


def _filled(blocks: ShearStack) -> tuple:
    """Blocks, then identities up to the next of a few sizes."""
    k = len(blocks.threshold)
    more = _round_up(k) - k
    if more == 0 or is_traced(blocks):
        return tuple(blocks)
    return tuple(np.pad(v, [(0, more)] + [(0, 0)] * (v.ndim - 1)) for v in blocks)


def _round_up(k: int) -> int:
    """The next of 16, 20, 24, 28, 32, 40, 48, 56, 64, ...: at most a quarter more."""
    step = max(4, 2 ** max(0, (k - 1).bit_length() - 3))
    return max(16, -(-k // step) * step)


@jax.jit
def _scan(blocks: ShearStack, x: Float[Array, "n d"]):
    """All blocks on one chunk.

    In low dimension coordinates are separate arrays: a step is then one fused loop
    over points, six times faster than with one (d, n) array or with unrolled steps.
    """
    low = x.shape[1] <= FEW
    start = (tuple(x.T) if low else x.T, jnp.zeros(len(x), x.dtype))
    step = _low_step if low else _step
    y, log_det = jax.lax.scan(step, start, blocks)[0]
    return (jnp.stack(y, axis=1) if isinstance(y, tuple) else y.T), log_det


def _low_step(carry, block: ShearStack):
    x, log_det = carry
    z = functools.reduce(jnp.add, [a * x_i for a, x_i in zip(block.a, x, strict=True)])
    shift, log_det = _profile(block, z), _gained(block, z, log_det)
    return (
        tuple(x_i + e * shift for e, x_i in zip(block.e, x, strict=True)),
        log_det,
    ), None


def _step(carry, block: ShearStack):
    x, log_det = carry
    z = block.a @ x
    shift, log_det = _profile(block, z), _gained(block, z, log_det)
    return (x + block.e[:, None] * shift[None, :], log_det), None


def _profile(block: ShearStack, z: Array) -> Array:
    """sum_g slope_g clip(z - start_g, 0, length_g)."""
    shift = jnp.zeros_like(z)
    for g in range(block.start.shape[0]):
        ramp = z - block.start[g]
        ramp = jnp.where(ramp > 0, ramp, 0.0)  # faster than clip, which minds NaN
        ramp = jnp.where(ramp < block.length[g], ramp, block.length[g])
        shift = shift + block.slope[g] * ramp
    return shift


def _gained(block: ShearStack, z: Array, log_det: Array) -> Array:
    return log_det + jnp.where(z > block.threshold, block.log_factor, 0.0)
