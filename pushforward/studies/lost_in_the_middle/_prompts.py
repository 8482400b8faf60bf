"""Monte Carlo of retrieval: what the last token remembers of every other one.

For theta_i(0) uniform, integration by parts gives
E e^{in(theta_i(0) - theta_N(t))} = E e^{in(...)} dtheta_N(t)/dtheta_i(0), and one
reverse pass gives the derivative for all i. N times the right side has a standard error
that does not grow with N; N times the left side, one that grows like N.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import pushforward as pf
from pushforward._checks import positive, whole
from pushforward.errors import InputError, NumericalError

BATCH = 64  # prompts that run side by side
WAVES = 8  # modes n of the correlations that are recorded: a_8 = 6e-6 at beta = 1


class Correlations(NamedTuple):
    """N Cov of mode n = 1..8 between token i at the start and the last at the end.

    Rows are prompts: means over rows estimate, their spread says how well. `plain` is
    the estimate without integration by parts.
    """

    smooth: Float[np.ndarray, "prompts n modes"]
    plain: Float[np.ndarray, "prompts n modes"]


def last_angle(
    field: pf.DecayingAttention, theta: Float[Array, "n"], t, steps: int
) -> Float[Array, ""]:
    """theta_N(t) from the angles at the start, by `steps` Runge-Kutta steps of order 4.

    The same flow as `pf.flow` on the circle, kept in angles: gradients are cheap.
    """
    weights = jnp.full(theta.shape, -jnp.log(float(theta.shape[0])))
    h = t / steps

    def velocity(theta):
        return field.angular_velocity(pf.Circle().points(theta), weights)

    def stage(carry, weights):  # one velocity in the program, not four: it compiles
        start, slope, total = carry
        ahead, share = weights
        slope = velocity(start + ahead * h * slope)
        return (start, slope, total + share * h * slope), None

    def step(theta, _):
        stages = (jnp.array([0.0, 0.5, 0.5, 1.0]), jnp.array([1.0, 2.0, 2.0, 1.0]) / 6)
        begin = (theta, jnp.zeros_like(theta), theta)
        return jax.lax.scan(jax.checkpoint(stage), begin, stages)[0][2], None

    return jax.lax.scan(step, theta, None, length=steps)[0][-1]


@eqx.filter_jit
def _batch(field, theta, t, steps: int):
    def one(theta):
        last, slope = jax.value_and_grad(lambda x: last_angle(field, x, t, steps))(
            theta
        )
        gap = (theta - last)[:, None] * jnp.arange(1.0, WAVES + 1.0)[None, :]
        waves = len(theta) * jnp.cos(gap)
        return slope[:, None] * waves, waves

    return jax.vmap(one)(theta)


def correlations(
    field: pf.DecayingAttention,
    n: int,
    t: float,
    *,
    prompts: int,
    seed: int,
    steps: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Correlations:
    """Both estimates from random prompts of n tokens, a batch of 64 at a time.

    Without `steps`, steps of 0.2. `progress` is called with (prompts done, prompts).
    """
    n, prompts = whole("n", n, 2), whole("prompts", prompts, 2)
    t = float(positive("t", t))
    if not isinstance(field, pf.DecayingAttention) or field.modes is None:
        raise InputError(
            f"`field` must be a DecayingAttention with modes, got {field!r}. "
            "For example DecayingAttention(1.0, 1.0, modes=8)."
        )
    steps = max(1, round(5 * t)) if steps is None else whole("steps", steps, 1)
    key, parts = pf.key_for(seed, "prompts"), []
    for begin in range(0, prompts, BATCH):
        here = jax.random.fold_in(key, begin)
        theta = 2 * jnp.pi * jax.random.uniform(here, (BATCH, n))
        keep = slice(0, min(BATCH, prompts - begin))
        parts.append([np.asarray(a)[keep] for a in _batch(field, theta, t, steps)])
        if progress is not None:
            progress(min(begin + BATCH, prompts), prompts)
    found = Correlations(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    if not np.isfinite(found.smooth).all():
        raise NumericalError("a prompt diverged. Take more `steps`.", found)
    return found


def in_bins(rows: np.ndarray, edges: list[tuple[float, float]]):
    """Mean and standard error over prompts of averages over low < i/N < high."""
    position = (np.arange(rows.shape[1]) + 1) / rows.shape[1]
    means = np.stack(
        [rows[:, (position > a) & (position < b)].mean(1) for a, b in edges], axis=1
    )
    return means.mean(0), means.std(0, ddof=1) / np.sqrt(len(means))
