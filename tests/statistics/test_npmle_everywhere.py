"""The certificate covers all of space: what a search on a grid overlooks is found."""

import numpy as np
import pytest

from pushforward.statistics.mixtures import GaussianErrors, npmle
from pushforward.statistics.mixtures._everywhere import (
    AROUND,
    _halved,
    _interpolation,
    _sizes,
    all_modes,
    bound_everywhere,
)
from pushforward.statistics.mixtures._likelihood import (
    Sample,
    log_certificate,
    log_mixture,
    loss,
)
from pushforward.statistics.mixtures._modes import find_modes, nodes_of
from pushforward.statistics.mixtures._polish import polish


def of(points):
    return Sample(points, np.full(len(points), 1 / len(points)))


def hexagon(n):
    rng = np.random.default_rng(2023)
    angle = 2 * np.pi * np.arange(6) / 6
    corners = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    centers = np.concatenate([corners, np.zeros((1, 2))])
    return centers[rng.integers(0, 7, n)] + rng.standard_normal((n, 2))


# A stationary mixture with eleven atoms: D has a maximum of 1 + 5e-5 on a flat ridge
# by the atom at (1.55, 2.55), where no node of a grid is above all its neighbours.
ELEVEN = np.array(
    [
        [-3.788, 0.554, 0.0117],
        [-2.956, -0.087, 0.1353],
        [-1.506, 2.626, 0.1404],
        [-1.492, -2.606, 0.1379],
        [-0.416, -4.662, 0.0001],
        [0.008, -0.005, 0.1395],
        [1.47, -2.627, 0.1429],
        [1.548, 2.592, 0.1429],
        [2.752, 5.117, 0.0006],
        [2.883, -0.081, 0.1329],
        [3.554, 0.289, 0.0158],
    ]
)


@pytest.fixture(scope="module")
def stationary():
    sample = of(hexagon(10_000))
    atoms, weights = polish(sample, ELEVEN[:, :2], ELEVEN[:, 2])
    return sample, atoms, weights


def test_a_maximum_on_a_flat_ridge_is_not_overlooked(stationary):
    sample, atoms, weights = stationary
    log_f = log_mixture(sample.points, atoms, weights)
    _, on_grid = find_modes(sample, log_f, atoms)
    assert on_grid[0] < 1e-9  # what would have been printed as a proof
    found = all_modes(sample, log_f, atoms)
    assert found.proven
    assert found.log_d[0] == pytest.approx(5.0074e-5, rel=1e-3)


def test_the_ridge_costs_an_atom(stationary):
    sample, atoms, weights = stationary
    fit = npmle(sample.points)
    assert len(fit.atoms) == 12 and fit.proven
    assert fit.gap < 1e-10
    # The certificate of either bounds the difference, which is real.
    assert 1e-8 < loss(sample, atoms, weights) - fit.loss < 5.1e-5


def panels_of(sample, log_ratio):
    """Chebyshev coefficients of D, the corner and the half sides of the panels."""
    low, high = sample.points.min(axis=0), sample.points.max(axis=0)
    panels = np.ceil((high - low) / 3.0).astype(int)
    half = (high - low) / panels / 2
    return _interpolation(sample, log_ratio, low, panels, half), low, panels, half


@pytest.mark.parametrize("d", [1, 2])
def test_interpolation_is_exact_to_rounding_also_on_halves(d):
    rng = np.random.default_rng(0)
    sample = of(3 * rng.standard_normal((200, d)))
    log_f = log_mixture(sample.points, np.zeros((1, d)), np.ones(1))
    C, low, panels, half = panels_of(sample, np.log(sample.weights) - log_f)
    middle = low + half * (2 * nodes_of([np.arange(1.0 * k) for k in panels]) + 1)
    for _ in range(4):
        u = rng.uniform(-1, 1, (20, d))
        found = np.stack([chebval(x, C) for x in u])  # points, boxes
        at = middle + half * u[:, None]
        exact = np.exp(log_certificate(at.reshape(-1, d), sample, log_f))
        assert np.abs(found.reshape(-1) - exact).max() < 1e-13 * exact.max()
        C, middle, half = _halved(C, middle, half)


def chebval(u, C):
    """Of every box at one place."""
    rows = np.polynomial.chebyshev.chebvander(u, max(C.shape[1:]) - 1)
    last = rows[-1, : C.shape[2]] if len(u) > 1 else np.ones(1)
    return np.einsum("mjk,j,k->m", C, rows[0, : C.shape[1]], last)


def random_boxes(d, rng):
    """Coefficients that fall, of either sign; some boxes are concave, some are not."""
    C = rng.normal(size=(400, 6, 6 if d == 2 else 1))
    C *= 0.2 ** np.add.outer(np.arange(6), np.arange(C.shape[2]))
    C[::2, 2, 0] -= 0.8
    if d == 2:
        C[::2, 0, 2] -= 0.8
        C[:, 1, 1] = rng.normal(scale=0.5, size=len(C))
    return C


@pytest.mark.parametrize("d", [1, 2])
def test_bounds_over_a_box_hold_and_are_no_larger_than_they_must(d):
    rng = np.random.default_rng(3)
    C = random_boxes(d, rng)
    value, top, room = _sizes(C)
    assert np.allclose(value, chebval(np.zeros(d), C))
    u = np.concatenate([rng.uniform(-1, 1, (3000, d)), rng.choice([-1, 1], (8, d))])
    highest = np.max([chebval(x, C) for x in u], axis=0)
    assert (top >= highest - 1e-14).all()
    C[:, 3:], C[:, :, 3:] = 0, 0
    C[:, 1:, 2:], C[:, 2:, 1:] = 0, 0  # what is left is maximized exactly
    highest = np.max([chebval(x, C) for x in u], axis=0)
    assert np.abs(_sizes(C)[1] - highest).max() < 2e-2


@pytest.mark.parametrize("d", [1, 2])
def test_boxes_said_to_be_concave_are_so_around_them_too(d):
    rng = np.random.default_rng(4)
    C = random_boxes(d, rng)
    room = _sizes(C)[2]
    assert 20 < (room > 0).sum() < 380
    e, h = np.eye(d), 1e-3
    for x in rng.uniform(-AROUND + 2 * h, AROUND - 2 * h, (300, d)):
        bend = np.array(
            [
                [
                    sum(
                        s * t * chebval(x + h * (s * e[a] + t * e[b]), C)
                        for s in (1, -1)
                        for t in (1, -1)
                    )
                    / (4 * h**2)
                    for a in range(d)
                ]
                for b in range(d)
            ]
        )
        largest = np.linalg.eigvalsh(bend.transpose(2, 0, 1))[:, -1]
        assert (largest <= -room + 1e-3)[room > 0].all()


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_above_the_bound(d, seed):
    rng = np.random.default_rng(seed)
    sample = of(2 * rng.standard_normal((60, d)))
    atoms, weights = rng.standard_normal((4, d)), rng.dirichlet(np.ones(4))
    log_f = log_mixture(sample.points, atoms, weights)
    found = all_modes(sample, log_f, atoms)
    anywhere = rng.uniform(-6, 6, (20_000, d))
    assert log_certificate(anywhere, sample, log_f).max() <= found.bound
    assert found.proven and found.bound - found.log_d[0] <= 2e-12


def test_a_level_below_the_maximum_is_refuted():
    sample = of(np.array([[0.0], [5.0]]))
    log_f = log_mixture(sample.points, np.array([[0.0]]), np.ones(1))
    bound, higher = bound_everywhere(sample, log_f, np.empty((0, 1)), 0.0)
    assert bound > 0 and len(higher)
    assert (log_certificate(higher, sample, log_f) > -1e-13).all()


def test_more_than_two_dimensions_are_searched_and_said_not_to_be_proven():
    fit = npmle(np.random.default_rng(0).standard_normal((40, 3)))
    assert not fit.proven and fit.gap < 1e-9


@pytest.mark.slow
def test_many_precise_data_are_proven_to_rounding():
    """Sharp maxima need small boxes: 400,000 corners left a gap of 4e-9 here."""
    rng = np.random.default_rng(1)
    angles = np.arange(6) * np.pi / 3
    centers = 3 * np.array([*zip(np.cos(angles), np.sin(angles), strict=True), (0, 0)])
    sd = rng.uniform(0.5, 2.0, (20_000, 2))
    data = centers[rng.integers(0, 7, 20_000)] + sd * rng.normal(size=(20_000, 2))
    fit = npmle(data, likelihood=GaussianErrors(sd))
    assert fit.proven and fit.gap < 1e-9
