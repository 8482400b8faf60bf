"""What claims and figures share of the runs, each made once."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies.mean_field import runs

MODES = (1, 2, 3, 4)


@functools.cache
def order_parameters() -> tuple[np.ndarray, np.ndarray]:
    """r at t = 1, 2 for beta = 0 and at t = 1, 2, 4 for beta = 2, on densities."""
    found = []
    for beta, times in ((0.0, [1.0, 2.0]), (2.0, [1.0, 2.0, 4.0])):
        run = runs.narrowing(beta, times).run()
        found.append(run.observe(pf.observables.order_parameter)[1:])
    return found[0], found[1]


@functools.cache
def grown(beta: float, basis, k: int, sigma: float | None = None) -> float:
    """The rate of mode k about the uniform density in a short run of USA or SA."""
    run = runs.growing(beta, basis, k, sigma).run()
    return float(np.log(float(jnp.real(run.final.mode(k))) / runs.SIZE) / runs.SHORT)


@functools.cache
def limit_modes() -> np.ndarray:
    """Modes 1 to 4 of the density at the end."""
    end = runs.limit().run().final
    return np.array([complex(end.mode(k)) for k in MODES])


@functools.cache
def sampling_errors(sizes: tuple, replicas: tuple, seed: int) -> np.ndarray:
    """Root mean square over replicas of the distance of the first four modes."""
    exact, errors = limit_modes(), []
    for n, count in zip(sizes, replicas, strict=True):
        squares = []
        for i in range(count):
            run = runs.tokens(seed, n, i).run()
            z = np.asarray(run.final.points) @ np.array([1.0, -1.0j])
            modes = np.array([(z**k).mean() for k in MODES])
            squares.append(np.sum(np.abs(modes - exact) ** 2))
        errors.append(np.sqrt(np.mean(squares)))
    return np.array(errors)


@functools.cache
def stationary_order(beta: float, kappa: float) -> float:
    """The order parameter of a density at rest under noise sqrt(2/kappa)."""
    return float(pf.observables.order_parameter(runs.resting(beta, kappa).run().final))


@functools.cache
def given_the_noise(sigma: float, h: float, t1: float, seed: int):
    """The law under one path of common noise, and the exact path of its mode."""
    run = runs.common_noise(sigma, h, t1, seed).run()
    noise, key = pf.CommonNoise(sigma), pf.key_for(seed, "noise")
    draw = lambda k: noise.shared(jax.random.fold_in(key, k), h, 2)  # noqa: E731
    increments = np.asarray(jax.vmap(draw)(jnp.arange(round(t1 / h))))
    return run, theory.noisy.common_noise_path(runs.R_0, increments, h)
