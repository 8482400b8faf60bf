"""Local maxima of D, the candidates for new atoms and the value of the certificate.

Newton's method on log D, kept within a radius and turned uphill where D is convex,
climbs fast. With R the law on the data proportional to p_i L_i(x) / f_i,

    grad log D = E_R[grad log L],
    Hess log D = Cov_R(grad log L) + E_R[Hess log L];

for unit Gaussian noise these are E_R[X] - x and Cov_R(X) - I.
"""

from itertools import product

import numpy as np
from jaxtyping import Float

from pushforward.statistics.mixtures._likelihood import (
    BLOCK,
    AbstractSample,
    log_certificate,
)

GRID_SPACING = {1: 0.2, 2: 0.3}  # maxima of D are unit-scale objects
GRID_NODES = 40_000
STARTS = 4_000  # beyond this many data, every k-th datum starts an ascent
EXTRA = 300  # more atoms than this are thinned before they start ascents
APART = 0.05
FLAT = 1e-6  # curvature below which a Newton step is no longer believed
ROUNDING = 1e-14  # of log D
CLOSE = 1e-8  # to a maximum: D is then known to the square of it
SAME = 1e-5  # two ascents that end closer than this found one maximum


def find_modes(
    sample: AbstractSample,
    log_f: Float[np.ndarray, "n"],
    extra: Float[np.ndarray, "k d"],
) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "m"]]:
    """Local maxima of D and log D there, highest first.

    Ascents start at the local maxima over a grid (d <= 2) or at the data, and at
    `extra` (the current atoms). The search is exhaustive up to the grid in d <= 2
    and a multi-start search above.
    """
    if len(extra) > EXTRA:  # a descent with a particle per datum: most coincide
        extra = _highest_apart(extra, log_certificate(extra, sample, log_f))
    starts = _starts(sample, log_f)
    d = starts.shape[1]
    if d in GRID_SPACING:  # what is overlooked there is found by the proof
        starts = starts[_distance(starts, extra) > 1.5 * GRID_SPACING[d]]
    x, value = _ascend(sample, log_f, np.concatenate([starts, extra]))
    order = np.argsort(-value, kind="stable")
    x, value = x[order], value[order]
    keep: list[int] = []
    for i in range(len(x)):
        if _distance(x[i : i + 1], x[keep])[0] > SAME:
            keep.append(i)
    return x[keep], value[keep]


def _highest_apart(points: np.ndarray, log_d: np.ndarray) -> np.ndarray:
    """Up to EXTRA points of largest D, mutually farther than APART."""
    kept: list[int] = []
    for i in np.argsort(-log_d, kind="stable"):
        if _distance(points[i : i + 1], points[kept])[0] > APART:
            kept.append(i)
        if len(kept) == EXTRA:
            break
    return points[kept]


def _distance(x: np.ndarray, y: np.ndarray) -> Float[np.ndarray, "m"]:
    """From each x to the nearest y."""
    squares = np.sum((x[:, None] - y[None]) ** 2, axis=2)
    return np.sqrt(squares.min(axis=1, initial=np.inf))


def _starts(sample: AbstractSample, log_f: np.ndarray) -> np.ndarray:
    d, box = sample.places.shape[1], sample.box(np.log(sample.weights) - log_f)
    if d in GRID_SPACING and box is not None:
        low, high = box
        sizes = np.ceil((high - low) / GRID_SPACING[d]).astype(np.int64) + 1
        if np.prod(sizes.astype(float)) <= GRID_NODES:
            axes = [np.linspace(low[k], high[k], sizes[k]) for k in range(d)]
            return _grid_maxima(sample, log_f, axes)
    stride = -(-len(sample.places) // STARTS)
    return sample.places[::stride]


def _grid_maxima(
    sample: AbstractSample, log_f: np.ndarray, axes: list[np.ndarray]
) -> np.ndarray:
    """Grid nodes whose D is at least that of every neighbor, diagonals included."""
    shape, nodes = tuple(len(axis) for axis in axes), nodes_of(axes)
    log_ratio = np.log(sample.weights) - log_f
    if np.ptp(log_ratio) > 600:  # more than an exponent can hold
        value = log_certificate(nodes, sample, log_f).reshape(shape)
    else:
        value = on_grid(sample, log_ratio - log_ratio.max(), axes)
    padded = np.pad(value, 1, constant_values=-np.inf)
    highest = np.ones(shape, dtype=bool)
    for shift in product((-1, 0, 1), repeat=len(axes)):
        window = tuple(
            slice(1 + s, 1 + s + size) for s, size in zip(shift, shape, strict=True)
        )
        highest &= value >= padded[window]
    return nodes[highest.reshape(-1)]


def on_grid(
    sample: AbstractSample, log_ratio: Float[np.ndarray, "n"], axes: list[np.ndarray]
) -> Float[np.ndarray, "a *b"]:
    """sum_i e^{log_ratio_i} L_i on a tensor grid, by a product where L is one."""
    shape = tuple(len(axis) for axis in axes)
    if sample.factor(0, axes[0][:1]) is None:
        log_f = np.log(sample.weights) - log_ratio
        return np.exp(log_certificate(nodes_of(axes), sample, log_f)).reshape(shape)
    ratio, value = np.exp(log_ratio), np.zeros(shape)
    rows = max(1, BLOCK // (8 * max(shape)))
    for s in range(0, len(ratio), rows):
        part = slice(s, s + rows)
        factors = [sample.factor(k, axis, part) for k, axis in enumerate(axes)]
        last = factors[-1] * ratio[part]
        value += last.sum(axis=1) if len(axes) == 1 else factors[0] @ last.T
    return value


def nodes_of(axes: list[np.ndarray]) -> Float[np.ndarray, "m d"]:
    """The points of a tensor grid."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _ascend(
    sample: AbstractSample, log_f: np.ndarray, starts: np.ndarray, rounds: int = 60
) -> tuple[np.ndarray, np.ndarray]:
    """Newton on log D, uphill along every axis, each start with its own radius."""
    x, step = starts.copy(), np.zeros_like(starts)
    value, radius = np.full(len(x), -np.inf), np.ones(len(x))
    newton = np.zeros_like(x)
    live = np.arange(len(x))
    for _ in range(rounds):
        found, onward = _local(sample, log_f, sample.inside(x[live] + step[live]))
        up = found >= value[live] - ROUNDING
        higher, lower = live[up], live[~up]
        radius[lower] = np.linalg.norm(step[lower], axis=1) / 4
        radius[higher] *= 2
        x[higher] = sample.inside(x[higher] + step[higher])
        value[higher] = np.maximum(found[up], value[higher])
        newton[higher] = onward[up]
        length = np.linalg.norm(newton[live], axis=1)
        shorter = np.minimum(length, radius[live])
        step[live] = (shorter / np.maximum(length, 1e-300))[:, None] * newton[live]
        live = live[shorter > CLOSE * (1 + np.abs(x[live]).max(axis=1))]
        if not len(live):
            break
    return x, value


def _local(
    sample: AbstractSample, log_f: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """log D(x) and the Newton step, in blocks."""
    log_ratio = np.log(sample.weights) - log_f
    rows = max(1, BLOCK // len(log_f))
    parts = [
        _local_block(sample, log_ratio, x[s : s + rows]) for s in range(0, len(x), rows)
    ]
    value, newton = (np.concatenate(p) for p in zip(*parts, strict=True))
    return value, newton


def _local_block(
    sample: AbstractSample, log_ratio: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r = sample.statistics.shape[1]
    logs = sample.log_kernel(x) + log_ratio
    top = logs.max(axis=1, keepdims=True)
    total, mean, second = np.split(
        np.exp(logs - top) @ sample.moments, [1, 1 + r], axis=1
    )
    value = top[:, 0] + np.log(total[:, 0])
    mean, second = mean / total, (second / total).reshape(-1, r, r)
    covariance = second - mean[:, :, None] * mean[:, None, :]
    slope, concavity = sample.tilted(mean, covariance, x)
    bends, axes = np.linalg.eigh(concavity)
    uphill = np.einsum("mkl,mk->ml", axes, slope) / np.maximum(np.abs(bends), FLAT)
    return value, np.einsum("mkl,ml->mk", axes, uphill)
