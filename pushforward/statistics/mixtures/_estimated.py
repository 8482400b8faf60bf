"""The variance of Gaussian noise, chosen by the data.

The likelihood itself cannot choose: with noise of no width and an atom on every datum
it is infinite. The likelihood of data that were held out can: too little noise repeats
the others' data, too much blurs them.
"""

import numpy as np
from jaxtyping import Float, Real

from pushforward._checks import whole
from pushforward._threads import one_thread
from pushforward.errors import InputError
from pushforward.statistics.mixtures._column_generation import ColumnGeneration
from pushforward.statistics.mixtures._noise import GaussianNoise
from pushforward.statistics.mixtures._posterior import weighted
from pushforward.statistics.mixtures._whitening import as_data, as_weights

RATIOS = 0.5 ** np.arange(0.0, 5.5, 0.5)  # of the sd of the data
FINER = 2.0 ** np.array([-0.25, -0.125, 0.125, 0.25])
PAST = 2.5  # how far below the best one is still looked at
ROUGH = 1e-3  # the gap of fits that only compare


def estimated_noise(
    data: Real[np.ndarray, "n d"] | Real[np.ndarray, "n"],
    *,
    weights: Float[np.ndarray, "n"] | None = None,
    folds: int = 5,
    most: int = 1000,
    seed: int = 0,
) -> GaussianNoise:
    """Gaussian noise of one variance, that under which held-out data are most likely.

    `folds` parts are held out in turn; standard deviations from that of the data down
    to a 32nd of it are tried while that helps, then finer around the best. Of more than
    `most` rows, as many are drawn for the choice. Where locations are spread smoothly,
    data do not tell noise from spread, and the answer is a width that predicts well.

    >>> import numpy as np
    >>> from pushforward.statistics import npmle
    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([0.0, 9.0], 200) + rng.normal(size=200)
    >>> noise = estimated_noise(x)
    >>> round(float(noise.covariance), 1)  # of variance 1
    1.1
    >>> "held out" in npmle(x, likelihood=noise).assumption
    True
    """
    x = as_data("data", data, None)
    folds, most = whole("folds", folds, 2), whole("most", most, 10)
    if len(x) < 2 * folds:
        raise InputError(
            f"`data` must have {2 * folds} rows to hold out {folds} parts of them, got "
            f"{len(x)}. Give the variance."
        )
    rows = np.random.default_rng(seed).permutation(len(x))[:most]
    x, p = x[rows], as_weights(weights, len(x))[rows]
    width = float(np.sqrt(x.var(axis=0).min()))
    if width == 0:
        raise InputError("`data` must vary in every column to estimate a variance.")
    with one_thread():
        best = _best(x, p, folds, width)
    drawn = f" ({most} rows drawn)" if len(rows) == most else ""
    words = f"estimated by the likelihood of {folds} parts held out{drawn}"
    return GaussianNoise(best**2, words)


def _best(x: np.ndarray, p: np.ndarray, folds: int, width: float) -> float:
    """The best of the standard deviations tried, from `width` down."""
    scores: dict[float, float] = {}
    for s in width * RATIOS:
        scores[float(s)] = _held_out(x, p, float(s), folds)
        best = max(scores, key=lambda s: scores[s])
        if s < best / PAST:  # fits that only repeat the data are slow, and no better
            break
    scores |= {float(s): _held_out(x, p, float(s), folds) for s in best * FINER}
    return max(scores, key=lambda s: scores[s])


def _held_out(x: np.ndarray, p: np.ndarray, sd: float, folds: int) -> float:
    """Mean log density of each part under the fit to the others."""
    noise, total = GaussianNoise(sd**2), 0.0
    for k in range(folds):
        held = np.arange(len(x)) % folds == k
        seen = noise.observe(x[~held], p[~held])
        found = ColumnGeneration(ROUGH).solve(seen.sample, seen.chart)
        atoms = seen.chart.color(found.atoms)
        table = weighted(noise.log_table(x[held], atoms), found.weights)
        total += float(p[held] @ np.logaddexp.reduce(table, axis=1))
    return total / float(p.sum())
