"""Where the scale of the data contradicts the noise that was assumed."""

import numpy as np
from scipy.stats import chi2

from pushforward.statistics.mixtures._likelihood import AbstractSample, Sample

RARE = 1e-4  # chance of spreading so little if the noise is right
MANY = 0.5  # atoms per distinct datum
FEW = 8  # data that say nothing about it


def doubts_of(sample: AbstractSample, atoms: int, n: int) -> tuple[str, ...]:
    """Sentences on noise of one covariance that is far too large or too small.

    `n` is the number of data, equal ones counted.

    The data spread at least as the noise does, so that n times their variance, in units
    of that of the noise, is below a quantile of chi-squared only by chance.
    """
    if not isinstance(sample, Sample) or n < FEW:
        return ()
    p, x = sample.weights, sample.points
    spread = p @ (x - p @ x) ** 2
    least = float(spread.min())
    found = []
    if chi2.cdf(n * least, n - 1) < RARE:
        found.append(
            f"the data spread only {np.sqrt(least):.2g} times as far as the noise "
            "alone would; the assumed variance is too large, or in other units"
        )
    if len(x) >= FEW and atoms > MANY * len(x):
        found.append(
            f"{atoms} components for {len(x)} distinct data: the noise is far smaller "
            "than the gaps between the data, and the fit only repeats them; the "
            "assumed variance is too small, or in other units"
        )
    return tuple(found)
