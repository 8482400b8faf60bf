"""How a flow ended, in words."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward.fields import AbstractField, same_for_all_orders
from pushforward.flows._advance import (
    NOT_FINITE,
    OUT_OF_STEPS,
    STALLED,
    UNTIL,
    Carry,
)
from pushforward.flows._kinds import Measure
from pushforward.flows._solver import AbstractSolver
from pushforward.measures import Particles

ROUNDING = 1e-14  # speeds below this are what rounding makes of zero
TOGETHER = 1e-6  # radius at which tokens count as one atom in an outcome


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A kind and a sentence: why the flow stopped and what to do next.

    Kinds: "reached t1", "one cluster", "stationary", "frozen", "until", "diverged",
    "interrupted", "budget"; of a density also "unresolved".
    """

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


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
    if status == STALLED:
        return Outcome(
            "diverged",
            f"the step shrank to nothing at t = {t:.6g}: the field is not smooth "
            "there. Use a fixed step such as Heun(h), or loosen rtol.",
        )
    if status == UNTIL:
        return Outcome("until", f"the stopping rule was met at t = {t:.9g}.")
    rest = at_rest(carry.mu, carry, field, solver)
    limit = getattr(field, "resolved_until", float("inf"))
    if t <= limit:
        return rest
    return Outcome(
        rest.kind,
        f"{rest.message} After t = {limit:.3g} logits of nearly equal tokens differ by "
        "less than double precision resolves: ties seen later are rounding.",
    )


@functools.singledispatch
def at_rest(
    mu: Measure, carry: Carry, field: AbstractField, solver: AbstractSolver
) -> Outcome:
    """Tell apart: one cluster, forces in balance, forces too small, still moving."""
    t, steps = float(carry.t), int(carry.accepted)
    atoms = mu.merge(TOGETHER) if same_for_all_orders(field) else mu
    if mu.n > 1 and len(np.unique(mu.labels(TOGETHER))) == 1:
        return Outcome(
            "one cluster",
            f"at t = {t:.6g} all {mu.n} tokens lie within {TOGETHER:g} of each other "
            f"({steps} steps).",
        )
    speed, response = _speed_and_response(field, carry.t, atoms)
    if speed > ROUNDING:
        clusters = f"{atoms.n} atoms, " if atoms.n < mu.n else ""
        return Outcome(
            "reached t1", f"t = {t:.6g} in {steps} steps; {clusters}speed {speed:.3g}."
        )
    if response > 1e-10 or atoms.n == 1:
        return Outcome(
            "stationary",
            f"at t = {t:.6g} no token moves: the forces balance (speed {speed:.3g}). "
            "If the balance is unstable, a small perturbation will leave it.",
        )
    return Outcome(
        "frozen",
        f"at t = {t:.6g} the largest speed is {speed:.3g}, below what this precision "
        f"resolves, with {atoms.n} separate tokens or clusters left. This is not "
        "convergence: follow it further with merge=Merge().",
    )


def _speed_and_response(field, t, mu: Particles) -> tuple[float, float]:
    """The largest speed or change of mass, and how it reacts to a nudge of every token.

    In a balance of forces a nudge brings them out of balance; where forces have
    underflowed a nudge changes nothing.
    """
    direction = mu.space.tangent(
        mu.points, jax.random.normal(jax.random.key(0), mu.points.shape)
    ).astype(mu.points.dtype)
    speed, response = _at(field, t, mu, direction)
    return float(speed), float(response)


@eqx.filter_jit
def _at(field, t, mu: Particles, direction) -> tuple[Array, Array]:
    velocity = lambda x: field(t, mu.moved(x)).v  # noqa: E731
    v, dv = jax.jvp(velocity, (mu.points,), (direction,))
    dv = mu.space.tangent(mu.points, dv)
    growth = field(t, mu).g
    change = 0.0 if growth is None else jnp.max(jnp.abs(mu.weights * growth))
    return jnp.maximum(jnp.max(jnp.abs(v)), change), jnp.max(jnp.abs(dv))
