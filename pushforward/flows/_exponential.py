"""Steps of a density: transport explicit, diffusion exact."""

from collections.abc import Callable
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields import Motion
from pushforward.flows._adaptive import Adaptive
from pushforward.flows._fixed import Heun
from pushforward.flows._solver import AbstractSolver, Attempt, Increment
from pushforward.measures import Density


class Stages(NamedTuple):
    """The numbers of an explicit Runge-Kutta method; c begins with 0."""

    c: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    b_error: tuple[float, ...] | None
    fsal: bool


ORDER_4 = Stages(
    (0.0, 0.5, 0.5, 1.0),
    ((0.5, 0.0, 0.0, 0.0), (0.0, 0.5, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    None,
    False,
)


class IntegratingFactor(AbstractSolver):
    """An explicit method for what N changes in a step, L = diffusion times Laplacian.

    dc/dt = N(t, c) + L c. With N_0 held, c is known: e^{s L} c + s phi(s L) N_0 at time
    s, phi(z) = (e^z - 1) / z. Stage i adds h sum_j a_ij e^{(c_i - c_j) h L} (N_j - N_0)
    to that at s = c_i h. So diffusion alone is exact for every step, and a state at
    rest, where all N_j are N_0 = -L c, stays at rest: without N_0 the step would be cut
    there for good, since e^{s L} c + s N_0 moves away.

    Common noise is followed along straight pieces of its path (Wong and Zakai): a step
    is cut into `pieces` of order 4, since an increment may move the last modes by
    several radians, where Heun's method would be unstable.
    """

    inner: AbstractSolver
    diffusion: Float[Array, ""] | None
    pieces: int = eqx.field(static=True)
    order: int = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)

    def __init__(
        self,
        inner: AbstractSolver,
        diffusion: Float[Array, ""] | Float[Array, "j"] | None,
        pieces: int = 1,
    ):
        self.inner, self.diffusion, self.pieces = inner, diffusion, pieces
        self.order, self.max_steps = inner.order, inner.max_steps

    def first_step(self, motion: Motion, span: Number) -> Float[Array, ""]:
        """That of the method inside: by the largest speed."""
        return self.inner.first_step(motion, span)

    def next_step(self, h: Number, error: Number) -> Float[Array, ""]:
        """That of the method inside."""
        return self.inner.next_step(h, error)

    def attempt(
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
    ) -> Attempt:
        """One step; `dW` is a vector of R^d that every point of space feels."""
        if dW is None:
            return self._step(stages_of(self.inner), field, t, h, mu, motion, None)
        short = h / self.pieces

        def piece(i, state):
            mu, motion = state
            return self._step(ORDER_4, field, t + i * short, short, mu, motion, dW / h)[
                :2
            ]

        end, last = jax.lax.fori_loop(0, self.pieces, piece, (mu, motion))
        return Attempt(end, last, jnp.zeros(()))

    def _step(
        self, stages, field: Callable, t: Number, h: Number, mu, motion, wind
    ) -> Attempt:
        times, c = jnp.asarray(stages.c), mu.coefficients
        slopes = jnp.zeros((len(stages.c), len(c)))
        slopes = slopes.at[0].set(rate_of_coefficients(mu, motion, wind))

        def stage(state, step):
            # One body for all stages: the field is traced and compiled once.
            slopes, _ = state
            i, row = step
            y = mu.moved(self._state(c, slopes, row, times, times[i], h, mu))
            motion = field(t + times[i] * h, y)
            return (
                slopes.at[i].set(rate_of_coefficients(y, motion, wind)),
                motion,
            ), None

        steps = (jnp.arange(1, len(stages.c)), jnp.asarray(stages.a))
        (slopes, last), _ = jax.lax.scan(stage, (slopes, motion), steps)
        end = self._state(c, slopes, jnp.asarray(stages.b), times, 1.0, h, mu)
        end = mu.moved(end)
        last = last if stages.fsal else field(t + h, end)
        return Attempt(end, last, self._error(c, slopes, stages, h, mu))

    def speed(self, field: Callable, t: Number, mu: Density) -> Float[Array, ""]:
        """The L2 norm of d rho/dt, diffusion included."""
        slope = rate_of_coefficients(mu, field(t, mu), None)
        if self.diffusion is not None:
            slope = slope - self.diffusion * mu.basis.eigenvalues * mu.coefficients
        return jnp.linalg.norm(slope)

    def _error(self, c, slopes, stages, h: Number, mu) -> Float[Array, ""]:
        """The largest over modes of |error_j| / (atol + rtol |c_j|)."""
        if stages.b_error is None:
            return jnp.zeros(())
        row, times = jnp.asarray(stages.b_error), jnp.asarray(stages.c)
        off = self._change(slopes, row, times, 1.0, h, mu)
        inner: Any = self.inner
        rtol, atol = inner.tolerances(c.dtype)
        return jnp.max(jnp.abs(off) / (atol + rtol * jnp.abs(c)))

    def _state(self, c, slopes, row, times, time, h: Number, mu) -> Array:
        """Where c is after `time` steps with the first slope held, and the change."""
        held = self._held(slopes[0], time * h, mu)
        change = self._change(slopes, row, times, time, h, mu)
        return self._spread(c, time * h, mu) + held + change

    def _change(self, slopes, row, times, time, h: Number, mu) -> Array:
        """h sum_j row_j e^{(time - times_j) h L} (slopes_j - slopes_0)."""
        since = jnp.maximum(time - times, 0.0)  # later stages have no weight yet
        spread = jax.vmap(lambda slope, s: self._spread(slope, s * h, mu))
        return h * row @ spread(slopes - slopes[:1], since)

    def _held(self, slope, dt, mu) -> Array:
        """dt phi(dt L) slope."""
        if self.diffusion is None:
            return dt * slope
        z = -self.diffusion * dt * mu.basis.eigenvalues
        moving = z != 0
        phi = jnp.where(moving, jnp.expm1(z) / jnp.where(moving, z, 1.0), 1.0)
        return dt * phi * slope

    def _spread(self, c, dt, mu) -> Array:
        if self.diffusion is None:
            return c
        return c * jnp.exp(-self.diffusion * dt * mu.basis.eigenvalues)


def rate_of_coefficients(
    mu: Density, motion: Motion, wind: Float[Array, "d"] | None
) -> Float[Array, "j"]:
    """-div(rho v) + rho g, where the wind, made tangent, adds to v everywhere."""
    rho, v = mu.values, motion.v
    if wind is not None:
        v = v + jnp.asarray(mu.basis.frame) @ wind
    slope = -mu.basis.divergence(rho[:, None] * v)
    if motion.g is None:
        return slope
    grown = mu.basis.project(rho * motion.g)
    return slope + grown - grown[0] * mu.coefficients  # the mass stays one


def stages_of(solver: AbstractSolver) -> Stages:
    """The tableau of a solver that can step a density."""
    if isinstance(solver, Heun):
        return Stages((0.0, 1.0), ((1.0, 0.0),), (0.5, 0.5), None, False)
    if isinstance(solver, Adaptive):
        tableau = solver.scheme.tableau
        assert isinstance(tableau, diffrax.ButcherTableau)
        c = (0.0, *map(float, tableau.c))
        rows = tuple(
            tuple(np.pad(row, (0, len(c) - len(row)))) for row in tableau.a_lower
        )
        b, off = (tuple(map(float, x)) for x in (tableau.b_sol, tableau.b_error))
        return Stages(c, rows, b, off, bool(tableau.fsal))
    raise InputError(
        f"`solver` must be Adaptive() or Heun(h) on a density, got {solver!r}: layers "
        "and splittings act on tokens."
    )


def goes_back(stages: Stages) -> bool:
    """Whether a stage lies before one that it uses: diffusion cannot be undone."""
    return any(
        weight != 0 and stages.c[j] > stages.c[i + 1] + 1e-12
        for i, row in enumerate(stages.a)
        for j, weight in enumerate(row)
    )
