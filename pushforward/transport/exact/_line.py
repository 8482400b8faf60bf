"""Transport on the line: sort, and couple equal quantiles.

W_p^p(mu, nu) = int_0^1 |F^{-1}(t) - G^{-1}(t)|^p dt for p >= 1; the optimal map is
G^{-1} o F, and (P_2(R), W_2) is flat, so barycenters average quantile functions.

Sliced Wasserstein distance: the mean over directions of the distance on the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Real
from scipy.sparse import csr_array
from scipy.stats import norm

from pushforward._checks import above_zero, scalar, whole
from pushforward.errors import InputError
from pushforward.transport._atoms import (
    Atoms,
    Plan,
    as_atoms,
    certified_dual,
    on_the_line,
    same_dimension,
    simplex_weights,
)

CERTIFY = 4_000_000  # pairs up to which the dual bound is checked against every cost


def line_plan(mu: object, nu: object, *, p: float = 2.0) -> Plan:
    """The monotone coupling of two measures on the line, in n log n.

    Optimal for every cost |x - y|^p, p >= 1. Points are (n,) or (n, 1). The coupling
    is sparse. `gap` compares with potentials read off the staircase; they are made
    feasible against all pairs where there are at most four million, else None.

    >>> line_plan([0.0, 1.0], [3.0, 2.0]).map.ravel().tolist()
    [2.0, 3.0]
    """
    p = _power(p)
    a, b = on_the_line("mu", mu), on_the_line("nu", nu)
    x, y = a.points[:, 0], b.points[:, 0]
    i, j, mass = staircase(x, a.weights, y, b.weights)
    total = float(mass @ np.abs(x[i] - y[j]) ** p)
    matrix = csr_array((mass, (i, j)), shape=(a.n, b.n))
    if a.n * b.n > CERTIFY:
        return Plan(matrix, a, b, total, total, None)
    table = np.abs(np.subtract.outer(x, y)) ** p
    f = staircase_potential(table, i, j)
    dual, potentials = certified_dual(table, f, a.weights, b.weights)
    return Plan(matrix, a, b, total, total, total - dual, potentials)


def line_distance(mu: object, nu: object, *, p: float = 2.0) -> float:
    """W_p between two measures on the line, without building the coupling."""
    p = _power(p)
    a, b = on_the_line("mu", mu), on_the_line("nu", nu)
    x, y = a.points[:, 0], b.points[:, 0]
    i, j, mass = staircase(x, a.weights, y, b.weights)
    return float((mass @ np.abs(x[i] - y[j]) ** p) ** (1 / p))


def line_barycenter(
    measures: Sequence[object],
    levels: Float[np.ndarray, "k"],
    *,
    weights: Real[ArrayLike, "m"] | Sequence | None = None,
) -> Float[np.ndarray, "k"]:
    """Quantiles of the W_2 barycenter at `levels`: the average of the quantiles."""
    if not len(measures):
        raise InputError("measures must not be empty; pass at least one.")
    t = np.asarray(levels, dtype=float)
    if not ((t > 0) & (t < 1)).all():
        raise InputError("levels must lie strictly between 0 and 1.")
    w = simplex_weights("weights", weights, len(measures))
    atoms = [on_the_line(f"measures[{k}]", mu) for k, mu in enumerate(measures)]
    return sum(
        (wk * quantiles(one, t) for wk, one in zip(w, atoms, strict=True)),
        start=np.zeros_like(t),
    )


def quantiles(mu: Atoms, levels: Float[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    """F^{-1}(t) = inf {x: F(x) >= t}."""
    order = np.argsort(mu.points[:, 0], kind="stable")
    reached = np.cumsum(mu.weights[order])
    index = np.searchsorted(reached * (1 + 1e-14), levels)
    return mu.points[order[np.minimum(index, mu.n - 1)], 0]


def power_distance_to_uniform(mu: object, *, p: float = 2.0) -> float:
    """W_p^p between a discrete measure and the uniform law on [0, 1], exactly.

    For n independent uniform points the mean at p = 2 is 1 / (6 n).
    """
    p = _power(p)
    a = on_the_line("mu", mu)
    x, low, high = _levels(a)
    signed = np.sign(high - x) * np.abs(high - x) ** (p + 1)
    signed -= np.sign(low - x) * np.abs(low - x) ** (p + 1)
    return float(signed.sum() / (p + 1))


def squared_distance_to_normal(
    mu: object, *, mean: float = 0.0, sd: float = 1.0
) -> float:
    """W_2^2 between a discrete measure and N(mean, sd^2), exactly."""
    sd = above_zero("sd", sd, "It is a standard deviation.")
    mean = float(scalar("mean", mean))
    if max(abs(mean), sd) > 1e100:
        raise InputError(
            f"`mean` and `sd` must be at most 1e100 in size, got {mean:g} and {sd:g}."
        )
    a = on_the_line("mu", mu)
    x, low, high = _levels(a)
    z, width = norm.ppf(np.stack([low, high])), high - low
    phi = norm.pdf(z)
    z_phi = np.where(np.isfinite(z), z, 0.0) * phi
    first = mean * width + sd * (phi[0] - phi[1])
    second = mean * (first + sd * (phi[0] - phi[1]))
    second += sd**2 * (width + z_phi[0] - z_phi[1])
    return float(np.sum(x**2 * width - 2 * x * first + second))


def staircase(
    x: np.ndarray, a: np.ndarray, y: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices and masses of the monotone coupling, in increasing order."""
    row, column = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    row, column = row[a[row] > 0], column[b[column] > 0]
    up_a, up_b = np.cumsum(a[row]), np.cumsum(b[column])
    up_a[-1] = up_b[-1] = 1.0
    levels = np.sort(np.concatenate([up_a, up_b]))
    # equal levels that differ by rounding are one level
    keep = np.append(True, np.diff(levels) > 4e-16 * len(levels))
    levels = levels[keep]
    mass = np.diff(levels, prepend=0.0)
    middle = levels - mass / 2
    i = row[np.minimum(np.searchsorted(up_a, middle), len(row) - 1)]
    j = column[np.minimum(np.searchsorted(up_b, middle), len(column) - 1)]
    kept = mass > 0
    return i[kept], j[kept], mass[kept]


def staircase_potential(table: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """f with f_i + g_j = c_ij along the staircase; diagonal moves pass by (i', j)."""
    f, g = np.zeros(table.shape[0]), np.zeros(table.shape[1])
    g[j[0]] = table[i[0], j[0]]
    for k in range(1, len(i)):
        if i[k] != i[k - 1]:
            f[i[k]] = table[i[k], j[k - 1]] - g[j[k - 1]]
        if j[k] != j[k - 1]:
            g[j[k]] = table[i[k], j[k]] - f[i[k]]
    return f


def _levels(a: Atoms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.argsort(a.points[:, 0], kind="stable")
    high = np.minimum(np.cumsum(a.weights[order]), 1.0)
    high[-1] = 1.0
    return a.points[order, 0], np.append(0.0, high[:-1]), high


def _power(p: float) -> float:
    p = above_zero("p", p, "W_1 and W_2 have p = 1 and p = 2.")
    if not 1 <= p <= 500:  # pi^p, a cost on the circle, must be a float
        raise InputError(f"p must lie between 1 and 500 on the line, got {p}.")
    return p


@dataclass(frozen=True)
class SlicedDistance:
    """SW_p with the Monte Carlo error of its p-th power over directions."""

    distance: float
    power: float
    standard_error: float


def sliced_distance(
    mu: object,
    nu: object,
    *,
    p: float = 2.0,
    projections: int = 500,
    seed: int,
) -> SlicedDistance:
    """SW_p^p = E over uniform directions u of W_p^p(<u, X>, <u, Y>).

    Costs n log n per direction and converges at n^{-1/2} in any dimension. `power` is
    SW_p^p, `standard_error` its error from finitely many directions.
    """
    p = _power(p)
    a, b = as_atoms("mu", mu), as_atoms("nu", nu)
    same_dimension(a, b)
    projections = whole("projections", projections, 2)
    direction = directions(a.points.shape[1], projections, seed)
    x, y = a.points @ direction.T, b.points @ direction.T
    equal = a.n == b.n and np.ptp(a.weights) == 0 and np.ptp(b.weights) == 0
    if equal:
        gaps = np.abs(np.sort(x, axis=0) - np.sort(y, axis=0))
        powers = np.mean(gaps**p, axis=0)
    else:
        powers = np.empty(projections)
        for k in range(projections):
            i, j, mass = staircase(x[:, k], a.weights, y[:, k], b.weights)
            powers[k] = mass @ np.abs(x[i, k] - y[j, k]) ** p
    mean = float(powers.mean())
    return SlicedDistance(mean ** (1 / p), mean, _error(powers, a.points.shape[1]))


def _error(powers: np.ndarray, d: int) -> float:
    """Standard error over independent frames; over directions if there is one frame."""
    whole = len(powers) // d
    if whole >= 2:
        powers = powers[: whole * d].reshape(whole, d).mean(axis=1)
    return float(powers.std(ddof=1) / np.sqrt(len(powers)))


def directions(d: int, count: int, seed: int) -> Float[np.ndarray, "k d"]:
    """`count` uniform unit vectors of R^d, in independent orthonormal frames.

    Each vector is uniform, and over a frame the mean of <u, m>^2 is exactly |m|^2 / d:
    a shift of the means adds no Monte Carlo error at p = 2.
    """
    count, seed = whole("projections", count, 1), whole("seed", seed, 0)
    rng = np.random.default_rng(seed)
    size = min(d, count)
    frames = [
        np.linalg.qr(rng.standard_normal((d, size)))[0].T
        for _ in range(-(-count // size))
    ]
    return np.concatenate(frames)[:count]
