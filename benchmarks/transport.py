"""Entropic transport beside POT and OTT, which hold the table.

All stop when the marginals are off by 1e-6 in L1; `error` is our proved gap, in units
of eps, or the largest difference to the peer's answers for a batch.
"""

import importlib.util
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from benchmarks.contest import OURS, Contestants, compared, rounds_of
from pushforward import transport

EPS, TOL = 0.05, 1e-6
LARGEST_FOR_POT = 20_000  # the table and its exponential: 6.4 GB


def rows(quick: bool) -> Iterator[dict]:
    """Cost, divergence with gradient, a batch, and a million points on spheres."""
    for d in (3,) if quick else (3, 64):
        for n in (1_000,) if quick else (4_000, 20_000):
            yield from _cost(n, d, quick)
    yield from _divergence(500 if quick else 4_000, 3, quick)
    yield from _batch(50 if quick else 1_000, 128, quick)
    for d, name in ((2, "circle"), (3, "S^2")):
        yield from _sphere(50_000 if quick else 1_000_000, d, name, quick)


def clouds(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two normal clouds, a third of a unit apart, of the same size whatever d is."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, n, d)) / np.sqrt(d)
    return x, y + 0.3 / np.sqrt(d)


def _cost(n: int, d: int, quick: bool) -> Iterator[dict]:
    x, y = clouds(n, d)
    ours = lambda: transport.entropic_plan(x, y, EPS, tol=TOL)  # noqa: E731
    contestants: Contestants = {OURS: ours}
    if n <= LARGEST_FOR_POT and importlib.util.find_spec("ot"):
        contestants["POT, with the table"] = lambda: _pot(x, y, EPS)
    if n <= 4_000 and importlib.util.find_spec("ott"):
        contestants["OTT, with the table"] = _ott(x, y)
    error = ours().gap / EPS
    common = {"work": f"entropic cost, eps={EPS:g}", "n": n, "d": d, "dtype": "float64"}
    yield from compared(contestants, rounds_of(quick), common, "", error)


def _pot(x: np.ndarray, y: np.ndarray, eps: float) -> float:
    import ot

    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    table = ot.dist(x, y)
    plan = ot.sinkhorn(a, b, table, eps, stopThr=TOL, numItermax=20_000, warn=False)
    return float(np.sum(plan * table))


def _ott(x: np.ndarray, y: np.ndarray):
    from ott.geometry import pointcloud
    from ott.solvers import linear

    @jax.jit
    def solve(x, y):
        geometry = pointcloud.PointCloud(x, y, epsilon=EPS)
        out = linear.solve(geometry, threshold=TOL, max_iterations=20_000)
        return out.reg_ot_cost

    points = jnp.asarray(x), jnp.asarray(y)
    return lambda: solve(*points).block_until_ready()


def _divergence(n: int, d: int, quick: bool) -> Iterator[dict]:
    x, y = map(jnp.asarray, clouds(n, d))

    @jax.jit
    def both(x, y):
        return jax.value_and_grad(transport.sinkhorn_divergence)(x, y, EPS, tol=TOL)

    contestants: Contestants = {OURS: lambda: jax.block_until_ready(both(x, y))}
    tight = transport.sinkhorn_divergence(x, y, EPS, tol=1e-9)
    error = abs(float(both(x, y)[0] - tight))
    common = {"work": "divergence and its gradient", "n": n, "d": d, "dtype": "float64"}
    yield from compared(contestants, rounds_of(quick), common, "", error)


def _batch(count: int, n: int, quick: bool) -> Iterator[dict]:
    pairs = [clouds(n, 3, seed) for seed in range(count)]
    xs, ys = zip(*pairs, strict=True)

    def ours():
        return transport.sinkhorn_divergences(xs, ys, 0.2, tol=TOL).block_until_ready()

    contestants: Contestants = {OURS: ours}
    error = 0.0
    if importlib.util.find_spec("ot"):
        contestants["POT, one by one"] = lambda: [_pot_divergence(*p) for p in pairs]
        theirs = np.array([_pot_divergence(*pair) for pair in pairs[:20]])
        error = float(np.abs(np.asarray(ours())[:20] - theirs).max())
    work = f"{count} divergences of {n} points"
    common = {"work": work, "n": n, "d": 3, "dtype": "float64"}
    yield from compared(contestants, rounds_of(quick), common, "", error)


def _pot_divergence(x: np.ndarray, y: np.ndarray) -> float:
    import ot

    values = []
    for u, v in ((x, y), (x, x), (y, y)):
        a, b = np.full(len(u), 1 / len(u)), np.full(len(v), 1 / len(v))
        table = ot.dist(u, v)
        plan = ot.sinkhorn(a, b, table, 0.2, stopThr=TOL, numItermax=20_000, warn=False)
        entropy = np.sum(plan * np.log(np.maximum(plan, 1e-300) / np.outer(a, b)))
        values.append(np.sum(plan * table) + 0.2 * entropy)
    return float(values[0] - (values[1] + values[2]) / 2)


def _sphere(n: int, d: int, name: str, quick: bool) -> Iterator[dict]:
    """Uniform tokens against a cloud drawn to one side, eps = 1/2."""
    mu = pf.Particles.uniform(pf.Sphere(d), n, key=jax.random.key(0))
    z = np.random.default_rng(1).standard_normal((n, d)) + 0.5 * np.eye(d)[0]
    nu = pf.Particles.normalized(pf.Sphere(d), z)
    solve = lambda: transport.entropic_plan(mu, nu, 0.5, tol=TOL)  # noqa: E731
    error = solve().gap / 0.5
    work = f"entropic cost on the {name}, eps=0.5"
    common = {"work": work, "n": n, "d": d, "dtype": "float64"}
    yield from compared({OURS: solve}, rounds_of(quick), common, "", error)
