"""How a flow with merging ended, in words."""

import math

import jax.numpy as jnp

from pushforward.flows._long_loop import (
    BALANCED,
    NOT_FINITE,
    ONE_ATOM,
    OUT_OF_STEPS,
    UNTIL,
    LongCarry,
)
from pushforward.flows._outcome import Outcome


def explain_long(carry: LongCarry, n: int, t0: float, last_merge: float) -> Outcome:
    """The outcome for n tokens; `last_merge` is the logarithm of a time."""
    steps, status = int(carry.accepted), int(carry.status)
    left = int(jnp.sum(carry.atoms.alive))
    at = readable(float(carry.log_t), t0)
    if status == UNTIL:
        return Outcome("until", f"the stopping rule was met at t = {at}.")
    if left == 1 and n > 1:
        since = readable(last_merge, t0)
        message = f"all {n} tokens are one atom since t = {since} ({steps} steps)."
        return Outcome("one cluster", message)
    if status in (BALANCED, ONE_ATOM):
        message = (
            f"at t = {at} the forces on the {left} atoms that are left balance to "
            f"rounding ({steps} steps): an equilibrium, or too close to one for this "
            "precision. A small perturbation tells which."
        )
        return Outcome("stationary" if n == 1 else "frozen", message)
    if status == OUT_OF_STEPS:
        message = f"stopped at t = {at} after {steps} steps with {left} atoms left."
        return Outcome("budget", message + " Raise max_steps of the solver.")
    if status == NOT_FINITE:
        message = f"the velocity stopped being finite after t = {at}."
        return Outcome("diverged", message + " The last finite state is kept.")
    return Outcome("reached t1", f"t = {at} in {steps} steps; {left} atoms left.")


def readable(log_t: float, t0: float) -> str:
    """A time from the logarithm of the time since t0, also beyond 1e308."""
    if log_t < 700:
        return f"{t0 + math.exp(log_t):.9g}"
    return f"10^{log_t / math.log(10):.6f}"
