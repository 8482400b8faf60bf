"""Ordered tokens: decaying weights by pairs and by modes, empty pasts, order kept."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.studies.lost_in_the_middle import _retrieval, claims

velocity = eqx.filter_jit(lambda field, mu: field(0.0, mu).v)


def on_circle(theta, weights=None):
    return pf.Particles(pf.Circle(), pf.Circle().points(jnp.asarray(theta)), weights)


def written_out(theta, beta, decay, weights):
    """The definition in angles, token by token."""
    n, out = len(theta), np.zeros(len(theta))
    for j in range(1, n):
        lag = j - np.arange(j)
        w = weights[:j] * np.exp(-decay * lag / n)
        gap = theta[j] - theta[:j]
        if w.sum() > 0:
            pull = -beta * np.sin(gap) * np.exp(beta * np.cos(gap))
            out[j] = w @ pull / w.sum()
    return out


@pytest.mark.parametrize("beta, decay", [(1.0, 1.0), (2.0, 0.0), (-1.5, 30.0)])
@pytest.mark.parametrize("modes", [None, 24])
def test_velocity_is_its_formula(beta, decay, modes):
    rng = np.random.default_rng(3)
    theta, weights = rng.uniform(0, 7, 9), rng.uniform(0.5, 1.5, 9)
    weights[:2] = 0.0  # the second and third token see nothing
    weights /= weights.sum()
    mu = on_circle(theta, weights)
    field = pf.DecayingAttention(beta, decay, modes=modes)
    v = np.asarray(velocity(field, mu))
    speed = v[:, 1] * np.cos(theta) - v[:, 0] * np.sin(theta)
    assert speed == pytest.approx(written_out(theta, beta, decay, weights), abs=1e-12)


def test_log_scale_divides_before_the_exponential():
    mu = pf.Particles.uniform(pf.Sphere(3), 9, key=jax.random.key(0))
    v = pf.DecayingAttention(1e4, 1.0, log_scale=-1e4)(0.0, mu).v
    assert np.isfinite(np.asarray(v)).all()
    plain = np.asarray(pf.DecayingAttention(2.0, 1.0)(0.0, mu).v)
    scaled = pf.DecayingAttention(2.0, 1.0, log_scale=-2.0)(0.0, mu).v
    assert np.asarray(scaled) == pytest.approx(np.exp(-2.0) * plain, rel=1e-13)


def test_m4_8_four_groups_join_the_first_token():
    run = claims.groups_run()
    for t, far in ((4.0, 2.4182069), (8.0, 0.0346058), (10.0, 7.852042e-4)):
        found = claims.farthest(np.asarray(run.at(t).points))
        assert found == pytest.approx(far, abs=1e-7)
    x = np.asarray(run.at(4.0).points)
    assert np.linalg.norm(x.mean(0)) == pytest.approx(0.6211920, abs=1e-7)
    end = np.asarray(run.final.points)
    assert np.linalg.norm(end.mean(0)) == pytest.approx(0.9999999736, abs=1e-9)
    last = np.arctan2(end[-1, 1], end[-1, 0]) + 2 * np.pi
    assert last == pytest.approx(6.6791540523, abs=1e-8)


@pytest.mark.slow
def test_angles_of_the_monte_carlo_are_those_of_the_flow():
    theta = 2 * np.pi * np.random.default_rng(0).uniform(size=16)
    field = pf.DecayingAttention(1.0, 1.0, modes=12)
    angle = float(_retrieval.last_angle(field, jnp.asarray(theta), 1.0, 20))
    end = pf.flow(field, on_circle(theta), 1.0, save=2).final.points[-1]
    assert np.asarray(end) == pytest.approx([np.cos(angle), np.sin(angle)], abs=1e-6)


@pytest.mark.parametrize(
    "field",
    [
        pf.CausalAttention(2.0),
        pf.CausalAttention(2.0, V=np.diag([1.0, -0.5, 2.0])),
        pf.PositionAttention(2.0, pf.Alibi(0.3)),
        pf.PositionAttention(2.0, pf.Window(2)),
        pf.DecayingAttention(2.0, 1.0),
    ],
    ids=repr,
)
def test_tokens_that_see_no_mass_stand_still(field, sine):
    """Leading weights of zero made 0/0; now those tokens rest and the flow goes on."""
    mu = pf.Particles(pf.Sphere(3), sine(5, 3), [0.0, 0.0, 0.3, 0.3, 0.4])
    v = np.asarray(velocity(field, mu))
    assert np.abs(v[:2]).max() == 0.0
    assert np.isfinite(v).all() and np.abs(v[3:]).max() > 1e-3


def test_gradients_are_finite_past_tokens_that_see_no_mass(sine):
    mu = pf.Particles(pf.Sphere(3), sine(3, 3), [0.0, 0.5, 0.5])

    @jax.jit
    @jax.grad
    def slope(x):
        v = pf.CausalAttention(2.0)(0.0, mu.moved(x)).v
        w = pf.PositionAttention(2.0, pf.Window(2))(0.0, mu.moved(x)).v
        return jnp.sum(v**2) + jnp.sum(w**2)

    assert np.isfinite(np.asarray(slope(mu.points))).all()


def test_a_flow_with_a_massless_first_token_goes_on(sine):
    mu = pf.Particles(pf.Sphere(3), sine(3, 3), [0.0, 0.5, 0.5])
    run = pf.flow(pf.CausalAttention(2.0), mu, 1.0, save=2)
    assert run.outcome.kind == "reached t1"
    alone = pf.Particles(pf.Sphere(3), mu.points[1:])
    tail = pf.flow(pf.CausalAttention(2.0), alone, 1.0, save=2)
    assert np.abs(np.asarray(run.final.points[1:] - tail.final.points)).max() < 1e-9


@pytest.mark.parametrize(
    "field",
    [
        pf.DecayingAttention(2.0, 1.0),
        2.0 * pf.PositionAttention(2.0, pf.Alibi(0.3)) + pf.Attention(1.0),
        pf.Switched([pf.Attention(1.0), pf.CausalAttention(1.0)], [0.0, 1.0, 2.0]),
        pf.UnitNorm(pf.CausalAttention(1.0)),
    ],
)
def test_ordered_fields_are_known_at_any_depth(field):
    assert field.ordered
    mu = pf.Particles.orthonormal(pf.Sphere(3), 3)
    with pytest.raises(InputError, match="treated alike"):
        pf.flow(field, mu, 1.0, merge=pf.Merge())


def test_fields_without_order_may_merge():
    assert not pf.Heads([pf.Attention(1.0), pf.Attention(2.0)]).ordered


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: pf.DecayingAttention(1.0, -1.0), "`decay` must be zero or positive"),
        (
            lambda: pf.DecayingAttention(1.0, 90.0, modes=8),
            "`decay` must be at most 80",
        ),
        (lambda: pf.DecayingAttention(1.0, 1.0, modes=0), "`modes` must be an integer"),
        (
            lambda: pf.DecayingAttention(1.0, 1.0, modes=8)(
                0.0, pf.Particles.orthonormal(pf.Sphere(3), 2)
            ),
            "`modes` is for tokens on the circle",
        ),
        (
            lambda: _retrieval.correlations(
                pf.DecayingAttention(1.0, 1.0), 8, 1.0, prompts=2, seed=0
            ),
            "`field` must be a DecayingAttention with modes",
        ),
    ],
)
def test_bad_parameters_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
