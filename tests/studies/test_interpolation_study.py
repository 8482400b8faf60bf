"""The study of "Measure-to-measure interpolation using Transformers"."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

from pushforward import studies
from pushforward._references import bibtex
from pushforward.studies.interpolation import _theorems, claims
from pushforward.studies.interpolation.claims import CLAIMS
from pushforward.studies.interpolation.figures import FIGURES, film
from pushforward.studies.interpolation.study import PAPER, Parameters

BLOCKS = CLAIMS[
    CLAIMS.index(claims.constant_pull) : CLAIMS.index(claims.colinear_part_of_3_4) + 1
]
PLANNED = (  # claims that plan and compile little
    _theorems.three_inputs,
    _theorems.weights_scale_with_time,
    _theorems.no_attention_no_separation,
    _theorems.distinct_inputs_needed,
    _theorems.exact_masses,
    _theorems.prompts_separate_by_themselves,
)


@pytest.fixture(scope="module")
def tiny():
    return dataclasses.replace(
        Parameters.quick(), points=20, inputs=(2, 3), atoms=(1, 2), draws=3
    )


@pytest.mark.parametrize("function", [*BLOCKS, *PLANNED], ids=lambda f: f.__name__)
def test_claims_hold(tiny, function):
    claim = function(tiny)
    assert claim.holds is not False, str(claim)
    assert claim.study == "interpolation"
    assert bibtex(claim.reference.split(",")[0])


def test_open_claims_say_why(tiny):
    unreached = [
        claims.colinear_part_of_3_4,
        claims.invertible_maps,
        claims.exponential_switches,
    ]
    for function in unreached:
        claim = function(tiny)
        assert claim.holds is None and claim.note
    assert set(unreached) < set(CLAIMS)


def test_the_study_is_found_by_name():
    assert "interpolation" in studies.names()
    assert "2411.04551" in bibtex(PAPER)


@pytest.mark.slow
def test_the_switches_figure(tiny):
    compute, draw = FIGURES["switches"]
    data = compute(tiny)
    assert np.all(data["counts"].sum(axis=2) >= data["inputs"][None, :])
    assert isinstance(draw(data), Figure)


@pytest.mark.slow
def test_every_claim_holds_in_the_quick_preset():
    found = [claim for claim, _ in studies.verify("interpolation")]
    failed = [str(c) for c in found if c.holds is False]
    assert not failed, "\n".join(failed)
    assert len({c.claim for c in found}) == len(CLAIMS)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_figures_are_drawn(tiny, name):
    compute, draw = FIGURES[name]
    assert isinstance(draw(compute(dataclasses.replace(tiny, steps=3))), Figure)


@pytest.mark.slow
def test_the_film_is_written(tiny, tmp_path):
    path = film(tmp_path / "phases.gif", tiny, 6)
    assert path.stat().st_size > 1000
