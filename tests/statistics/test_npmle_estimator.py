"""The scikit-learn estimator passes scikit-learn's own checks."""

import numpy as np
import pytest

from pushforward.statistics.galaxies import galaxy_velocities
from pushforward.statistics.mixtures import GaussianMixtureNPMLE, npmle, wfr

pytest.importorskip("sklearn", minversion="1.6")

X = galaxy_velocities()[:, None] / 1000


@pytest.mark.filterwarnings("ignore::UserWarning")  # raised by the checks themselves
def test_scikit_learn_checks():
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(GaussianMixtureNPMLE(), on_skip=None)
    assert len(results) > 40
    assert all(r["status"] in {"passed", "skipped"} for r in results)


def test_agrees_with_the_function_and_works_in_a_pipeline():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    fit = npmle(X)
    model = GaussianMixtureNPMLE().fit(X)
    np.testing.assert_array_equal(model.atoms_, fit.atoms)
    np.testing.assert_array_equal(model.predict(X), fit.labels)
    np.testing.assert_array_equal(model.transform(X), fit.posterior_means)
    assert model.score(X) == pytest.approx(-fit.loss, abs=1e-12)
    scaled = make_pipeline(FunctionTransformer(np.asarray), GaussianMixtureNPMLE())
    np.testing.assert_array_equal(scaled.fit_predict(X), fit.labels)


def test_solver_is_a_parameter():
    model = GaussianMixtureNPMLE(0.25, method=wfr(20)).fit(X)
    assert model.get_params()["covariance"] == 0.25
    assert model.gap_ > 1e-9  # twenty steps do not certify
    assert model.predict_proba(X).shape == (82, len(model.atoms_))
