"""How a flow of tokens, of a density or of a Gaussian ended, in words."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward._checks import Number
from pushforward.fields import AbstractField
from pushforward.flows._advance import NOT_FINITE, OUT_OF_STEPS, STALLED, UNTIL, Carry
from pushforward.flows._outcome import Outcome, tokens
from pushforward.flows._smooth_flows import gaussian_at_rest, gaussian_blow_up
from pushforward.flows.solvers._exponential import Exponential
from pushforward.flows.solvers._solver import AbstractSolver
from pushforward.measures import Density, Gaussian, Particles

STATIONARY = 1e-9  # d rho/dt below the tolerance of the default solver


def density_at_rest(
    mu: Density, carry: Carry, field: AbstractField, solver: Any
) -> Outcome:
    """Tell apart: out of modes, no longer changing, still moving."""
    t, steps = float(carry.t), int(carry.accepted)
    error, least = float(mu.resolution_error), float(mu.minimum)
    state = f"last modes hold {error:.2g} of the density, its minimum is {least:.3g}"
    if not bool(mu.is_resolved):
        return Outcome(
            "unresolved",
            f"stopped at t = {t:.6g} after {steps} steps: {state}. Raise the resolution"
            f" above {mu.basis.resolution}, add diffusion, take a smaller fixed step, "
            "or go on with particles: trajectory.final.sample(key, n).",
        )
    speed = float(_speed(solver, field, carry.t, mu))
    if speed < STATIONARY:
        return Outcome(
            "stationary",
            f"at t = {t:.6g} the density no longer changes (speed {speed:.2g}, {steps} "
            f"steps); {state}. If it is unstable, a small perturbation will leave it.",
        )
    return Outcome("reached t1", f"t = {t:.6g} in {steps} steps; {state}.")


@eqx.filter_jit
def _speed(solver: Exponential, field: AbstractField, t: Number, mu: Density) -> Array:
    return solver.speed(mu.rule_of(field), t, mu)


TOGETHER = 1e-6  # radius at which tokens count as one atom in an outcome
# What rounding makes of a speed of zero, and the least answer to a nudge that still
# tells a balance of forces from forces that have underflowed.
ROUNDING = {"float64": (1e-14, 1e-10), "float32": (5e-6, 1e-3)}


def explain(
    carry: Carry, field: AbstractField, t1: float, solver: AbstractSolver
) -> Outcome:
    """The outcome of a run that the loop ended with this carry."""
    t, steps = float(carry.t), int(carry.accepted)
    status = int(carry.status)
    if status == NOT_FINITE:
        return Outcome(
            "diverged",
            f"the velocity stopped being finite after t = {t:.6g} ({steps} steps); the "
            "last finite state is kept. For UnnormalizedAttention pass "
            "log_scale=-beta; otherwise check the weights V, W.",
        )
    if status == OUT_OF_STEPS:
        return Outcome(
            "budget",
            f"stopped at t = {t:.6g} of {t1:.6g} after {steps} accepted and "
            f"{int(carry.rejected)} rejected steps. Raise max_steps of the solver, "
            "loosen rtol, or let coincident tokens merge.",
        )
    if status == STALLED and isinstance(carry.mu, Gaussian):
        return gaussian_blow_up(carry.mu, t, steps)
    if status == STALLED:
        return Outcome(
            "diverged",
            f"the step shrank to nothing at t = {t:.6g}: the field is not smooth "
            "there. Use a fixed step such as Heun(h), or loosen rtol.",
        )
    if status == UNTIL:
        return Outcome("until", f"the stopping rule was met at t = {t:.9g}.")
    rest = _at_rest(carry, field, solver)
    limit = field.resolved_until
    if t <= limit:
        return rest
    return Outcome(
        rest.kind,
        f"{rest.message} After t = {limit:.3g} logits of nearly equal tokens differ by "
        "less than double precision resolves: ties seen later are rounding.",
    )


def _at_rest(carry: Carry, field: AbstractField, solver: AbstractSolver) -> Outcome:
    """By the kind of measure: each comes to rest in its own way."""
    if isinstance(carry.mu, Density):
        return density_at_rest(carry.mu, carry, field, solver)
    if isinstance(carry.mu, Gaussian):
        return gaussian_at_rest(carry.mu, carry, field)
    assert isinstance(carry.mu, Particles)
    return particles_at_rest(carry.mu, carry, field)


def particles_at_rest(mu: Particles, carry: Carry, field: AbstractField) -> Outcome:
    """Tell apart: one cluster, forces in balance, forces too small, still moving."""
    t, steps = float(carry.t), int(carry.accepted)
    labels = mu.labels(TOGETHER)
    if mu.n > 1 and labels.max() == 0:
        return Outcome(
            "one cluster",
            f"at t = {t:.6g} all {tokens(mu)} tokens lie within {TOGETHER:g} of each "
            f"other ({steps} steps).",
        )
    atoms = mu if field.ordered else mu.gathered(labels)
    rounding, least = ROUNDING[mu.points.dtype.name]
    speed = float(_largest_speed(field, carry.t, atoms))
    if speed > rounding:
        clusters = f"{atoms.n} distinct points, " if atoms.n < mu.n else ""
        return Outcome(
            "reached t1", f"t = {t:.6g} in {steps} steps; {clusters}speed {speed:.3g}."
        )
    # a nudge is costly to follow, and asked for only where nothing moves
    if atoms.n == 1 or float(_response(field, carry.t, atoms)) > least:
        return Outcome(
            "stationary",
            f"at t = {t:.6g} no token moves: the forces balance (speed {speed:.3g}). "
            "If the balance is unstable, a small perturbation will leave it.",
        )
    single = mu.points.dtype == np.float32
    precision = "the precision of float32" if single else "what this precision resolves"
    further = "in float64 or with merge=Merge()" if single else "with merge=Merge()"
    return Outcome(
        "frozen",
        f"at t = {t:.6g} the largest speed is {speed:.3g}, below {precision}, "
        f"with {atoms.n} separate tokens or clusters left. This is not "
        f"convergence: follow it further {further}.",
    )


@eqx.filter_jit
def _largest_speed(field: AbstractField, t: Number, mu: Particles) -> Array:
    """The largest speed or change of mass."""
    motion = field(t, mu)
    speed = jnp.max(jnp.linalg.norm(motion.v, axis=1))
    if motion.g is None:
        return speed
    return jnp.maximum(speed, jnp.max(jnp.abs(mu.weights * motion.g)))


@eqx.filter_jit
def _response(field: AbstractField, t: Number, mu: Particles) -> Array:
    """How velocities react to a nudge of every token.

    In a balance of forces a nudge brings them out of balance; where forces have
    underflowed a nudge changes nothing.
    """
    nudge = jax.random.normal(jax.random.key(0), mu.points.shape)
    direction = mu.space.tangent(mu.points, nudge.astype(mu.points.dtype))
    velocity = lambda x: field(t, mu.moved(x)).v  # noqa: E731
    _, change = jax.jvp(velocity, (mu.points,), (direction,))
    return jnp.max(jnp.abs(mu.space.tangent(mu.points, change)))
