"""The runs behind figures and claims that are flows, as experiments.

Chains of random layers are ensembles of `pf.ensemble`, thousands at once: no text.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import pushforward as pf
from pushforward.fields import AbstractField, Drive
from pushforward.studies import Preset
from pushforward.studies.homogenized.study import Parameters


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


FIELD = pf.Attention(2.0)
TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-13)
ETAS = (0.2, 0.1, 0.05)
ROWS = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0.3, 1], [-0.5, 0.5, 0.5]])
QUARTER_TURN = [[0.0, -1.0], [1.0, 0.0]]
SHOWN = {
    "layers-0.2": ("layers",),
    "turning-layers-0.2": (
        "published_rate_off_the_grid",
        "rate_off_the_grid",
        "rate_on_the_grid",
    ),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Four tokens in layers, and along the equations that layers follow."""
    return {
        **{f"layers-{e}": layers(e) for e in ETAS},
        "equation": corrected(0.0, 0.0),
        **{f"euler-{e}": corrected(e / 2, 0.0) for e in ETAS},
        **{f"corrected-{e}": corrected(e / 2, e) for e in ETAS},
        **{f"turning-layers-{e}": turning(1.0, pf.Layers(e)) for e in ETAS},
        "turning": turning(1.0),
    }


def start() -> pf.Given:
    """Four tokens of R^3."""
    mu = pf.Particles.normalized(pf.Sphere(3), ROWS)
    return pf.Given(mu.space, mu.points)


def layers(eta: float) -> pf.Experiment:
    """Layers of step eta to t = 1."""
    return pf.Experiment(start(), FIELD, 1.0, save=2, solver=pf.Layers(eta))


def corrected(inertia: float, radial: float) -> pf.Experiment:
    """The equation with its two corrections, to t = 1."""
    field = Modified(FIELD, jnp.asarray(inertia), jnp.asarray(radial))
    return pf.Experiment(start(), field, 1.0, save=2, solver=TIGHT)


def turning(t1: float, solver: Any = TIGHT) -> pf.Experiment:
    """One token that V turns around the circle at speed one: no noise, no correction.

    Both printed equations are then the same rotation.
    """
    start, field = (
        pf.Given(pf.Sphere(2), [[1.0, 0.0]]),
        pf.Attention(0.0, V=QUARTER_TURN),
    )
    return pf.Experiment(start, field, t1, save=2, solver=solver)


def states(p: Parameters) -> tuple[Preset, ...]:
    """Four tokens in coarse layers, and along the equation that layers approach."""
    moved = [[i, x] for i, x in enumerate(start().points.tolist())]
    four = {"n": 4, "d": 3, "beta": float(FIELD.beta), "t1": 1.0, "moved": moved}
    h = max(ETAS)
    return (
        Preset(
            "layers",
            f"Four tokens in layers of step {h}",
            "Layers lag behind their equation, by a first-order term that is known.",
            {**four, "model": "layer", "solver": "layers", "h": h, "frames": 6},
        ),
        Preset(
            "equation",
            "The same four tokens along the equation",
            "Compare the mean cosine at t = 1 with that of the layers.",
            {**four, "frames": 101},
        ),
    )
