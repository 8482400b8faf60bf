"""What several claims and figures share: minimizers, published weights, flows."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import functionals as fn
from pushforward.functionals import Minimizer, PerceptronPotential

LOOSE = pf.Adaptive(1e-6, 1e-8)
CIRCLE = pf.Circle()


@functools.cache
def energy(beta: float, omega: float):
    """One ReLU neuron along e_1, in the paper's scaling."""
    return fn.paper_energy(beta) + PerceptronPotential([omega], [[1.0, 0.0]])


@functools.cache
def best(beta: float, omega: float) -> Minimizer:
    """Its minimizer."""
    return fn.minimize(energy(beta, omega))


@functools.cache
def published(strength: float = 1.0) -> PerceptronPotential:
    """The circle's weights of the published code: its seed 777, its order of draws."""
    rng = np.random.default_rng(777)
    A = rng.normal(size=(2, 2))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return PerceptronPotential(strength * rng.normal(size=2), A)


def published_energy(strength: float = 1.0):
    """The published weights at beta = 1, in the scaling of the code."""
    return fn.code_energy(1.0) + published(strength)


@functools.cache
def official_run(seed: int, n: int, ascent: bool, perceptron: bool):
    """Particles under the published weights, or under attention alone.

    Without perceptron omega is zero, so that all four runs share one compilation.
    """
    E = published_energy(1.0 if perceptron else 0.0)
    mu = pf.Particles.uniform(CIRCLE, n, key=jax.random.key(seed))
    field = pf.GradientFlow((-1.0 if ascent else 1.0) * E)
    t1 = 100.0 if ascent else 300.0
    times = np.concatenate([np.linspace(0.5, 20, 40), np.linspace(25, t1, 30)])
    return pf.flow(field, mu, t1, save=times, solver=LOOSE)


@functools.cache
def euler_run(n: int):
    """The published step: Euler with dt = 0.1 on equispaced particles, to t = 300."""
    mu = pf.Particles.equispaced(CIRCLE, n)
    field = pf.GradientFlow(published_energy())
    return pf.flow(field, mu, 300.0, save=2, solver=pf.Layers(0.1)).final


@functools.cache
def frozen():
    """Equal masses from a uniform start under descent, beta = 1, omega = 5."""
    mu = pf.Particles.equispaced(CIRCLE, 400)
    field = pf.GradientFlow(energy(1.0, 5.0))
    return pf.flow(field, mu, 60.0, save=2, solver=LOOSE).final


@functools.cache
def normalized_run(seed: int, n: int):
    """Descent of normalized attention with the published weights and GELU, t = 420."""
    P = published()
    push = pf.Attention(1.0) + pf.Perceptron(
        P.A.T * P.omega[None, :], P.A, None, fn.exact_gelu
    )
    mu = pf.Particles.uniform(CIRCLE, n, key=jax.random.key(seed))
    return pf.flow(-1.0 * push, mu, 420.0, save=8, solver=LOOSE)


def angles(mu) -> np.ndarray:
    """Degrees in [0, 360)."""
    return np.degrees(np.asarray(CIRCLE.angles(mu.points))) % 360


def groups(mu, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Angles in degrees and masses of clusters, by angle."""
    atoms = mu.merge(radius)
    order = np.argsort(angles(atoms))
    return angles(atoms)[order], np.asarray(atoms.weights)[order]


@functools.cache
def critical_points(seed: int, draws: int, beta: float):
    """Second-order critical points of descent with random masses, one small neuron.

    In the code's scaling with omega e^{-beta}: the flow of the paper on a slower clock.
    """
    E = fn.code_energy(beta) + np.exp(-beta) * PerceptronPotential([1.0], [[1.0, 0.0]])
    found = []
    for k in range(draws):
        keys = jax.random.split(jax.random.key(1000 * seed + k))
        theta = jax.random.uniform(keys[0], (8,), minval=-np.pi, maxval=np.pi)
        w = jax.random.dirichlet(keys[1], jnp.full(8, 0.5))
        mu = pf.Particles.normalized(CIRCLE, CIRCLE.points(theta), w)
        run = pf.flow(pf.GradientFlow(E), mu, 1000.0, save=2, solver=LOOSE)
        mu = fn.settled(E, run.final)
        if fn.second_order(E, mu).holds(1e-9):
            found.append(mu)
    return found
