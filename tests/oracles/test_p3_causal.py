"""Oracles P3-O1 to P3-O9, O12, O13: causal attention, by the flow itself.

O10 and O11 are ensembles: claims of the study `causal`.
"""

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.fields import Background
from pushforward.observables import Centers
from pushforward.theory import causal, parking, two_tokens


def on_circle(angles):
    return pf.Particles(pf.Circle(), pf.Circle().points(np.asarray(angles, float)))


@pytest.fixture(scope="module")
def tokens():
    """32 uniform tokens on S^2."""
    return pf.Particles.uniform(pf.Sphere(3), 32, key=jax.random.key(3))


def moved(mu, V, beta, t1):
    return np.asarray(
        pf.flow(pf.CausalAttention(beta, V=V), mu, t1, save=2).final.points
    )


def test_p3_o1_first_token_stands_still(sine):
    rng = np.random.default_rng(1)
    Q, K = 0.5 * rng.standard_normal((2, 3, 3))
    mu = pf.Particles(pf.Sphere(3), sine(8, 3))
    run = pf.flow(pf.CausalAttention(4.0, Q=Q, K=K), mu, 20.0, save=5)
    x = np.asarray(run.points)
    assert np.abs(x[:, 0] - x[0, 0]).max() <= 1e-15
    assert np.abs(x[-1, 1:] - x[0, 1:]).max() > 0.1


def test_p3_o2_two_tokens():
    def cosine(mu):
        return mu.points[0] @ mu.points[1]

    run = pf.flow(pf.CausalAttention(0.0), on_circle([0.0, 2.0]), 3.0, save=2)
    theta = float(np.arccos(cosine(run.final)))
    assert theta == pytest.approx(0.668900099480, abs=1e-9)
    rule = lambda mu: cosine(mu) >= 0.999  # noqa: E731
    mu = on_circle([0.0, np.pi / 2])
    run = pf.flow(pf.CausalAttention(5.0), mu, 100.0, save=2, until=rule)
    assert run.times[-1] == pytest.approx(38.851300993534, abs=1e-6)
    assert run.times[-1] == pytest.approx(2 * two_tokens.merging_time(5.0), rel=1e-7)


def test_p3_o3_rate_of_consensus():
    """Token 2 is the slowest, at rate 1/2, however fast the others are."""
    mu = pf.Particles.uniform(pf.Sphere(4), 12, key=jax.random.key(0))
    run = pf.flow(pf.CausalAttention(1.0), mu, 24.0, save=[12.0, 24.0])
    x = np.asarray(run.points)
    apart = np.linalg.norm(x[1:] - x[0, 0], axis=2).max(axis=1)
    assert np.log(apart[0] / apart[1]) / 12.0 == pytest.approx(0.5, abs=2e-3)
    assert causal.consensus_rates(12)[0] == 0.5


def test_p3_o4_regression(sine):
    mu = pf.Particles(pf.Sphere(3), sine(8, 3))
    run = pf.flow(pf.CausalAttention(4.0), mu, 20.0, save=[0.0, 1.0, 5.0, 20.0])
    energy = run.observe(pf.InteractionEnergy(4.0).plain)
    printed = [1.4478460411, 1.4992220365, 1.8271404834, 4.2690344226]
    assert energy == pytest.approx(printed, abs=2e-8)  # the solver has rtol 1e-8
    x_7 = [0.185601741431, -0.938530012410, -0.291055680899]
    assert np.asarray(run.points[1, 7]) == pytest.approx(x_7, abs=1e-8)


def test_p3_o5_energy_may_fall():
    """dE/dt = -9.70e-5 along the causal flow, exactly by differentiation."""
    mu = on_circle([1.71156119, -0.75141514, -2.65710567])
    energy = pf.InteractionEnergy(3.0).plain
    v = pf.CausalAttention(3.0)(0.0, mu).v
    _, rate = jax.jvp(lambda x: energy(mu.moved(x)), (mu.points,), (v,))
    assert float(rate) == pytest.approx(-9.70e-5, abs=1e-7)
    v = pf.Attention(3.0)(0.0, mu).v  # under full attention it cannot
    _, rate = jax.jvp(lambda x: energy(mu.moved(x)), (mu.points,), (v,))
    assert float(rate) > 0


def test_p3_o6_simple_top_eigenvalue_gives_two_points(tokens):
    V = np.diag([2.0, 1.0, 0.5])
    assert causal.final_configuration(V).name == "TWO_POINTS"
    x = moved(tokens, V, 1.0, 60.0)
    assert (1 - np.abs(x[:, 0])).max() < 1e-8
    x = moved(tokens, V, 9.0, 200.0)
    assert (1 - np.abs(x[:, 0])).max() < 4e-9
    assert {1.0, -1.0} == set(np.sign(x[:, 0]))


def test_p3_o6_double_top_eigenvalue_gives_the_projection_of_token_one(tokens):
    V = np.diag([1.0, 1.0, 0.3])
    assert causal.final_configuration(V).name == "ONE_POINT"
    x = moved(tokens, V, 1.0, 200.0)
    goal = np.asarray(tokens.points[0]) * [1, 1, 0]
    assert np.abs(x - goal / np.linalg.norm(goal)).max() < 2e-7


def test_p3_o6_negative_spectrum_gives_clouds(tokens):
    V = np.diag([-1.0, -2.0, -3.0])
    assert causal.final_configuration(V).name == "TWO_CLOUDS"
    x = moved(tokens, V, 9.0, 200.0)
    assert abs(x[0, 0]) == pytest.approx(1.0, abs=1e-8)
    assert np.abs(x[:, 0]).min() > 0.60  # 0.70 for the tokens of the notes
    assert {1.0, -1.0} == set(np.sign(x[:, 0]))
    assert np.linalg.norm(x, axis=1) == pytest.approx(np.ones(32), abs=1e-12)


def test_p3_o7_first_token_follows_oja():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((5, 5))
    mu = pf.Particles.uniform(pf.Sphere(5), 4, key=jax.random.key(1))
    tight = pf.Adaptive(rtol=1e-12, atol=1e-13)
    run = pf.flow(pf.CausalAttention(1.0, V=V), mu, 2.0, save=2, solver=tight)
    exact = causal.first_token(2.0, np.asarray(mu.points[0]), V)
    assert np.asarray(run.final.points[0]) == pytest.approx(exact, abs=1e-11)


def draws(space, n, runs, seed):
    """The centers of many uniform sequences."""
    keys = jax.random.split(jax.random.key(seed), runs)
    return [pf.Particles.uniform(space, n, key=key) for key in keys]


@pytest.mark.parametrize(
    "space, delta, n, printed",
    [(pf.Circle(), 0.5, 200, 6.283185), (pf.Sphere(3), 0.6, 400, 11.450531)],
)
def test_p3_o8_strong_centers(space, delta, n, printed):
    """200 sequences, within five errors of the mean: fails once in two million."""
    assert parking.expected_strong_centers(delta, space.d, n) == pytest.approx(printed)
    found = [len(Centers(delta)(mu).strong) for mu in draws(space, n, 200, 8)]
    assert abs(np.mean(found) - printed) < 5 * np.std(found) / np.sqrt(200)


def test_p3_o9_renyi_centers():
    """n = 200 at beta = 64 is not saturated (9.136); n = 20,000 is (9.3946)."""
    delta = float(parking.center_scale(64.0))
    few = [Centers(delta)(mu).count for mu in draws(pf.Circle(), 200, 300, 9)]
    assert np.mean(few) == pytest.approx(9.136, abs=5 * np.std(few) / np.sqrt(300))
    many = [Centers(delta)(mu).count for mu in draws(pf.Circle(), 20_000, 100, 10)]
    error = np.std(many) / np.sqrt(100)
    assert np.mean(many) == pytest.approx(
        parking.expected_centers(delta), abs=5 * error
    )


@pytest.mark.parametrize("length", [2.5, 3.5, 4.5])
def test_few_renyi_centers_are_those_of_renyis_equation(length):
    """c_R 2 pi / delta is off by 0.13, 0.05 and 0.013 here; sequences of 5,000."""
    delta = 2 * np.pi / length
    found = [Centers(delta)(mu).count for mu in draws(pf.Circle(), 5_000, 400, 11)]
    error = np.std(found) / np.sqrt(400)
    assert np.mean(found) == pytest.approx(
        parking.expected_centers(delta), abs=5 * error + 1e-12
    )


def test_p3_o12_lifetime_of_a_strong_center():
    """Two tokens 0.6 apart: the second moves 0.002157 < epsilon delta = 0.05."""
    beta, c, epsilon = 64.0, 4.0, 0.1
    apart = c * (1 + 2 * epsilon) / np.sqrt(beta)
    T = causal.center_lifetime(beta, c, epsilon, 1)
    run = pf.flow(pf.CausalAttention(beta), on_circle([0.0, apart]), T, save=2)
    y = np.asarray(run.final.points[1])
    gone = apart - np.arctan2(y[1], y[0])
    assert gone == pytest.approx(0.002157, abs=1e-6)
    assert gone < epsilon * c / np.sqrt(beta)


def test_p3_o13_frozen_centers_capture_all():
    """7 equispaced frozen centers, 100 free causal tokens, beta = 64."""
    angles = 2 * np.pi * np.arange(7) / 7
    atoms = np.asarray(pf.Circle().points(angles))
    assert causal.frozen_centers(64.0, 6.5, 0.099, 100).holds
    mu = pf.Particles.uniform(pf.Circle(), 100, key=jax.random.key(13))
    field = Background(pf.CausalAttention(64.0), atoms)
    run = pf.flow(field, mu, 100.0, save=[20.0, 100.0])

    def farthest(mu):
        cosines = np.asarray(mu.points) @ atoms.T
        return float(np.arccos(np.clip(cosines.max(axis=1), -1, 1)).max())

    early, late = farthest(run[1]), farthest(run[2])
    assert 1e-3 < early < 0.45  # 0.166 for other tokens: some are still on their way
    assert late < 1e-7
