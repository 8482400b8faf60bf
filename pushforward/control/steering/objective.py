"""What training minimizes: Sinkhorn divergences at the end, and the size of weights."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.control._checks import count, finite, positive
from pushforward.control.steering.blocks import Blocks
from pushforward.control.steering.geometry import Cloud
from pushforward.control.steering.rollout import rolled_out
from pushforward.control.steering.targets import checked_goals, checked_sources
from pushforward.errors import InputError
from pushforward.measures import Particles
from pushforward.transport import sinkhorn_divergence

SINKHORN = 300  # iterations; the gradient needs few digits


class Pair(eqx.Module):
    """One input and its target, as arrays."""

    x: Float[Array, "n d"]
    log_weights: Float[Array, "n"]
    y: Float[Array, "m d"]
    b: Float[Array, "m"]


class Objective(eqx.Module):
    """What is minimized; its data are leaves, so that it may enter compiled code."""

    total: Callable = eqx.field(static=True)
    pairs: list[Pair]

    def __call__(self, blocks: Blocks) -> Float[Array, ""]:
        """The loss of these weights."""
        return self.total(blocks, self.pairs)


def pairs_of(sources: Sequence[Particles], targets: Sequence) -> list[Pair]:
    """Sources and targets, checked, as arrays."""
    clouds = checked_sources(sources)
    goals = checked_goals(clouds, targets)
    pairs = []
    for cloud, goal in zip(clouds, goals, strict=True):
        (x, a), (y, b) = _massive(cloud), _massive(Cloud.of(goal.target))
        arrays = (x, np.log(a), y, b)
        pairs.append(Pair(*map(jnp.asarray, arrays)))
    return pairs


def _massive(cloud: Cloud) -> Cloud:
    """Without the points that carry no mass."""
    kept = cloud.weights > 0
    return Cloud(cloud.points[kept], cloud.weights[kept])


def objective_of(
    pairs: list[Pair], penalty: float, eps: float, substeps: int
) -> Objective:
    """Mean divergence over the pairs plus the penalty on the weights."""
    penalty = float(finite("penalty", penalty))
    if penalty < 0:
        raise InputError(f"`penalty` must not be negative, got {penalty:g}.")
    eps = positive("eps", eps, "It is a length squared.")
    substeps = count("substeps", substeps)

    @eqx.filter_jit
    def total(blocks: Blocks, pairs: list[Pair]) -> Float[Array, ""]:
        divergence = jnp.zeros(())
        for pair in pairs:
            end = rolled_out(blocks, pair.x, pair.log_weights, substeps)
            a = jnp.exp(pair.log_weights)
            divergence += sinkhorn_divergence(
                end, pair.y, eps, a=a, b=pair.b, tol=1e-5, iterations=SINKHORN
            )
        return divergence / len(pairs) + penalty * _size(blocks)

    return Objective(total, pairs)


def _size(blocks: Blocks) -> Float[Array, ""]:
    """Mean over pieces of the sum of squares of the weights."""
    lasts = blocks.durations > 0
    squares = [
        jnp.sum(leaf**2, axis=tuple(range(1, leaf.ndim)))
        for leaf in (blocks.V, blocks.B, blocks.W, blocks.U, blocks.b)
    ]
    return jnp.sum(jnp.where(lasts, sum(squares), 0.0)) / jnp.sum(lasts)
