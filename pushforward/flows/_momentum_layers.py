"""Transformer layers with momentum: what a layer adds is kept for the next ones."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import positive, scalar, whole
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields import Momentum, Motion, positions
from pushforward.flows._fixed import AbstractLayers
from pushforward.flows._solver import Attempt, Increment


class MomentumLayers(AbstractLayers):
    """One layer of a Transformer with momentum per unit of time, on `Momentum(field)`.

    Y = N(X + mu V), V <- b V + gamma P_Y A(Y), X <- N(X + P_X V), V <- P_X V,

    with N the normalization: mu = b is Nesterov's method, mu = 0 the heavy ball, and
    b = mu = 0 a step of gradient ascent. The friction of the field plays no part. The
    terms of a sum are sublayers, one after the other. [zimin2026yuriiformer]

    >>> mu = at_rest(Particles.orthonormal(Sphere(2), 2))
    >>> field, layers = Momentum(Attention(1.0)), MomentumLayers(0.1)
    >>> int(flow(field, mu, 8.0, solver=layers).steps)
    8
    """

    gamma: Float[Array, ""]
    b: Float[Array, ""]
    mu: Float[Array, ""]
    max_steps: int = eqx.field(static=True)
    order: ClassVar[int] = 1  # type: ignore[misc]

    def __init__(
        self,
        gamma: Number,
        b: Number = 0.9,
        mu: Number = 0.9,
        *,
        max_steps: int = 10_000_000,
    ):
        self.gamma = positive("gamma", gamma, "It is the step of one layer.")
        self.b, self.mu = scalar("b", b), scalar("mu", mu)
        self.max_steps = whole("max_steps", max_steps, 1)

    @property  # type: ignore[misc]
    def h(self) -> Float[Array, ""]:  # type: ignore[override]
        """One: time counts layers."""
        return jnp.ones(())

    def attempt(
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
    ) -> Attempt:
        """Look ahead, feel the force there, keep a part of the velocity, move."""
        if not isinstance(field, Momentum):
            raise InputError(
                f"`field` must be Momentum(field) under MomentumLayers, got {field!r}."
            )
        tokens = positions(mu)
        base, x, dtype = tokens.space, tokens.points, tokens.points.dtype
        v = mu.points[:, tokens.d :]
        gamma, b, look = (c.astype(dtype) for c in (self.gamma, self.b, self.mu))
        for term in field.field.sublayers():
            force = term(t, tokens.moved(base.project(x + look * v)))
            _refuse_growth(force)
            v = b * v + gamma * force.v
            x = base.project(x + base.tangent(x, v))
            v = base.tangent(x, v)
        end = mu.moved(jnp.concatenate([x, v], axis=1))
        return Attempt(end, motion, jnp.zeros(()))


def _refuse_growth(force: Motion) -> None:
    if force.g is not None:
        raise InputError(
            "`field` must keep mass under MomentumLayers, got one with a growth rate. "
            "Use Adaptive() or Heun(h)."
        )
