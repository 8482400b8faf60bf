"""Retention-time drift between two tables: a weighted spline with outliers dropped."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.interpolate import BSpline

from pushforward.errors import InputError


@dataclass(frozen=True)
class Drift:
    """A fitted drift f with RT_B ~ f(RT_A), and the residual above which pairs go.

    `anchors` marks the pairs the final spline was fitted on; `knots` is the number of
    interior knots that cross-validation chose.
    """

    spline: BSpline
    cut: float
    anchors: Bool[np.ndarray, "s"]
    knots: int

    def __call__(self, rt: Float[np.ndarray, "p"]) -> Float[np.ndarray, "p"]:
        """Predicted retention time in table B."""
        return self.spline(rt)


@dataclass(frozen=True)
class SplineDrift:
    """Cubic spline by weighted least squares, weights the coupling over its maximum.

    `outlier_rounds` fits with `outlier_knots` knots drop pairs whose signed residual
    leaves `band` standard deviations; then the number of quantile knots is chosen by
    cross-validation on `folds` folds contiguous in time, and the cut on |residual| is
    median + `mads` median absolute deviations (unscaled).
    [breeur2024gromovmatcher]
    """

    outlier_rounds: int = 2
    outlier_knots: int = 10
    band: float = 1.96
    knots: tuple[int, ...] = (4, 5, 6, 7, 8, 9, 10)
    folds: int = 5
    mads: float = 2.0

    def __post_init__(self) -> None:
        if self.outlier_rounds < 0 or self.folds < 2 or not self.knots:
            raise InputError(
                f"`outlier_rounds` >= 0, `folds` >= 2 and some `knots` are needed, got "
                f"{self.outlier_rounds}, {self.folds}, {self.knots}."
            )
        if not (self.band > 0 and self.mads > 0 and min(self.knots) >= 0):
            raise InputError(
                f"`band` and `mads` must be positive and `knots` >= 0, got "
                f"{self.band}, {self.mads}, {self.knots}. The published "
                "ones are 1.96, 2 and 4..10."
            )

    def fit(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Drift:
        """The drift through pairs of times (x, y) with the weights of a coupling."""
        keep = np.argsort(x, kind="stable")
        keep = keep[weights[keep] > 0]
        w = weights / weights.max()
        for _ in range(self.outlier_rounds):
            spline = weighted_spline(x[keep], y[keep], w[keep], self.outlier_knots)
            residual = y[keep] - spline(x[keep])
            inside = np.abs(residual) < self.band * residual.std()
            if inside.sum() < 4:  # nothing left to fit, or an exact fit
                break
            keep = keep[inside]
        knots = self._choose_knots(x[keep], y[keep], w[keep])
        spline = weighted_spline(x[keep], y[keep], w[keep], knots)
        residual = np.abs(y[keep] - spline(x[keep]))
        middle = np.median(residual)
        cut = middle + self.mads * np.median(np.abs(residual - middle))
        anchors = np.zeros(len(x), dtype=bool)
        anchors[keep] = True
        # an exact fit has cut 0, and rounding must not drop its own pairs
        return Drift(spline, float(cut + 1e-9 * (1 + np.abs(y).max())), anchors, knots)

    def _choose_knots(self, x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        if len(x) < 4 * self.folds:
            return min(self.knots)
        folds = np.array_split(np.arange(len(x)), self.folds)
        errors = []
        for k in self.knots:
            squares = []
            for fold in folds:
                train = np.ones(len(x), dtype=bool)
                train[fold] = False
                spline = weighted_spline(x[train], y[train], w[train], k)
                squares.append(np.mean(np.square(y[fold] - spline(x[fold]))))
            errors.append(np.mean(squares))
        return self.knots[int(np.argmin(errors))]


def weighted_spline(
    x: Float[np.ndarray, "s"],
    y: Float[np.ndarray, "s"],
    weights: Float[np.ndarray, "s"],
    knots: int,
) -> BSpline:
    """min sum (w (y - f(x)))^2 over cubic splines with knots at quantiles of x.

    Fewer distinct times than a cubic needs lower the degree; repeated times are
    harmless because the design matrix is solved by least squares.
    """
    distinct = len(np.unique(x))
    degree = min(3, distinct - 1)
    if degree == 0:
        half = 0.5 + np.abs(x[0])
        level = np.average(y, weights=np.square(weights))
        return BSpline(np.array([x[0] - half, x[0] + half]), np.array([level]), 0)
    room = max(0, min(knots, distinct // 2 - degree))
    inner = np.unique(np.quantile(x, np.arange(1, room + 1) / (room + 1)))
    low, high = x.min(), x.max()
    inner = inner[(inner > low) & (inner < high)]
    t = np.concatenate([np.full(degree + 1, low), inner, np.full(degree + 1, high)])
    design = BSpline.design_matrix(x, t, degree).toarray()
    c = np.linalg.lstsq(design * weights[:, None], y * weights, rcond=None)[0]
    return BSpline(t, c, degree)
