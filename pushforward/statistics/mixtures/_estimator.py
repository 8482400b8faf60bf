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


class GaussianMixtureNPMLE(TransformerMixin, ClusterMixin, DensityMixin, BaseEstimator):
    """Gaussian mixture whose number of components is not chosen but estimated.

    `covariance` is the known covariance of the noise (a variance or a matrix),
    `method` a solver such as `ColumnGeneration()` (the default) or `wfr(1000)`.

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
        covariance: float | Float[np.ndarray, "d d"] = 1.0,
        *,
        method: Method | None = None,
    ):
        self.covariance = covariance
        self.method = method

    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> Self:
        """Estimate the mixing law of the rows of X; y is ignored."""
        x = validate_data(self, X, dtype=np.float64)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, x, dtype=np.float64)
        method = ColumnGeneration() if self.method is None else self.method
        self.fit_ = npmle(x, covariance=self.covariance, weights=weights, method=method)
        self.atoms_, self.weights_ = self.fit_.atoms, self.fit_.weights
        self.labels_ = self.fit_.labels
        self.loss_, self.gap_ = self.fit_.loss, self.fit_.gap
        self.log_likelihood_ = self.fit_.log_likelihood
        return self

    def fit_predict(
        self, X: Any, y: None = None, sample_weight: Any = None
    ) -> Int[np.ndarray, "n"]:
        """Fit, and the label of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> Int[np.ndarray, "m"]:
        """Index of the most likely atom of each row."""
        x = self._checked(X)
        return self.fit_.assign(x)

    def predict_proba(self, X: Any) -> Float[np.ndarray, "m k"]:
        """Posterior probability of each atom."""
        x = self._checked(X)
        return self.fit_.posterior(x)

    def transform(self, X: Any) -> Float[np.ndarray, "m d"]:
        """Posterior means: the rows denoised."""
        x = self._checked(X)
        return self.fit_.denoise(x)

    def score_samples(self, X: Any) -> Float[np.ndarray, "m"]:
        """Log density of each row."""
        x = self._checked(X)
        return self.fit_.log_density(x)

    def score(self, X: Any, y: None = None) -> float:
        """Mean log density, larger is better."""
        return float(self.score_samples(X).mean())

    def _checked(self, X: Any) -> Float[np.ndarray, "m d"]:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)
