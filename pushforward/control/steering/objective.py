"""What training minimizes: Sinkhorn divergences at the end, and the size of weights."""

from collections.abc import Sequence

import equinox as eqx
import jax
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
    """Mean Sinkhorn divergence over the pairs, plus the penalty on the weights.

    Numbers and data are leaves: another penalty or other inputs of the same size do
    not compile again.
    """

    groups: list[Pair]  # pairs of one size, stacked
    penalty: Float[Array, ""]
    eps: Float[Array, ""]
    substeps: int = eqx.field(static=True)

    def __call__(self, blocks: Blocks) -> Float[Array, ""]:
        """The loss of these weights."""
        each = [jax.vmap(lambda p: self.divergence(blocks, p))(g) for g in self.groups]
        return jnp.concatenate(each).mean() + self.penalty * mean_square(blocks)

    def divergence(self, blocks: Blocks, pair: Pair) -> Float[Array, ""]:
        """Between one input at the end and its target."""
        end = rolled_out(blocks, pair.x, pair.log_weights, self.substeps)
        a = jnp.exp(pair.log_weights)
        return sinkhorn_divergence(
            end, pair.y, self.eps, a=a, b=pair.b, tol=1e-5, iterations=SINKHORN
        )


def pairs_of(
    sources: Sequence[Particles], targets: Sequence | np.ndarray
) -> list[Pair]:
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
    """The objective, once its numbers are checked."""
    penalty = float(finite("penalty", penalty))
    if penalty < 0:
        raise InputError(f"`penalty` must not be negative, got {penalty:g}.")
    eps = positive("eps", eps, "It is a length squared.")
    steps = count("substeps", substeps)
    sizes: dict[tuple, list[Pair]] = {}
    for pair in pairs:
        sizes.setdefault((pair.x.shape, pair.y.shape), []).append(pair)
    groups = [_stacked(group) for group in sizes.values()]
    return Objective(groups, jnp.asarray(penalty), jnp.asarray(eps), steps)


def _stacked(group: list[Pair]) -> Pair:
    return jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *group)


def mean_square(blocks: Blocks) -> Float[Array, ""]:
    """Mean over pieces of the sum of squares of the weights."""
    lasts = blocks.durations > 0
    squares = [
        jnp.sum(leaf**2, axis=tuple(range(1, leaf.ndim)))
        for leaf in (blocks.V, blocks.B, blocks.W, blocks.U, blocks.b)
    ]
    return jnp.sum(jnp.where(lasts, sum(squares), 0.0)) / jnp.sum(lasts)
