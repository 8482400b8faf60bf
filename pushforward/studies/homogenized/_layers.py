"""A chain of equal layers against its equation, and two corrections of order one."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import pushforward as pf
from pushforward.fields import AbstractField, Drive
from pushforward.studies.homogenized._chains import mean_overlap

FIELD = pf.Attention(2.0)
ETAS = (0.2, 0.1, 0.05)
ROWS = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0.3, 1], [-0.5, 0.5, 0.5]])


class Modified(AbstractField):
    """b - inertia grad_b b - radial <x, b_0> P b_0, with b = P b_0 of a field.

    What layers of step eta follow to second order: inertia = eta/2 from the Euler step;
    radial = eta because normalize(x + eta M) with a push M that is not tangent moves by
    -eta^2 <x, M> P M beyond the tangent step.
    """

    field: AbstractField
    inertia: Float[Array, ""]
    radial: Float[Array, ""]

    def drive(self, t, mu: pf.Particles) -> Drive:
        """The corrected push."""

        def push(x):
            drive = self.field.drive(t, mu.moved(x))
            own = 0.0 if drive.along is None else drive.along[:, None] * x
            return drive.across + own

        def tangent(x):
            return mu.space.tangent(x, push(x))

        x = mu.points
        b, turn = jax.jvp(tangent, (x,), (tangent(x),))
        outward = jnp.sum(x * push(x), axis=1, keepdims=True)
        return Drive(b - self.inertia * turn - self.radial * outward * b)


def start() -> pf.Particles:
    """Four tokens of R^3."""
    return pf.Particles.normalized(pf.Sphere(3), ROWS)


def flowed(inertia: float, radial: float) -> float:
    """m(1) along the corrected equation."""
    field = Modified(FIELD, jnp.asarray(inertia), jnp.asarray(radial))
    tight = pf.Adaptive(rtol=1e-11, atol=1e-13)
    return float(mean_overlap(pf.flow(field, start(), 1.0, save=2, solver=tight).final))


@eqx.filter_jit
def _tangential(mu: pf.Particles, eta, steps: int):
    def step(_, mu):
        return mu.moved(mu.space.project(mu.points + eta * FIELD(0.0, mu).v))

    return jax.lax.fori_loop(0, steps, step, mu)


@functools.cache
def errors() -> dict[str, np.ndarray]:
    """m(1) of the chain minus that of each equation, for eta = .2, .1, .05."""
    layers = [
        float(
            mean_overlap(
                pf.flow(FIELD, start(), 1.0, save=2, solver=pf.Layers(e)).final
            )
        )
        for e in ETAS
    ]
    tangential = [
        float(mean_overlap(_tangential(start(), jnp.asarray(e), round(1 / e))))
        for e in ETAS
    ]
    plain = [flowed(0.0, 0.0) for _ in ETAS[:1]] * len(ETAS)
    euler = [flowed(e / 2, 0.0) for e in ETAS]
    both = [flowed(e / 2, e) for e in ETAS]
    gap = lambda chain, flow: np.array(chain) - np.array(flow)  # noqa: E731
    return {
        "ODE": gap(layers, plain),
        "published": gap(layers, euler),
        "corrected": gap(layers, both),
        "tangential": gap(tangential, euler),
        "m": np.array(plain[:1]),
    }
