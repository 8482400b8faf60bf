"""Steps of a density: transport explicit, diffusion exact."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import Number
from pushforward.errors import InputError
from pushforward.fields import Motion
from pushforward.flows.solvers._adaptive import Adaptive
from pushforward.flows.solvers._fixed import Heun
from pushforward.flows.solvers._solver import AbstractSolver, Attempt, Increment
from pushforward.measures import Density

NEAR = 1.0  # below it the quotients of phi cancel, and the series has few terms
TERMS = 18  # of that series: what follows is below rounding


def phi(z: Float[Array, "j"], k_max: int) -> list[Float[Array, "j"]]:
    """phi_1, ..., phi_{k_max} at z <= 0: int_0^1 e^{(1-x) z} x^{k-1} / (k-1)! dx.

    phi_{k+1} = (phi_k - 1/k!) / z, upward where z is large. Near zero this cancels:
    there the last is a series, and the others follow downward.
    """
    near = jnp.abs(z) < NEAR
    small, large = jnp.where(near, z, 0.0), jnp.where(near, -NEAR, z)
    upward = [jnp.expm1(large) / large]
    for k in range(1, k_max):
        upward.append((upward[-1] - 1 / math.factorial(k)) / large)
    last = jnp.zeros_like(z)
    for m in range(TERMS, -1, -1):
        last = last * small + 1 / math.factorial(m + k_max)
    downward = [last]
    for k in range(k_max - 1, 0, -1):
        downward.append(small * downward[-1] + 1 / math.factorial(k))
    pairs = zip(reversed(downward), upward, strict=True)
    return [jnp.where(near, series, quotient) for series, quotient in pairs]


def weights_at(
    x: Float[Array, "s"], z: Float[Array, "j"], degree: int
) -> Float[Array, "s j"]:
    """w_z(x), the polynomial that acts as e^{(1-x) z} on what vanishes at x = 0.

    int_0^1 w_z x^l dx = int_0^1 e^{(1-x) z} x^l dx = l! phi_{l+1}(z) for
    l = 1, ..., degree + 1. It is 1 at z = 0 and decays like 1/|z|.
    """
    moments = [math.factorial(l) * f for l, f in enumerate(phi(z, degree + 2)) if l > 0]
    i = np.arange(degree + 1)
    inverse = np.linalg.inv(1.0 / (i[:, None] + i + 2.0))  # int x^i x^l, l >= 1
    powers = jnp.stack([x**k for k in range(degree + 1)], axis=1)
    return powers @ (inverse @ jnp.stack(moments))


class Stages(NamedTuple):
    """The numbers of an explicit Runge-Kutta method; c begins with 0."""

    c: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    b_error: tuple[float, ...] | None
    fsal: bool
    order: int


ORDER_4 = Stages(
    (0.0, 0.5, 0.5, 1.0),
    ((0.5, 0.0, 0.0, 0.0), (0.0, 0.5, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    None,
    False,
    4,
)


class Exponential(AbstractSolver):
    """An explicit method made exponential, L = diffusion times Laplacian.

    dc/dt = N(t, c) + L c is c(s) = e^{sL} c + int_0^s e^{(s-r)L} N(r) dr. With N_0 held
    this is known, e^{sL} c + s phi_1(sL) N_0, so that diffusion alone is exact for
    every step and a state at rest, where all N_j are N_0 = -L c, stays at rest.

    For N - N_0 the rows of the tableau are quadratures with nodes c_j h. These see
    polynomials only, and e^{(s-r)L} is none where L is large: evaluated at the nodes
    it lets the last stages through undamped, and steps would shrink with the square
    of the resolution. So w_L(r), the polynomial with the same integrals, takes its
    place. The degree (order - 2) // 2 is the least that keeps the order.

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
            y = mu.moved(self._state(slopes, row, stages, times[i], h, mu))
            motion = field(t + times[i] * h, y)
            return (
                slopes.at[i].set(rate_of_coefficients(y, motion, wind)),
                motion,
            ), None

        steps = (jnp.arange(1, len(stages.c)), jnp.asarray(stages.a))
        (slopes, last), _ = jax.lax.scan(stage, (slopes, motion), steps)
        end = self._state(slopes, jnp.asarray(stages.b), stages, 1.0, h, mu)
        end = mu.moved(end)
        last = last if stages.fsal else field(t + h, end)
        return Attempt(end, last, self._error(slopes, stages, h, mu))

    def speed(self, field: Callable, t: Number, mu: Density) -> Float[Array, ""]:
        """The L2 norm of d rho/dt, diffusion included."""
        slope = rate_of_coefficients(mu, field(t, mu), None)
        if self.diffusion is not None:
            slope = slope - self.diffusion * mu.basis.eigenvalues * mu.coefficients
        return jnp.linalg.norm(slope)

    def _error(self, slopes, stages, h: Number, mu) -> Float[Array, ""]:
        """The largest over modes of |error_j| / (atol + rtol |c_j|)."""
        if stages.b_error is None:
            return jnp.zeros(())
        off = self._change(slopes, jnp.asarray(stages.b_error), stages, 1.0, h, mu)
        inner: Any = self.inner
        c = mu.coefficients
        rtol, atol = inner.tolerances(c.dtype)
        return jnp.max(jnp.abs(off) / (atol + rtol * jnp.abs(c)))

    def _state(self, slopes, row, stages, time, h: Number, mu) -> Array:
        """Where c is after `time` steps with the first slope held, and the change."""
        change = self._change(slopes, row, stages, time, h, mu)
        c, held = mu.coefficients, time * h * slopes[0]
        if self.diffusion is not None:
            z = self._exponent(time * h, mu)
            c, held = jnp.exp(z) * c, phi(z, 1)[0] * held
        return c + held + change

    def _change(self, slopes, row, stages, time, h: Number, mu) -> Array:
        """h sum_j row_j w(c_j / time) (slopes_j - slopes_0)."""
        off = slopes - slopes[:1]
        if self.diffusion is not None:
            nodes = jnp.asarray(stages.c) / time
            z, degree = self._exponent(time * h, mu), (stages.order - 2) // 2
            off = weights_at(nodes, z, degree) * off
        return h * row @ off

    def _exponent(self, dt, mu) -> Array:
        """dt L, where there is diffusion."""
        assert self.diffusion is not None
        return -self.diffusion * dt * mu.basis.eigenvalues


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
        return Stages((0.0, 1.0), ((1.0, 0.0),), (0.5, 0.5), None, False, 2)
    if isinstance(solver, Adaptive):
        tableau = solver.scheme.tableau
        assert isinstance(tableau, diffrax.ButcherTableau)
        c = (0.0, *map(float, tableau.c))
        rows = tuple(
            tuple(np.pad(row, (0, len(c) - len(row)))) for row in tableau.a_lower
        )
        b, off = (tuple(map(float, x)) for x in (tableau.b_sol, tableau.b_error))
        return Stages(c, rows, b, off, bool(tableau.fsal), solver.order)
    raise InputError(
        f"`solver` must be Adaptive() or Heun(h) on a density, got {solver!r}: layers "
        "and splittings act on tokens."
    )
