"""What claims and figures share, each made once."""

import functools
from typing import NamedTuple

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.errors import NumericalError
from pushforward.studies.noise_transition import runs
from pushforward.studies.noise_transition.study import BETA, D, Parameters

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
        run = runs.turn(mu, float(ratio) * threshold, p, k).run()
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
