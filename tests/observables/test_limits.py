import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.observables import (
    ParallelSubspaces,
    distance_to_set,
    hull_volume,
    limit_set_gap,
)


def cloud(points):
    points = np.asarray(points, dtype=float)
    return pf.Particles(pf.Euclidean(points.shape[1]), points)


def test_subspaces_are_told_apart_by_the_values_of_the_forms():
    rng = np.random.default_rng(0)
    form = np.array([[1.0, 2.0, -1.0]])
    along = np.linalg.svd(form)[2][1:]
    foot = form[0] / (form[0] @ form[0])
    values = np.repeat([-1.0, 0.5, 4.0], 5)
    x = values[:, None] * foot + rng.normal(size=(15, 2)) @ along
    planes = ParallelSubspaces(form, 0.1)
    assert planes.count(cloud(x)) == 3
    assert planes.distance(cloud(x)) < 1e-12
    labels = planes.labels(cloud(x)).reshape(3, 5)
    assert (labels == labels[:, :1]).all()


def test_distance_is_measured_in_space_and_not_in_the_form():
    """Values 0 and 0.2 of a form of length 2 are planes 0.1 apart: 0.05 to the mean."""
    x = [[0.0, 1.0], [0.1, -3.0]]
    planes = ParallelSubspaces([[2.0, 0.0]], 0.5)
    assert planes.count(cloud(x)) == 1
    assert planes.distance(cloud(x)) == pytest.approx(0.05)


def test_subspaces_of_two_forms_and_of_one_token():
    x = [[0.0, 0.0, 5.0], [0.0, 0.0, -5.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    forms = np.eye(3)[:2]
    assert ParallelSubspaces(forms, 0.5).count(cloud(x)) == 3
    assert ParallelSubspaces(forms, 0.5).count(cloud(x[:1])) == 1


def test_distance_to_set_is_that_of_the_farthest_token():
    x = [[0.0, 0.0], [3.0, 4.0]]
    assert distance_to_set(cloud(x), [[0.0, 0.0], [3.0, 3.0]]) == pytest.approx(1.0)


def test_gap_vanishes_on_vertices_and_centers_only():
    square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    assert limit_set_gap(cloud([*square, [0.0, 0.0], [1.0, 0.0]])) == 0.0
    # <z, v> - |z|^2 = 1 - 1/2 at z = (1/2, 1/2), the middle of 0 and a vertex.
    assert limit_set_gap(cloud([*square, [0.5, 0.5]])) == pytest.approx(0.5)


def test_gap_uses_the_form_of_queries_and_keys():
    """<B z, v> = z^T B^T v: the transpose would give another number."""
    B = np.array([[0.0, 1.0], [0.0, 0.0]])
    x = [[0.0, 2.0], [3.0, 0.0]]
    assert limit_set_gap(cloud(x), B) == pytest.approx(6.0)
    assert limit_set_gap(cloud([[0.0, 2.0], [3.0, 1.0]]), B) == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("points", "volume"),
    [
        ([[0.0], [2.0], [5.0]], 5.0),
        ([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.5, 0.2]], 1.0),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], 1 / 6),
        ([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], 0.0),
    ],
)
def test_hull_volume(points, volume):
    assert hull_volume(cloud(points)) == pytest.approx(volume)


def test_bad_arguments_are_named():
    x = cloud([[0.0, 1.0]])
    with pytest.raises(InputError, match="`forms` has 3 columns"):
        ParallelSubspaces(np.eye(3), 0.1).count(x)
    with pytest.raises(InputError, match="`forms` must be"):
        ParallelSubspaces(None, 0.1)
    with pytest.raises(InputError, match="radius"):
        ParallelSubspaces(np.eye(2), 0.0)
    with pytest.raises(InputError, match="`targets`"):
        distance_to_set(x, [[0.0, 1.0, 2.0]])
