"""Steering: the oracles of the notes, whole schedules, and what is refused."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.control import Sampled, steer
from pushforward.control.steering.controls import (
    BarycenterGate,
    Consensus,
    Gate,
    Pull,
    leg,
    leg_time,
)
from pushforward.control.steering.targets import Cloud, angles
from pushforward.errors import InputError
from pushforward.io import from_json, to_json
from pushforward.measures import stack

S2 = pf.Sphere(3)
FINE = pf.Adaptive(rtol=1e-10, atol=1e-12)
N = 40  # points per input: one size, few compilations


def cap(seed, center, radius, n=N):
    """n points spread over a cap."""
    rng, center = np.random.default_rng(seed), np.asarray(center, float)
    center = center / np.linalg.norm(center)
    side = rng.standard_normal((n, len(center)))
    side -= (side @ center)[:, None] * center
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    r = radius * np.sqrt(rng.uniform(size=(n, 1)))
    return np.cos(r) * center + np.sin(r) * side


@pytest.fixture(scope="module")
def overlapping():
    """Three clouds of radius 1/2 whose centers are a third apart."""
    centers = ([0.165, 0, 1], [-0.165, 0, 1], [0, 0.25, 1])
    return [pf.Particles(S2, cap(k, c, 0.5)) for k, c in enumerate(centers)]


POINTS = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])


def piece_by_piece(field, mu):
    """The flow along a schedule, one call of `flow` per piece: few compilations."""
    for part, time in zip(field.fields, np.diff(np.asarray(field.times)), strict=True):
        mu = pf.flow(part, mu, float(time), save=2, solver=FINE).final
    return mu


def distance_to_point(mu, y):
    off = np.sum((np.asarray(mu.points) - y) ** 2, axis=1)
    return float(np.sqrt(np.asarray(mu.weights) @ off))


# ---- oracles


def test_m1_1_constant_pull():
    """From the angle 2.5, after T = 3: 2 arctan(tan(1.25) e^{-3})."""
    x = np.array([[np.cos(2.5), np.sin(2.5), 0.0]])
    pull = Pull(np.array([1.0, 0, 0]))
    moved = pull.move(Cloud(x, np.ones(1)), 3.0).points
    flowed = pf.flow(pull.field(), pf.Particles(S2, x), 3.0, save=2, solver=FINE).final
    for points in (moved, np.asarray(flowed.points)):
        assert np.arccos(points[0, 0]) == pytest.approx(0.297462334818, abs=1e-8)


@pytest.fixture
def shared():
    """Two measures on the same three points (M1, oracle 2)."""
    c, s = np.cos(0.3), np.sin(0.3)
    x = np.array([[c, s, 0], [c, -s, 0], [c, 0, s]])
    return [pf.Particles(S2, x, w) for w in ([0.5, 0.25, 0.25], [0.25, 0.5, 0.25])]


def test_m1_2_barycenter_gate_by_its_scalar_equation(shared):
    gate = BarycenterGate(np.array([0.0, 1, 0]), 0.0)
    clouds = [Cloud.of(mu) for mu in shared]
    tau = [gate.rapidity(cloud, 5.0) for cloud in clouds]
    assert tau[0] == pytest.approx(2.906882400211, abs=1e-8)
    assert tau[1] == pytest.approx(-tau[0], abs=1e-8)
    for time, angle in ((5.0, 2.913104206), (10.0, 3.140046465)):
        a, b = (gate.move(cloud, time).points[:1] for cloud in clouds)
        assert angles(a, b)[0, 0] == pytest.approx(angle, abs=1e-8)


def test_m1_2_barycenter_gate_by_all_particles(shared):
    field = BarycenterGate(np.array([0.0, 1, 0]), 0.0).field()
    ends = [pf.flow(field, mu, 5.0, save=2, solver=FINE).final.points for mu in shared]
    assert float(S2.distance(ends[0][0], ends[1][0])) == pytest.approx(
        2.913104206, abs=1e-7
    )


@pytest.mark.parametrize(
    "beta, rate, slack", [(0.0, 1.0, 5e-4), (2.0, 1.0, 5e-4), (5.0, 0.999, 2e-3)]
)
def test_m1_3_consensus_decays_at_rate_one(beta, rate, slack):
    cloud = Cloud(cap(7, [0, 0, 1.0], 1.2, 60), np.full(60, 1 / 60))
    at_5 = Consensus(beta, 3).move(cloud, 5.0)
    at_8 = Consensus(beta, 3).move(at_5, 3.0)
    wide = [angles(c.points, c.points).max() for c in (at_5, at_8)]
    assert np.log(wide[0] / wide[1]) / 3 == pytest.approx(rate, abs=slack)


def test_m1_4_leg_arrives_exactly():
    """L = 1.1, R = 0.9, e = 0.15: T = 7.314540938981."""
    time = leg_time(1.1, 0.9, 0.15)
    assert time == pytest.approx(7.314540938981, abs=1e-10)
    at = lambda t: np.array([np.cos(t), np.sin(t), 0.0])  # noqa: E731
    gate = Gate(at(0.55), np.cos(0.9), at(1.25))
    moved = gate.move(Cloud(at(0.0)[None], np.ones(1)), time).points[0]
    assert np.linalg.norm(moved - at(1.1)) < 1e-10
    mu = pf.Particles(S2, at(0.0)[None])
    flowed = pf.flow(gate.field(), mu, time, save=2, solver=FINE).final.points[0]
    assert np.linalg.norm(np.asarray(flowed) - at(1.1)) < 1e-9


def test_m1_5_gate_leaves_the_outside_alone():
    gate = Gate(np.array([0, 0, 1.0]), 0.5, np.array([0, 1.0, 0]))
    mu = pf.Particles.uniform(S2, N, key=jax.random.key(0))
    x = np.asarray(mu.points)
    outside = x[:, 2] <= 0.5
    v = np.asarray(gate.field()(0.0, mu).v)
    assert np.all(v[outside] == 0.0)
    assert np.all(np.linalg.norm(v[~outside], axis=1) > 0)
    moved = gate.move(Cloud(x, np.full(N, 1 / N)), 2.0).points
    assert np.array_equal(moved[outside], x[outside])
    assert 0 < outside.sum() < N


@pytest.fixture(scope="module")
def same_support():
    """Two measures on the same points with different weights."""
    x = cap(3, [0, 0, 1.0], 0.5)
    weights = np.random.default_rng(4).uniform(size=N)
    return [pf.Particles(S2, x), pf.Particles.normalized(S2, x, weights)]


def without_attention(field):
    """The same schedule with V = 0."""
    attention = lambda f: isinstance(f, pf.Attention)  # noqa: E731
    off = lambda f: pf.Attention(f.beta, V=np.zeros((3, 3))) if attention(f) else f  # noqa: E731
    return jax.tree_util.tree_map(off, field, is_leaf=attention)


@pytest.mark.slow
def test_same_support_and_m1_6_no_separation_without_attention(same_support):
    steered = steer(same_support, POINTS[:2])
    ends = [piece_by_piece(steered.field, mu) for mu in same_support]
    for end, y in zip(ends, POINTS, strict=False):
        assert distance_to_point(end, y) <= 1e-7
    dead = without_attention(steered.field)
    a, b = (np.asarray(piece_by_piece(dead, mu).points) for mu in same_support)
    assert np.abs(a - b).max() <= 1e-14
    assert np.linalg.norm(a[0] - np.asarray(ends[0].points)[0]) > 0.1


@pytest.fixture(scope="module")
def two_atoms():
    return [
        pf.Particles.normalized(S2, [[1, 0, 0], [0, 1.0, 0.2]], [0.3, 0.7]),
        pf.Particles.normalized(S2, [[-1, 0, 0.0], [0, -1.0, 0.5]], [0.5, 0.5]),
    ]


def test_m1_7_two_atom_targets_with_exact_masses(overlapping, two_atoms):
    """W_2 <= 1e-8 and exact mass fractions, by the plan and by `flow`."""
    steered = steer(overlapping[:2], two_atoms)
    assert max(steered.errors) <= 1e-8
    for mu, nu in zip(overlapping, two_atoms, strict=False):
        end = np.asarray(piece_by_piece(steered.field, mu).points)
        away = np.linalg.norm(end[:, None] - np.asarray(nu.points)[None], axis=-1)
        assert np.sqrt(np.mean(away.min(axis=1) ** 2)) <= 1e-8
        assert np.array_equal(
            np.bincount(away.argmin(axis=1)), np.round(N * np.asarray(nu.weights))
        )


# ---- whole schedules


@pytest.fixture(scope="module")
def two_points(overlapping):
    return steer(overlapping[:2], POINTS[:2])


def test_two_point_targets_alone_and_together(overlapping, two_points):
    """One schedule, replayed on each input by itself and on both in one call."""
    assert two_points.pieces == 4
    assert max(two_points.errors) <= 1e-7
    for mu, y in zip(overlapping, POINTS[:2], strict=False):
        assert distance_to_point(two_points.replay(mu, save=2).final, y) <= 1e-7

    def end(mu):
        field, horizon = two_points.field, two_points.horizon
        return pf.flow(field, mu, horizon, save=2).final

    both = jax.jit(jax.vmap(end))(stack(overlapping[:2]))
    for k, y in enumerate(POINTS[:2]):
        one = jax.tree_util.tree_map(lambda leaf, k=k: leaf[k], both)
        assert distance_to_point(one, y) <= 1e-7


def test_three_point_targets(overlapping):
    steered = steer(overlapping, POINTS)
    assert max(steered.errors) <= 1e-7
    for mu, y in zip(overlapping, POINTS, strict=True):
        assert distance_to_point(piece_by_piece(steered.field, mu), y) <= 1e-7


def test_the_result_prints_and_knows_itself(two_points):
    text = str(two_points)
    assert "2 inputs, 4 pieces, 3 switches" in text
    assert [e.phase for e in two_points.log] == [
        "disentangle",
        "cluster",
        "match",
        "match",
    ]
    assert set(two_points.norms) == {"V", "B", "W", "U", "b"}
    assert two_points.norms["U"] == pytest.approx(np.sqrt(3))


def test_a_schedule_survives_json_and_takes_other_measures(two_points):
    text = json.dumps(to_json(two_points.field))
    again = from_json(json.loads(text))
    mu = pf.Particles(S2, cap(11, [0.2, 0.1, 1], 0.4))  # not one it was built for
    for part, other in zip(two_points.field.fields, again.fields, strict=True):
        assert np.array_equal(part(0.0, mu).v, other(0.0, mu).v)
    end = piece_by_piece(two_points.field, mu)
    assert float(jnp.abs(S2.residual(end.points)).max()) < 1e-12
    y = np.asarray(end.points)
    assert np.linalg.norm(y - y[0], axis=1).max() < 1e-6  # it clusters, too


def test_the_horizon_scales_the_weights(overlapping, two_points):
    short = steer(overlapping[:2], POINTS[:2], horizon=1.0)
    assert short.horizon == pytest.approx(1.0)
    assert short.norms["W"] == pytest.approx(two_points.norms["W"] * two_points.horizon)
    mu = overlapping[0]
    fast, slow = short.field.fields[0](0.0, mu).v, two_points.field.fields[0](0.0, mu).v
    assert np.allclose(fast, two_points.horizon * np.asarray(slow))


def test_targets_that_trade_places(overlapping, two_points):
    """Each cluster must go where the other one waits."""
    ends = [Consensus(0.0, 3).move(Cloud.of(mu), 25.0).center for mu in overlapping[:2]]
    steered = steer(overlapping[:2], ends[::-1])
    assert max(steered.errors) <= 1e-7


def test_equal_barycenters_are_told_apart():
    x = np.array([[1, 0, 2], [-1, 0, 2], [0, 1, 2], [0, -1, 2.0]]) / np.sqrt(5)
    mu = pf.Particles(S2, x, [0.5, 0.5, 0, 0])
    nu = pf.Particles(S2, x, [0, 0, 0.5, 0.5])
    assert np.allclose(mu.mean(), nu.mean())
    steered = steer([mu, nu], POINTS[:2])
    assert "equal barycenters" in steered.log[0].action
    assert max(steered.errors) <= 1e-7


def test_inputs_that_fill_the_sphere_are_gathered_first():
    inputs = [pf.Particles.uniform(S2, N, key=jax.random.key(k)) for k in range(2)]
    steered = steer(inputs, POINTS[:2])
    assert steered.log[0].phase == "gather"
    assert steered.log[0].widest < 1.3 * np.pi / 2
    assert max(steered.errors) <= 1e-7


def test_one_input_needs_no_disentangling(overlapping):
    steered = steer(overlapping[:1], POINTS[:1], beta=2.0)
    assert {e.phase for e in steered.log} == {"cluster", "match"}
    assert steered.norms["B"] == pytest.approx(2.0)
    assert max(steered.errors) <= 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("d, n", [(3, 30), (16, 30)])
def test_eight_inputs(d, n):
    rng, space = np.random.default_rng(d), pf.Sphere(d)
    shift = 0.4 * rng.standard_normal((8, d)) / np.sqrt(d)
    inputs = [
        pf.Particles(space, cap(k, np.eye(d)[0] + shift[k], 0.5, n)) for k in range(8)
    ]
    goals = rng.standard_normal((8, d))
    steered = steer(inputs, goals / np.linalg.norm(goals, axis=1, keepdims=True))
    assert max(steered.errors) <= 1e-7


@pytest.mark.slow
def test_eight_inputs_of_a_thousand_points_in_sixteen_dimensions():
    rng, space, d = np.random.default_rng(0), pf.Sphere(16), 16
    shift = 0.4 * rng.standard_normal((8, d)) / np.sqrt(d)
    inputs = [
        pf.Particles(space, cap(k, np.eye(d)[0] + shift[k], 0.5, 1000))
        for k in range(8)
    ]
    goals = rng.standard_normal((8, d))
    goals /= np.linalg.norm(goals, axis=1, keepdims=True)
    steered = steer(inputs, goals)
    assert max(steered.errors) <= 1e-7
    end = steered.replay(inputs[3], save=2, solver=pf.Adaptive()).final
    assert distance_to_point(end, goals[3]) <= 1e-7


def test_samples_are_reached_through_a_map(overlapping):
    """More atoms come closer, and one atom is the best constant."""
    nu = pf.Particles(S2, cap(5, [1.0, 0, 0], 0.6, 60))
    errors = []
    for atoms in (1, 4):
        steered = steer(overlapping[:1], [Sampled(nu, atoms)])
        errors.append(steered.errors[0])
    center = np.asarray(nu.mean()) / np.linalg.norm(nu.mean())
    best = np.sqrt(np.mean(np.sum((np.asarray(nu.points) - center) ** 2, axis=1)))
    assert errors[0] == pytest.approx(best, rel=0.02)
    assert errors[1] < 0.65 * errors[0]


def test_masses_no_cut_can_reach_show_in_the_error(overlapping):
    nu = pf.Particles(S2, POINTS[:2], [0.51, 0.49])  # 40 points: 0.5 or 0.525
    steered = steer(overlapping[:1], [nu])
    assert steered.errors[0] == pytest.approx(np.sqrt(0.01 * 2), rel=1e-6)


# ---- refusals


def test_without_attention_it_refuses_with_the_reason(same_support):
    with pytest.raises(InputError, match="one homeomorphism .* share points"):
        steer(same_support, POINTS[:2], attention=False)


@pytest.mark.parametrize("space", [pf.Sphere(2), pf.Circle()])
def test_the_circle_is_refused_with_the_reason(space):
    mu = pf.Particles(space, [[1.0, 0], [0, 1.0]])
    with pytest.raises(InputError, match="cyclic order"):
        steer([mu], [[0.0, 1.0]])


@pytest.mark.parametrize(
    "targets, words",
    [
        ([POINTS[0], POINTS[0]], "must not overlap"),
        ([POINTS[0]], "one entry per source"),
        ([POINTS[0], [1.0, 0, 0, 0]], "dimension of the sources, 3, got 4"),
        ([POINTS[0], "north"], "must be a point"),
        (POINTS[0], "must be a list|must be a point"),
    ],
)
def test_bad_targets(overlapping, targets, words):
    with pytest.raises(InputError, match=words):
        steer(overlapping[:2], targets)


def test_masses_must_sum_to_one():
    with pytest.raises(InputError, match="sum to one"):
        pf.Particles(S2, POINTS[:2], [0.3, 0.6])


def test_bad_sources(overlapping):
    mu = overlapping[0]
    with pytest.raises(InputError, match="pairwise distinct"):
        steer([mu, mu], POINTS[:2])
    shuffled = pf.Particles(S2, np.asarray(mu.points)[::-1])
    with pytest.raises(InputError, match="pairwise distinct"):
        steer([mu, shuffled], POINTS[:2])
    four = pf.Particles(pf.Sphere(4), np.eye(4))
    with pytest.raises(InputError, match="one sphere, got dimensions"):
        steer([mu, four], POINTS[:2])
    with pytest.raises(InputError, match="on a sphere"):
        steer([pf.Particles(pf.Euclidean(3), np.eye(3))], POINTS[:1])
    with pytest.raises(InputError, match="must be a list"):
        steer(mu, POINTS[:1])
    with pytest.raises(InputError, match="more than 16"):
        steer([mu], [overlapping[1]])
    with pytest.raises(InputError, match="between 1 and"):
        Sampled(mu, 0)
    with pytest.raises(InputError, match="`tol` must be positive"):
        steer([mu], POINTS[:1], tol=0.0)


def test_a_leg_touches_nothing_else():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    start, end = np.array([1.0, 0, 0]), np.array([np.cos(0.2), np.sin(0.2), 0])
    others = x[angles(x, start[None])[:, 0] > 0.6]
    gate, time = leg(start, end, others)
    cloud = Cloud(np.vstack([start, others]), np.full(len(others) + 1, 1.0))
    moved = gate.move(cloud, time).points
    assert np.linalg.norm(moved[0] - end) < 1e-10
    assert np.array_equal(moved[1:], others)
