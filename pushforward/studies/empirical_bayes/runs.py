"""The run behind figures and claims, as an experiment, and the denoisers compared."""

import functools
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from scipy.stats import norm

import pushforward as pf
from pushforward.statistics import npmle
from pushforward.studies import Preset, shown
from pushforward.studies.empirical_bayes.study import A, Parameters

LINE = pf.Euclidean(1)
SHOWN = {"refinement": ("depth", "two_stages_in_the_limit")}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Stage one on the quantiles of the two-point prior with its noise."""
    return {"refinement": refinement(quantiles(300), 4.0, 0.7)}


def refinement(y: np.ndarray, beta: float, depth: float) -> pf.Experiment:
    """dx/dt = beta (m(x) - x) from the context y, up to the depth."""
    step = pf.DistanceAttention(beta) + pf.Linear([[-1.0]])
    start, solver = pf.Given(LINE, y[:, None]), pf.Adaptive(1e-8)
    return pf.Experiment(start, beta * step, depth, save=2, solver=solver)


@functools.cache
def quantiles(count: int) -> np.ndarray:
    """Quantile tokens of the two-point prior with its noise: the mean-field context."""
    grid = np.linspace(-A - 9, A + 9, 40_001)
    law = (norm.cdf(grid - A) + norm.cdf(grid + A)) / 2
    return np.interp((np.arange(count) + 0.5) / count, law, grid)


def posterior_mean(y: np.ndarray, context: np.ndarray, beta: float) -> np.ndarray:
    """One step of attention: sum_j w_j x_j, w_j ~ e^{-beta (y - x_j)^2 / 2}."""
    mu = pf.Particles(LINE, context[:, None])
    found = pf.DistanceAttention(beta).at(0.0, jnp.asarray(y[:, None]), mu)
    return np.asarray(found)[:, 0]


def refined(y: np.ndarray, beta: float, depth: float) -> np.ndarray:
    """Stage one, the context as its own prior, up to the depth."""
    if not depth:
        return y
    return np.asarray(refinement(y, beta, depth).run().final.points)[:, 0]


def two_stages(y: np.ndarray, beta: float, depth: float) -> np.ndarray:
    """The noisy tokens as queries to the refined context, at the noise of the data."""
    return posterior_mean(y, refined(y, beta, depth), 1.0)


def tweedie(y: np.ndarray, beta: float) -> np.ndarray:
    """Residual attention with step beta: Tweedie's rule for the kernel estimate."""
    return y + beta * (posterior_mean(y, y, beta) - y)


def by_likelihood(y: np.ndarray) -> np.ndarray:
    """The posterior mean under the NPMLE; nothing to choose."""
    fit = npmle(y)
    atoms, weights = np.asarray(fit.atoms).ravel(), np.asarray(fit.weights)
    likelihood = norm.pdf(y[:, None] - atoms) * weights
    return (likelihood @ atoms) / likelihood.sum(axis=1)


def bayes(y: np.ndarray, prior: str) -> np.ndarray:
    """The best rule: for two points, or for the uniform law on [-3, 3]."""
    if prior == "two points":
        return A * np.tanh(A * y)
    low, high = -3 - y, 3 - y
    mass = norm.cdf(high) - norm.cdf(low)
    return y + (norm.pdf(low) - norm.pdf(high)) / mass


Rule = Callable[[np.ndarray], np.ndarray]
METHODS: dict[str, Rule] = {  # those of the figure
    "NPMLE": by_likelihood,
    "two stages, T = 0.55": functools.partial(two_stages, beta=4.0, depth=0.55),
    "two stages, T = 1.3": functools.partial(two_stages, beta=4.0, depth=1.3),
    "Tweedie, beta = 5": functools.partial(tweedie, beta=5.0),
    "one step, beta = 1": lambda y: posterior_mean(y, y, 1.0),
}
OTHERS: dict[str, Rule] = {
    "two stages, T = 1.0": functools.partial(two_stages, beta=4.0, depth=1.0),
    "two stages, T = 2.0": functools.partial(two_stages, beta=4.0, depth=2.0),
    "Tweedie, beta = 16": functools.partial(tweedie, beta=16.0),
    "one step, beta = 0.66": lambda y: posterior_mean(y, y, 0.66),
    "none": lambda y: y,
}


@functools.cache
def regret(name: str, prior: str, tokens: int, draws: int, seed: int) -> np.ndarray:
    """Mean over draws of the mean squared distance to Bayes, and its error.

    In expectation it is the risk minus that of Bayes, without the noise of theta.
    """
    rng, found = np.random.default_rng(seed), []
    rule = (METHODS | OTHERS)[name]
    for _ in range(draws):
        signs, spread = rng.choice([-A, A], tokens), rng.uniform(-3, 3, tokens)
        theta = signs if prior == "two points" else spread
        y = theta + rng.normal(size=tokens)
        found.append(np.mean((rule(y) - bayes(y, prior)) ** 2))
    return np.array([np.mean(found), np.std(found, ddof=1) / np.sqrt(draws)])


@functools.cache
def mean_field_risk(beta: float, depth: float, count: int = 1200) -> float:
    """The risk of two stages for infinitely many tokens, by quantiles."""
    prior = refined(quantiles(count), beta, depth)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    rule = posterior_mean(A + nodes, prior, 1.0)
    return float(weights @ (rule - A) ** 2 / weights.sum())


def in_the_explorer() -> dict[str, pf.Experiment]:
    """60 quantiles of two points with noise, refined for long."""
    y = np.round(quantiles(60), 3)
    return {"two-points": refinement(y, 4.0, 2.0).vary(save=121, solver=None)}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The context refines itself."""
    return (
        Preset(
            "two-points",
            "A context that refines itself",
            "60 quantiles of +2 or -2 with unit noise: each goes to its posterior mean "
            "under the others as a prior, and the two points come out.",
            shown(in_the_explorer()["two-points"]),
        ),
    )
