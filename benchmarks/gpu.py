"""How fast on a GPU: `python -m benchmarks.gpu [GROUP ...]`, groups at the end.

Every row says the time (median, after a warm-up), the largest error against float64
and the peer; `fuzz` tries 200 combinations of size, dimension and precision and counts
those that fail. Without arguments everything runs, in some six minutes on an H200.
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
from pushforward.sums import Auto, FusedGPU, HalfGPU, Kernel

BETA = 9.0
DIMENSIONS = (2, 3, 4, 6, 8, 9, 12, 16, 32, 64, 128, 256, 512, 1024)


def tokens(n, d, seed):
    x = np.random.default_rng(seed).normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def kernel_of(x, beta=BETA, causal=False, matrices=None, dtype=jnp.float32):
    """Tokens that see each other; with matrices, through Q, K and V."""
    n = len(x)
    parts = [x] * 3 if matrices is None else [x @ M.T for M in matrices]
    if matrices is None:
        parts = [jnp.asarray(x, dtype)] * 3
    arrays = [jnp.asarray(a, dtype) for a in parts]
    log_w = jnp.full(n, -np.log(n), dtype)
    flags = {"own": True, "unit": matrices is None, "causal": causal}
    return Kernel(*arrays, log_w, jnp.asarray(beta, dtype), **flags)


def weights(d, seed=5):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(d, d)) / np.sqrt(d) for _ in range(3)]


def averages(method):
    """What a layer adds to its tokens: the softmax average with the token itself."""

    @jax.jit
    def f(kernel):
        out = method(kernel)
        return out.average() + out.share()[:, None] * kernel.values

    return f


def seconds(f, *arguments, repeats=5):
    jax.block_until_ready(f(*arguments))
    spans = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(f(*arguments))
        spans.append(time.perf_counter() - start)
    return statistics.median(spans)


def error(kernel, found, rows=128):
    """Largest error over the largest average, on random rows, in float64.

    Where averages vanish (one and minus one, at beta = 0) over the size of a mean of n
    random vectors.
    """
    n = kernel.keys.shape[0]
    pick = np.sort(np.random.default_rng(1).choice(n, min(rows, n), replace=False))
    q, k, f = (
        np.asarray(a, float) for a in (kernel.queries, kernel.keys, kernel.values)
    )
    s = float(kernel.beta) * (q[pick] @ k.T)
    if kernel.causal:
        s = np.where(np.arange(n)[None, :] <= pick[:, None], s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    exact = e @ f / e.sum(axis=1, keepdims=True)
    size = max(np.abs(exact).max(), np.abs(f).max() / np.sqrt(n))
    return float(np.abs(np.asarray(found, float)[pick] - exact).max() / size)


def torch_seconds(kernel, causal=False):
    """Torch's memory-efficient attention in float32; None without torch."""
    try:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return None

    def padded(a):
        width = -(-a.shape[1] // 8) * 8
        out = torch.zeros(1, 1, a.shape[0], width, device="cuda")
        out[0, 0, :, : a.shape[1]] = torch.tensor(np.asarray(a), device="cuda")
        return out

    q, k, f = map(padded, (kernel.queries, kernel.keys, kernel.values))
    spans = []
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION), torch.no_grad():
        for _ in range(4):
            torch.cuda.synchronize()
            start = time.perf_counter()
            torch.nn.functional.scaled_dot_product_attention(
                q, k, f, scale=float(kernel.beta), is_causal=causal
            )
            torch.cuda.synchronize()
            spans.append(time.perf_counter() - start)
    return statistics.median(spans[1:])


def timed(work, kernel, method=None, torch=True):
    f = averages(method or FusedGPU())
    n, d = kernel.keys.shape
    row = {"work": work, "n": n, "d": d, "seconds": seconds(f, kernel)}
    row["error"] = error(kernel, f(kernel))
    row["torch"] = torch_seconds(kernel, kernel.causal) if torch else None
    return row


def drift_rows():
    """One drift with Q = K = V = I, in every dimension."""
    for n in (65_536, 131_072):
        for d in DIMENSIONS:
            if n == 65_536 or d in (2, 3, 16, 64, 128):
                torch = d in (3, 16, 64, 128)
                yield timed("drift", kernel_of(tokens(n, d, d)), torch=torch)
    yield timed("drift, causal", kernel_of(tokens(65_536, 64, 0), causal=True))
    yield timed("drift, one pass", kernel_of(tokens(65_536, 64, 0)), HalfGPU())


def general_rows():
    """Layers with weights Q, K, V."""
    for n, d in ((65_536, 64), (65_536, 128), (8_192, 768), (65_536, 3)):
        for causal in (False, True) if d == 64 else (False,):
            kernel = kernel_of(tokens(n, d, d), 1.0, causal, weights(d))
            yield timed("general, causal" if causal else "general", kernel)


def heads_rows():
    """All heads of a layer in one call, values of rank k summed in k dimensions."""
    rng = np.random.default_rng(5)
    for n, d, count in ((8_192, 768, 12), (65_536, 128, 8)):
        k = d // count
        kernel = kernel_of(tokens(n, d, d))
        Q, K, U = rng.normal(size=(3, count, k, d)) / np.sqrt(d)
        heads = pf.Heads(
            [
                pf.Attention(BETA, q, key, (u.T, u))
                for q, key, u in zip(Q, K, U, strict=True)
            ]
        )
        mu = pf.Particles(pf.Sphere(d), tokens(n, d, d)).astype("float32")
        drive = jax.jit(lambda points: heads.drive(0.0, mu.moved(points)).vector)  # noqa: B023
        row = {"work": f"{count} heads of rank {k}", "n": n, "d": d}
        row["seconds"] = seconds(drive, mu.points)
        row["torch"] = torch_heads_seconds(kernel.queries, Q, K, U)
        yield row


def torch_heads_seconds(x, Q, K, U):
    """The same layer by torch's memory-efficient attention in float32."""
    try:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return None
    x, Q, K, U = (
        torch.tensor(np.asarray(a, np.float32), device="cuda") for a in (x, Q, K, U)
    )
    spans = []
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION), torch.no_grad():
        for _ in range(4):
            torch.cuda.synchronize()
            start = time.perf_counter()
            q, k, v = (torch.einsum("nd,hkd->hnk", x, w)[None] for w in (Q, K, U))
            a = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=BETA)
            torch.einsum("hnk,hkd->nd", a[0], U)
            torch.cuda.synchronize()
            spans.append(time.perf_counter() - start)
    return statistics.median(spans[1:])


def trained_rows():
    """A long text through a layer in the shapes of SmolLM2, as `probe` runs it."""
    from pushforward.probe.models import _attention_weights as layer

    rng = np.random.default_rng(5)
    d, k, h, g = 576, 64, 9, 3
    shapes = {"Q": (h, k, d), "K": (g, k, d), "V": (g, k, d), "O": (h, d, k)}
    shapes |= {"q": (h, k), "k": (g, k), "v": (g, k), "o": (d,)}
    arrays = {n: rng.normal(size=s) / s[-1] ** 0.5 for n, s in shapes.items()}
    arrays = {n: jnp.asarray(a, jnp.float32) for n, a in arrays.items()}
    heads = layer.HeadWeights(**arrays, rotary=layer.Rotary(0.1 ** jnp.arange(32.0)))
    fused = jax.jit(lambda u: layer.updated(heads, u, causal=True))
    tables = jax.jit(lambda u: layer.attend(heads, u, causal=True)[1])
    for n in (2_048, 8_192, 32_768):
        u = jnp.asarray(tokens(n, d, 0) * np.sqrt(d), jnp.float32)
        row = {"work": "layer of a model, causal", "n": n, "d": d}
        row["seconds"] = seconds(fused, u)
        if n <= 8_192:  # beyond, the matrices alone take 39 GB
            row["says"] = f"with its matrices {seconds(tables, u) * 1e3:.1f} ms"
            row["error"] = float(abs(fused(u) - tables(u)).max() / abs(fused(u)).max())
        yield row


def table_rows():
    """The journeys by which the library is judged, in one run."""
    for n, d in (
        *((65_536, d) for d in (8, 9, 128, 256, 512, 1024)),
        *((100_003, d) for d in (8, 16)),
    ):
        yield timed("drift", kernel_of(tokens(n, d, d)), torch=False)
    yield from general_rows()
    yield from heads_rows()
    yield from sphere_rows()
    yield from flow_rows()


def circle_rows():
    """What a user calls: by `Auto`, with isolated tokens and self terms."""
    for n in (10**6, 10**7, 10**8):
        x = tokens(n, 2, 0)
        kernel = kernel_of(x, dtype=jnp.float64)
        yield (
            timed("circle, float64", kernel, Auto(), torch=False)
            if n < 10**8
            else {
                "work": "circle, float64",
                "n": n,
                "d": 2,
                "seconds": seconds(averages(Auto()), kernel, repeats=3),
            }
        )


def sphere_rows():
    """S^2 by harmonics as a user calls it, beside all pairs."""
    for n, beta in ((10**5, 9.0), (10**6, 1.0), (10**6, 9.0), (10**6, 100.0)):
        kernel = kernel_of(tokens(n, 3, 0), beta, dtype=jnp.float64)
        yield timed(f"S^2, float64, beta = {beta:g}", kernel, Auto(), torch=False)
    kernel = kernel_of(tokens(10**6, 3, 0))
    yield timed("S^2, float32 by Auto", kernel, Auto(), torch=False)
    yield timed("S^2, all pairs", kernel, torch=False)


def flow_rows():
    """Whole journeys, the second time they are made: solver, frames and outcome."""
    for n, d, t1 in ((20_000, 3, 2.0), (131_072, 3, 10.0), (32_768, 64, 10.0)):
        mu = pf.Particles(pf.Sphere(d), tokens(n, d, 0)).astype("float32")
        field = pf.Attention(BETA)
        run = lambda: pf.flow(field, mu, t1, save=2)  # noqa: B023, E731
        spans = []
        for _ in range(2):
            start = time.perf_counter()
            traj = run()
            jax.block_until_ready(traj.final.points)
            spans.append(time.perf_counter() - start)
        row = {"work": f"flow to t = {t1:g}", "n": n, "d": d, "seconds": spans[-1]}
        yield row | {"says": str(traj.outcome), "first": spans[0]}
    rng = np.random.default_rng(0)
    for n, d, r in ((32_768, 64, 1e-6), (32_768, 64, 0.05), (200_000, 3, 1e-6)):
        for name, x in (
            ("uniform", tokens(n, d, 1)),
            ("10 clusters", tokens(10, d, 1)[rng.integers(10, size=n)]),
        ):
            x = x + 1e-3 * r * rng.normal(size=x.shape)
            mu = pf.Particles.normalized(pf.Sphere(d), x)
            start = time.perf_counter()
            atoms = mu.merge(r).n
            span = time.perf_counter() - start
            what = f"merge at {r:g}, {name}"
            yield {
                "work": what,
                "n": n,
                "d": d,
                "seconds": span,
                "says": f"{atoms} atoms",
            }


def ensemble_rows():
    """A phase diagram as a sweep computes it: many small systems in one program."""
    from pushforward.experiments import ensemble  # needs zarr

    one = pf.Experiment(
        start=pf.Uniform(32, 32), field=pf.Attention(1.0), t1=30.0, save=2
    )
    for count in (4096, 23_040):
        many = [
            one.vary(**{"field.beta": 0.1 + 9 * (k % 90) / 89, "seed": k})
            for k in range(count)
        ]
        look = [pf.observables.mean_cosine] * count
        spans = []
        for _ in range(2):
            start = time.perf_counter()
            seen = ensemble(many, look)
            spans.append(time.perf_counter() - start)
        says = f"{int(seen.arrived.sum())} arrived"
        row = {"work": f"{count} systems to t = 30", "n": 32, "d": 32, "says": says}
        yield row | {"seconds": spans[1], "first": spans[0]}


def transport_rows(
    sizes=((20_000, 64), (50_000, 3), (50_000, 64), (200_000, 3)), iterations=100
):
    """Sinkhorn in float32: so many iterations, then a whole answer with its proof.

    Of the answer, the error is its gap in units of eps, proved in float64. Torch holds
    the table, three times over, where that fits.
    """
    for n, d in sizes:
        mu, nu, eps = *_clouds(n, d), 0.05
        row = {"work": f"{iterations} Sinkhorn iterations", "n": n, "d": d}
        run = _iterations(mu, nu, eps, iterations)
        torch = _torch_sinkhorn(mu, nu, eps, iterations) if n <= 50_000 else None
        yield row | {
            "seconds": seconds(run, repeats=3),
            "torch": torch,
            "says": _peak(),
        }
        spans = []
        for _ in range(2):
            start = time.perf_counter()
            plan = _answer(mu, nu, eps, iterations)
            spans.append(time.perf_counter() - start)
        row |= {"work": "entropic plan, proved", "seconds": spans[1]}
        says = f"{plan.iterations} iterations, value {plan.value:.6g}, {_peak()}"
        yield row | {"first": spans[0], "error": plan.gap / eps, "says": says}


def _clouds(n, d):
    """Two normal clouds, a third of a unit apart, of the same size whatever d is."""
    x, y = np.random.default_rng(0).normal(size=(2, n, d)) / np.sqrt(d)
    space = pf.Euclidean(d)
    clouds = (pf.Particles(space, z) for z in (x, y + 0.3 / np.sqrt(d)))
    return [z.astype("float32") for z in clouds]


def _iterations(mu, nu, eps, count):
    """That many steps of f and of g, without a look at the error."""
    from pushforward.transport.entropic._pairing import squared_pairing
    from pushforward.transport.entropic._sinkhorn import Problem, started, swept

    numbers = (jnp.asarray(z, jnp.float32) for z in (eps, np.inf))
    pairing = squared_pairing(mu.points, nu.points)
    problem = Problem(pairing, mu.weights, nu.weights, *numbers)

    @jax.jit
    def run(problem):
        step = lambda _, state: swept(problem, state)  # noqa: E731
        return jax.lax.fori_loop(0, count, step, started(problem)).g

    return lambda: run(problem)


def _answer(mu, nu, eps, iterations):
    """What a user gets, also where iterations run out."""
    from pushforward.errors import NumericalError

    try:
        return pf.transport.entropic_plan(mu, nu, eps, tol=1e-6, iterations=iterations)
    except NumericalError as early:
        return early.partial


def _peak():
    """The most memory that was in use so far."""
    known = jax.local_devices()[0].memory_stats() or {}
    return f"peak {known.get('peak_bytes_in_use', 0) / 1e9:.2f} GB"


def _torch_sinkhorn(mu, nu, eps, count):
    """Sinkhorn in logarithms on a table in torch, float32; None without a GPU's."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    x, y = (torch.tensor(np.asarray(z.points), device="cuda") for z in (mu, nu))
    try:
        table = torch.cdist(x, y).square_() / -eps
        log_n, spans = np.log(len(x)), []
        for _ in range(3):
            g = torch.zeros(len(y), device="cuda")
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                f = log_n - torch.logsumexp(table + g[None, :], dim=1)
                g = log_n - torch.logsumexp(table + f[:, None], dim=0)
            torch.cuda.synchronize()
            spans.append(time.perf_counter() - start)
        return statistics.median(spans)
    except torch.cuda.OutOfMemoryError:
        return None


def fuzz_rows(count=200, limit=200.0, seed=7):
    """Nothing raises an error of the compiler or is off, whatever the sizes."""
    rng, failed, worst = np.random.default_rng(seed), [], 0.0
    tried, start = 0, time.perf_counter()
    for _ in range(count):
        if time.perf_counter() - start > limit:
            break
        n = int(2 ** rng.uniform(0, 14))
        d = int(rng.choice([1 + rng.integers(20), int(2 ** rng.uniform(1, 11))]))
        dtype = jnp.float32 if rng.random() < 0.8 else jnp.float64
        general = d > 1 and rng.random() < 0.4
        kernel = kernel_of(
            tokens(n, d, int(rng.integers(99))),
            float(rng.choice([-3.0, 0.0, 1.0, 9.0, 100.0])) * (0.1 if general else 1.0),
            bool(rng.random() < 0.3),
            weights(d) if general else None,
            dtype,
        )
        tried += 1
        try:
            off = error(kernel, averages(FusedGPU())(kernel), 32)
            worst = max(worst, off)
            if off > 1e-4:
                failed.append(f"n={n} d={d} {dtype.__name__}: off by {off:.1e}")
        except Exception as problem:
            failed.append(f"n={n} d={d} {dtype.__name__}: {str(problem)[:200]}")
    row = {"work": "fuzz", "n": tried, "d": 0, "seconds": time.perf_counter() - start}
    yield row | {"error": worst, "says": f"{len(failed)} failed: {failed}"}


def shown(row):
    parts = [f"{row['work']}: n={row['n']} d={row['d']} {row['seconds'] * 1e3:.2f} ms"]
    if row.get("error") is not None:
        parts.append(f"error {row['error']:.1e}")
    if row.get("torch"):
        parts.append(f"torch {row['torch'] * 1e3:.1f} ms")
    if row.get("first"):
        parts.append(f"first time {row['first']:.1f} s")
    return "  ".join([*parts, row.get("says", "")])


GROUPS = {
    "table": table_rows,
    "drifts": drift_rows,
    "general": general_rows,
    "heads": heads_rows,
    "trained": trained_rows,
    "circle": circle_rows,
    "sphere": sphere_rows,
    "flows": flow_rows,
    "ensembles": ensemble_rows,
    "transport": transport_rows,
    "fuzz": fuzz_rows,
}


def main():
    print(jax.devices()[0].device_kind, "jax", jax.__version__)
    rows = []
    for name in sys.argv[1:] or [name for name in GROUPS if name != "table"]:
        for row in GROUPS[name]():
            rows.append(row)
            print(shown(row), flush=True)
    if os.environ.get("OUT"):
        out = pathlib.Path(os.environ["OUT"], "gpu.json")
        out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
