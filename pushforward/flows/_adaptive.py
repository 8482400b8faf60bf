"""Explicit Runge-Kutta with error control."""

import diffrax
import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import positive, whole
from pushforward.errors import InputError
from pushforward.fields import Motion
from pushforward.flows._solver import (
    AbstractSolver,
    Attempt,
    combined,
    displaced,
    normalized,
)
from pushforward.measures import Particles


class Adaptive(AbstractSolver):
    """Explicit Runge-Kutta with error control; by default Tsitouras' 5(4) pair.

    Stages are evaluated at projected points and the result is retracted, so the order
    is kept and particles stay on the space. The error of a step is the largest over
    particles of |error_i| / (atol + rtol |x_i|): one straggler is not averaged away.

    `scheme` is any explicit pair of diffrax, such as `diffrax.Dopri8()`.
    """

    rtol: Float[Array, ""]
    atol: Float[Array, ""]
    scheme: diffrax.AbstractERK = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    order: int = eqx.field(static=True)

    def __init__(self, rtol=1e-8, atol=1e-10, *, scheme=None, max_steps=100_000):
        self.rtol = positive("rtol", rtol)
        self.atol = positive("atol", atol)
        scheme = diffrax.Tsit5() if scheme is None else scheme
        if not isinstance(scheme, diffrax.AbstractERK):
            raise InputError(
                f"`scheme` must be an explicit pair such as diffrax.Dopri8(), "
                f"got {scheme!r}."
            )
        self.scheme = scheme
        self.max_steps = whole("max_steps", max_steps, 1)
        self.order = int(self.scheme.order(None) or 0)

    def first_step(self, motion, span):
        """A hundredth of the time in which the fastest particle moves by one."""
        speed = jnp.sqrt(jnp.max(jnp.sum(motion.v**2, axis=-1)))
        growth = 0.0 if motion.g is None else jnp.max(jnp.abs(motion.g))
        rate = jnp.maximum(speed, growth)
        return jnp.minimum(span, 0.01 / jnp.maximum(rate, 1e-12))

    def attempt(self, field, t, h, mu, motion, dW):
        """x + h sum_i b_i k_i with k_i = v(t + c_i h, proj(x + h sum_j a_ij k_j))."""
        tableau = self.scheme.tableau
        assert isinstance(tableau, diffrax.ButcherTableau)
        k = [motion]
        for c, row in zip(tableau.c, tableau.a_lower, strict=True):
            k.append(field(t + float(c) * h, displaced(mu, combined(k, row), h)))
        end = displaced(mu, combined(k, tableau.b_sol), h)
        last = k[-1] if tableau.fsal else field(t + h, end)
        error = self._scaled(combined(k, tableau.b_error), h, mu)
        return Attempt(normalized(end, motion.g), last, error)

    def _scaled(self, error: Motion, h, mu: Particles) -> Float[Array, ""]:
        size = jnp.sqrt(jnp.sum(mu.points**2, axis=-1))
        moved = jnp.sqrt(jnp.sum(error.v**2, axis=-1)) / (self.atol + self.rtol * size)
        worst = jnp.max(moved)
        if error.g is not None:
            changed = jnp.max(jnp.abs(error.g)) / (self.atol + self.rtol)
            worst = jnp.maximum(worst, changed)
        return jnp.abs(h) * worst

    def next_step(self, h, error):
        """0.9 h error^(-1/order), at most ten times larger or five times smaller."""
        factor = 0.9 * jnp.maximum(error, 1e-10) ** (-1.0 / self.order)
        factor = jnp.where(jnp.isfinite(error), factor, 0.2)
        return h * jnp.clip(factor, 0.2, 10.0)
