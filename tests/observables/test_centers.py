"""Renyi centers, strong centers and absorption."""

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.observables import Absorption, Centers


def brute(x, radius):
    """The definition, pair by pair."""
    angle = np.arccos(np.clip(x @ x.T, -1, 1))
    kept = []
    for k in range(len(x)):
        if all(angle[k, j] > radius for j in kept):
            kept.append(k)
    strong = [k for k in range(len(x)) if (angle[k, :k] > radius).all()]
    return kept, strong


@pytest.mark.parametrize("d, radius", [(2, 0.3), (3, 0.7), (5, 1.2)])
def test_centers_by_definition(d, radius):
    mu = pf.Particles.uniform(pf.Sphere(d), 150, key=jax.random.key(d))
    found = Centers(radius)(mu)
    kept, strong = brute(np.asarray(mu.points), radius)
    assert found.kept.tolist() == kept
    assert found.strong.tolist() == strong
    assert found.count == len(kept) > len(strong) > 1


def test_centers_use_the_geodesic_distance():
    """Chord 0.4948 < 0.499 < 0.5, the angle."""
    mu = pf.Particles(pf.Circle(), pf.Circle().points(np.array([0.0, 0.5])))
    assert Centers(0.499)(mu).count == 2
    assert Centers(0.501)(mu).count == 1


def test_order_matters():
    x = pf.Circle().points(np.array([0.0, 0.3, 0.6]))
    assert Centers(0.5)(pf.Particles(pf.Circle(), x)).kept.tolist() == [0, 2]
    turned = pf.Particles(pf.Circle(), x[np.array([1, 0, 2])])
    assert Centers(0.5)(turned).kept.tolist() == [0]


def test_centers_absorb_causal_tokens():
    mu = pf.Particles.uniform(pf.Circle(), 40, key=jax.random.key(4))
    centers = Centers(1.0)(mu)
    run = pf.flow(pf.CausalAttention(16.0), mu, 60.0, save=[0.0, 5.0, 60.0])
    share = run.observe(Absorption(centers.kept, 0.05))
    assert share[0] < 0.5 < share[1] <= share[2]
    strong = run.observe(Absorption(centers.strong, 0.05))
    assert (strong <= share).all() and strong[2] > strong[0]


def test_absorption_counts_mass():
    x = pf.Circle().points(np.array([0.0, 0.1, 1.0]))
    mu = pf.Particles(pf.Circle(), x, [0.2, 0.3, 0.5])
    assert Absorption([0], 0.2)(mu) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda mu: Centers(-1.0), "`radius` must be positive"),
        (lambda mu: Absorption([], 0.1), "`centers` must be indices"),
        (lambda mu: Absorption([-1], 0.1), "`centers` must be indices"),
        (lambda mu: Absorption([7], 0.1)(mu), "`centers` names token 7"),
    ],
)
def test_bad_input_is_named(call, words):
    mu = pf.Particles(pf.Circle(), pf.Circle().points(np.array([0.0, 0.1, 1.0])))
    with pytest.raises(InputError, match=words):
        call(mu)
