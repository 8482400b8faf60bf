"""General weights, heads and whole flows, beside torch and JAX.

A whole flow by a peer is what a careful user would write: the drift by
`scaled_dot_product_attention` inside torchdiffeq, or densely inside diffrax, with an
adaptive method of the same order and the same tolerances as ours.
"""

import importlib.util
from collections.abc import Callable, Iterator

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from benchmarks.contest import OURS, Contestants, compared, rounds_of
from benchmarks.exact import BETA, tokens

TOL, DENSE = 1e-6, 8000  # beyond, a dense matrix would not fit beside the others
TORCH = importlib.util.find_spec("torch") is not None
ODE = TORCH and importlib.util.find_spec("torchdiffeq") is not None


def rows(quick: bool) -> Iterator[dict]:
    """One drift with weights and with heads, then flows of 4,000 and 20,000 tokens."""
    n = 1000 if quick else 4000
    for d in (16,) if quick else (3, 16, 64):
        yield from weighted_rows(n, d, quick)
    yield from heads_rows(n, 128, 8, quick)
    for d in (3,) if quick else (3, 16, 64):
        yield from flow_rows(n, d, 2.0, quick)
    if not quick:
        for d in (3, 16, 64):
            yield from flow_rows(20_000, d, 0.3, quick)


def weighted_rows(n: int, d: int, quick: bool) -> Iterator[dict]:
    """One drift of attention with matrices Q, K and V."""
    x = tokens(n, d, "float64")
    Q, K, V = _matrices(1, d, d)[:, 0]
    field = pf.Attention(BETA, Q, K, V)
    drive = jax.jit(lambda points: _vector(field, points))
    error = _error(drive(x), _average(x, [(Q, K, V)]))
    contestants: Contestants = {OURS: lambda: drive(x).block_until_ready()}
    contestants |= _attending(x, [(Q, K, V)])
    common = {"work": "drift with Q, K, V", "n": n, "d": d, "dtype": "float64"}
    floor = f"{n * n / 1e6:.0f}M exponentials"
    yield from compared(contestants, rounds_of(quick), common, floor, error)


def heads_rows(n: int, d: int, heads: int, quick: bool) -> Iterator[dict]:
    """One drift of a layer: heads of rank d / heads, as models have them."""
    k = d // heads
    x = tokens(n, d, "float64")
    Q, K, U = _matrices(heads, k, d)
    O = np.swapaxes(U[::-1], 1, 2)
    parts = [pf.Attention(BETA, *w[:2], w[2:]) for w in zip(Q, K, O, U, strict=True)]
    drive = jax.jit(lambda points: _vector(pf.Heads(parts), points))
    whole = [(q, kk, o @ u) for q, kk, o, u in zip(Q, K, O, U, strict=True)]
    error = _error(drive(x), _average(x, whole))
    contestants: Contestants = {OURS: lambda: drive(x).block_until_ready()}
    if TORCH:
        contestants["torch SDPA, all heads"] = _torch_heads(x, Q, K, U, O)
    common = {"work": f"{heads} heads of rank {k}", "n": n, "d": d, "dtype": "float64"}
    floor = f"{heads * n * n / 1e6:.0f}M exponentials"
    yield from compared(contestants, rounds_of(quick), common, floor, error)


def flow_rows(n: int, d: int, t1: float, quick: bool) -> Iterator[dict]:
    """Tokens on the sphere under SA, first frame to last, at one tolerance."""
    x = tokens(n, d, "float64")
    solver = pf.Adaptive(rtol=TOL, atol=TOL)
    mu = pf.Particles(pf.Sphere(d), x)
    ours = lambda: pf.flow(pf.Attention(BETA), mu, t1, save=2, solver=solver)  # noqa: E731
    end = np.asarray(ours().final.points)
    others: dict[str, Callable[[], np.ndarray]] = {}
    if ODE:
        others["torchdiffeq, SDPA"] = _torch_flow(x, t1)
    if n <= DENSE:
        others["diffrax, JAX dense"] = _dense_flow(x, t1)
    errors = [float(np.abs(run() - end).max()) for run in others.values()]
    common = {"work": f"flow to t = {t1:g}", "n": n, "d": d, "dtype": "float64"}
    rounds = 1 if n > DENSE else min(3, rounds_of(quick))
    floor = f"rtol {TOL:g}; error: from the peers' end"
    error = max(errors, default=0.0)
    contestants: Contestants = {OURS: ours, **others}
    yield from compared(contestants, rounds, common, floor, error)


def _matrices(count: int, k: int, d: int) -> np.ndarray:
    """Q, K, V of `count` heads, of the size that keeps logits of order beta."""
    return np.random.default_rng(5).normal(size=(3, count, k, d)) / np.sqrt(d)


def _vector(field, points):
    """The drive of a field as one array."""
    mu = pf.Particles(pf.Sphere(points.shape[1]), points)
    drive = field.drive(0.0, mu)
    radial = 0.0 if drive.radial is None else drive.radial[:, None] * points
    return drive.vector + radial


def _average(x, heads, rows: int = 200) -> np.ndarray:
    """Densely, for the first rows."""
    x = np.asarray(x)
    total = np.zeros((rows, x.shape[1]))
    for Q, K, V in heads:
        s = BETA * (x[:rows] @ Q.T) @ (x @ K.T).T
        a = np.exp(s - s.max(axis=1, keepdims=True))
        total += (a / a.sum(axis=1, keepdims=True)) @ x @ V.T
    return total


def _error(found, exact: np.ndarray) -> float:
    return float(np.abs(np.asarray(found)[: len(exact)] - exact).max())


def _attending(x, heads) -> Contestants:
    """One head by torch and by JAX, projections included."""
    ((Q, K, V),) = heads

    @jax.jit
    def dense(x):
        a = jax.nn.softmax(BETA * (x @ Q.T) @ (x @ K.T).T, axis=-1)
        return a @ (x @ V.T)

    found: Contestants = {"JAX dense": lambda: dense(x).block_until_ready()}
    if TORCH:
        found["torch SDPA"] = _torch_heads(x, Q[None], K[None], V[None], None)
    return found


def _torch_heads(x, Q, K, U, O) -> Callable:
    import torch

    y = torch.tensor(np.asarray(x))
    Q, K, U = (torch.tensor(np.ascontiguousarray(w)) for w in (Q, K, U))
    out = None if O is None else torch.tensor(np.ascontiguousarray(O))
    attend = torch.nn.functional.scaled_dot_product_attention

    def run():
        q, k, v = (torch.einsum("nd,hkd->hnk", y, w) for w in (Q, K, U))
        a = attend(q[None], k[None], v[None], scale=BETA)[0]
        return a[0] if out is None else torch.einsum("hnk,hdk->nd", a, out)

    return run


def _torch_flow(x, t1: float) -> Callable[[], np.ndarray]:
    import torch
    from torchdiffeq import odeint

    y, times = torch.tensor(np.asarray(x)), torch.tensor([0.0, t1], dtype=torch.float64)
    attend = torch.nn.functional.scaled_dot_product_attention

    def drift(t, x):
        a = attend(x[None, None], x[None, None], x[None, None], scale=BETA)[0, 0]
        return a - (a * x).sum(dim=1, keepdim=True) * x

    def run() -> np.ndarray:
        with torch.no_grad():
            return odeint(drift, y, times, rtol=TOL, atol=TOL, method="dopri5")[
                -1
            ].numpy()

    return run


def _dense_flow(x, t1: float) -> Callable[[], np.ndarray]:
    def drift(t, x, args):
        a = jax.nn.softmax(BETA * x @ x.T, axis=-1) @ x
        return a - jnp.sum(a * x, axis=1, keepdims=True) * x

    @jax.jit
    def solve(x):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(drift),
            diffrax.Tsit5(),
            0.0,
            t1,
            0.01,
            x,
            stepsize_controller=diffrax.PIDController(rtol=TOL, atol=TOL),
            saveat=diffrax.SaveAt(t1=True),
        ).ys[0]

    return lambda: np.asarray(solve(x))
