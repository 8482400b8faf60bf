"""Runs that claims and figures share: chains of layers, and the diffusion."""

import functools

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.theory import homogenized_pair


def pairs(mu: pf.Particles):
    """All overlaps <x_i, x_j>, i < j."""
    return (mu.points @ mu.points.T)[jnp.triu_indices(mu.n, 1)]


def mean_overlap(mu: pf.Particles):
    """m = n^{-2} sum_ij <x_i, x_j>."""
    return jnp.mean(mu.points @ mu.points.T)


def simplex(n: int, d: int, gamma: float) -> pf.Particles:
    """n tokens of R^d with all overlaps gamma."""
    root = np.linalg.cholesky((1 - gamma) * np.eye(n) + gamma)
    return pf.Particles(pf.Sphere(d), np.pad(root, ((0, 0), (0, d - n))))


def mean_and_error(samples: np.ndarray) -> tuple[float, float]:
    """Of one number for each replica."""
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    return float(samples.mean()), float(error)


@functools.cache
def pair_run(d: int, replicas: int, seed: int, eta: float, clock: float):
    """Overlap of two orthogonal tokens at beta = 0: (replicas, frames to s = clock)."""
    layers = round(clock / eta**2)
    return pf.ensemble(
        pf.GramNoise(0.0, 1.0, draws=1),
        pf.Particles.orthonormal(pf.Sphere(d), 2),
        layers,
        h=eta**2,
        every=max(1, layers // 10),
        observe=lambda mu: mu.points[0] @ mu.points[1],
        replicas=replicas,
        key=pf.key_for(seed, f"pair {d}"),
    )


@functools.cache
def soft_chain(eta: float, replicas: int, seed: int) -> np.ndarray:
    """Overlaps of d = 8, n = 4, beta = 4, sigma_A^2 = 1/8 from .2, at s = 0 to 4."""
    return pf.ensemble(
        pf.RandomWeights(4.0, 8**-0.5),
        simplex(4, 8, 0.2),
        round(4 / eta**2),
        h=eta,
        every=round(1 / eta**2),
        observe=pairs,
        replicas=replicas,
        key=pf.key_for(seed, f"chain {eta}"),
    )


@functools.cache
def soft_diffusion(replicas: int, seed: int, step: float = 0.04) -> np.ndarray:
    """The same model by the diffusion, K = 16."""
    return pf.ensemble(
        pf.GramNoise(4.0, 8**-0.5, draws=16),
        simplex(4, 8, 0.2),
        round(4 / step),
        h=step,
        every=round(1 / step),
        observe=pairs,
        replicas=replicas,
        key=pf.key_for(seed, "diffusion"),
    )


@functools.cache
def warm_mean(d: int, replicas: int, seed: int) -> np.ndarray:
    """m at s = 0, .2, .. 1 for beta = 0, n = 8, all overlaps .3, steps of .02."""
    return pf.ensemble(
        pf.GramNoise(0.0, 1.0, draws=1),
        simplex(8, d, 0.3),
        50,
        h=0.02,
        every=10,
        observe=mean_overlap,
        replicas=replicas,
        key=pf.key_for(seed, f"warm {d}"),
    )


@functools.cache
def collapse(d: int, beta: float, replicas: int, seed: int) -> np.ndarray:
    """m at s = 3.06 from 6 orthonormal tokens, eta = .3, sigma_A^2 = 1/d."""
    seen = pf.ensemble(
        pf.GramNoise(beta, d**-0.5, draws=1),
        pf.Particles.orthonormal(pf.Sphere(d), 6),
        34,
        h=0.09,
        every=34,
        observe=mean_overlap,
        replicas=replicas,
        key=pf.key_for(seed, f"collapse {d}"),
    )
    return seen[:, -1]


def exact_pair(d: int, clocks) -> np.ndarray:
    """E of the overlap of `pair_run` from the generator."""
    return np.array([homogenized_pair.pair_mean(float(s), d) for s in clocks])
