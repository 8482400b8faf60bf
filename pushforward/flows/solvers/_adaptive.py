"""Explicit Runge-Kutta with error control."""

from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import Number, positive, whole
from pushforward.errors import InputError
from pushforward.fields import Motion
from pushforward.flows.solvers._solver import (
    AbstractSolver,
    Attempt,
    Increment,
    cast,
    combined,
    displaced,
    normalized,
)
from pushforward.measures import AbstractMeasure

USUAL = {"float64": (1e-8, 1e-10), "float32": (1e-5, 1e-7)}  # rtol and atol
RESOLVED = 8  # units of the last place: a smaller error of a step is rounding


class Adaptive(AbstractSolver):
    """Explicit Runge-Kutta with error control; by default Tsitouras' 5(4) pair.

    Stages are evaluated at projected points and the result is retracted, so the order
    is kept and particles stay on the space. The error of a step is the largest over
    particles of |error_i| / (atol + rtol |x_i|): one straggler is not averaged away.

    Tolerances follow the precision of the tokens: `rtol` and `atol` are 1e-8 and 1e-10
    in float64, 1e-5 and 1e-7 in float32. Of those given, an `rtol` that the precision
    cannot resolve counts as eight units of its last place (1e-6 in float32): below it
    errors are rounding, and steps would shrink without gain.

    Derivatives are those of the steps that were taken, as accurate as the tokens where
    the field is smooth. At a kink, such as that of relu, they are off by about the root
    of what the tokens are off: ask for a smaller `rtol`, or a smooth activation.

    `scheme` is any explicit pair of diffrax, such as `diffrax.Dopri8()`.
    """

    rtol: Float[Array, ""] | None
    atol: Float[Array, ""] | None
    scheme: diffrax.AbstractERK = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    order: int = eqx.field(static=True)

    def __init__(
        self,
        rtol: Number | None = None,
        atol: Number | None = None,
        *,
        scheme: diffrax.AbstractERK | None = None,
        max_steps: int = 100_000,
    ):
        self.rtol = None if rtol is None else positive("rtol", rtol)
        self.atol = None if atol is None else positive("atol", atol)
        scheme = diffrax.Tsit5() if scheme is None else scheme
        if not isinstance(scheme, diffrax.AbstractERK):
            raise InputError(
                f"`scheme` must be an explicit pair such as diffrax.Dopri8(), "
                f"got {scheme!r}."
            )
        self.scheme = scheme
        self.max_steps = whole("max_steps", max_steps, 1)
        self.order = int(self.scheme.order(None) or 0)

    def tolerances(
        self, dtype: str | type | np.dtype
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """rtol and atol in a precision: those given, or its own."""
        usual = USUAL.get(np.dtype(dtype).name, USUAL["float64"])
        rtol, atol = (
            jnp.asarray(own if given is None else given).astype(dtype)
            for given, own in zip((self.rtol, self.atol), usual, strict=True)
        )
        return jnp.maximum(rtol, RESOLVED * jnp.finfo(dtype).eps), atol

    def first_step(self, motion: Motion, span: Number) -> Float[Array, ""]:
        """A hundredth of the time in which the fastest particle moves by one."""
        speed = jnp.sqrt(jnp.max(jnp.sum(motion.v**2, axis=-1)))
        growth = 0.0 if motion.g is None else jnp.max(jnp.abs(motion.g))
        rate = jnp.maximum(speed, growth)
        span = jnp.asarray(span)
        first = cast(0.01 / jnp.maximum(rate, 1e-12), span)
        return jnp.minimum(span, few_digits(first))

    def attempt(
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
    ) -> Attempt:
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

    def _scaled(
        self, error: Motion, h: Number, mu: AbstractMeasure
    ) -> Float[Array, ""]:
        rtol, atol = self.tolerances(mu.state.dtype)
        size = jnp.sqrt(jnp.sum(mu.state**2, axis=-1))
        moved = jnp.sqrt(jnp.sum(error.v**2, axis=-1)) / (atol + rtol * size)
        worst = jnp.max(moved)
        if error.g is not None:
            changed = jnp.max(jnp.abs(error.g)) / (atol + rtol)
            worst = jnp.maximum(worst, changed)
        return jnp.abs(h) * cast(worst, jnp.asarray(h))

    def next_step(self, h: Number, error: Number) -> Float[Array, ""]:
        """0.9 h error^(-1/order), at most ten times larger or five times smaller."""
        factor = 0.9 * jnp.maximum(error, 1e-10) ** (-1.0 / self.order)
        factor = jnp.where(jnp.isfinite(error), factor, 0.2)
        return few_digits(jnp.asarray(h) * jnp.clip(factor, 0.2, 10.0))


def few_digits(h: Float[Array, ""]) -> Float[Array, ""]:
    """The seven leading binary digits of a step.

    Else rounding would choose it: errors near a kink multiply what two programs differ
    by, and a gradient, which takes the steps again, would take others.
    """
    mantissa, power = jnp.frexp(h)
    return jnp.ldexp(jnp.floor(mantissa * 128) / 128, power)
