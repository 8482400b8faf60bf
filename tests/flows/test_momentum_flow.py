"""Flows with momentum: plateaus last the square root of the time (N7)."""

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.theory import momentum as theory

PAIR = pf.at_rest(pf.Particles(pf.Circle(), [[1.0, 0.0], [0.0, 1.0]]))
FINE = pf.Adaptive(1e-11, 1e-13)


def met(mu):
    return mu.points[0, :2] @ mu.points[1, :2] >= 0.999


def time_of(beta, friction, t1=60.0):
    field = pf.Momentum(pf.Attention(beta), friction)
    run = pf.flow(field, PAIR, t1, save=2, until=met, solver=FINE)
    assert run.outcome.kind == "until"
    return float(run.times[-1])


def test_two_tokens_from_a_right_angle():
    """N7-O1 without friction, N7-O2 with Nesterov's and with the critical one."""
    found = [time_of(beta, pf.Friction(0.0)) for beta in (1.0, 3.0, 8.0)]
    np.testing.assert_allclose(found, [2.30072318, 4.35902949, 31.9017398], rtol=1e-8)
    found = [time_of(beta, pf.Nesterov()) for beta in (1.0, 3.0, 8.0)]
    np.testing.assert_allclose(found, [4.63426499, 7.53735029, 51.665981], rtol=1e-7)
    found = [time_of(beta, pf.Friction(2.0)) for beta in (1.0, 3.0)]
    np.testing.assert_allclose(found, [7.56086729, 13.8713783], rtol=1e-7)


def test_layers():
    """N7-O5: layers until two tokens meet, by gradient, heavy ball and Nesterov."""

    def layers(beta, b, look):
        field = pf.Momentum(pf.Attention(beta))
        solver = pf.MomentumLayers(0.1, b, look)
        return int(pf.flow(field, PAIR, 2000.0, save=2, until=met, solver=solver).steps)

    for beta, expected in ((1.0, (42, 28, 8)), (5.0, (195, 49, 37)),
                           (8.0, (1970, 239, 235))):  # fmt: skip
        found = [layers(beta, b, mu) for b, mu in ((0, 0), (0.9, 0), (0.9, 0.9))]
        assert tuple(found) == expected


def test_rate_of_layers_near_one_cluster():
    """N7-O4: deviations shrink by the radius of the recurrence, measured 0.7501."""
    x = np.eye(3)[:1] + 1e-4 * np.sin(np.arange(18.0)).reshape(6, 3)
    mu = pf.at_rest(pf.Particles.normalized(pf.Sphere(3), x))
    layers = pf.MomentumLayers(0.1, 0.5, 0.5)
    run = pf.flow(pf.Momentum(pf.Attention(3.0)), mu, 40.0, save=41, solver=layers)
    x = np.asarray(run.points)[..., :3]
    spread = np.linalg.norm(x - x.mean(axis=1, keepdims=True), axis=(1, 2))
    rate = (spread[40] / spread[20]) ** (1 / 20)
    # a double root: the rate is approached like 1 + 1/k
    assert abs(rate - theory.layer_radius(0.1, 0.5, 0.5)) < 0.03


def test_pendulum():
    """N7-O3: beta = 0 is a pendulum; friction would be felt at once."""
    angle = np.array([0.0, 2.0])
    mu = pf.at_rest(
        pf.Particles(pf.Circle(), np.stack([np.cos(angle), np.sin(angle)], 1))
    )
    turned = lambda mu: (  # noqa: E731
        mu.points[0, 0] * mu.points[1, 1] - mu.points[0, 1] * mu.points[1, 0] <= 0
    )
    field = pf.Momentum(pf.Attention(0.0), pf.Friction(0.0))
    run = pf.flow(field, mu, 4.0, save=2, until=turned, solver=FINE)
    assert abs(run.times[-1] - 2.0874382317) < 1e-8


def test_energy_is_kept_or_falls():
    """H = mean |v|^2 / 2 - E_beta falls at the rate a mean |v|^2 under USA."""
    x = np.sin(np.arange(15.0) ** 2).reshape(5, 3)
    mu = pf.at_rest(pf.Particles.normalized(pf.Sphere(3), x))
    E = pf.InteractionEnergy(2.0)

    def H(mu):
        v = mu.points[:, 3:]
        return jnp.sum(v**2) / (2 * mu.n) - E.plain(pf.positions(mu))

    for a in (0.0, 0.7):
        field = pf.Momentum(pf.UnnormalizedAttention(2.0), pf.Friction(a))
        save = np.linspace(0.0, 0.4, 41)
        run = pf.flow(field, mu, 0.4, save=save, solver=FINE)
        lost = -np.diff(run.observe(H))
        v2 = np.mean(np.sum(np.asarray(run.points)[..., 3:] ** 2, axis=2), axis=1)
        expected = a * 0.01 * (v2[1:] + v2[:-1]) / 2  # the trapezoidal rule
        np.testing.assert_allclose(lost, expected, atol=3e-4 * a + 1e-8)
        assert np.abs(run[-1].space.residual(run[-1].points)).max() < 1e-12


def test_store_and_experiment(tmp_path):
    field = pf.Momentum(pf.Attention(3.0), pf.Friction(0.2))
    start = pf.AtRest(pf.Uniform(4, 3))
    e = pf.Experiment(start, field, 0.5, save=3)
    run = pf.Experiment.from_toml(e.to_toml()).run(store=tmp_path / "run")
    again = pf.load(tmp_path / "run")
    np.testing.assert_array_equal(again.points, run.points)
    assert again.final.space == pf.TangentBundle(pf.Sphere(3))


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"merge": pf.Merge()}, "velocities"),
        ({"noise": pf.Brownian(0.1)}, "velocities"),
    ],
)
def test_what_does_not_apply_is_refused(more, match):
    with pytest.raises(InputError, match=match):
        pf.flow(pf.Momentum(pf.Attention(1.0)), PAIR, 1.0, **more)


def test_what_needs_velocities_says_so():
    mu = pf.Particles.orthonormal(pf.Sphere(3), 3)
    with pytest.raises(InputError, match="at_rest"):
        pf.flow(pf.Momentum(pf.Attention(1.0)), mu, 1.0)
    with pytest.raises(InputError, match="Momentum"):
        pf.flow(pf.Attention(1.0), PAIR, 1.0, solver=pf.MomentumLayers(0.1))
    with pytest.raises(InputError, match="`a` must be"):
        pf.Friction(-1.0)
