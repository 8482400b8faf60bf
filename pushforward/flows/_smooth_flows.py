"""Setting up the flow of a density and of a Gaussian, and how the latter ends."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import Number, is_traced, prng_key
from pushforward.errors import InputError
from pushforward.fields import AbstractField, Motion
from pushforward.flows._outcome import Outcome
from pushforward.flows.noise._noise import AbstractNoise
from pushforward.flows.solvers._adaptive import Adaptive
from pushforward.flows.solvers._exponential import Exponential, stages_of
from pushforward.flows.solvers._fixed import Heun, Layers
from pushforward.flows.solvers._solver import AbstractSolver, Attempt, Increment
from pushforward.measures import (
    AbstractBasis,
    Density,
    Gaussian,
    Zonal,
    check_not_negative,
)

PIECES_UNKNOWN = 8  # parts of a step where sigma is not known while compiling
NEGATIVE = 1e-6  # a dip of this share of the maximum is a mistake, not a ripple


def density_solver(
    solver: AbstractSolver | None, noise: AbstractNoise | None, basis: AbstractBasis
) -> Exponential:
    """The solver that steps a density: diffusion exact, transport as asked for."""
    common = None if noise is None else noise.common
    if solver is None:
        solver = Adaptive() if common is None else Heun(0.01)
    diffusion = None if noise is None else noise.diffusion
    if common is None:
        stages_of(solver)
        return Exponential(solver, diffusion)
    if not isinstance(solver, Heun):
        raise InputError(
            "`solver` must have a fixed step when there is common noise: use "
            f"Heun(0.01), got {solver!r}."
        )
    return Exponential(solver, diffusion, _pieces(common, solver.h, basis))


def _pieces(common, h: Number, basis: AbstractBasis) -> int:
    """How many parts of a step keep the transport of the last mode stable.

    An increment of four standard deviations may turn it by two radians per part; the
    method of order 4 is stable up to 2.8.
    """
    if is_traced(common, h):
        return PIECES_UNKNOWN
    increment = 4 * float(common) * float(h) ** 0.5
    return max(1, math.ceil(basis.resolution * increment / 2))


def check_density(
    field: AbstractField,
    mu: Density,
    noise: AbstractNoise | None,
    key: PRNGKeyArray | None,
    merge: Any,
) -> None:
    """Refuse what a density cannot do, before anything is computed."""
    if merge is not None:
        raise InputError("`merge` joins particles: a density has none, leave it out.")
    if noise is not None and noise.common is not None:
        if key is None:
            raise InputError(
                "common noise needs a `key`, for example key=jax.random.key(0)."
            )
        if isinstance(mu.basis, Zonal):
            raise InputError(
                "`mu` must not be zonal under common noise, which moves the axis. Use "
                "Circle() or Density.uniform(Sphere(3), resolution)."
            )
    if not is_traced(mu):
        check_not_negative(mu, NEGATIVE)
    # Shapes only: what the field refuses is refused here, and nothing is computed.
    jax.eval_shape(lambda: field.on_density(mu.basis)(0.0, mu).v)


ROUNDING = 1e-13  # relative speeds below this are what rounding makes of zero


class Spreading(AbstractSolver):
    """A solver that adds diffusion to the velocity, which on a Gaussian is affine.

    Under d rho/dt = D Laplacian rho mass moves by -D grad log rho = D S^{-1} (x - m):
    the center rests, and dF/dt = D F^{-T}.
    """

    inner: AbstractSolver
    diffusion: Float[Array, ""]
    order: int = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)

    def __init__(self, inner: AbstractSolver, diffusion: Float[Array, ""]):
        self.inner, self.diffusion = inner, diffusion
        self.order, self.max_steps = inner.order, inner.max_steps

    def first_step(self, motion: Motion, span: Number) -> Float[Array, ""]:
        """That of the method inside."""
        return self.inner.first_step(motion, span)

    def next_step(self, h: Number, error: Number) -> Float[Array, ""]:
        """That of the method inside."""
        return self.inner.next_step(h, error)

    def attempt(
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
    ) -> Attempt:
        """A step of the method inside, with the spreading added to every slope."""
        both = _Both(field, self)
        trial = self.inner.attempt(both, t, h, mu, self.spread(motion, mu), dW)
        return Attempt(trial.mu, field(t + h, trial.mu), trial.error)

    def spread(self, motion: Motion, mu: Gaussian) -> Motion:
        """The motion with D F^{-T} added to that of the factor."""
        one = jnp.eye(mu.d, dtype=mu.center.dtype)
        columns = jnp.linalg.solve(mu.factor, one)  # (F^{-T})^T
        D = self.diffusion.astype(one.dtype)
        return Motion(motion.v.at[1:].add(D * columns), None)


class _Both(eqx.Module):
    """The rule of a field, spread."""

    rule: Any
    solver: Spreading

    def __call__(self, t: Number, mu: Gaussian) -> Motion:
        return self.solver.spread(self.rule(t, mu), mu)


def gaussian_solver(
    solver: AbstractSolver | None, noise: AbstractNoise | None
) -> tuple[AbstractSolver, AbstractSolver]:
    """The solver as asked for, and the one that steps: with diffusion added."""
    common = None if noise is None else noise.common
    solver = solver or (Adaptive() if common is None else Heun(0.01))
    if noise is None:
        return solver, solver
    if isinstance(solver, Layers) or (
        common is not None and isinstance(solver, Adaptive)
    ):
        raise InputError(
            "`solver` must be Heun(h) under noise on a Gaussian, or Adaptive() if none "
            f"of it is common, got {solver!r}."
        )
    D = noise.diffusion
    return solver, solver if D is None else Spreading(solver, D)


def check_gaussian(
    field: AbstractField,
    mu: Gaussian,
    noise: AbstractNoise | None,
    key: PRNGKeyArray | None,
    merge: Any,
) -> None:
    """Refuse what a Gaussian cannot do, before anything is computed."""
    if merge is not None:
        raise InputError("`merge` joins particles: a Gaussian has none, leave it out.")
    if key is not None:
        prng_key("key", key)
    if noise is not None and noise.common is not None and key is None:
        raise InputError(
            "common noise needs a `key`, for example key=jax.random.key(0)."
        )
    diffuses = noise is not None and noise.diffusion is not None
    if diffuses and not is_traced(mu) and mu.rank < mu.d:
        raise InputError(
            f"`mu` must have a regular covariance under Brownian noise, got rank "
            f"{mu.rank} in R^{mu.d}. Add a small multiple of the identity."
        )
    # Shapes only: what the field refuses is refused here, and nothing is computed.
    jax.eval_shape(lambda: mu.rule_of(field)(0.0, mu).v)


def gaussian_at_rest(mu: Gaussian, carry: Any, field: AbstractField) -> Outcome:
    """Tell apart: no longer moving, or still moving."""
    t, steps = float(carry.t), int(carry.accepted)
    speed = float(jnp.max(jnp.abs(mu.rule_of(field)(carry.t, mu).v)))
    size = float(jnp.max(jnp.abs(mu.state)))
    state = f"largest deviation {_deviation(mu):.4g}, rank {mu.rank}"
    if speed <= ROUNDING * (1 + size):
        return Outcome(
            "stationary",
            f"at t = {t:.6g} the Gaussian no longer moves ({steps} steps); {state}.",
        )
    return Outcome("reached t1", f"t = {t:.6g} in {steps} steps; {state}.")


def gaussian_blow_up(mu: Gaussian, t: float, steps: int) -> Outcome:
    """A step that shrinks to nothing: moments become infinite in finite time."""
    return Outcome(
        "diverged",
        f"blow-up at t = {t:.9g} after {steps} steps: the largest deviation is "
        f"{_deviation(mu):.3g} and grows without bound. Tokens repel by V = -I, stay "
        "bounded under DistanceAttention, or stop before that time.",
    )


def _deviation(mu: Gaussian) -> float:
    """The largest standard deviation along any direction."""
    return float(np.linalg.norm(np.asarray(mu.factor), 2))
