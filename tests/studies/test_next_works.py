"""The field's newer works (N1 to N10): cheap claims, tiny figures, the rest by soak.

Where each oracle of the notes is held, beside tests/theory (T):

| work | in T | here, or a claim of the study |
| --- | --- | --- |
| N1 | O1-O6 by formula | O4 `rest_on_the_upper_branch`; two rows of O2 below |
| N2 | O1-O5 | O2, O6 `fields_follow_the_laws`, `tokens_in_general`, `radius_grows` |
| N3 | O1-O5 by formula | O2 `collapse_with_depth`; O4 and O5 by draws |
| N4 | O1-O7 | O1, O3, O5 `one_coordinate`, `two_coordinates`, `limit_of_low_rank` |
| N5 | O1-O3 | O3 at n = 4 `four_tokens` |
| N7 | O1-O4 | O4, O5 `radius_of_a_layer`, `layers_by_kind` |
| N8 | O1-O4 | O2, O4 `tokens_find_their_vertex`, `first_jump_of_a_chain` |
| N9 | O1, O2, O5 | O3, O4 `two_stages_in_the_limit`, `tuned_depth_ties` and others |
| N10 | O1, O2, O4 | O2, O3 `in_the_window`, `on_the_whole_line` |

N6-O1 to O6 are in tests/fields/test_sinkhorn_attention.py; O1, O2, O5 and O6 are claims
of `sinkhorn_attention` too.
"""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import studies
from pushforward._references import bibtex
from pushforward.errors import InputError
from pushforward.plot.style import new_figure
from pushforward.studies import part
from pushforward.studies.empirical_bayes import _denoisers
from pushforward.studies.noise_transition import _film, _runs
from pushforward.theory import stability, transition

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


@pytest.mark.parametrize(
    ("beta", "fold", "jump", "threshold"),
    [
        (2.5, 1.6128270512, 1.6280872952, 1.6836342486),
        (9.0, 0.0104335782, 0.0116573007, 0.0224914364),
    ],
)
def test_two_more_rows_of_the_transition(beta, fold, jump, threshold):
    """N1-O2 on S^2."""
    assert transition.kappa_fold(beta, 3) == pytest.approx(fold, rel=5e-9)
    assert transition.kappa_c(beta, 3) == pytest.approx(jump, rel=5e-9)
    assert stability.noise_threshold(beta, 3) == pytest.approx(threshold, rel=5e-9)


def test_a_scan_tells_a_branch_that_turns_back():
    """The sign on which the conjecture rests: USA turns back at beta = 4, SA not."""
    assert _runs.rise(4.0, 3, softmax=False) < -1
    assert _runs.rise(4.0, 3, softmax=True) == pytest.approx(0.383054, abs=1e-5)


def test_a_branch_too_sharp_to_follow_is_no_number():
    assert np.isnan(_runs.rise(20.0, 64, softmax=False))


def test_one_step_is_the_posterior_mean_of_its_context():
    context, y = np.array([-1.0, 2.0]), np.array([0.3])
    w = np.exp(-2.0 * (y[0] - context) ** 2 / 2)
    known = w @ context / w.sum()
    assert _denoisers.posterior_mean(y, context, 2.0)[0] == pytest.approx(known)


def test_the_best_rule_of_a_uniform_prior():
    """Against the integral over the prior."""
    theta = np.linspace(-3, 3, 20_001)
    w = np.exp(-((1.7 - theta) ** 2) / 2)
    known = w @ theta / w.sum()
    found = _denoisers.bayes(np.array([1.7]), "uniform")[0]
    assert found == pytest.approx(known, abs=1e-4)


@pytest.mark.slow
def test_the_film_of_the_loop(tmp_path):
    p = dataclasses.replace(
        studies.parameters("noise_transition"), tokens=30, dwell=0.1
    )
    path = _film.film(tmp_path / "loop.gif", p)
    assert path.stat().st_size > 10_000


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
