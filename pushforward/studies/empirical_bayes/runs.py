"""The runs behind figures and claims: a context refines itself, stage one of two.

A layer of attention by distance is the posterior mean under the context as a prior, so
dx/dt = beta (m(x) - x) is a flow of the library on the line.
"""

import functools

import numpy as np
from scipy.stats import norm

import pushforward as pf
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
