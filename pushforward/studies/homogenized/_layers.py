"""A chain of equal layers against its equation, and two corrections of order one."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.studies.homogenized import runs
from pushforward.studies.homogenized._chains import mean_overlap
from pushforward.studies.homogenized.runs import ETAS, FIELD, start


def flowed(inertia: float, radial: float) -> float:
    """m(1) along the corrected equation."""
    return float(mean_overlap(runs.corrected(inertia, radial).run().final))


@eqx.filter_jit
def _tangential(mu: pf.Particles, eta, steps: int):
    def step(_, mu):
        return mu.moved(mu.space.project(mu.points + eta * FIELD(0.0, mu).v))

    return jax.lax.fori_loop(0, steps, step, mu)


@functools.cache
def errors() -> dict[str, np.ndarray]:
    """m(1) of the chain minus that of each equation, for eta = .2, .1, .05."""
    layers = [float(mean_overlap(runs.layers(e).run().final)) for e in ETAS]
    tangential = [
        float(mean_overlap(_tangential(start()(0), jnp.asarray(e), round(1 / e))))
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


@functools.cache
def lag(share: float) -> np.ndarray:
    """Angle between the rotation at t = 1 + share eta and the layers, left at t = 1."""
    gaps = []
    for eta in ETAS:
        ends = (
            runs.turning(1.0 + share * eta).run().final.points[0],
            runs.turning(1.0, pf.Layers(eta)).run().final.points[0],
        )
        (x, y), (a, b) = (np.asarray(end) for end in ends)
        gaps.append(abs(np.arctan2(y * a - x * b, x * a + y * b)))
    return np.array(gaps)
