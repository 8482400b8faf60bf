"""The sums on a GPU: correctness against float64 first, then time against peers.

    python -m benchmarks.gpu            # all of it
    python -m benchmarks.gpu circle     # the circle alone

Prints one table; writes gpu.json into the folder named by OUT, if set.
"""

import json
import os
import pathlib
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.sums import Exact, Kernel
from pushforward.sums._pallas import FusedGPU, HalfGPU
from pushforward.sums._pallas_circle import circle_sums

BETA = 9.0
SMALL_TILES = [
    (16, 64, 2),
    (32, 64, 4),
    (16, 32, 1),
    (32, 32, 2),
    (16, 128, 4),
    (64, 32, 4),
]
LARGE_TILES = [(64, 64, 4), (128, 32, 8), (128, 64, 8), (128, 128, 8), (64, 32, 4)]
# Seconds of a hand-written CUDA kernel on an idle H200 (docs/performance.md).
FLOOR = {(2, 131072): 5.6e-3, (2, 2**20): 0.320, (3, 131072): 6.6e-3, (3, 2**20): 0.387}


def tokens(n, d, seed):
    x = np.random.default_rng(seed).normal(size=(n, d))
    return jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def kernel_of(x, beta, causal=False):
    n = x.shape[0]
    log_w = jnp.full(n, -np.log(n), x.dtype)
    return Kernel(
        x, x, x, log_w, jnp.asarray(beta, x.dtype), own=True, unit=True, causal=causal
    )


def drift(method, kernel):
    v = method(kernel).average()
    x = kernel.queries
    return v - jnp.sum(x * v, axis=1, keepdims=True) * x


drift_jit = jax.jit(drift, static_argnums=0)


def seconds(f, *arguments, repeats=7):
    jax.block_until_ready(f(*arguments))
    spans = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(f(*arguments))
        spans.append(time.perf_counter() - start)
    return statistics.median(spans)


def error(x64, v, causal=False, beta=BETA, rows=512):
    """Largest error of the drift over the largest drift, on random rows, in float64."""
    n = len(x64)
    pick = np.sort(np.random.default_rng(1).choice(n, min(rows, n), replace=False))
    q = np.asarray(x64)[pick]
    e = np.exp(beta * (q @ np.asarray(x64).T - 1))
    if causal:
        e *= np.arange(n)[None, :] <= pick[:, None]
    v64 = e @ np.asarray(x64) / e.sum(1, keepdims=True)
    v64 -= (q * v64).sum(1, keepdims=True) * q
    return float(np.abs(np.asarray(v, float)[pick] - v64).max() / np.abs(v64).max())


def check():
    worst = 0.0
    for seed, (n, d, beta, causal) in enumerate(
        [
            (1, 2, 9.0, False),
            (33, 3, 0.0, False),
            (1001, 2, 100.0, True),
            (4097, 3, 9.0, False),
            (1003, 16, 9.0, True),
            (2049, 64, 9.0, False),
            (1500, 128, 1.0, False),
            (999, 3, 1e4, False),
        ]
    ):
        x = tokens(n, d, 100 + seed)
        v = drift_jit(FusedGPU(), kernel_of(x.astype(jnp.float32), beta, causal))
        assert np.isfinite(np.asarray(v)).all(), (n, d, beta, causal)
        e = 0.0 if n == 1 else error(x, v, causal, beta)
        print(f"check n={n} d={d} beta={beta:g} causal={causal}: {e:.1e}")
        worst = max(worst, e if beta <= 100 else 0.0)
    assert worst < 1e-4, worst


def torch_seconds(x, dtype):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    width = max(8, x.shape[1])
    q = torch.zeros(1, 1, x.shape[0], width, device="cuda", dtype=dtype)
    q[0, 0, :, : x.shape[1]] = torch.tensor(np.asarray(x), device="cuda", dtype=dtype)
    flash = dtype == torch.bfloat16
    backend = SDPBackend.FLASH_ATTENTION if flash else SDPBackend.EFFICIENT_ATTENTION
    spans = []
    with sdpa_kernel(backend), torch.no_grad():
        for _ in range(5):
            torch.cuda.synchronize()
            start = time.perf_counter()
            torch.nn.functional.scaled_dot_product_attention(q, q, q, scale=BETA)
            torch.cuda.synchronize()
            spans.append(time.perf_counter() - start)
    return statistics.median(spans[1:])


def exact_rows():
    import torch

    best_of = {}
    for n, d in [
        (131072, 2),
        (131072, 3),
        (131072, 16),
        (131072, 64),
        (131072, 128),
        (2**20, 2),
        (2**20, 3),
    ]:
        x = tokens(n, d, n + d)
        x32 = x.astype(jnp.float32)
        kernel = kernel_of(x32, BETA)
        tiles = SMALL_TILES if d <= 8 else LARGE_TILES
        if n > 2**18:
            tiles = [best_of[d]]
        times = {}
        for tile in tiles:
            try:
                method = FusedGPU(*tile)
                repeats = 3 if n > 2**18 else 7
                times[tile] = seconds(drift_jit, method, kernel, repeats=repeats)
                print(
                    f"  n={n} d={d} tile={tile}: {times[tile] * 1e3:.2f} ms", flush=True
                )
            except Exception as problem:  # a tile may not fit; the others go on
                print(f"  n={n} d={d} tile={tile}: {str(problem)[:120]}", flush=True)
        if not times:
            continue
        best = best_of[d] = min(times, key=times.get)
        ours = times[best]
        e = error(x, drift_jit(FusedGPU(*best), kernel))
        peers = {
            "torch float32": torch_seconds(x32, torch.float32),
            "torch flash bf16": torch_seconds(x32, torch.bfloat16),
        }
        if d > 8:
            quick = seconds(drift_jit, HalfGPU(), kernel, repeats=7)
            coarse = error(x, drift_jit(HalfGPU(), kernel))
            print(f"  HalfGPU d={d}: {quick * 1e3:.2f} ms, error {coarse:.1e}")
        if n <= 2**18:
            peers["XLA row blocks"] = seconds(drift_jit, Exact(), kernel, repeats=3)
        yield {
            "work": "exact drift",
            "n": n,
            "d": d,
            "dtype": "float32",
            "tile": best,
            "ours": ours,
            "error": e,
            "floor": FLOOR.get((d, n)),
            "peers": peers,
        }


def circle_rows():
    from scipy.special import ive

    k = np.arange(40)
    coefficients = jnp.asarray(np.where(k == 0, 1, 2) * ive(k, BETA))
    sums = jax.jit(circle_sums)
    for n in (10**6, 10**7, 10**8):
        theta = jax.random.uniform(jax.random.key(n), (n,), jnp.float64, 0, 2 * np.pi)
        c, s, w = jnp.cos(theta), jnp.sin(theta), jnp.full(n, 1.0 / n)
        span = seconds(sums, c, s, w, coefficients, repeats=5)
        Z, _ = sums(c, s, w, coefficients)
        gap = np.asarray(theta[:64])[:, None] - np.asarray(theta[: 10**6])[None, :]
        if n == 10**6:
            exact = np.exp(BETA * (np.cos(gap) - 1)).mean(1)
            e = float(np.abs(np.asarray(Z[:64]) / exact - 1).max())
        yield {
            "work": "circle modes",
            "n": n,
            "d": 2,
            "dtype": "float64",
            "ours": span,
            "error": e,
            "floor": n * 40 / 4.3e12,
            "peers": {},
        }


def circle_drift_rows():
    """What a user calls: by `Auto`, with isolated tokens and self terms."""

    @jax.jit
    def velocity(mu):
        return pf.Attention(BETA)(0.0, mu).v

    for n in (10**5, 10**6, 10**7, 10**8):
        x = tokens(n, 2, n)
        for dtype in ("float64", "float32"):
            mu = pf.Particles(pf.Circle(), x).astype(dtype)
            span = seconds(velocity, mu, repeats=5)
            e = error(x, velocity(mu), rows=32 if n <= 10**7 else 4)
            yield {
                "work": "circle drift by Auto",
                "n": n,
                "d": 2,
                "dtype": dtype,
                "ours": span,
                "error": e,
                "floor": n * 80 / 4.3e12,
                "peers": {},
            }


def main():
    print(jax.devices()[0].device_kind, "jax", jax.__version__)
    check()
    rows = []
    circle = (*circle_rows(), *circle_drift_rows())
    exact = () if sys.argv[1:] == ["circle"] else exact_rows()
    for row in (*circle, *exact):
        rows.append(row)
        peers = "  ".join(
            f"{k} {v * 1e3:.1f} ms ({v / row['ours']:.1f}x)"
            for k, v in row["peers"].items()
        )
        floor = f"floor {row['floor'] * 1e3:.2f} ms" if row["floor"] else ""
        print(
            f"{row['work']} n={row['n']} d={row['d']} {row['dtype']}: "
            f"{row['ours'] * 1e3:.2f} ms  error {row['error']:.1e}  {floor}  {peers}",
            flush=True,
        )
    if os.environ.get("OUT"):
        pathlib.Path(os.environ["OUT"], "gpu.json").write_text(
            json.dumps(rows, indent=1)
        )


if __name__ == "__main__":
    main()
