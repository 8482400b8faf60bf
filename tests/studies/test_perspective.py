"""The study of "A mathematical perspective on Transformers": claims and figures."""

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from thinned import thinned

from pushforward import studies
from pushforward._references import bibtex
from pushforward.studies.perspective import figures
from pushforward.studies.perspective.claims import CLAIMS
from pushforward.studies.perspective.figures import FIGURES
from pushforward.studies.perspective.study import PAPER, Parameters

OPEN = {"C(d) n^2", "d*(n, beta)", "ALBERT"}

KEPT = (
    "energy",
    "figure-3-phase-diagrams",
    "figure-4-plateaus",
    "figure-6-slope",
    "layer-norms",
    "long-context",
)


@pytest.fixture(scope="module")
def verified():
    return {claim.claim: claim for claim, _ in studies.verify("perspective")}


@pytest.fixture(scope="module")
def tiny():
    return dataclasses.replace(
        Parameters.quick(),
        phase_dimensions=(2, 40),
        phase_betas=4,
        phase_replicas=2,
        phase_frames=5,
        weights_d=6,
        weights_betas=2,
        weights_replicas=2,
    )


@pytest.mark.slow
def test_every_claim_has_its_own_words(verified):
    assert len(verified) == len(CLAIMS)
    assert all(function.__doc__ for function in CLAIMS)


@pytest.mark.slow
def test_claims_hold_in_the_quick_preset(verified):
    failed = [c for c in verified.values() if c.holds is False]
    assert not failed, "\n".join(str(c) for c in failed)


@pytest.mark.slow
def test_open_claims_are_those_that_cannot_be_reached(verified):
    unreached = [c for c in verified.values() if c.holds is None]
    assert len(unreached) == len(OPEN)
    assert all(c.note and any(name in c.claim for name in OPEN) for c in unreached)


@pytest.mark.slow
def test_claims_say_what_kind_they_are_and_whom_they_cite(verified):
    for claim in verified.values():
        assert claim.study == "perspective"
        assert bibtex(claim.reference.split(",")[0])
        if claim.holds is not None:
            assert math.isfinite(claim.measured) and math.isfinite(claim.tolerance)


def test_the_study_is_found_by_name():
    assert "perspective" in studies.names()
    assert bibtex(PAPER)
    assert studies.parameters("perspective", full=True).phase_replicas == 2**10


@pytest.mark.parametrize("name", thinned(sorted(FIGURES), *KEPT))
def test_figures_are_computed_and_drawn(tiny, name):
    compute, draw = FIGURES[name]
    data = compute(tiny)
    assert all(np.isfinite(value).all() for value in data.values())
    figure = draw(data)
    assert isinstance(figure, Figure)
    assert figure.axes


def test_phase_diagrams_start_scattered_and_collapse_when_it_is_warm(tiny):
    shares = figures.compute_phase(tiny)["shares"]
    assert shares.shape == (2, 4, 5)
    assert shares[1, :, 0].max() == 0.0  # in 40 dimensions no pair is close at first
    assert shares[:, 0, -1].min() == 1.0  # beta = 0.1: one cluster by t = 30
    assert shares[0, -1, -1] < 1.0  # beta = 9 on the circle: a plateau
