"""Setting up the flow of a density."""

import jax

from pushforward._checks import is_traced
from pushforward.errors import InputError
from pushforward.fields import AbstractField, on_density
from pushforward.flows._adaptive import Adaptive
from pushforward.flows._exponential import IntegratingFactor, goes_back, stages_of
from pushforward.flows._fixed import Heun
from pushforward.flows._noise import AbstractNoise
from pushforward.flows._solver import AbstractSolver
from pushforward.measures import Density, Zonal, check_not_negative

NEGATIVE = 1e-6  # a dip of this share of the maximum is a mistake, not a ripple


def density_solver(
    solver: AbstractSolver | None, noise: AbstractNoise | None, d: int
) -> IntegratingFactor:
    """The solver that steps a density: diffusion exact, transport as asked for."""
    random = noise is not None and has_common_part(noise, d)
    if solver is None:
        solver = Heun(0.01) if random else Adaptive()
    stages = stages_of(solver)
    diffusion = None if noise is None else noise.diffusion
    if diffusion is not None and goes_back(stages):
        raise InputError(
            f"`solver` has stages that go back in time, where diffusion cannot: got "
            f"{solver!r}. Use Adaptive() with its own scheme, or Heun(h)."
        )
    if random and not isinstance(solver, Heun):
        raise InputError(
            "`solver` must have a fixed step when there is common noise: use "
            f"Heun(0.01), got {solver!r}."
        )
    return IntegratingFactor(solver, diffusion)


def has_common_part(noise: AbstractNoise, d: int) -> bool:
    """Whether the law given the noise is itself random, so that it needs a key."""
    shared = lambda key: noise.shared(key, 1.0, d)  # noqa: E731
    return jax.eval_shape(shared, jax.random.key(0)) is not None


def check_density(
    field: AbstractField, mu: Density, noise: AbstractNoise | None, key, merge, store
) -> None:
    """Refuse what a density cannot do, before anything is computed."""
    if merge is not None:
        raise InputError("`merge` joins particles: a density has none, leave it out.")
    if store is not None:
        raise InputError(
            "`store` writes particles only: flow the density without it and keep "
            "trajectory.measures.coefficients, for example with numpy.savez."
        )
    if noise is not None and has_common_part(noise, mu.d):
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
    jax.eval_shape(lambda: on_density(field, mu.basis)(0.0, mu).v)
