"""What layers follow to second order, as a field."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

import pushforward as pf
from pushforward.fields import AbstractField, Drive


class Modified(AbstractField):
    """b - inertia grad_b b - radial <x, b_0> P b_0, with b = P b_0 of a field.

    What layers of step eta follow to second order: inertia = eta/2 from the Euler step;
    radial = eta because normalize(x + eta M) with a drive M that is not tangent moves
    by -eta^2 <x, M> P M beyond the tangent step.
    """

    field: AbstractField
    inertia: Float[Array, ""]
    radial: Float[Array, ""]

    def drive(self, t, mu: pf.Particles) -> Drive:
        """The corrected drive."""

        def ambient(x):
            return self.field.drive(t, mu.moved(x)).ambient(x)

        def tangent(x):
            return mu.space.tangent(x, ambient(x))

        x = mu.points
        b, turn = jax.jvp(tangent, (x,), (tangent(x),))
        outward = jnp.sum(x * ambient(x), axis=1, keepdims=True)
        return Drive(b - self.inertia * turn - self.radial * outward * b)
