"""A schedule run with a fixed number of steps, so that its gradient is cheap."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.control.steering.blocks import Blocks


def rolled_out(
    blocks: Blocks,
    x: Float[Array, "n d"],
    log_weights: Float[Array, "n"],
    substeps: int,
) -> Float[Array, "n d"]:
    """Points at the end: Runge-Kutta of order four, `substeps` steps in every piece."""

    def piece(x: Array, block: Blocks) -> tuple[Array, None]:
        h = block.durations / substeps
        step = lambda x, _: (_step(block, x, log_weights, h), None)  # noqa: E731
        return jax.lax.scan(step, x, None, length=substeps)[0], None

    return jax.lax.scan(piece, x, blocks)[0]


@jax.checkpoint
def _step(block: Blocks, x: Array, log_weights: Array, h: Array) -> Array:
    a = velocity(block, x, log_weights)
    b = velocity(block, _unit(x + h / 2 * a), log_weights)
    c = velocity(block, _unit(x + h / 2 * b), log_weights)
    e = velocity(block, _unit(x + h * c), log_weights)
    return _unit(x + h / 6 * (a + 2 * b + 2 * c + e))


def velocity(
    block: Blocks, x: Float[Array, "n d"], log_weights: Float[Array, "n"]
) -> Float[Array, "n d"]:
    """P_x(V A_B[mu](x) + W (U x + b)_+) of one piece."""
    logits = (x @ block.B.T) @ x.T + log_weights[None, :]
    seen = jax.nn.softmax(logits, axis=1) @ x
    push = seen @ block.V.T + jax.nn.relu(x @ block.U.T + block.b[None, :]) @ block.W.T
    return push - jnp.sum(push * x, axis=1, keepdims=True) * x


def _unit(x: Float[Array, "n d"]) -> Float[Array, "n d"]:
    return x / jnp.linalg.norm(x, axis=1, keepdims=True)
