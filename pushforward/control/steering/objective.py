"""What training minimizes: Sinkhorn divergences at the end, and the size of weights.

A schedule run with a fixed number of steps, so that its gradient is cheap.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.control.steering.blocks import LayerStack
from pushforward.control.steering.targets import Cloud, checked_goals, checked_sources
from pushforward.errors import InputError
from pushforward.measures import Particles
from pushforward.transport import sinkhorn_divergence


def rolled_out(
    blocks: LayerStack,
    x: Float[Array, "n d"],
    log_weights: Float[Array, "n"],
    substeps: int,
) -> Float[Array, "n d"]:
    """Points at the end: Runge-Kutta of order four, `substeps` steps in every piece."""

    def piece(x: Array, block: LayerStack) -> tuple[Array, None]:
        h = block.durations / substeps
        step = lambda x, _: (_step(block, x, log_weights, h), None)  # noqa: E731
        return jax.lax.scan(step, x, None, length=substeps)[0], None

    return jax.lax.scan(piece, x, blocks)[0]


@jax.checkpoint
def _step(block: LayerStack, x: Array, log_weights: Array, h: Array) -> Array:
    a = velocity(block, x, log_weights)
    b = velocity(block, _unit(x + h / 2 * a), log_weights)
    c = velocity(block, _unit(x + h / 2 * b), log_weights)
    e = velocity(block, _unit(x + h * c), log_weights)
    return _unit(x + h / 6 * (a + 2 * b + 2 * c + e))


def velocity(
    block: LayerStack, x: Float[Array, "n d"], log_weights: Float[Array, "n"]
) -> Float[Array, "n d"]:
    """P_x(V A_B[mu](x) + W (U x + b)_+) of one piece."""
    logits = (x @ block.B.T) @ x.T + log_weights[None, :]
    seen = jax.nn.softmax(logits, axis=1) @ x
    push = seen @ block.V.T + jax.nn.relu(x @ block.U.T + block.b[None, :]) @ block.W.T
    return push - jnp.sum(push * x, axis=1, keepdims=True) * x


def _unit(x: Float[Array, "n d"]) -> Float[Array, "n d"]:
    return x / jnp.linalg.norm(x, axis=1, keepdims=True)


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

    def __call__(self, blocks: LayerStack) -> Float[Array, ""]:
        """The loss of these weights."""
        each = [jax.vmap(lambda p: self.divergence(blocks, p))(g) for g in self.groups]
        return jnp.concatenate(each).mean() + self.penalty * mean_square(blocks)

    def divergence(self, blocks: LayerStack, pair: Pair) -> Float[Array, ""]:
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
    eps = above_zero("eps", eps, "It is a length squared.")
    steps = count("substeps", substeps)
    sizes: dict[tuple, list[Pair]] = {}
    for pair in pairs:
        sizes.setdefault((pair.x.shape, pair.y.shape), []).append(pair)
    groups = [_stacked(group) for group in sizes.values()]
    return Objective(groups, jnp.asarray(penalty), jnp.asarray(eps), steps)


def _stacked(group: list[Pair]) -> Pair:
    return jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *group)


def mean_square(blocks: LayerStack) -> Float[Array, ""]:
    """Mean over pieces of the sum of squares of the weights."""
    lasts = blocks.durations > 0
    squares = [
        jnp.sum(leaf**2, axis=tuple(range(1, leaf.ndim)))
        for leaf in (blocks.V, blocks.B, blocks.W, blocks.U, blocks.b)
    ]
    return jnp.sum(jnp.where(lasts, sum(squares), 0.0)) / jnp.sum(lasts)
