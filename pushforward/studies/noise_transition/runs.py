"""The runs behind figures and claims, as experiments.

Drift kappa USA and noise sqrt(2): the law of dX = USA dt + sqrt(2/kappa) dW in the time
t/kappa, in which every kappa takes the same steps.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.errors import NumericalError
from pushforward.studies import Preset
from pushforward.studies.noise_transition.study import BETA, D, Parameters

NOISE = pf.Brownian(np.sqrt(2.0))
MODES, REST = 40, 30.0  # of zonal densities; time in which they come to rest
STEP = 0.01
SHOWN = {
    "ordered-density": ("phase-diagram",),
    "loop": ("hysteresis",),
    "circle-ordered": ("rest_on_the_upper_branch",),
    "circle-spread": ("rest_of_a_spread_start",),
    "softmax-ordered": ("softmax_has_no_loop",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Densities and tokens, from spread and from ordered starts."""
    kappa = 0.9 * theory.stability.noise_threshold(BETA, D)
    softmax = 1.5 * theory.transition.critical_kappa_softmax(9.0, 2)
    return {
        "ordered-density": density(BETA, kappa, ordered=True),
        "spread-density": density(BETA, kappa, ordered=False),
        "ordered-tokens": tokens(BETA, kappa, p, ordered=True),
        "spread-tokens": tokens(BETA, kappa, p, ordered=False),
        "circle-ordered": circle(0.4, ordered=True),
        "circle-spread": circle(0.4, ordered=False),
        "softmax-ordered": softmax_circle(9.0, softmax, ordered=True),
        "loop": turn(pf.Uniform(p.tokens, D)(p.seed), kappa, p, 0),
    }


def density(beta: float, kappa: float, ordered: bool) -> pf.Experiment:
    """A zonal density on S^2, until it is at rest."""
    uniform = pf.Density(pf.Zonal(D, MODES))
    peak = lambda x: np.exp(8 * (x[:, -1] - 1))  # noqa: E731
    peaked = pf.Density.from_function(uniform.basis, MODES, peak)
    rho = peaked if ordered else uniform.perturbed(1, 0.02)
    start, field = _given(rho), kappa * pf.UnnormalizedAttention(beta)
    solver = pf.Adaptive(1e-5)
    return pf.Experiment(start, field, REST, save=2, noise=NOISE, solver=solver)


def tokens(beta: float, kappa: float, p: Parameters, ordered: bool) -> pf.Experiment:
    """Tokens on S^2 under the same equation, with independent noise."""
    start = pf.VonMisesFisher(p.tokens, D, 8.0) if ordered else pf.Uniform(p.tokens, D)
    field = kappa * pf.UnnormalizedAttention(beta)
    return _noisy(start, field, 20.0, p.seed)


def turn(mu: pf.Particles, kappa: float, p: Parameters, k: int) -> pf.Experiment:
    """One value of the loop, from where the last one ended."""
    start = pf.Given(pf.Sphere(D), mu.points)
    field = kappa * pf.UnnormalizedAttention(BETA)
    return _noisy(start, field, p.dwell, p.seed + k)


def _noisy(start, field, t1: float, seed: int) -> pf.Experiment:
    return pf.Experiment(
        start, field, t1, save=4, noise=NOISE, solver=pf.Heun(STEP), seed=seed
    )


def circle(kappa: float, ordered: bool) -> pf.Experiment:
    """USA at beta = 4 on the circle, in its own time, to t = 400."""
    k = np.arange(1, 21)
    angle = lambda x: np.arctan2(x[:, 1], x[:, 0])[:, None]  # noqa: E731
    heat = lambda x: 1 + 2 * np.cos(angle(x) * k) @ np.exp(-0.15 * k**2)  # noqa: E731
    peaked = pf.Density.from_function(pf.Circle(), 20, heat)
    rho = peaked if ordered else pf.Density.uniform(pf.Circle(), 20).perturbed(1, 0.1)
    return pf.Experiment(
        _given(rho),
        pf.UnnormalizedAttention(4.0),
        400.0,
        save=2,
        noise=pf.Brownian(np.sqrt(2 / kappa)),
        solver=pf.Adaptive(1e-10, 1e-12),
    )


def softmax_circle(beta: float, kappa: float, ordered: bool) -> pf.Experiment:
    """The same with the softmax denominator, drift kappa SA and noise sqrt(2)."""
    peak = lambda x: np.exp(8 * (x[:, 0] - 1))  # noqa: E731
    peaked = pf.Density.from_function(pf.Circle(), 24, peak)
    rho = peaked if ordered else pf.Density.uniform(pf.Circle(), 24).perturbed(1, 0.05)
    field, solver = kappa * pf.Attention(beta), pf.Adaptive(1e-10, 1e-12)
    return pf.Experiment(_given(rho), field, 250.0, save=2, noise=NOISE, solver=solver)


def _given(rho: pf.Density) -> pf.GivenDensity:
    return pf.GivenDensity(rho.basis, rho.coefficients)


LOOP = tuple(np.round(np.arange(0.68, 1.14, 0.03), 2))  # kappa over its threshold


class Loop(NamedTuple):
    """One walk through the values of kappa / kappa_#, and back."""

    ratios: np.ndarray
    order: np.ndarray
    points: np.ndarray


@functools.cache
def order_at_rest(experiment: pf.Experiment) -> float:
    """The order parameter at the end of a run that came to its end."""
    run = experiment.run()
    if run.outcome is not None and run.outcome.kind == "budget":
        raise NumericalError(f"not at rest: {run.outcome.message}")
    return float(pf.observables.order_parameter(run.final))


@functools.cache
def late_order(experiment: pf.Experiment) -> float:
    """The mean order parameter of the last two of four frames: it fluctuates."""
    return float(experiment.run().observe(pf.observables.order_parameter)[2:].mean())


@functools.cache
def loop(p: Parameters) -> Loop:
    """Tokens while the noise falls and rises again: r of the last of four frames."""
    threshold = theory.stability.noise_threshold(BETA, D)
    ratios, found, points = [*LOOP, *LOOP[-2::-1]], [], []
    mu = pf.Uniform(p.tokens, D)(p.seed)
    for k, ratio in enumerate(ratios):
        run = turn(mu, float(ratio) * threshold, p, k).run()
        found.append(run.observe(pf.observables.order_parameter)[-1])
        points.append(np.asarray(run.points)[1:])
        mu = run.final
    return Loop(np.array(ratios), np.array(found), np.concatenate(points))


def rise(beta: float, d: int, softmax: bool) -> float:
    """The least (log kappa)' in r^2 along a branch: negative where it turns back.

    Divided differences on 48 values of r in [0.01, 0.95]; nan where none is found.
    """
    r = np.linspace(0.01, 0.95, 48)
    state = functools.partial(theory.transition.branch, beta, d, softmax=softmax)
    try:
        kappas = [state(float(value)).kappa for value in r]
    except NumericalError:
        return float("nan")
    return float((np.diff(np.log(kappas)) / np.diff(r**2)).min())


@functools.cache
def rises(grid: tuple, softmax: bool) -> np.ndarray:
    """The least rise for every beta (rows) and dimension (columns)."""
    betas, dimensions = grid
    return np.array([[rise(b, d, softmax) for d in dimensions] for b in betas])


RATIO = 0.88  # of the threshold: inside the window, above the jump
ENDS = {
    "spread": ("Spread tokens stay spread", "uniform", "r stays below 0.2"),
    "gathered": ("Gathered tokens stay gathered", "gaussian", "r stays near {:.2f}"),
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The same noise from two starts."""
    kappa = RATIO * theory.stability.noise_threshold(BETA, D)
    # The explorer's USA runs slower by e^beta, and so does its noise.
    sigma = math.sqrt(2 / kappa * math.exp(-BETA))
    order = theory.transition.ordered_state(BETA, D, kappa).r
    common = {
        "model": "usa",
        "d": D,
        "n": 1000,  # with 400 chance gathers them to r = 0.4 by t = 200
        "beta": BETA,
        "seed": p.seed,
        "noise": round(sigma, 6),
        "solver": "heun",
        "h": 0.25,
        "t1": 200.0,
    }
    return tuple(
        Preset(
            f"window-{name}",
            f"{title}: κ = {RATIO:g} of the threshold",
            "Below the threshold, above the jump the length r of the mean token has "
            f"two places to rest: {words.format(order)}.",
            {**common, "init": init},
        )
        for name, (title, init, words) in ENDS.items()
    )
