"""The field's newer works (N1 to N10): cheap claims, tiny figures, the rest by soak.

Where each of the 51 oracles of the notes is held, as Nk-Oj: in the docstrings of tests,
or by the claims that are named here.

| oracle | claim |
| --- | --- |
| N1-O4 | `rest_on_the_upper_branch`, `rest_of_a_spread_start` |
| N1-O6 | `softmax_has_no_loop` |
| N2-O2, N2-O6 | `fields_follow_the_laws`, `tokens_in_general`, `radius_grows` |
| N3-O2, N3-O4, N3-O5 | `collapse_with_depth`, and keys that are drawn |
| N5-O2, N5-O3 | `three_clusters`, `five_tokens`, `four_tokens`, `synchronize_above` |
| N6-O6 | `approach_to_the_heat_limit` |
| N8-O2, N8-O4 | `tokens_find_their_vertex`, `first_jump_of_a_chain` |
| N9-O3 | `two_stages_in_the_limit`, `noise_is_removed`: 3.9959, printed as 3.991 |
| N9-O4 | `regrets_for_two_points`, `regrets_for_a_uniform_prior` |
| N10-O2, N10-O3 | `in_the_window`, `counts_of_another_program` |
"""

import dataclasses
import pathlib
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import studies
from pushforward._references import bibtex
from pushforward.errors import InputError
from pushforward.plot.style import new_figure
from pushforward.studies import part
from pushforward.studies.empirical_bayes import runs as denoisers
from pushforward.studies.noise_transition import runs as transition

STUDIES = (
    "noise_transition normalization context_length density_modes negative_beta "
    "gaussian_tokens frank_wolfe empirical_bayes momentum sinkhorn_attention"
).split()
CHEAP = {  # the claims that take no compiled run
    "noise_transition": "critical_temperature jump_on_the_sphere softmax_slope_at_zero",
    "normalization": "end_of_pre_and_peri speed_at_the_start metastability_doubles",
    "context_length": "three_phases inside_the_transition far_below_the_scale",
    "density_modes": "leading_order small_beta",
    "negative_beta": "three_points odd_numbers three_clusters",
    "gaussian_tokens": "blow_up_time limit_of_low_rank other_attentions",
    "frank_wolfe": "cells_of_the_metric rate_needs_the_origin first_jump_of_a_chain",
    "empirical_bayes": "best_risk residual_step_is_tweedie gaussian_prior",
    "momentum": "time_without_friction pendulum best_radius",
    "sinkhorn_attention": "velocity",
}
DRAWN = (  # figures of formulas
    ("noise_transition", "thresholds"),
    ("normalization", "start-and-wait"),
    ("negative_beta", "thresholds"),
    ("frank_wolfe", "rates"),
)


ORACLES = {1: 6, 2: 6, 3: 5, 4: 7, 5: 3, 6: 6, 7: 5, 8: 4, 9: 5, 10: 4}


def test_every_oracle_of_the_notes_is_named():
    """By its id, in a docstring of a test or in the table above."""
    folder = pathlib.Path(__file__).parents[1]
    texts = [path.read_text() for path in folder.glob("*/test_*.py")]
    named = set()
    for text in texts:
        for work, rest in re.findall(
            r"N(\d+)-O(\d+(?:(?:,| and| to|, and) O\d+)*)", text
        ):
            numbers = [int(k) for k in re.findall(r"\d+", rest)]
            span = " to " in rest
            numbers = range(numbers[0], numbers[-1] + 1) if span else numbers
            named |= {(int(work), k) for k in numbers}
    wanted = {(work, k + 1) for work, count in ORACLES.items() for k in range(count)}
    assert not wanted - named


def test_claims_that_stand_for_oracles_are_there():
    named = set(re.findall(r"`(\w+)`", __doc__ or ""))
    claims = (part(study, "claims").CLAIMS for study in STUDIES)
    assert named and not named - {claim.__name__ for some in claims for claim in some}


@pytest.mark.parametrize("study", STUDIES)
def test_cheap_claims_hold(study):
    p = studies.parameters(study)
    for name in CHEAP[study].split():
        found = getattr(part(study, "claims"), name)(p)
        assert found.holds, str(found)
        assert bibtex(found.reference.split(",")[0])


@pytest.mark.slow  # minutes of runs
@pytest.mark.parametrize("study", STUDIES)
def test_every_claim_holds(study):
    found = [claim for claim, _ in studies.verify(study)]
    assert not [c for c in found if c.holds is False]
    assert len([c for c in found if c.holds is None]) == 1
    assert all(bibtex(c.reference.split(",")[0]) for c in found)


@pytest.mark.parametrize("study, name", DRAWN)
def test_figures_of_formulas_are_drawn(study, name):
    compute, draw = part(study, "figures").FIGURES[name]
    data = compute(studies.parameters(study))
    assert all(np.isfinite(value).all() for value in data.values())
    assert isinstance(draw(data), Figure)


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_every_figure_is_drawn(study):
    for compute, draw in part(study, "figures").FIGURES.values():
        assert isinstance(draw(compute(studies.parameters(study))), Figure)


def test_a_scan_tells_a_branch_that_turns_back():
    """The sign on which the conjecture rests: USA turns back at beta = 4, SA not."""
    assert transition.rise(4.0, 3, softmax=False) < -1
    assert transition.rise(4.0, 3, softmax=True) == pytest.approx(0.383054, abs=1e-5)


def test_a_branch_too_sharp_to_follow_is_no_number():
    assert np.isnan(transition.rise(20.0, 64, softmax=False))


def test_one_step_is_the_posterior_mean_of_its_context():
    context, y = np.array([-1.0, 2.0]), np.array([0.3])
    w = np.exp(-2.0 * (y[0] - context) ** 2 / 2)
    known = w @ context / w.sum()
    assert denoisers.posterior_mean(y, context, 2.0)[0] == pytest.approx(known)


def test_the_best_rule_of_a_uniform_prior():
    """Against the integral over the prior."""
    theta = np.linspace(-3, 3, 20_001)
    w = np.exp(-((1.7 - theta) ** 2) / 2)
    known = w @ theta / w.sum()
    found = denoisers.bayes(np.array([1.7]), "uniform")[0]
    assert found == pytest.approx(known, abs=1e-4)


@pytest.mark.slow
def test_films_of_studies_are_written(tmp_path, monkeypatch):
    assert not list(studies.films("momentum", tmp_path, False))
    p = dataclasses.replace(
        studies.parameters("noise_transition"), tokens=30, dwell=0.1
    )
    monkeypatch.setattr("pushforward.studies._runner.parameters", lambda *_: p)
    (path,) = studies.films("noise_transition", tmp_path, False)
    assert path.name == "hysteresis.mp4" and path.stat().st_size > 10_000


def test_a_film_of_figures(tmp_path):
    def pictures(sizes):
        for k, size in enumerate(sizes):
            figure = new_figure(size, 1.0)
            figure.subplots().plot([0, k])
            yield figure

    path = pf.plot.film(pictures([2.0, 2.0, 2.0]), tmp_path / "few.gif", fps=5)
    assert path.read_bytes().startswith(b"GIF8")
    with pytest.raises(InputError, match="of one size"):
        pf.plot.film(pictures([2.0, 3.0]), tmp_path / "bad.gif")
    with pytest.raises(InputError, match="at least one figure"):
        pf.plot.film([], tmp_path / "none.gif")
    assert not (tmp_path / "bad.gif").exists()
