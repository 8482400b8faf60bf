"""From options to objects: tokens, field, cost, and what is written."""

import pathlib
from typing import Any

import jax
import numpy as np

import pushforward as pf
from pushforward._checks import as_float_array
from pushforward._seeds import key_for
from pushforward.errors import InputError
from pushforward.observables import Clusters, mean_cosine


def tokens(n: int, d: int, seed: int, path: pathlib.Path | None) -> pf.Particles:
    """Uniform on the sphere from the seed, or from a file, as unit vectors."""
    if path is None:
        space = pf.Circle() if d == 2 else pf.Sphere(d)
        return pf.Particles.uniform(space, n, key=key_for(seed, "tokens"))
    raw = pf.Particles.from_file(None, path)
    space = pf.Circle() if raw.d == 2 else pf.Sphere(raw.d)
    return pf.Particles(space, raw.points, raw.weights)


def field(model: str, beta: float, d: int, heads: int, path, seed: int):
    """The field of a model; several heads get weights of their own."""
    if heads < 1:
        raise InputError(f"`heads` must be at least 1, got {heads}.")
    kinds: dict[str, Any] = {
        "sa": lambda **w: pf.Attention(beta, **w),
        "usa": lambda **w: pf.UnnormalizedAttention(beta, **w),
        "causal": lambda **w: pf.CausalAttention(beta, **w),
        "hardmax": lambda **w: pf.HardAttention(**w),
    }
    if path is not None:
        all_weights = _from_safetensors(path, d)
    elif heads == 1:
        all_weights = [{}]
    else:
        all_weights = [_random_weights(d, seed, h) for h in range(heads)]
    made = [kinds[model](**weights) for weights in all_weights]
    return made[0] if len(made) == 1 else pf.Heads(made)


def _random_weights(d: int, seed: int, head: int) -> dict:
    """Ginibre matrices with entries of variance 1/d, one triple per head."""
    draw = lambda name: (  # noqa: E731
        jax.random.normal(key_for(seed, f"head {head} {name}"), (d, d)) / np.sqrt(d)
    )
    return {name: draw(name) for name in ("Q", "K", "V")}


def _from_safetensors(path: pathlib.Path, d: int) -> list[dict]:
    """Q, K, V of shape (d, d), or (heads, d, d) for several heads."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(path)
    except FileNotFoundError as error:
        raise InputError(f"no file at {path}. Check the path.") from error
    except (SafetensorError, ValueError, KeyError, TypeError, OSError) as error:
        # the last four: kinds of numbers that numpy does not have, folders
        raise InputError(f"{path} is not a safetensors file: {error}.") from error
    found = {
        k: np.asarray(as_float_array(k, v))
        for k, v in arrays.items()
        if k in ("Q", "K", "V")
    }
    if not found:
        raise InputError(
            f"{path} has no tensor called Q, K or V; it has {sorted(arrays)[:5]}."
        )
    for name, array in found.items():
        if array.shape[-2:] != (d, d) or array.ndim not in (2, 3):
            raise InputError(
                f"`{name}` in {path} must be ({d}, {d}) or (heads, {d}, {d}), "
                f"got {array.shape}."
            )
    stacked = {k: v[None] if v.ndim == 2 else v for k, v in found.items()}
    count = max(len(v) for v in stacked.values())
    if any(len(v) not in (1, count) for v in stacked.values()):
        raise InputError(f"the tensors of {path} have different numbers of heads.")
    return [{k: v[h % len(v)] for k, v in stacked.items()} for h in range(count)]


def cost(
    n: int, d: int, frames: int, path: pathlib.Path | None, beta: float, **how: bool
) -> dict:
    """What a run needs, before anything is allocated; `how` as in `sums.describe`."""
    if path is not None:
        n, d = pf.Particles.from_file(None, path).points.shape
    for name, value, least in (("n", n, 1), ("d", d, 2), ("frames", frames, 2)):
        if value < least:
            raise InputError(f"`{name}` must be at least {least}, got {value}.")
    frame = 8 * n * d
    method = pf.sums.describe(n, d, beta, **how)
    tiles = min(n * n, 2**21)  # what a sum holds beyond copies of the tokens
    working = 30 * frame + 8 * tiles * 3
    return {
        "n": n,
        "d": d,
        "pairs": n * n,
        "method": method,
        "frame_bytes": frame,
        "run_bytes": frame * frames,
        "working_bytes": working,
        "free_bytes": _free_memory(),
    }


def refuse_if_too_large(cost: dict) -> None:
    """Refuse before allocating, with the number and a way out."""
    need = cost["run_bytes"] + cost["working_bytes"]
    if need > 0.9 * cost["free_bytes"]:
        raise InputError(
            f"n = {cost['n']:,} tokens with these frames need {need / 1e9:.1f} GB, and "
            f"{cost['free_bytes'] / 1e9:.1f} GB are free. Use fewer --frames or tokens."
        )


def _free_memory() -> int:
    import os

    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def written(trajectory, out, picture, movie, beta, radius) -> dict[str, str]:
    """Draw what was asked for; the paths of everything on disk."""
    paths = {} if out is None else {"run": str(out)}
    if picture is None and movie is None:
        return paths
    from pushforward import plot  # a second, for those who look

    if picture is not None:
        plot.save(plot.summary(trajectory, beta=beta, radius=radius), picture)
        paths["picture"] = str(picture)
    if movie is not None:
        frames = min(151, 3 * len(trajectory) - 2)
        plot.movie(trajectory, movie, frames=frames, beta=beta, radius=radius)
        paths["movie"] = str(movie)
    return paths


def summary(trajectory, beta, radius, seconds, paths) -> dict[str, Any]:
    """The end of a run in numbers."""
    final = trajectory.final
    partition = Clusters(radius)(final)
    return {
        "outcome": trajectory.outcome.kind,
        "message": trajectory.outcome.message,
        "t": float(trajectory.times[-1]),
        "n": final.n,
        "d": final.d,
        "steps": int(trajectory.steps),
        "rejected": int(trajectory.rejected),
        "energy": float(pf.InteractionEnergy(beta)(final)),
        "clusters": partition.count,
        "largest_mass": partition.largest,
        "mean_cosine": float(mean_cosine(final)),
        "off_sphere": float(np.max(np.asarray(final.space.residual(final.points)))),
        "seconds": seconds,
        "written": paths,
    }
