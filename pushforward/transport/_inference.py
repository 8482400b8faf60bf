"""How sure an estimated distance is: intervals by central limit and by bootstrap."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import norm

from pushforward.errors import InputError
from pushforward.transport._atoms import as_atoms
from pushforward.transport._costs import Cost, SquaredDistance
from pushforward.transport.entropic._entropic import entropic_plan
from pushforward.transport.exact._exact import optimal_plan


@dataclass(frozen=True)
class Interval:
    """An estimate with a confidence interval."""

    estimate: float
    lower: float
    upper: float
    standard_error: float
    level: float


def transport_interval(
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, "m d"],
    *,
    cost: Cost = SquaredDistance(),
    level: float = 0.95,
    target_known: bool = False,
) -> Interval:
    """A central-limit interval for the optimal cost (W_2^2 by default).

    variance = Var f(X) / n + Var g(Y) / m, f and g the Kantorovich potentials; the
    second term is dropped when y is the target itself and not a sample.

    The interval is about the mean of the estimator: in dimension above three the bias
    of the plug-in, of order n^{-2/d}, is larger than the interval. It is degenerate
    when the two laws are equal; test that with a permutation instead.
    [delbarrio2019central]
    """
    plan = optimal_plan(x, y, cost=cost)
    assert plan.potentials is not None
    return _normal(plan.value, plan.potentials, level, target_known)


def entropic_interval(
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, "m d"],
    eps: float,
    *,
    cost: Cost = SquaredDistance(),
    level: float = 0.95,
    target_known: bool = False,
) -> Interval:
    """The same for entropic transport, whose bias is 1/n in every dimension."""
    plan = entropic_plan(x, y, eps, cost=cost)
    return _normal(plan.value, plan.potentials, level, target_known)


def bootstrap_interval(
    statistic: Callable[[np.ndarray, np.ndarray], float],
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, "m d"],
    *,
    resamples: int = 200,
    size: int | None = None,
    level: float = 0.95,
    seed: int,
) -> Interval:
    """A basic bootstrap interval for any statistic of two samples.

    Each sample is drawn with replacement `size` times (its own size unless given) and
    the deviations, scaled by sqrt(size / n), are reflected about the estimate. A size
    below n is the m-out-of-n bootstrap, consistent also where the limit is not normal.
    """
    a, b = as_atoms("x", x).points, as_atoms("y", y).points
    z = _level(level)
    if resamples < 20:
        raise InputError(f"resamples must be at least 20, got {resamples}.")
    if size is not None and not 2 <= size <= max(len(a), len(b)):
        raise InputError(f"size must lie between 2 and the sample size, got {size}.")
    rng = np.random.default_rng(seed)
    estimate = float(statistic(a, b))
    values = np.empty(resamples)
    for k in range(resamples):
        pick_a = rng.integers(0, len(a), size or len(a))
        pick_b = rng.integers(0, len(b), size or len(b))
        values[k] = statistic(a[pick_a], b[pick_b])
    scale = np.sqrt((size or len(a)) / len(a))
    deviations = scale * (values - estimate)
    tail = norm.cdf(-z)
    low, high = np.quantile(deviations, [tail, 1 - tail])
    spread = float(deviations.std(ddof=1))
    return Interval(estimate, estimate - high, estimate - low, spread, level)


def permutation_test(
    statistic: Callable[[np.ndarray, np.ndarray], float],
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, "m d"],
    *,
    permutations: int = 199,
    seed: int,
) -> float:
    """The p-value of `statistic` for the hypothesis that x and y have one law.

    Exact at every sample size: the rank of the observed value among relabelings.
    """
    a, b = as_atoms("x", x).points, as_atoms("y", y).points
    if permutations < 19:
        raise InputError(f"permutations must be at least 19, got {permutations}.")
    rng = np.random.default_rng(seed)
    pooled, observed = np.concatenate([a, b]), statistic(a, b)
    beyond = 0
    for _ in range(permutations):
        shuffled = pooled[rng.permutation(len(pooled))]
        beyond += statistic(shuffled[: len(a)], shuffled[len(a) :]) >= observed
    return (1 + beyond) / (1 + permutations)


def _normal(
    value: float,
    potentials: tuple[np.ndarray, np.ndarray],
    level: float,
    target_known: bool,
) -> Interval:
    f, g = potentials
    z = _level(level)
    if len(f) < 2 or (len(g) < 2 and not target_known):
        raise InputError("an interval needs at least two points in each sample.")
    variance = f.var(ddof=1) / len(f)
    if not target_known:
        variance += g.var(ddof=1) / len(g)
    error = float(np.sqrt(variance))
    return Interval(value, value - z * error, value + z * error, error, level)


def _level(level: float) -> float:
    if not 0 < level < 1:
        raise InputError(f"level must lie in (0, 1), got {level}; try 0.95.")
    return float(norm.ppf((1 + level) / 2))
