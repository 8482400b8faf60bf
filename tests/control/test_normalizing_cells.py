"""Permuted cells, swirls and general diffeomorphisms of the unit square."""

import time

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.control import normalizing
from pushforward.control.normalizing.grids import centers
from pushforward.control.normalizing.rearrangements import nearest_assignment
from pushforward.errors import InputError
from pushforward.studies.normalizing_flows._runs import Swirl, SwirledBulge


def test_three_cycle_M2_O3():
    flow = normalizing.three_cycle(8, (3, 2), p=2, q=4, ramp=1e-4)
    assert flow.pieces == 16
    x = centers(8)
    y = np.asarray(flow.forward(x))
    number = {(c, r): c + 8 * r for c in range(8) for r in range(8)}
    at = lambda c, r: (np.array([c, r]) + 0.5) / 8  # noqa: E731
    np.testing.assert_allclose(y[number[1, 2]], at(3, 2), atol=1e-12)
    np.testing.assert_allclose(y[number[3, 2]], at(3, -2), atol=1e-12)
    others = np.setdiff1d(np.arange(64), [number[1, 2], number[3, 2]])
    np.testing.assert_allclose(y[others], x[others], atol=1e-9)


@pytest.mark.parametrize(("m", "d"), [(1, 2), (2, 2), (5, 2), (3, 3), (2, 4)])
def test_any_permutation_of_cells(m, d):
    target = np.random.default_rng(m + d).permutation(m**d)
    flow = normalizing.permutation(target, d)
    x = centers(m, d)
    np.testing.assert_allclose(flow.forward(x), x[target], atol=1e-12)
    np.testing.assert_allclose(flow.inverse(x[target]), x, atol=1e-12)
    per_cell = 16 if d == 2 else 16 * 4 ** (d - 2) + 8 * (d - 1)
    assert flow.pieces <= per_cell * m**d


@pytest.mark.parametrize("swap", [(0, 1), (0, 3), (6, 8), (8, 5)])
def test_odd_permutations_use_the_dummy_row(swap):
    target = np.arange(9)
    target[list(swap)] = target[list(swap[::-1])]
    flow = normalizing.permutation(target)
    np.testing.assert_allclose(flow.forward(centers(3)), centers(3)[target], atol=1e-12)


@pytest.mark.parametrize(
    ("m", "pieces", "cost", "l2"),
    [(8, 912, 0.06791705, 0.140303), (16, 3808, 0.03462912, 0.072333)],
)
def test_swirl_M2_O4_and_O7(m, pieces, cost, l2):
    phi, cells, x = Swirl(0.8), centers(m), centers(240)
    chosen = nearest_assignment(phi(cells), cells)
    found = np.sqrt(((phi(cells) - cells[chosen]) ** 2).sum(1).mean())
    assert abs(found - cost) < 1e-7
    flow = normalizing.volume_preserving(phi, m)
    # the third cell of a cycle is free where columns agree: the count may differ by few
    assert abs(flow.pieces - pieces) <= 32 and (m != 8 or flow.pieces == pieces)
    y, log_det = flow.with_log_det(x)
    assert abs(np.sqrt(((np.asarray(y) - phi(x)) ** 2).sum(1).mean()) - l2) < 1e-4
    assert (log_det == 0).all()
    np.testing.assert_allclose(flow.inverse(y), x, atol=1e-9)


def test_general_diffeomorphism():
    """The first row of the table of algorithm F, and its density."""
    phi, x = SwirledBulge(), np.random.default_rng(0).uniform(size=(20000, 2))
    flow = normalizing.diffeomorphism(phi, 6, 4)
    assert abs(flow.pieces / 9719 - 1) < 0.05
    found = normalizing.distance_to_map(flow, phi, x, p=1, log_density=phi.log_density)
    assert abs(found.l2 / 0.0332 - 1) < 0.05
    assert found.lp < found.l2 and found.median < found.l2
    assert 0.05 < found.total_variation < 0.15
    mass = jnp.exp(flow.log_density(centers(24))).mean()
    assert abs(float(mass) - 1) < 1e-6
    y = flow.forward(x)
    np.testing.assert_allclose(flow.inverse(y), x, atol=1e-9)
    np.testing.assert_allclose(flow.log_density(y), -flow.with_log_det(x)[1], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "refinement", "pieces", "l2"),
    [(8, 4, 17207, 0.0239), (12, 4, 39068, 0.0170), (8, 8, 66377, 0.0140)],
)
def test_table_of_algorithm_f(m, refinement, pieces, l2):
    phi, x = SwirledBulge(), np.random.default_rng(0).uniform(size=(100_000, 2))
    flow = normalizing.diffeomorphism(phi, m, refinement)
    flow.forward(x[:5000])
    start = time.process_time()
    found = normalizing.distance_to_map(flow, phi, x)
    assert time.process_time() - start < 30
    assert abs(flow.pieces / pieces - 1) < 0.05 and abs(found.l2 / l2 - 1) < 0.05


def test_total_variation_of_known_laws():
    """Uniform on [0, 1] stretched to density 1/2 and 3/2, against uniform."""
    flow = normalizing.monotone_map([1.0], [0, 0.25, 1], [0, 0.5, 1], pf.UnitCube())
    x = (np.arange(10_000)[:, None] + 0.5) / 10_000
    uniform = lambda y: np.zeros(len(y))  # noqa: E731
    found = normalizing.distance_to_map(flow, lambda z: z, x, log_density=uniform)
    assert abs(found.total_variation - 0.25) < 1e-3  # int (q - 1)_+ = (3/2 - 1) / 2
    exact = np.sqrt(
        np.mean((np.interp(x[:, 0], [0, 0.25, 1], [0, 0.5, 1]) - x[:, 0]) ** 2)
    )
    assert abs(found.l2 - exact) < 1e-12


def test_points_outside_are_refused():
    flow = normalizing.permutation([1, 0, 2, 3])
    with pytest.raises(InputError, match="outside the unit cube"):
        flow.forward([[0.5, 0.2], [1.5, 0.5]])
    assert np.isneginf(flow.log_density([[3.3, 3.3]])[0])


@pytest.mark.parametrize(
    ("phi", "words"),
    [
        (lambda x: x + 0.1, "leaves the unit cube"),
        (lambda x: x * np.nan, "NaN"),
        (lambda x: x[:, :1], "one point per row"),
        (lambda x: x[:, ::-1], "reverses orientation"),
        (lambda x: np.stack([4 * x[:, 0] * (1 - x[:, 0]), x[:, 1]], 1), "changes sign"),
    ],
)
def test_maps_that_are_not_diffeomorphisms_are_refused(phi, words):
    with pytest.raises(InputError, match=words):
        normalizing.diffeomorphism(phi, 4, 2)


@pytest.mark.parametrize(
    ("target", "words"),
    [([0, 0, 1, 2], "permutation of"), ([0, 1, 2], "cells of a grid"), ([[0]], "grid")],
)
def test_bad_permutations_are_refused(target, words):
    with pytest.raises(InputError, match=words):
        normalizing.permutation(target)


def test_lines_have_no_permutations():
    with pytest.raises(InputError, match="keep the order"):
        normalizing.permutation([1, 0], d=1)
    with pytest.raises(InputError, match="rounding"):
        normalizing.permutation([1, 0, 2, 3], ramp=1e-12)
    with pytest.raises(InputError, match="half of the strip"):
        normalizing.strip_shift(2, 0, 1, (0, 1), 1.0, ramp=0.7)
    with pytest.raises(InputError, match="two of the coordinates"):
        normalizing.strip_shift(2, 0, 0, (0, 1), 1.0, ramp=0.1)
    with pytest.raises(InputError, match="too many"):
        normalizing.volume_preserving(lambda x: x, 100)
