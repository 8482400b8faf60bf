"""Many transport problems in one compiled call, whatever their sizes."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import listed, whole
from pushforward.errors import InputError
from pushforward.transport.entropic._differentiable import Limits
from pushforward.transport.entropic._divergence import (
    checked_cloud,
    checked_eps,
    debiased,
    settled,
)

TOGETHER = 16  # problems a step: few wait for the slowest, and tables stay in cache


def sinkhorn_divergences(
    xs: Sequence,
    ys: Sequence,
    eps: Real[ArrayLike, "*k"],
    *,
    tol: float = 1e-10,
    iterations: int = 5_000,
) -> Float[Array, "k"]:
    """S_eps of every pair of clouds, arrays (n, d) or measures, of any sizes.

    Clouds are filled up to the largest by points without mass, which change nothing.
    `eps` is one number, or one for each pair. Gradients work as for one pair.

    >>> import numpy as np
    >>> xs, ys = ([np.full((n, 2), z) for n in (1, 3)] for z in (0.0, 1.0))
    >>> sinkhorn_divergences(xs, ys, 0.5).round(6).tolist()
    [2.0, 2.0]
    """
    xs, ys = listed("xs", xs, "clouds"), listed("ys", ys, "clouds")
    if len(xs) != len(ys) or not xs:
        raise InputError(
            f"`ys` must have as many clouds as xs, at least one, got {len(ys)} for "
            f"{len(xs)}."
        )
    x, a = _filled("xs", xs)
    y, b = _filled("ys", ys)
    if x.shape[2] != y.shape[2]:
        raise InputError(
            f"`ys` must have points of dimension {x.shape[2]} like xs, got "
            f"{y.shape[2]}."
        )
    eps = jnp.broadcast_to(checked_eps(eps), (len(xs),))
    limits = Limits(jnp.asarray(tol), jnp.asarray(whole("iterations", iterations, 1)))
    return settled(limits, *_all(x, y, a, b, eps, limits))


@jax.jit
def _all(x: Array, y: Array, a: Array, b: Array, eps: Array, limits: Limits):
    one = lambda p: debiased(*p, limits, False)  # noqa: E731
    return jax.lax.map(one, (x, y, a, b, eps), batch_size=TOGETHER)


def _filled(name: str, clouds: Sequence) -> tuple[Array, Array]:
    """Points and weights of all clouds, each filled up to the largest."""
    known = [checked_cloud(f"{name}[{k}]", cloud) for k, cloud in enumerate(clouds)]
    d = known[0][0].shape[1]
    if any(points.shape[1] != d for points, _ in known):
        raise InputError(
            f"`{name}` must have points of one dimension, got "
            f"{sorted({points.shape[1] for points, _ in known})}."
        )
    most = max(len(weights) for _, weights in known)
    points = [jnp.pad(p, ((0, most - len(p)), (0, 0))) for p, _ in known]
    weights = [jnp.pad(w, (0, most - len(w))) for _, w in known]
    return jnp.stack(points).astype(float), jnp.stack(weights).astype(float)
