"""Many small systems at once: one compiled flow, mapped over fields and starts.

Systems run a few at a time (`lax.map` over small `vmap`s): a batch is as slow as its
slowest member, and a small one stays in the cache of the processor.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

import pushforward as pf
from pushforward.errors import NumericalError

PROBABILITY = pf.Adaptive(rtol=1e-5, atol=1e-7)  # enough for a probability
PRECISE = pf.Adaptive(rtol=1e-10, atol=1e-12)  # where digits are compared


class Ensemble(NamedTuple):
    """What was observed, (systems, times, ...), and the last points of each system."""

    observed: dict[str, np.ndarray]
    points: np.ndarray


def starts(d: int, n: int, replicas: int, key: PRNGKeyArray) -> pf.Particles:
    """Independent uniform tokens on the sphere of R^d, one measure per replica.

    Where d > n they are given in coordinates of their span: with Q = K = V = I the
    Gram matrix evolves by itself, so that every d >= n is one shape to compile.
    """
    return _sampled(d, n, jax.random.split(key, replicas))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _sampled(d: int, n: int, keys: PRNGKeyArray) -> pf.Particles:
    space = pf.Circle() if d == 2 else pf.Sphere(min(d, n))

    def one(key: PRNGKeyArray) -> pf.Particles:
        x = pf.Particles.uniform(pf.Sphere(d), n, key=key).points
        if d > n:
            x = jnp.linalg.qr(x.T)[1].T
        return pf.Particles(space, x)

    return jax.vmap(one)(keys)


def crossed(fields, measures: pf.Particles) -> tuple[Any, pf.Particles]:
    """Every field with every measure; fields vary slowest."""
    b = len(jax.tree_util.tree_leaves(fields)[0])
    r = len(measures.points)
    slow = lambda a: jnp.repeat(a, r, axis=0)  # noqa: E731
    fast = lambda a: jnp.tile(a, (b,) + (1,) * (a.ndim - 1))  # noqa: E731
    tree_map = jax.tree_util.tree_map
    return tree_map(slow, fields), tree_map(fast, measures)


def attention(betas) -> pf.Attention:
    """One self-attention field per temperature."""
    return jax.vmap(pf.Attention)(jnp.asarray(betas, float))


def ensemble(
    fields,
    measures: pf.Particles,
    times,
    observe: Mapping[str, Callable] | None = None,
    solver=PRECISE,
) -> Ensemble:
    """Flow system k of `measures` along field k and observe it at the times."""
    times = tuple(float(t) for t in times)
    names = tuple((observe or {}).items())
    batch = _divisor(len(measures.points), 8)
    seen, points, status = _mapped(fields, measures, times, names, solver, batch)
    failed = int(np.sum(np.asarray(status) != 0))
    if failed:
        raise NumericalError(
            f"{failed} of {len(points)} systems did not reach t = {times[-1]:g}.",
            partial=points,
        )
    return Ensemble({k: np.asarray(v) for k, v in seen.items()}, np.asarray(points))


@eqx.filter_jit
def _mapped(fields, measures, times, names, solver, batch):
    save = pf.OnlyObservables(np.array(times))

    def one(system):
        field, mu = system
        run = pf.flow(
            field, mu, times[-1], save=save, solver=solver, observe=dict(names)
        )
        return run.observed, run.final.points, run.status

    return jax.lax.map(one, (fields, measures), batch_size=batch)


def where_points(mu: pf.Particles) -> Array:
    """The points themselves, as an observable."""
    return mu.points


def spread(points: np.ndarray) -> np.ndarray:
    """The largest distance between two tokens of each system, (..., n, d) -> (...)."""
    difference = points[..., :, None, :] - points[..., None, :, :]
    return np.linalg.norm(difference, axis=-1).max(axis=(-2, -1))


def _divisor(total: int, most: int) -> int:
    """The largest batch that leaves no remainder, which would compile once more."""
    return max(k for k in range(1, most + 1) if total % k == 0)
