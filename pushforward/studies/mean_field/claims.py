"""Every claim of the study."""

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies.mean_field import runs
from pushforward.studies.mean_field.study import (
    PERSPECTIVE,
    Parameters,
    at_most,
    open_claim,
    paper,
    within,
)


def growth_on_the_circle(p: Parameters):
    """A perturbation of the uniform density grows at its Bessel rate."""
    predicted = theory.stability.growth_rates(4.0, 2, 3)[3]
    return within(
        "circle, SA, beta = 4: growth of mode 3, the fastest, in a pseudo-spectral run",
        f"{PERSPECTIVE}, linear stability",
        "theorem",
        runs.grown(4.0, pf.Fourier(48), 3),
        predicted,
        1e-6,
    )


def growth_in_dimension_eight(p: Parameters):
    """The same in d = 8, on a zonal density."""
    predicted = theory.stability.growth_rates(16.0, 8, 3)[3]
    return within(
        "S^7, SA, beta = 16: growth of degree 3, the fastest, on a zonal density",
        f"{PERSPECTIVE}, linear stability",
        "theorem",
        runs.grown(16.0, pf.Zonal(8, 24), 3),
        predicted,
        1e-6,
    )


def kuramoto_order_parameter(p: Parameters):
    """R^2/(1-r^2) grows like e^t."""
    return within(
        "beta = 0, Poisson kernel, r_0 = 0.3: order parameter of the density at t = 2",
        f"{PERSPECTIVE}, Kuramoto",
        "theorem",
        runs.order_parameters()[0][1],
        float(theory.kuramoto.order_parameter(2.0, 0.3)),
        1e-10,
    )


def order_parameter_with_temperature(p: Parameters):
    """The density against 400 quantile points, at t = 4."""
    return within(
        "SA, beta = 2, same start: r at t = 4, against 400 quantile tokens",
        f"{PERSPECTIVE}, mean-field limit",
        "identity",
        runs.order_parameters()[1][2],
        0.793348910331,
        1e-10,
    )


def decoder_mean_field(p: Parameters):
    """Tokens of a decoder with one law see the same mean field."""
    run = runs.decoder().run()
    return within(
        "beta = 1, f_1(0) = 0.1: f_1(1.5) of the mean field of decoder tokens",
        "duerinckx2026kinetic, mean-field limit of decoder tokens",
        "identity",
        float(run.final.mode(1).real),
        0.2312883233,
        1e-9,
    )


def noise_threshold(p: Parameters):
    """The rate of mode 1 is linear in 1/kappa; where it vanishes."""
    rates = [runs.grown(1.0, pf.Fourier(48), 1, sigma) for sigma in (0.8, 1.3)]
    diffusion = np.array([0.8**2, 1.3**2]) / 2  # 1 / kappa
    slope = (rates[1] - rates[0]) / (diffusion[1] - diffusion[0])
    zero = diffusion[0] - rates[0] / slope
    return within(
        "noisy USA, circle, beta = 1: kappa at which uniform turns unstable",
        paper("noise"),
        "theorem",
        1 / zero,
        theory.stability.noise_threshold(1.0, 2),
        1e-6,
    )


def branch_of_kuramoto(p: Parameters):
    """The state above the threshold at beta = 0 is of von Mises."""
    return within(
        "noisy Kuramoto, kappa = 3: order parameter at rest, against r = I_1/I_0",
        paper("noise"),
        "theorem",
        runs.stationary_order(0.0, 3.0),
        theory.noisy.order_parameter(3.0, 2),
        1e-6,
    )


def branch_with_temperature(p: Parameters):
    """The same at beta = 1, by self-consistency."""
    return within(
        "noisy USA, beta = 1, kappa = 2.4: order parameter at rest, self-consistent",
        paper("noise"),
        "identity",
        runs.stationary_order(1.0, 2.4),
        theory.noisy.stationary_modes(1.0, 2.4, 1)[1],
        1e-6,
    )


def below_the_threshold(p: Parameters):
    """Below it, only the uniform density is left."""
    return at_most(
        "noisy USA, beta = 1, kappa = 1.4: order parameter at rest",
        paper("noise"),
        "theorem",
        runs.stationary_order(1.0, 1.4),
        1e-4,
        "from 0.5 at the start",
    )


def square_root_law(p: Parameters):
    """The error of n independent particles falls like n^{-1/2}."""
    errors = runs.sampling_errors(p.sizes, p.replicas, p.seed)
    slope = np.polyfit(np.log(p.sizes), np.log(errors), 1)[0]
    return within(
        f"SA, beta = 2, t = 1: exponent of the error of n = {p.sizes[0]} to "
        f"{p.sizes[-1]} particles against the density, four modes",
        f"{PERSPECTIVE}, mean-field limit",
        "theorem",
        slope,
        -0.5,
        0.1,
        f"errors {', '.join(f'{e:.2g}' for e in errors)}",
    )


def law_given_the_noise(p: Parameters):
    """beta = 0 and common noise act by Moebius maps: an exact path for the law."""
    run, z = runs.given_the_noise(0.5, 0.01, 1.0, p.seed)
    gap = run.observe(lambda mu: mu.mode(2)) - np.conj(z) ** 2
    return at_most(
        "beta = 0 with common noise: mode 2 of the law given the noise, along the path",
        "koubbi2026homogenized, propagation of chaos",
        "theorem",
        np.abs(gap).max(),
        1e-6,
        "against the stochastic equation of its Poisson kernel, same increments",
    )


def unresolved_is_said(p: Parameters):
    """A density that narrows without end stops with an outcome."""
    run = runs.unresolved().run()
    told = float(run.outcome is not None and run.outcome.kind == "unresolved")
    return within(
        "USA, beta = 4, 256 modes: the run says that it is no longer resolved",
        f"{PERSPECTIVE}, mean-field limit",
        "experiment",
        told,
        1.0,
        0.0,
        f"at t = {float(jnp.asarray(run.times)[-1]):.3f} of 0.4",
    )


def constants_of_the_limit(p: Parameters):
    """W_1 grows at most like e^{O(1) t}."""
    return open_claim(
        "W_1(mu_n(t), mu(t)) <= e^{O(1) t} W_1(mu_n(0), mu(0))",
        f"{PERSPECTIVE}, mean-field stability",
        "theorem",
        "the constant in O(1) is not explicit, so there is no number to compare with",
    )


CLAIMS = (
    growth_on_the_circle,
    growth_in_dimension_eight,
    kuramoto_order_parameter,
    order_parameter_with_temperature,
    decoder_mean_field,
    noise_threshold,
    branch_of_kuramoto,
    branch_with_temperature,
    below_the_threshold,
    square_root_law,
    law_given_the_noise,
    unresolved_is_said,
    constants_of_the_limit,
)
