"""The exact sum, one drift, beside torch, numba, JAX and numpy."""

import importlib.util
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.contest import OURS, Contestants, compared, rounds_of
from pushforward.sums import Exact, Kernel

BETA = 9.0
CASES = [(d, dtype) for dtype in ("float64", "float32") for d in (2, 3, 16, 128)]


def rows(quick: bool) -> Iterator[dict]:
    """Every (d, dtype) of the table; n = 4,000, and 2,000 in a hurry."""
    n = 2000 if quick else 4000
    cases = CASES if not quick else [(3, "float64"), (16, "float32")]
    for d, dtype in cases:
        yield from all_pairs_rows(n, d, dtype, quick)
    yield from causal_rows(n, quick)


def all_pairs_rows(n: int, d: int, dtype: str, quick: bool) -> Iterator[dict]:
    """Every token sees every token."""
    x, ours = tokens(n, d, dtype), drift()
    contestants: Contestants = {OURS: lambda: ours(x, BETA).block_until_ready()}
    contestants |= {name: make(x) for name, make in peers(quick).items()}
    error = float(np.abs(np.asarray(ours(x, BETA)) - reference(x)).max())
    flops = n * n * (4 * d + 2)
    floor = f"{flops / 1e9:.2g} GFLOP, {n * n / 1e6:.0f}M exponentials"
    common = {"work": "exact sum", "n": n, "d": d, "dtype": dtype}
    yield from compared(contestants, rounds_of(quick), common, floor, error)


def causal_rows(n: int, quick: bool) -> Iterator[dict]:
    """A causal sum touches half of the pairs, as ours does without a mask."""
    x = tokens(n, 3, "float64")
    ours = drift(causal=True)
    contestants: Contestants = {OURS: lambda: ours(x, BETA).block_until_ready()}
    if importlib.util.find_spec("torch"):
        contestants["torch SDPA, causal"] = torch_attention(x, causal=True)
    common = {"work": "causal sum", "n": n, "d": 3, "dtype": "float64"}
    error = float(np.abs(np.asarray(ours(x, BETA)) - reference(x, causal=True)).max())
    floor = f"{n * n / 2e6:.0f}M exponentials"
    yield from compared(contestants, rounds_of(quick), common, floor, error)


def tokens(n: int, d: int, dtype: str) -> jax.Array:
    """Uniform on the sphere."""
    x = np.random.default_rng(0).normal(size=(n, d))
    return jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), dtype)


def drift(causal: bool = False) -> Callable:
    """The softmax average seen from every token, by our exact sum."""

    @jax.jit
    def average(x, beta):
        n, beta = x.shape[0], jnp.asarray(beta, x.dtype)
        weights = jnp.full(n, -np.log(n), x.dtype)
        kernel = Kernel(x, x, x, weights, beta, own=True, unit=True, causal=causal)
        total = Exact()(kernel)
        own = jnp.exp(total.log_own - total.log_total)
        return total.average() + own[:, None] * x

    return average


def reference(x: jax.Array, causal: bool = False) -> np.ndarray:
    """In float64, densely, for all rows."""
    x = np.asarray(x, dtype=np.float64)
    a = np.exp(BETA * (x @ x.T - 1))
    a = np.tril(a) if causal else a
    return (a @ x) / a.sum(axis=1, keepdims=True)


def peers(quick: bool) -> dict[str, Callable]:
    """What is installed here; KeOps compiles too long for those in a hurry."""
    found: dict[str, Callable] = {}
    if importlib.util.find_spec("torch"):
        found |= {"torch SDPA": torch_attention, "torch dense": torch_dense}
    if importlib.util.find_spec("numba"):
        found["numba parallel fastmath"] = numba_loops
    if not quick and importlib.util.find_spec("pykeops"):
        found["KeOps LazyTensor"] = keops_lazy
    online = {"JAX scan, online softmax": jax_online, "JAX dense": jax_dense}
    return found | online | {"numpy": numpy_dense}


def torch_attention(x, causal: bool = False) -> Callable:
    import torch

    y = torch.tensor(np.asarray(x))[None, None]
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(y, y, y, scale=BETA, is_causal=causal)


def torch_dense(x) -> Callable:
    import torch

    y = torch.tensor(np.asarray(x))
    return lambda: torch.softmax(BETA * y @ y.T, dim=1) @ y


def numba_loops(x) -> Callable:
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def run(x, beta):
        n, d = x.shape
        out = np.empty_like(x)
        for i in numba.prange(n):
            z = x.dtype.type(0)
            total = np.zeros(d, x.dtype)
            for j in range(n):
                s = x.dtype.type(0)
                for k in range(d):
                    s += x[i, k] * x[j, k]
                w = np.exp(beta * (s - x.dtype.type(1)))
                z += w
                for k in range(d):
                    total[k] += w * x[j, k]
            for k in range(d):
                out[i, k] = total[k] / z
        return out

    y = np.array(x)
    return lambda: run(y, y.dtype.type(BETA))


def keops_lazy(x) -> Callable:
    """Compiled by KeOps at the first call, which takes about twenty seconds."""
    import pykeops
    from pykeops.numpy import LazyTensor

    pykeops.set_verbose(False)  # standard output is for rows
    y = np.array(x)
    x_i, y_j = LazyTensor(y[:, None, :]), LazyTensor(y[None, :, :])
    logits = BETA * (x_i | y_j)
    return lambda: logits.sumsoftmaxweight(y_j, axis=1)


def jax_online(x, columns: int = 500) -> Callable:
    """A running maximum over blocks of columns, as flash attention does."""

    @jax.jit
    def run(x):
        def step(carry, y):
            top, total, moment = carry
            s = BETA * x @ y.T
            higher = jnp.maximum(top, s.max(axis=1))
            a, old = jnp.exp(s - higher[:, None]), jnp.exp(top - higher)
            moment = old[:, None] * moment + a @ y
            return (higher, old * total + a.sum(axis=1), moment), None

        low = jnp.full(x.shape[0], -jnp.inf, x.dtype)
        start = (low, jnp.zeros_like(low), jnp.zeros_like(x))
        blocks = x.reshape(-1, columns, x.shape[1])
        (_, total, moment), _ = jax.lax.scan(step, start, blocks)
        return moment / total[:, None]

    return lambda: run(x).block_until_ready()


def jax_dense(x) -> Callable:
    run = jax.jit(lambda x: jax.nn.softmax(BETA * x @ x.T, axis=-1) @ x)
    return lambda: run(x).block_until_ready()


def numpy_dense(x) -> Callable:
    y = np.asarray(x)

    def run():
        a = np.exp(y.dtype.type(BETA) * (y @ y.T))
        return (a / a.sum(axis=1, keepdims=True)) @ y

    return run
