"""Many small systems at once: experiments of one structure share a program."""

import dataclasses
import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

import pushforward as pf
from pushforward.errors import NumericalError
from pushforward.experiments import AbstractStart

PROBABILITY = pf.Adaptive(rtol=1e-5, atol=1e-7)  # enough for a probability
PRECISE = pf.Adaptive(rtol=1e-10, atol=1e-12)  # where digits are compared


def starts(d: int, n: int, replicas: int, key: PRNGKeyArray) -> list[pf.Given]:
    """Independent uniform tokens on the sphere of R^d, one start per replica.

    Where d > n they are given in coordinates of their span: with Q = K = V = I the
    Gram matrix evolves by itself, so that every d >= n is one shape to compile.
    """
    space = pf.Circle() if d == 2 else pf.Sphere(min(d, n))
    points = np.asarray(_sampled(d, n, jax.random.split(key, replicas)))
    return [pf.Given(space, x) for x in points]


@functools.partial(jax.jit, static_argnums=(0, 1))
def _sampled(d: int, n: int, keys: PRNGKeyArray) -> Array:
    def one(key: PRNGKeyArray) -> Array:
        x = pf.Particles.uniform(pf.Sphere(d), n, key=key).points
        return jnp.linalg.qr(x.T)[1].T if d > n else x

    return jax.vmap(one)(keys)


def crossed(fields: Sequence, begun: Sequence) -> tuple[list, list]:
    """Every field with every start; fields vary slowest."""
    pairs = [(field, start) for field in fields for start in begun]
    return [field for field, _ in pairs], [start for _, start in pairs]


def attention(betas) -> list[pf.Attention]:
    """One self-attention field per temperature."""
    return [pf.Attention(float(beta)) for beta in betas]


def followed(
    fields: Sequence, begun: Sequence[AbstractStart], times, solver=PRECISE
) -> np.ndarray:
    """Points of system k along field k at the times, (systems, times, n, d)."""
    times = [float(t) for t in times]
    one = pf.Experiment(begun[0], fields[0], times[-1], save=times, solver=solver)
    return seen(
        [
            dataclasses.replace(one, start=start, field=field)
            for field, start in zip(fields, begun, strict=True)
        ]
    )


def replicas(one: pf.Experiment, betas, count: int) -> list[pf.Experiment]:
    """The experiment at every beta, `count` seeds each; betas vary slowest."""
    warm = [dataclasses.replace(one, field=field) for field in attention(betas)]
    return [dataclasses.replace(e, seed=e.seed + r) for e in warm for r in range(count)]


def where_points(mu: pf.Particles) -> Array:
    """The points themselves, as an observable."""
    return mu.points


def seen(systems: list[pf.Experiment], observe: Callable = where_points) -> np.ndarray:
    """What is observed in every system at its saved times, (systems, times, ...)."""
    found = pf.experiments.ensemble(systems, [observe] * len(systems))
    failed = int(np.sum(~found.arrived))
    if failed:
        raise NumericalError(
            f"{failed} of {len(systems)} systems did not reach t = {systems[0].t1:g}.",
            partial=found.values,
        )
    return found.values


def spread(points: np.ndarray) -> np.ndarray:
    """The largest distance between two tokens of each system, (..., n, d) -> (...)."""
    difference = points[..., :, None, :] - points[..., None, :, :]
    return np.linalg.norm(difference, axis=-1).max(axis=(-2, -1))
