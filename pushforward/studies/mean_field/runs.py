"""The runs behind figures and claims, as experiments, and what both share of them."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies import Preset
from pushforward.studies.mean_field.study import Parameters

CIRCLE = pf.Circle()
TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-13)
BETA, R_0, END = 2.0, 0.3, 1.0
STEP = 0.05
SIZE, SHORT = 1e-8, 0.25  # of a perturbation, and the time for which it grows
ROUGH = ((1, 0.08), (2, 0.06), (3, 0.1), (4, 0.14), (5, 0.05))
SHOWN = {
    "clustering": ("density-and-tokens",),
    "tokens": ("sampling-error",),
    "growth-fourier": ("growth-rates",),
    "decoder": ("decoder_mean_field",),
    "unresolved": ("unresolved_is_said",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Densities, with noise and without, and tokens drawn from them."""
    return {
        "kuramoto": narrowing(0.0, [1.0, 2.0]),
        "narrowing": narrowing(2.0, [1.0, 2.0, 4.0]),
        "growth-fourier": growing(4.0, pf.Fourier(48), 3),
        "growth-zonal": growing(16.0, pf.Zonal(8, 24), 3),
        "growth-with-noise": growing(1.0, pf.Fourier(48), 1, 0.8),
        "limit": limit(),
        "tokens": tokens(p.seed, p.sizes[0], 0),
        "at-rest": resting(1.0, 2.4),
        "common-noise": common_noise(0.5, 0.01, 1.0, p.seed),
        "clustering": clustering(),
        "clustering-tokens": clustering_tokens(p),
        "decoder": decoder(),
        "unresolved": unresolved(),
    }


def poisson(resolution: int, r: float = R_0) -> pf.GivenDensity:
    """The Poisson kernel of order parameter r."""
    angle = lambda x: np.arctan2(x[:, 1], x[:, 0])  # noqa: E731
    kernel = lambda x: theory.kuramoto.poisson_kernel(angle(x), r)  # noqa: E731
    return _given(pf.Density.from_function(CIRCLE, resolution, kernel))


def _given(rho: pf.Density) -> pf.GivenDensity:
    return pf.GivenDensity(rho.basis, rho.coefficients)


def narrowing(beta: float, times: list[float]) -> pf.Experiment:
    """The Poisson kernel under SA."""
    field, start = pf.Attention(beta), poisson(256)
    return pf.Experiment(start, field, times[-1], save=times, solver=TIGHT)


def growing(beta: float, basis, k: int, sigma: float | None = None) -> pf.Experiment:
    """Mode k about the uniform density, in SA; with noise in USA."""
    return pf.Experiment(
        _given(pf.Density(basis).perturbed(k, SIZE)),
        pf.Attention(beta) if sigma is None else pf.UnnormalizedAttention(beta),
        SHORT,
        save=2,
        noise=None if sigma is None else pf.Brownian(sigma),
        solver=pf.Adaptive(1e-9, 1e-16),
    )


def limit() -> pf.Experiment:
    """The density that tokens are compared with."""
    return pf.Experiment(poisson(96), pf.Attention(BETA), END, save=2, solver=TIGHT)


def tokens(seed: int, n: int, replica: int) -> pf.Experiment:
    """n tokens drawn from the same density."""
    key = jax.random.fold_in(pf.key_for(seed, "mean field"), n)
    mu = poisson(96)(0).sample(jax.random.fold_in(key, replica), n)
    start, field = pf.Given(CIRCLE, mu.points), pf.Attention(BETA)
    return pf.Experiment(start, field, END, save=2, solver=pf.Heun(STEP))


def resting(beta: float, kappa: float) -> pf.Experiment:
    """A density under noise sqrt(2/kappa), until it is at rest."""
    # Close to the threshold the approach is slow: at the rate of the uniform state.
    ratio = kappa / theory.stability.noise_threshold(beta, 2)
    return pf.Experiment(
        poisson(64, 0.5),
        pf.UnnormalizedAttention(beta),
        kappa * min(400.0, 16.0 / abs(1 - 1 / ratio)),
        save=2,
        noise=pf.Brownian(np.sqrt(2 / kappa)),
        solver=pf.Adaptive(1e-7),
    )


def common_noise(sigma: float, h: float, t1: float, seed: int) -> pf.Experiment:
    """The law under one path of common noise."""
    return pf.Experiment(
        poisson(64),
        pf.Attention(0.0),
        t1,
        save=round(t1 / h) + 1,
        noise=pf.CommonNoise(sigma),
        solver=pf.Heun(h),
        seed=seed,
    )


def clustering() -> pf.Experiment:
    """A rough start at beta = 9 as a density."""
    rho = pf.Density.uniform(CIRCLE, 384)
    for k, size in ROUGH:
        rho = rho.perturbed(k, size)
    return pf.Experiment(_given(rho), pf.Attention(9.0), 6.0, save=181)


def clustering_tokens(p: Parameters) -> pf.Experiment:
    """1000 tokens drawn from it."""
    density = clustering()
    mu = density.measure.sample(pf.key_for(p.seed, "tokens"), 1000)
    return density.vary(start=pf.Given(CIRCLE, mu.points))


def decoder() -> pf.Experiment:
    """The mean field of decoder tokens."""
    start, field = pf.UniformDensity(2, 64, 1, 0.1), pf.UnnormalizedAttention(1.0)
    return pf.Experiment(start, field, 1.5, save=2, solver=TIGHT)


def unresolved() -> pf.Experiment:
    """A density that narrows without end."""
    return pf.Experiment(poisson(256), pf.UnnormalizedAttention(4.0), 0.4, save=2)


MODES = (1, 2, 3, 4)


@functools.cache
def order_parameters() -> tuple[np.ndarray, np.ndarray]:
    """r at t = 1, 2 for beta = 0 and at t = 1, 2, 4 for beta = 2, on densities."""
    found = []
    for beta, times in ((0.0, [1.0, 2.0]), (2.0, [1.0, 2.0, 4.0])):
        run = narrowing(beta, times).run()
        found.append(run.observe(pf.observables.order_parameter)[1:])
    return found[0], found[1]


@functools.cache
def grown(beta: float, basis, k: int, sigma: float | None = None) -> float:
    """The rate of mode k about the uniform density in a short run of USA or SA."""
    run = growing(beta, basis, k, sigma).run()
    return float(np.log(float(jnp.real(run.final.mode(k))) / SIZE) / SHORT)


@functools.cache
def limit_modes() -> np.ndarray:
    """Modes 1 to 4 of the density at the end."""
    end = limit().run().final
    return np.array([complex(end.mode(k)) for k in MODES])


@functools.cache
def sampling_errors(sizes: tuple, replicas: tuple, seed: int) -> np.ndarray:
    """Root mean square over replicas of the distance of the first four modes."""
    exact, errors = limit_modes(), []
    for n, count in zip(sizes, replicas, strict=True):
        squares = []
        for i in range(count):
            run = tokens(seed, n, i).run()
            z = np.asarray(run.final.points) @ np.array([1.0, -1.0j])
            modes = np.array([(z**k).mean() for k in MODES])
            squares.append(np.sum(np.abs(modes - exact) ** 2))
        errors.append(np.sqrt(np.mean(squares)))
    return np.array(errors)


@functools.cache
def stationary_order(beta: float, kappa: float) -> float:
    """The order parameter of a density at rest under noise sqrt(2/kappa)."""
    return float(pf.observables.order_parameter(resting(beta, kappa).run().final))


@functools.cache
def given_the_noise(sigma: float, h: float, t1: float, seed: int):
    """The law under one path of common noise, and the exact path of its mode."""
    run = common_noise(sigma, h, t1, seed).run()
    noise, key = pf.CommonNoise(sigma), pf.key_for(seed, "noise")
    draw = lambda k: noise.shared(jax.random.fold_in(key, k), h, 2)  # noqa: E731
    increments = np.asarray(jax.vmap(draw)(jnp.arange(round(t1 / h))))
    return run, theory.noisy.common_noise_path(R_0, increments, h)


SHOWN_BETA, TOKENS = 1.0, 256
RATIOS = {"below": 0.8, "above": 2.0}  # kappa over its threshold
WORDS = {
    "below": "With this much noise tokens stay spread, whatever the attention does.",
    "above": "With less noise tokens gather: the order parameter settles near {:.2f}.",
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The bifurcation from the uniform state, on both sides."""
    return tuple(_side(p, name, ratio) for name, ratio in RATIOS.items())


def _side(p: Parameters, name: str, ratio: float) -> Preset:
    kappa = ratio * theory.stability.noise_threshold(SHOWN_BETA, 2)
    # The explorer's USA runs slower by e^beta, and so does its noise.
    sigma = math.sqrt(2 / kappa * math.exp(-SHOWN_BETA))
    state = {
        "model": "usa",
        "d": 2,
        "n": TOKENS,
        "beta": SHOWN_BETA,
        "seed": p.seed,
        "noise": round(sigma, 6),
        "solver": "heun",
        "h": 0.1,
        "t1": 100.0,
    }
    order = theory.noisy.stationary_modes(SHOWN_BETA, kappa, 1)[1]
    title = f"Noise bifurcation: κ = {ratio:g} times the threshold"
    return Preset(f"noise-{name}", title, WORDS[name].format(order), state)
