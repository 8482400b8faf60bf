"""Classical scaling and the pictures made of distances and matchings."""

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.plot.matching import (
    draw_drift,
    draw_pairs,
    draw_precision_recall,
    picture_of,
    write_report,
)
from pushforward.plot.representations import plot_dendrogram, plot_embedding
from pushforward.statistics.matching.matching import match
from pushforward.statistics.representations.gulp import gulp_matrix
from pushforward.statistics.representations.similarities import classical_scaling
from pushforward.studies.metabolomics.paired_tables import (
    MEDIUM,
    simulate_cohort,
    split_cohort,
)


def test_scaling_recovers_planar_points_up_to_a_rigid_motion():
    X = np.random.default_rng(0).normal(size=(12, 2))
    D = np.linalg.norm(X[:, None] - X[None], axis=-1)
    found = classical_scaling(D)
    again = np.linalg.norm(found.points[:, None] - found.points[None], axis=-1)
    np.testing.assert_allclose(again, D, atol=1e-10)
    assert found.explained == pytest.approx(1.0)
    line = classical_scaling(D, 1)
    assert 0.4 < line.explained < 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda D: classical_scaling(D[:2]), "symmetric square"),
        (lambda D: classical_scaling(D, 3), "between 1 and 2"),
        (lambda D: classical_scaling(np.triu(D)), "symmetric square"),
    ],
)
def test_bad_distances_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call(np.ones((3, 3)) - np.eye(3))


def test_maps_have_one_panel_per_lambda_and_trees_one_leaf_per_representation():
    rng = np.random.default_rng(1)
    networks = [rng.normal(size=(40, 5)) for _ in range(6)]
    matrix = gulp_matrix(networks, [0.01, 0.1, 1.0, 10.0, 100.0])
    figure = plot_embedding(matrix, groups=["a", "a", "b", "b", "c", "c"])
    assert sum(ax.axison for ax in figure.axes) == 5
    tree = plot_dendrogram(matrix, 0.1)
    leaves = [text.get_text() for text in tree.axes[0].get_yticklabels()]
    assert sorted(leaves) == sorted(matrix.names)
    with pytest.raises(InputError, match="one group each"):
        plot_embedding(matrix, groups=["a"])


def test_report_is_self_contained_and_tells_the_counts(tmp_path):
    pair = split_cohort(simulate_cohort(120, 60, seed=2), 0.6, MEDIUM, seed=3)
    matching = match(pair.A, pair.B)
    path = tmp_path / "report.html"
    write_report(matching, path, truth=pair.truth)
    page = path.read_text()
    assert page.count("<img") == 4 and "http" not in page and "<script" not in page
    assert f"{len(matching.matches)} one-to-one matches" in page
    assert f"precision {matching.accuracy(pair.truth).precision:.3f}" in page
    assert "without transport" in page
    write_report(matching, path)
    assert path.read_text().count("<img") == 3


def test_drawn_points_are_the_candidate_pairs():
    pair = split_cohort(simulate_cohort(120, 60, seed=4), 0.6, MEDIUM, seed=5)
    matching = match(pair.A, pair.B)
    for draw in (draw_drift, draw_pairs):
        for truth in (None, pair.truth):
            figure = draw(picture_of(matching, truth))
            marks = [c.get_offsets() for c in figure.axes[0].collections[:4]]
            kinds = 2 if truth is None else 4
            assert sum(len(m) for m in marks[:kinds]) == matching.pairs.count
    data = picture_of(matching, pair.truth)
    right = matching.accuracy(pair.truth)
    counts = np.bincount(data["kind"], minlength=4)
    assert (counts[1], counts[3]) == (right.true, right.false)
    assert counts[2] <= right.missed
    curve = draw_precision_recall(data)
    assert len(curve.axes[0].lines) == 4  # a line and an end for each of two
