"""The study of normalizing flows: cheap claims hold, figures have their parts."""

import numpy as np
import pytest

from pushforward.studies.normalizing_flows import claims, figures
from pushforward.studies.normalizing_flows._runs import SwirledBulge
from pushforward.studies.normalizing_flows.claims import CLAIMS
from pushforward.studies.normalizing_flows.study import Parameters


@pytest.mark.parametrize(
    "claim",
    [claims.banana, claims.three_cycle, claims.patients_calibration],
    ids=lambda c: c.__name__,
)
def test_cheap_claims_hold(claim):
    pytest.importorskip("sklearn")
    result = claim(Parameters.quick())
    assert result.holds and result.study == "normalizing_flows"


def test_density_of_the_bulge_is_that_of_its_determinant():
    phi, x = SwirledBulge(), np.random.default_rng(0).uniform(size=(50, 2))
    steps = 1e-6 * np.eye(2)
    columns = [(phi(x + e) - phi(x - e)) / 2e-6 for e in steps]
    det = columns[0][:, 0] * columns[1][:, 1] - columns[0][:, 1] * columns[1][:, 0]
    np.testing.assert_allclose(phi.log_density(phi(x)), -np.log(det), atol=1e-6)


@pytest.mark.slow
def test_every_claim_holds():
    for claim in CLAIMS:
        result = claim(Parameters.quick())
        assert result.holds is not False, result


@pytest.mark.slow
@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_draw(name):
    compute, draw = figures.FIGURES[name]
    assert draw(compute(Parameters.quick())).axes
