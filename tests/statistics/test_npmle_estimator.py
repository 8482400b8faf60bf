"""The scikit-learn estimator passes scikit-learn's own checks."""

import numpy as np
import pytest
from shape_checks import suspended

from pushforward.statistics.galaxies import galaxy_velocities
from pushforward.statistics.mixtures import (
    GaussianErrors,
    GaussianMixtureNPMLE,
    npmle,
    wfr,
)

pytest.importorskip("sklearn", minversion="1.6")

X = galaxy_velocities()[:, None] / 1000


@pytest.mark.filterwarnings("ignore::UserWarning")  # raised by the checks themselves
def test_scikit_learn_checks():
    from sklearn.utils.estimator_checks import check_estimator

    with suspended():  # wrong parameters are part of the checks
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


def test_errors_of_rows_go_to_fit_and_to_what_is_asked_later():
    sd = np.linspace(0.5, 1.5, 82)
    model = GaussianMixtureNPMLE().fit(X, likelihood=GaussianErrors(sd))
    fit = npmle(X, likelihood=GaussianErrors(sd))
    np.testing.assert_array_equal(model.atoms_, fit.atoms)
    some = GaussianErrors(sd[:4])
    np.testing.assert_allclose(model.transform(X[:4], some), fit.posterior_means[:4])
    drawn = model.sample(50, seed=0)
    assert drawn.shape == (50, 1) and set(drawn[:, 0]) <= set(fit.atoms[:, 0])
