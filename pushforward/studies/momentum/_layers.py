"""Layers with a velocity on the sphere.

Y = N(X + mu V), V <- b V + gamma P_Y A(Y), X <- N(X + P_X V), V <- P_X V: gradient
layers at b = mu = 0, heavy ball at mu = 0, Nesterov at mu = b.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import pushforward as pf

KINDS = {"gradient": (0.0, 0.0), "heavy ball": (0.9, 0.0), "Nesterov": (0.9, 0.9)}
GAMMA = 0.1


class Moving(NamedTuple):
    """Tokens with their velocities."""

    x: Float[Array, "n d"]
    v: Float[Array, "n d"]


def layer(state: Moving, beta, gamma, b, mu) -> Moving:
    """One layer of softmax attention with momentum."""
    space = pf.Sphere(state.x.shape[1])
    tangent = lambda x, v: v - jnp.sum(x * v, axis=1, keepdims=True) * x  # noqa: E731
    y = space.project(state.x + mu * state.v)
    force = tangent(y, pf.Attention(beta).at(0.0, y, pf.Particles(space, y)))
    v = b * state.v + gamma * force
    x = space.project(state.x + tangent(state.x, v))
    return Moving(x, tangent(x, v))


@jax.jit
def _until_met(beta, gamma, b, mu):
    start = Moving(jnp.eye(2), jnp.zeros((2, 2)))
    apart = lambda s: (s[1].x[0] @ s[1].x[1] < 0.999) & (s[0] < 100_000)  # noqa: E731
    step = lambda s: (s[0] + 1, layer(s[1], beta, gamma, b, mu))  # noqa: E731
    return jax.lax.while_loop(apart, step, (0, start))[0]


@functools.cache
def layers_needed(kind: str, beta: float) -> int:
    """Layers until two orthogonal tokens are within cosine 0.999."""
    b, mu = KINDS[kind]
    return int(_until_met(beta, GAMMA, b, mu))


@functools.cache
def measured_radius(b: float, mu: float, layers: int, seed: int) -> float:
    """The factor per layer by which six tokens near one point come closer."""
    rng = np.random.default_rng(seed)
    x = pf.Sphere(3).project(jnp.asarray([0.0, 0, 1]) + 1e-3 * rng.normal(size=(6, 3)))
    step = jax.jit(lambda s: layer(s, 3.0, GAMMA, b, mu))
    state, sizes = Moving(x, jnp.zeros_like(x)), []
    for _ in range(layers):
        state = step(state)
        sizes.append(float(jnp.linalg.norm(state.x - state.x.mean(axis=0))))
    half = layers // 2  # a double root decays like k rho^k
    return float(
        np.exp(np.polyfit(np.arange(half, layers), np.log(sizes[half:]), 1)[0])
    )
