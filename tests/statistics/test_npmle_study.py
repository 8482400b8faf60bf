"""The studies of mixtures and transport: fast claims hold, and figures draw."""

import pytest
from matplotlib.figure import Figure

from pushforward.studies.mixtures import claims as mixture_claims
from pushforward.studies.mixtures import figures as mixture_figures
from pushforward.studies.mixtures.study import Parameters as MixtureParameters
from pushforward.studies.statistical_transport import claims as transport_claims
from pushforward.studies.statistical_transport import figures as transport_figures
from pushforward.studies.statistical_transport.study import (
    Parameters as TransportParameters,
)

pytest.importorskip("ot")

MIXTURES = MixtureParameters(
    galaxy_iterations=200, plane_iterations=4, subset=60, rounds=1
)
TRANSPORT = TransportParameters(
    sizes=(20, 40),
    repeats=(6, 4),
    torus_sizes=(16, 32),
    torus_repeats=(20, 10),
    draws=500,
)
FAST = [
    mixture_claims.characterization,
    mixture_claims.support,
    mixture_claims.two_points,
    mixture_claims.one_atom,
    mixture_claims.galaxy_loss,
    mixture_claims.gap_bounds_excess,
    mixture_claims.wfr_trajectory,
    mixture_claims.single_geometries,
]
EXACT = [
    transport_claims.bures,
    transport_claims.barycenter_rate,
    transport_claims.commuting_barycenter,
    transport_claims.jko,
    transport_claims.uniform_mean,
]


@pytest.mark.parametrize("claim", FAST, ids=lambda f: f.__name__)
def test_mixture_claims(claim):
    assert claim(MIXTURES).holds


@pytest.mark.parametrize("claim", EXACT, ids=lambda f: f.__name__)
def test_transport_claims(claim):
    assert claim(TRANSPORT).holds


def test_what_cannot_be_reached_is_listed_as_open():
    claim = mixture_claims.published_figures(MIXTURES)
    assert claim.holds is None
    assert claim.note


@pytest.mark.parametrize(
    ("figures", "parameters"),
    [(mixture_figures.FIGURES, MIXTURES), (transport_figures.FIGURES, TRANSPORT)],
    ids=["mixtures", "transport"],
)
def test_figures_draw(figures, parameters, tmp_path):
    for name, (compute, draw) in figures.items():
        picture = draw(compute(parameters))
        assert isinstance(picture, Figure)
        path = tmp_path / f"{name}.png"
        picture.savefig(path, dpi=30)
        assert path.stat().st_size > 1000
