"""Transport beside POT and OTT, which hold the table, and GeomLoss where it installs.

We and OTT stop when the marginals are off by 1e-6 in L1; POT looks at L2, and `floor`
says what that leaves in L1. `error` is our proved gap, in units of eps (of the cost
where transport is exact), or the largest difference to the peer's answers for a batch.
GeomLoss stops after its schedule of blurs: `floor` says how far off it was then.
"""

import importlib.util
import time
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from benchmarks.contest import OURS, Contestants, compared, rounds_of
from pushforward import transport

EPS, TOL = 0.05, 1e-6
LARGEST_FOR_POT = 20_000  # the table, its exponential and the plan: 16 GB
LONG_ROW = 10_000  # points: from here on two rounds have to do


def rows(quick: bool) -> Iterator[dict]:
    """Cost, divergence with gradient, a batch, and a million points on spheres."""
    for d in (3,) if quick else (3, 64):
        for n in (1_000,) if quick else (4_000, 20_000):
            yield from _cost(n, d, quick)
    yield from _divergence(500 if quick else 4_000, 3, quick)
    yield from _batch(50 if quick else 1_000, 128, quick)
    for n in (1_000,) if quick else (5_000, 20_000, 100_000):
        yield from _exact(n)
    for n in (200,) if quick else (1_000, 20_000):
        yield from _gromov(n)
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
    off: list[float] = []
    if n <= LARGEST_FOR_POT and importlib.util.find_spec("ot"):
        contestants["POT, with the table"] = lambda: off.append(_pot(x, y, EPS))
    if n <= 4_000 and importlib.util.find_spec("ott"):
        contestants["OTT, with the table"] = _ott(x, y)
    error = ours().gap / EPS
    common = {"work": f"entropic cost, eps={EPS:g}", "n": n, "d": d, "dtype": "float64"}
    rounds = 2 if n >= LONG_ROW else rounds_of(quick)
    for row in compared(contestants, rounds, common, "", error):
        if row["peer"].startswith("POT"):
            row["floor"] = f"POT: marginals off by {off[-1]:.1e}"
        yield row


def _pot(x: np.ndarray, y: np.ndarray, eps: float) -> float:
    """What the plan lacks in its marginals."""
    import ot

    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    table = ot.dist(x, y)
    plan = ot.sinkhorn(a, b, table, eps, stopThr=TOL, numItermax=20_000, warn=False)
    return float(sum(np.abs(plan.sum(axis=k) - w).sum() for k, w in ((1, a), (0, b))))


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
    tight = float(transport.sinkhorn_divergence(x, y, EPS, tol=1e-9))
    error, floor = abs(float(both(x, y)[0]) - tight), ""
    if importlib.util.find_spec("ott"):
        contestants["OTT, with the table"] = _ott_divergence(x, y)
    if importlib.util.find_spec("geomloss"):
        theirs = _geomloss(x, y)
        contestants["GeomLoss"] = theirs
        floor = f"GeomLoss is off by {abs(theirs() - tight):.1e}"
    common = {"work": "divergence and its gradient", "n": n, "d": d, "dtype": "float64"}
    yield from compared(contestants, rounds_of(quick), common, floor, error)


def _ott_divergence(x: jax.Array, y: jax.Array) -> Callable[[], object]:
    from ott.geometry import pointcloud
    from ott.tools import sinkhorn_divergence as ott

    def value(x, y):
        solve = {"threshold": TOL, "max_iterations": 20_000}
        return ott.sinkhorn_divergence(
            pointcloud.PointCloud, x, y, epsilon=EPS, solve_kwargs=solve
        )[0]

    both = jax.jit(jax.value_and_grad(value))
    return lambda: jax.block_until_ready(both(x, y))


def _geomloss(x: jax.Array, y: jax.Array) -> Callable[[], float]:
    """Half the cost and half of eps: its value is half of ours."""
    import geomloss
    import torch

    a, b = (torch.tensor(np.asarray(z)) for z in (x, y))
    backend = "online" if importlib.util.find_spec("pykeops") else "tensorized"
    loss = geomloss.SamplesLoss(
        "sinkhorn", p=2, blur=(EPS / 2) ** 0.5, scaling=0.9, backend=backend
    )

    def run() -> float:
        moved = a.clone().requires_grad_()
        value = 2 * loss(moved, b)
        value.backward()
        return float(value)

    return run


def _exact(n: int) -> Iterator[dict]:
    """Uniform points of a square: ours once; POT where its table fits, and without."""
    x, y = np.random.default_rng(0).random((2, n, 2))
    ours = _once(lambda: transport.optimal_plan(x, y))
    common = {"work": "exact transport in the plane", "n": n, "d": 2}
    common |= {"dtype": "float64", "our seconds": ours[1], "our CPU": ours[2]}
    common["error"] = ours[0].gap / ours[0].cost
    peers: dict[str, Callable[[], object]] = {}
    if importlib.util.find_spec("ot") and n <= 5_000:
        peers["POT, with the table"] = lambda: _pot_exact(x, y)
    for peer, run in peers.items():
        _, wall, cpu = _once(run)
        named = {"peer": peer, "peer seconds": wall, "peer CPU": cpu}
        yield common | named | {"ratio": wall / ours[1]}
    if not peers:
        yield common | {"peer": "none"}


def _pot_exact(x: np.ndarray, y: np.ndarray) -> float:
    import ot

    a = np.full(len(x), 1 / len(x))
    return float(ot.emd2(a, a, ot.dist(x, y), numItermax=100_000_000))


def _gromov(n: int) -> Iterator[dict]:
    """Squared distances inside a cloud and inside itself, turned and shuffled."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(n, 3)) ** 2 * [1.0, 1.5, 2.0]
    y = (x @ np.linalg.qr(rng.standard_normal((3, 3)))[0])[rng.permutation(n)]
    ours = lambda: transport.entropic_gromov_plan(x, y, 1.0)  # noqa: E731
    common = {"work": "entropic Gromov, eps=1", "n": n, "d": 3, "dtype": "float64"}
    if n > 1_000:
        found, wall, cpu = _once(ours)
        own = {"our seconds": wall, "our CPU": cpu, "error": found.gap}
        yield common | own | {"peer": "none"}
        return
    contestants: Contestants = {OURS: ours}
    if importlib.util.find_spec("ot"):
        contestants["POT, with tables"] = lambda: _pot_gromov(x, y)
    yield from compared(contestants, 3, common, "", ours().gap)


def _pot_gromov(x: np.ndarray, y: np.ndarray) -> object:
    """From the product of the measures, to the same coupling."""
    import ot

    a = np.full(len(x), 1 / len(x))
    options = {"epsilon": 1.0, "tol": TOL}
    return ot.gromov.entropic_gromov_wasserstein(
        ot.dist(x, x), ot.dist(y, y), a, a, "square_loss", **options
    )


def _once(run: Callable[[], object]) -> tuple:
    """An answer with its wall and CPU seconds: for what takes minutes."""
    start = time.perf_counter(), time.process_time()
    found = run()
    return found, time.perf_counter() - start[0], time.process_time() - start[1]


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
