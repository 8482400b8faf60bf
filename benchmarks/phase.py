"""Figure 3 of the perspective: our sweep against the published script's scheme.

One cell (d, beta) of the diagram. The peer is the published step, x <- normalize(x + h
A x) for a batch of systems in torch, float64. Both are compared with our flow at a
tolerance of 1e-10. The scheme is of first order, so its cost at our accuracy follows
from its error at two steps that are run: `error` is ours, `peer_error` that of h.
"""

import pathlib
import tempfile
import time
from collections.abc import Iterator

import jax
import numpy as np

import pushforward as pf
from pushforward.sweeps import Design

T1, FRAMES, N = 30.0, 61, 32


def rows(quick: bool) -> Iterator[dict]:
    """One row per cell."""
    for d, beta in [(8, 4.0)] if quick else [(2, 4.0), (8, 4.0), (128, 5.0)]:
        yield cell(d, beta, replicas=16 if quick else 64)


def cell(d: int, beta: float, replicas: int) -> dict:
    """Seconds of both for the mean cosine of `replicas` systems, and their errors."""
    exact, _ = swept(d, beta, replicas, 1e-10)
    swept(d, 0.9 * beta, replicas, 1e-5)  # compiles; beta changes without that
    found, seconds = swept(d, beta, replicas, 1e-5)
    error = float(np.abs(found - exact).max())
    starts = tokens(d, replicas)
    coarse, _ = published(starts, beta, 0.1)
    fine, fine_seconds = published(starts, beta, 0.025)
    coarse_error = float(np.abs(coarse - exact).max())
    fine_error = float(np.abs(fine - exact).max())
    step = 0.025 * error / fine_error  # first order
    return {
        "work": f"phase diagram, one cell, beta = {beta:g}, {replicas} systems",
        "n": N,
        "d": d,
        "dtype": "float64",
        "ours_seconds": seconds,
        "peer": f"published scheme in torch, at our accuracy (h = {step:.1e})",
        "peer_seconds": fine_seconds * 0.025 / step,
        "ratio": fine_seconds * 0.025 / step / seconds,
        "error": error,
        "peer_error": f"{coarse_error:.1e} at h = 0.1, {fine_error:.1e} at 0.025",
        "peer_seconds_at_0.1": fine_seconds / 4,
    }


def swept(d: int, beta: float, replicas: int, rtol: float):
    """The mean cosine at the frames by `pushforward.sweep`, and the seconds."""
    run = {"n": N, "d": d, "t1": T1, "frames": FRAMES, "rtol": rtol}
    design = Design(run, {"beta": [beta]}, "mean_cosine", replicas)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        table = pf.sweep(design, pathlib.Path(folder) / "out")
    return table.mean[0], time.perf_counter() - begin


def tokens(d: int, replicas: int) -> np.ndarray:
    """The starts of a sweep with seed 0."""
    space = pf.Circle() if d == 2 else pf.Sphere(d)
    keys = [pf.key_for(0, f"replica {r}") for r in range(replicas)]
    own = [jax.random.split(key)[0] for key in keys]
    return np.stack([pf.Particles.uniform(space, N, key=key).points for key in own])


def published(starts: np.ndarray, beta: float, h: float):
    """The mean cosine at the frames, by unprojected Euler steps; and the seconds."""
    import torch

    x = torch.tensor(starts)
    off = N * (N - 1)
    seen, every = [], round(T1 / (FRAMES - 1) / h)
    begin = time.perf_counter()
    for k in range(round(T1 / h) + 1):
        gram = x @ x.transpose(1, 2)
        if k % every == 0:
            seen.append(((gram.sum((1, 2)) - N) / off).mean().item())
        x = x + h * torch.softmax(beta * gram, -1) @ x
        x = x / x.norm(dim=-1, keepdim=True)
    return np.array(seen), time.perf_counter() - begin
