"""The NPMLE as a scikit-learn estimator: clustering, density and denoising at once."""

from typing import Any, Self

import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError

try:
    from sklearn.base import (
        BaseEstimator,
        ClusterMixin,
        DensityMixin,
        TransformerMixin,
    )
    from sklearn.utils.validation import (
        _check_sample_weight,
        check_is_fitted,
        validate_data,
    )
except ImportError as error:  # pragma: no cover - needs an environment without it
    raise InputError(
        "GaussianMixtureNPMLE needs scikit-learn 1.6 or later, which is not installed; "
        'run pip install "pushforward[transport]", or call npmle(), which does not.'
    ) from error

from pushforward.statistics.mixtures._column_generation import ColumnGeneration
from pushforward.statistics.mixtures._fit import Method, npmle
from pushforward.statistics.mixtures._noise import AbstractLikelihood


class GaussianMixtureNPMLE(TransformerMixin, ClusterMixin, DensityMixin, BaseEstimator):
    """Gaussian mixture whose number of components is not chosen but estimated.

    `covariance` is the known covariance of the noise (a variance or a matrix; one if
    nothing is said), `method` a solver such as `ColumnGeneration()` (the default) or
    `wfr(1000)`. Errors that differ between rows, and counts, go to `fit` (and to
    `predict`, ...) as a `likelihood` such as `GaussianErrors(sd)`.

    After `fit`: `atoms_`, `weights_`, `labels_`, `loss_`, `log_likelihood_`,
    `gap_` (log max D, the certificate), `n_features_in_`. `transform` denoises,
    `predict` labels, `predict_proba` gives posterior probabilities and
    `score_samples` log densities.

    >>> from pushforward.statistics.galaxies import galaxy_velocities
    >>> model = GaussianMixtureNPMLE().fit(galaxy_velocities()[:, None] / 1000)
    >>> model.atoms_.shape, bool(model.gap_ < 1e-9)
    ((6, 1), True)
    """

    def __init__(
        self,
        covariance: float | Float[np.ndarray, "d d"] | None = None,
        *,
        method: Method | None = None,
    ):
        self.covariance = covariance
        self.method = method

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        likelihood: AbstractLikelihood | None = None,
    ) -> Self:
        """Estimate the mixing law of the rows of X; y is ignored."""
        x = validate_data(self, X, dtype=np.float64)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, x, dtype=np.float64)
        method = ColumnGeneration() if self.method is None else self.method
        self.fit_ = npmle(
            x,
            covariance=self.covariance,
            likelihood=likelihood,
            weights=weights,
            method=method,
        )
        self.atoms_, self.weights_ = self.fit_.atoms, self.fit_.weights
        self.labels_ = self.fit_.labels
        self.loss_, self.gap_ = self.fit_.loss, self.fit_.gap
        self.log_likelihood_ = self.fit_.log_likelihood
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Int[np.ndarray, "n"]:
        """Fit, and the label of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(
        self, X: Any, likelihood: AbstractLikelihood | None = None
    ) -> Int[np.ndarray, "m"]:
        """Index of the most likely atom of each row."""
        x = self._checked(X)
        return self.fit_.assign(x, likelihood)

    def predict_proba(
        self, X: Any, likelihood: AbstractLikelihood | None = None
    ) -> Float[np.ndarray, "m k"]:
        """Posterior probability of each atom."""
        x = self._checked(X)
        return self.fit_.posterior(x, likelihood)

    def transform(
        self, X: Any, likelihood: AbstractLikelihood | None = None
    ) -> Float[np.ndarray, "m d"]:
        """Posterior means: the rows denoised."""
        x = self._checked(X)
        return self.fit_.denoise(x, likelihood)

    def score_samples(
        self, X: Any, likelihood: AbstractLikelihood | None = None
    ) -> Float[np.ndarray, "m"]:
        """Log density of each row."""
        x = self._checked(X)
        return self.fit_.log_density(x, likelihood)

    def score(
        self,
        X: Any,
        y: Any = None,
        likelihood: AbstractLikelihood | None = None,
    ) -> float:
        """Mean log density, larger is better."""
        return float(self.score_samples(X, likelihood).mean())

    def sample(self, n_samples: int = 1, *, seed: int) -> Float[np.ndarray, "m d"]:
        """Locations drawn from the fitted mixing law, without noise."""
        check_is_fitted(self)
        return self.fit_.draw(n_samples, seed)

    def _checked(self, X: Any) -> Float[np.ndarray, "m d"]:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)
