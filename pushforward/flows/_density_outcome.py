"""How the flow of a density ended, in words."""

import equinox as eqx
from jaxtyping import Array

from pushforward.flows._advance import Carry
from pushforward.flows._exponential import IntegratingFactor
from pushforward.flows._kinds import RESOLVED, prepared
from pushforward.flows._outcome import Outcome, at_rest
from pushforward.measures import Density

STATIONARY = 1e-9  # d rho/dt below the tolerance of the default solver


@at_rest.register
def _(mu: Density, carry: Carry, field, solver: IntegratingFactor) -> Outcome:
    t, steps = float(carry.t), int(carry.accepted)
    error, least = float(mu.resolution_error), float(mu.minimum)
    state = f"last modes hold {error:.2g} of the density, its minimum is {least:.3g}"
    if not error <= RESOLVED:
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
def _speed(solver: IntegratingFactor, field, t, mu: Density) -> Array:
    return solver.speed(prepared(mu, field), t, mu)
