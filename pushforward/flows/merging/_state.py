"""The state of a flow with merging, and what stays fixed while it changes.

How a flow with merging ended, in words.
"""

import math
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward.fields import AbstractField, Motion
from pushforward.flows._outcome import Outcome, tokens
from pushforward.flows._solver import AbstractSolver
from pushforward.flows.merging._merge import Merge, Slots
from pushforward.flows.merging._motion import InUnits
from pushforward.measures import Particles

RUNNING, ONE_ATOM, FEWER, BALANCED, OUT_OF_STEPS, UNTIL, NOT_FINITE = range(7)


class MergingCarry(eqx.Module):
    """The state of the loop."""

    slots: Slots
    motion: Motion
    unit: Float[Array, ""]
    h: Float[Array, ""]
    failed: Bool[Array, ""]
    log_base: Float[Array, ""]
    log_since: Float[Array, ""]
    arc: Float[Array, ""]
    accepted: Int[Array, ""]
    rejected: Int[Array, ""]
    status: Int[Array, ""]

    @property
    def log_t(self) -> Float[Array, ""]:
        """The logarithm of the time since the start."""
        return jnp.logaddexp(self.log_base, self.log_since)


class Leg(eqx.Module):
    """From one time of interest to the next: frames, and times at which fields switch.

    It ends at the time `end`, log_end after the start of the flow, or at an arc length,
    or when the number of steps is used up.
    """

    begin: Float[Array, ""]
    end: Float[Array, ""]
    log_end: Float[Array, ""]
    arc_end: Float[Array, ""]
    steps_end: Int[Array, ""]


class MergingProblem(eqx.Module):
    """What stays fixed in the loop. `template` gives space and type of the measures.

    `timed` fields depend on time: forces that balance now may not do so later. Their
    unit does not fall below `slowest`, at which nothing gets anywhere before the end.
    """

    field: AbstractField
    solver: AbstractSolver
    merge: Merge
    template: Particles
    until: Callable | None
    stride: Float[Array, ""]
    t0: Float[Array, ""]
    slowest: Float[Array, ""]
    timed: bool = eqx.field(static=True)
    shrink: int = eqx.field(static=True)

    def measure(self, slots: Slots) -> Particles:
        """The atoms as a measure."""
        return self.template.moved(slots.points, slots.log_weights)

    def met(self, slots: Slots) -> Bool[Array, ""]:
        """Whether the stopping rule holds; to it an absorbed slot is where it went."""
        if self.until is None:
            return jnp.asarray(False)
        root = slots.parent
        for _ in range(len(root).bit_length()):
            root = root[root]
        mu = self.template.moved(slots.points[root], slots.log_weights)
        return jnp.asarray(self.until(mu), bool)

    def time(self, carry: MergingCarry, leg: Leg) -> Float[Array, ""]:
        """The time now. Rounding must not carry it over a switch of the field."""
        return jnp.clip(self.t0 + jnp.exp(carry.log_t), leg.begin, leg.end)

    def rule(self, carry: MergingCarry, leg: Leg) -> InUnits:
        """The field in the units and on the clock of the next step."""
        settles = self.timed or carry.slots.grown is not None
        begin, alive = self.time(carry, leg), carry.slots.alive
        return InUnits(self.field, begin, carry.unit, alive, settles)


def explain_merging(
    carry: MergingCarry, problem: MergingProblem, t: float, last_merge: float
) -> Outcome:
    """The outcome at time t; `last_merge` is the logarithm of a span."""
    outcome = _ended(carry, problem, t, last_merge)
    limit = problem.field.resolved_until
    if t <= limit:
        return outcome
    return Outcome(
        outcome.kind,
        f"{outcome.message} After t = {limit:.3g} logits of nearly equal tokens differ "
        "by less than double precision resolves: ties seen later are rounding.",
    )


def _ended(
    carry: MergingCarry, problem: MergingProblem, t: float, last_merge: float
) -> Outcome:
    n, t0 = problem.template.n, float(problem.t0)
    steps, status = int(carry.accepted), int(carry.status)
    left = int(jnp.sum(carry.slots.alive))
    at = readable(float(carry.log_t), t)
    if status == UNTIL:
        return Outcome("until", f"the stopping rule was met at t = {at}.")
    if status == NOT_FINITE:
        message = f"the motion stopped being finite after t = {at}."
        return Outcome("diverged", message + " The last finite state is kept.")
    out_of_steps = status == OUT_OF_STEPS
    if left == 1 and n > 1 and not (problem.timed and out_of_steps):
        with_t0 = t0 + math.exp(last_merge) if last_merge < 700 else math.inf
        since = readable(last_merge, with_t0)
        held = f"all {tokens(problem.template)} tokens are one atom"
        message = f"{held} since t = {since} ({steps} steps)."
        return Outcome("one cluster", message)
    if out_of_steps:
        message = f"stopped at t = {at} after {steps} steps with {left} atoms left."
        return Outcome("budget", message + " Raise max_steps of the solver.")
    if status in (BALANCED, ONE_ATOM):
        message = (
            f"at t = {at} the forces on the {left} atoms that are left balance to "
            f"rounding ({steps} steps): an equilibrium, or too close to one for this "
            "precision. A small perturbation tells which."
        )
        return Outcome("stationary" if n == 1 else "frozen", message)
    return Outcome("reached t1", f"t = {at} in {steps} steps; {left} atoms left.")


def readable(log_t: float, t: float) -> str:
    """A time in words: by the logarithm of the time since the start beyond 1e308."""
    return f"{t:.9g}" if log_t < 700 else f"10^{log_t / math.log(10):.6f}"
