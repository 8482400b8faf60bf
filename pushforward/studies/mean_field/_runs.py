"""The runs that claims and figures share."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory

CIRCLE = pf.Circle()
TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-13)
BETA, R_0, END = 2.0, 0.3, 1.0
MODES = (1, 2, 3, 4)
STEP = 0.05


def poisson(resolution: int, r: float = R_0) -> pf.Density:
    """The Poisson kernel of order parameter r."""
    angle = lambda x: np.arctan2(x[:, 1], x[:, 0])  # noqa: E731
    kernel = lambda x: theory.kuramoto.poisson_kernel(angle(x), r)  # noqa: E731
    return pf.Density.from_function(CIRCLE, resolution, kernel)


@functools.cache
def order_parameters() -> tuple[np.ndarray, np.ndarray]:
    """r at t = 1, 2 for beta = 0 and at t = 1, 2, 4 for beta = 2, on densities."""
    found = []
    for beta, times in ((0.0, [1.0, 2.0]), (2.0, [1.0, 2.0, 4.0])):
        run = pf.flow(
            pf.Attention(beta), poisson(256), times[-1], save=times, solver=TIGHT
        )
        found.append(run.observe(pf.observables.order_parameter)[1:])
    return found[0], found[1]


@functools.cache
def grown(beta: float, basis, k: int, sigma: float | None = None) -> float:
    """The rate of mode k about the uniform density in a short run of USA or SA."""
    size, t1 = 1e-8, 0.25
    rho = pf.Density(basis).perturbed(k, size)
    field = pf.Attention(beta) if sigma is None else pf.UnnormalizedAttention(beta)
    noise = None if sigma is None else pf.Brownian(sigma)
    solver = pf.Adaptive(1e-9, 1e-16)
    run = pf.flow(field, rho, t1, save=2, noise=noise, solver=solver)
    return float(np.log(float(jnp.real(run.final.mode(k))) / size) / t1)


@functools.cache
def limit_modes() -> np.ndarray:
    """Modes 1 to 4 of the density at the end."""
    run = pf.flow(pf.Attention(BETA), poisson(96), END, save=2, solver=TIGHT)
    return np.array([complex(run.final.mode(k)) for k in MODES])


@functools.cache
def sampling_errors(sizes: tuple, replicas: tuple, seed: int) -> np.ndarray:
    """Root mean square over replicas of the distance of the first four modes."""
    exact, rho = limit_modes(), poisson(96)
    field, key = pf.Attention(BETA), pf.key_for(seed, "mean field")
    errors = []
    for n, count in zip(sizes, replicas, strict=True):
        squares = []
        for i in range(count):
            own = jax.random.fold_in(jax.random.fold_in(key, n), i)
            run = pf.flow(field, rho.sample(own, n), END, save=2, solver=pf.Heun(STEP))
            z = np.asarray(run.final.points) @ np.array([1.0, -1.0j])
            modes = np.array([(z**k).mean() for k in MODES])
            squares.append(np.sum(np.abs(modes - exact) ** 2))
        errors.append(np.sqrt(np.mean(squares)))
    return np.array(errors)


@functools.cache
def stationary_order(beta: float, kappa: float) -> float:
    """The order parameter of a density at rest under noise sqrt(2/kappa)."""
    start = poisson(64, 0.5)
    noise, solver = pf.Brownian(np.sqrt(2 / kappa)), pf.Adaptive(1e-7)
    # Close to the threshold the approach is slow: at the rate of the uniform state.
    ratio = kappa / theory.stability.noise_threshold(beta, 2)
    t1 = kappa * min(400.0, 16.0 / abs(1 - 1 / ratio))
    field = pf.UnnormalizedAttention(beta)
    run = pf.flow(field, start, t1, save=2, noise=noise, solver=solver)
    return float(pf.observables.order_parameter(run.final))


@functools.cache
def given_the_noise(sigma: float, h: float, t1: float, seed: int):
    """The law under one path of common noise, and the exact path of its mode."""
    key = pf.key_for(seed, "common noise")
    noise = pf.CommonNoise(sigma)
    run = pf.flow(
        pf.Attention(0.0),
        poisson(64),
        t1,
        save=round(t1 / h) + 1,
        noise=noise,
        solver=pf.Heun(h),
        key=key,
    )
    draw = lambda k: noise.shared(jax.random.fold_in(key, k), h, 2)  # noqa: E731
    increments = np.asarray(jax.vmap(draw)(jnp.arange(round(t1 / h))))
    return run, theory.noisy.common_noise_path(R_0, increments, h)
