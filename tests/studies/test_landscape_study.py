"""The study of the landscape: its cheap claims hold, its open ones say why."""

import pytest

from pushforward import studies
from pushforward.studies.landscape import _minima, claims
from pushforward.studies.landscape.claims import CLAIMS
from pushforward.studies.landscape.figures import FIGURES

QUICK = studies.parameters("landscape")
CHEAP = (
    _minima.three_atoms,
    _minima.published_minimizer,
    _minima.parallels,
    claims.limit_of_the_bound,
    claims.antipodal_pair,
    claims.vacuous_in_the_code,
    claims.printed_gelu,
)


@pytest.mark.parametrize("claim", CHEAP, ids=lambda claim: claim.__name__)
def test_claim_holds(claim):
    result = claim(QUICK)
    assert result.holds, result


def test_open_claims_give_reasons():
    for claim in (_minima.genericity, _minima.sphere_without_axis):
        result = claim(QUICK)
        assert result.holds is None and result.note


def test_claims_are_listed_once():
    assert len(set(CLAIMS)) == len(CLAIMS) == 42


def test_landscape_figure_draws():
    compute, draw = FIGURES["landscape"]
    figure = draw(compute(QUICK))
    assert len(figure.axes) == 5


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_every_claim(claim):
    assert claim(QUICK).holds is not False


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure(name):
    compute, draw = FIGURES[name]
    assert draw(compute(QUICK)).axes
