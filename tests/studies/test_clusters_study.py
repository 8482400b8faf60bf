"""The study of "The emergence of clusters in self-attention dynamics"."""

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import studies
from pushforward._references import bibtex
from pushforward.observables import attention_matrix
from pushforward.studies.clusters import _hyperplanes, _systems, runs
from pushforward.studies.clusters.claims import CLAIMS
from pushforward.studies.clusters.figures import FIGURES
from pushforward.studies.clusters.study import PAPER, Parameters


@pytest.fixture(scope="module")
def tiny():
    return dataclasses.replace(
        Parameters.quick(), replicas=2, frames=9, grid=20, width=3
    )


@pytest.fixture(scope="module")
def verified(tiny):
    return [function(tiny) for function in CLAIMS]


@pytest.mark.slow
def test_every_claim_has_its_own_words(verified):
    assert len({claim.claim for claim in verified}) == len(CLAIMS)


@pytest.mark.slow
def test_claims_hold(verified):
    failed = [c for c in verified if c.holds is False]
    assert not failed, "\n".join(str(c) for c in failed)


@pytest.mark.slow
def test_only_the_trained_model_is_open(verified):
    unreached = [c for c in verified if c.holds is None]
    assert len(unreached) == 1
    assert "ALBERT" in unreached[0].claim and unreached[0].note


@pytest.mark.slow
def test_claims_say_what_kind_they_are_and_whom_they_cite(verified):
    for claim in verified:
        assert claim.study == "clusters"
        assert bibtex(claim.reference.split(",")[0])
        if claim.holds is not None:
            assert math.isfinite(claim.measured) and math.isfinite(claim.tolerance)


def test_the_study_is_found_by_name():
    assert "clusters" in studies.names()
    assert bibtex(PAPER)
    assert studies.parameters("clusters", full=True).tokens == 40


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_figures_are_computed_and_drawn(tiny, name):
    compute, draw = FIGURES[name]
    data = compute(tiny)
    assert all(np.isfinite(value).all() for value in data.values())
    figure = draw(data)
    assert isinstance(figure, Figure)
    assert figure.axes


def test_lifted_tokens_move_as_they_would_by_themselves():
    """Zeros, copies with shared mass and units of 1 / lambda change nothing."""
    start = np.array([[0.5, -0.2], [0.1, 0.9], [-0.7, 0.3]])
    run = _systems.rescaled(_systems.PLANE, start, (0.0, 1.0), solver=_systems.TIGHT)
    mu = pf.Particles(pf.Euclidean(2), start)
    plain = pf.RescaledAttention(V=_systems.PLANE)
    alone = pf.flow(plain, mu, 1.0, save=2, solver=_systems.TIGHT).final.points
    np.testing.assert_allclose(run.end, alone, atol=1e-10)


def test_attention_of_rescaled_tokens_is_that_of_the_tokens():
    z = np.array([[0.5, -0.2], [0.1, 0.9], [-0.7, 0.3]])
    V = np.diag([1.0, 0.5])
    x = z * np.exp(0.8 * np.diag(V))
    expected = attention_matrix(pf.Particles(pf.Euclidean(2), x), 1.0)
    found = _systems.attention(V, 0.8, z)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_preset_of_leaders_pays_the_attention_of_the_figure(tiny):
    """The explorer knows Q = K = I only: its tokens are A x, its values A V A^-1."""
    preset = next(found for found in runs.states(tiny) if found.name == "leaders")
    V = np.array(preset.state["V"])
    start = np.array([y for _, y in preset.state["moved"]])
    shown = _systems.rescaled(V, start, np.linspace(0.0, 10.0, tiny.frames)).end
    draw = _hyperplanes.clearest(tiny)
    drawn = _hyperplanes.with_leaders(tiny, draw).end
    U, A = _hyperplanes.gram(tiny, draw)
    for t, y, x in ((0.0, start, start @ np.linalg.inv(A)), (10.0, shown, drawn)):
        P = _systems.attention(U, t, x, A, A)
        np.testing.assert_allclose(_systems.attention(V, t, y), P, atol=1e-5)
    assert (P.max(axis=0) > 0.1).sum() <= 3
