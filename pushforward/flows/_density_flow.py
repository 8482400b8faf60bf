"""Setting up the flow of a density."""

import math
from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from pushforward._checks import is_traced
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._adaptive import Adaptive
from pushforward.flows._exponential import Exponential, stages_of
from pushforward.flows._fixed import Heun
from pushforward.flows._noise import AbstractNoise
from pushforward.flows._solver import AbstractSolver
from pushforward.measures import AbstractBasis, Density, Zonal, check_not_negative

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
