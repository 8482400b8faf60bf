"""Merging: what it keeps, what it costs in accuracy, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.fields import Alibi, PositionAttention
from pushforward.flows.merging._merge import (
    FEW,
    Slots,
    lowest_in_reach,
    merge_once,
    some_close,
)
from pushforward.observables import cluster_life

RADII = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def crowd(n, d=2, seed=0):
    return pf.Particles.uniform(pf.Sphere(d), n, key=jax.random.key(seed))


def once(x, log_weights, radius):
    n = len(x)
    blank = jnp.full(n, -jnp.inf)
    atoms = Slots(x, log_weights, jnp.arange(n), blank, blank)
    space = pf.Sphere(x.shape[1])
    lowest = lowest_in_reach(space, atoms, jnp.asarray(radius))
    return merge_once(space, atoms, lowest, jnp.asarray(1.5), jnp.asarray(0.2))


def test_merging_keeps_mass_and_center():
    """Total mass to rounding; the center up to the projection, second order."""
    mu = crowd(200, 3)
    weights = np.linspace(1, 2, 200) / np.linspace(1, 2, 200).sum()
    radius = 0.05
    new = once(mu.points, jnp.log(weights), radius)
    alive = np.asarray(new.alive)
    assert 100 < alive.sum() < 200
    kept = np.exp(np.asarray(new.log_weights)[alive])
    assert kept.sum() == pytest.approx(1.0, abs=1e-14)
    before = weights @ np.asarray(mu.points)
    after = kept @ np.asarray(new.points)[alive]
    assert np.abs(before - after).max() < radius**2 / 2
    assert np.abs(before - after).max() > 0


def test_merging_reaches_no_farther_than_the_radius():
    """Every absorbed atom lay within reach of its leader: chains are not swallowed."""
    angles = np.arange(50) * 0.9e-3
    x = pf.Circle().points(angles)
    new = once(x, jnp.full(50, -np.log(50)), 1e-3)
    parent = np.asarray(new.parent)
    assert np.abs(angles - angles[parent]).max() <= 1e-3
    assert np.asarray(new.alive).sum() < 50
    gone = ~np.asarray(new.alive)
    assert (np.asarray(new.log_absorbed)[gone] == 1.5).all()


@pytest.mark.parametrize("d", [2, 3, 16])
@pytest.mark.parametrize("radius", [1e-6, 1e-3, 0.3])
def test_no_close_pair_is_overlooked(d, radius):
    """Along a line or among all pairs: what is close is seen, dead atoms are not."""
    n = FEW + 44
    x = crowd(n, d).points
    twin = x[7] + 0.9 * radius * (x[8] - x[7]) / jnp.linalg.norm(x[8] - x[7])
    twin = twin / jnp.linalg.norm(twin)
    blank, weights = jnp.full(n, -jnp.inf), jnp.full(n, -np.log(n))
    space = pf.Sphere(d)
    for points, masses in (
        (x, weights),
        (x.at[200].set(twin), weights),
        (x.at[200].set(twin), weights.at[200].set(-jnp.inf)),
        (jnp.broadcast_to(x[0], x.shape), weights),
        (jnp.broadcast_to(x[0], x.shape), blank),
    ):
        atoms = Slots(points, masses, jnp.arange(n), blank, blank)
        near = bool((lowest_in_reach(space, atoms, radius) != jnp.arange(n)).any())
        seen = bool(some_close(space, atoms, radius))
        assert seen >= near
        if radius == 1e-6:  # no crowd by chance, so no false alarm either
            assert seen == near


@pytest.fixture(scope="module")
def errors():
    """Largest distance of a token to its place without merging, at the default rtol."""
    mu = crowd(24, seed=2)
    tight = pf.Adaptive(rtol=1e-12, atol=1e-13)
    usa = pf.UnnormalizedAttention(9.0, log_scale=-9)
    found = {}
    for name, field, t1 in (("SA", pf.Attention(9.0), 30.0), ("USA", usa, 400.0)):
        exact = pf.flow(field, mu, t1, save=2, solver=tight).final.points
        runs = [pf.flow(field, mu, t1, save=2, merge=pf.Merge(r)) for r in RADII]
        ends = [run.final.points for run in runs]
        found[name] = np.array(
            [float(jnp.max(mu.space.distance(exact, e))) for e in ends]
        )
    return found


@pytest.mark.parametrize("name", ["SA", "USA"])
def test_error_of_merging_falls_with_the_radius(errors, name):
    """Below the radius by orders; from 1e-4 on it is the error of the solver."""
    assert (errors[name] <= [1e-4, 1e-6, 1e-8, 1e-8, 1e-8]).all()
    assert errors[name][0] > 10 * errors[name][1] > 1e-9  # merging was felt
    assert errors[name][-1] < 1e-8


def test_default_radius_is_the_one_measured():
    assert float(pf.Merge().radius) == RADII[-1]


@pytest.mark.slow
def test_time_of_mergers_does_not_depend_on_the_radius():
    """The last merger at beta = 25 starts from 1e20; two radii agree to 1e-5."""
    mu = crowd(64, seed=0)
    save = pf.LogTimes(0.1, 30)
    field = pf.Attention(25.0)
    runs = [
        pf.flow(field, mu, 1e60, save=save, merge=pf.Merge(r)) for r in (1e-6, 1e-5)
    ]
    last = [run.merges.log_times[-1] for run in runs]
    assert last[0] == pytest.approx(last[1], rel=1e-5)
    run = runs[0]
    assert run.outcome.kind == "one cluster"
    assert "steps" in run.outcome.message and "one atom" in run.outcome.message
    assert len(run.merges.absorbed) == 63
    assert len(set(run.merges.absorbed.tolist())) == 63
    counts = cluster_life(run).counts
    assert counts[0] == 64 and counts[-1] == 1 and (np.diff(counts) < 0).all()
    spread = np.ptp(np.asarray(run.final.points), axis=0).max()
    assert spread == 0.0  # the last frame is after the last merger
    assert float(run.final.weights.sum()) == pytest.approx(1.0)


def test_two_atoms_that_stay_apart_are_reported():
    """V = diag(2, 1): all tokens end at e_1 or -e_1, and the run says so in time."""
    mu = crowd(12, seed=1)
    field = pf.Attention(4.0, V=np.diag([2.0, 1.0]))
    run = pf.flow(field, mu, 1e200, save=pf.LogTimes(1.0, 4), merge=pf.Merge())
    assert run.outcome.kind == "frozen"
    assert "2 atoms" in run.outcome.message and "steps" in run.outcome.message
    assert np.abs(np.asarray(run.final.points)[:, 0]) == pytest.approx(np.ones(12))


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda mu: pf.flow(pf.CausalAttention(9.0), mu, 1.0, merge=pf.Merge()),
            "`merge` needs tokens that are treated alike",
        ),
        (
            lambda mu: pf.flow(
                PositionAttention(9.0, Alibi(1.0)), mu, 1.0, merge=pf.Merge()
            ),
            "`merge` needs tokens that are treated alike",
        ),
        (
            lambda mu: pf.flow(
                pf.Attention(9.0), mu, 1.0, solver=pf.Heun(0.1), merge=pf.Merge()
            ),
            "`merge` needs the solver Adaptive",
        ),
        (
            lambda mu: pf.flow(
                pf.Attention(9.0), mu.astype("float32"), 1.0, merge=pf.Merge()
            ),
            "`merge` needs float64",
        ),
        (lambda mu: pf.Merge(0.0), "`radius` must be positive"),
        (lambda mu: pf.Merge(1e-9), "`radius` must be at least 1e-07"),
        (
            lambda mu: pf.flow(pf.Attention(9.0), mu, np.inf, merge=pf.Merge()),
            "`t1` may be infinite only",
        ),
        (
            lambda mu: pf.flow(pf.Attention(9.0), mu, 1.0, save=pf.ArcLength(0.1)),
            "ArcLength needs merging",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call(crowd(4))


def test_a_frame_one_rounding_error_ahead_does_not_stop_the_run():
    """The sum of two logarithms may round to just before the frame, again and again."""
    mu = pf.Particles.uniform(pf.Circle(), 200, key=pf.key_for(0, "tokens"))
    times = pf.LogTimes(0.01, 400)
    run = pf.flow(pf.Attention(100.0), mu, 1e88, save=times, merge=pf.Merge())
    assert run.outcome.kind == "one cluster"
