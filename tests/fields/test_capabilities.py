"""What fields say about themselves, and what `flow` makes of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.fields import AbstractField, AbstractMeanField, Drive
from pushforward.probe._fields import RotaryAttention
from pushforward.probe.models._attention_weights import Rotary

W, A = np.sin(np.arange(6.0).reshape(2, 3)), np.cos(np.arange(6.0).reshape(3, 2))
ATTENTION, PERCEPTRON = pf.Attention(2.0), pf.Perceptron(W, A, None, jnp.tanh)


def tokens(n=5):
    angles = jnp.sqrt(jnp.arange(1.0, n + 1.0))
    return pf.Particles(pf.Circle(), pf.Circle().points(angles))


class Bare(AbstractField):
    """A field of one's own that says nothing about itself."""

    target: jax.Array

    def drive(self, t, mu):
        return Drive(jnp.broadcast_to(self.target, mu.points.shape))


class Alike(Bare):
    """The same, which treats all tokens alike and says so."""

    ordered = False


class Anywhere(AbstractMeanField):
    """The same, as a value at every point."""

    target: jax.Array

    def at(self, t, x, mu):
        return jnp.broadcast_to(self.target, x.shape)


def test_a_field_claims_nothing_unless_it_says_so():
    north = jnp.array([0.0, 1.0])
    bare = Bare(north)
    assert bare.ordered and not bare.isotropic
    assert not Alike(north).ordered and not Anywhere(north).ordered
    assert bare.resolved_until == np.inf and bare.switch_times() == []
    assert (2.0 * (bare + ATTENTION)).ordered
    assert not pf.Heads([ATTENTION, Anywhere(north)]).ordered
    with pytest.raises(InputError, match="value at its tokens only"):
        bare.on_density(pf.Fourier(4))


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: pf.Heads([f, ATTENTION])])
def test_merge_refuses_every_field_that_may_depend_on_the_order(wrap):
    mu = pf.Particles.orthonormal(pf.Sphere(2), 2)
    eye = jnp.eye(2)
    rotary = RotaryAttention(eye, eye, eye, Rotary(jnp.ones(1)))
    for field in (rotary, Bare(eye[0]), pf.CausalAttention(1.0)):
        with pytest.raises(InputError, match="their order matters"):
            pf.flow(wrap(field), mu, 1.0, merge=pf.Merge())


@pytest.mark.parametrize("solver", [pf.Layers(0.3), pf.LieTrotter(0.3)])
def test_a_multiple_of_a_sum_has_the_sublayers_of_the_sum(solver):
    mu, t, h = tokens(), jnp.zeros(()), jnp.asarray(0.3)

    def step(field):
        attempt = solver.attempt(field, t, h, mu, field(t, mu), None)
        return np.asarray(attempt.mu.points)

    block = ATTENTION + PERCEPTRON
    np.testing.assert_array_equal(step(1.0 * block), step(block))
    twice = 2.0 * ATTENTION + 2.0 * PERCEPTRON
    np.testing.assert_array_equal(step(2.0 * block), step(twice))
    at_once = step(pf.Heads([ATTENTION, PERCEPTRON]))
    assert np.abs(at_once - step(block)).max() > 1e-3  # sublayers follow each other


def test_no_step_crosses_the_switch_of_mix_norm():
    """Two pieces by hand, each with its own norm, are the whole run bit by bit."""
    flat = pf.Particles(pf.Euclidean(2), tokens().points)
    heun = pf.Heun(0.25)
    field = pf.MixNorm(ATTENTION, 0.4)
    assert [times.tolist() for times in field.switch_times()] == [[0.4]]
    whole = pf.flow(field, flat, 1.0, save=2, solver=heun).final
    post = pf.MixNorm(ATTENTION, 9.0)
    middle = pf.flow(post, flat, 0.4, save=2, solver=heun).final
    pre = pf.PreNorm(ATTENTION)
    end = pf.flow(pre, middle, 1.0, t0=0.4, save=2, solver=heun).final
    np.testing.assert_allclose(whole.points, end.points, rtol=1e-14)


@pytest.mark.parametrize(("switch", "first"), [(0.25, 3), (0.8, 8), (0.3, 3)])
def test_layers_stay_whole_across_a_switch(switch, first):
    """The layer that begins at a switch, or first after it, is of the new field.

    0.1 + ... + 0.1 is an ulp below 0.8 and above 0.3: rounding must not shift a layer.
    """
    fields, layers = [ATTENTION, -1.0 * ATTENTION], pf.Layers(0.1)
    field = pf.Switched(fields, [0.0, switch, 9.0])
    mu = by_hand = tokens()
    run = pf.flow(field, mu, 1.0, save=2, solver=layers)
    assert int(run.steps) == 10
    for k in range(10):
        part = fields[k >= first]
        none = part(0.0, by_hand)  # not used by layers
        step = layers.attempt(part, 0.1 * k, jnp.asarray(0.1), by_hand, none, None)
        by_hand = step.mu
    np.testing.assert_allclose(run.final.points, by_hand.points, atol=1e-15)
    seen = pf.ensemble(
        field,
        mu,
        10,
        h=0.1,
        noise=pf.Brownian(1e-12),
        observe=lambda mu: mu.points,
        replicas=1,
        key=jax.random.key(0),
    )
    np.testing.assert_allclose(seen[0, -1], by_hand.points, atol=1e-10)


def test_a_schedule_keeps_mass_if_its_fields_do():
    kept = pf.Switched([ATTENTION, PERCEPTRON], [0.0, 1.0, 2.0])
    assert kept(0.5, tokens()).g is None and kept.drive(0.5, tokens()).growth is None
    assert kept.scaled_drive(0.5, tokens(), jnp.zeros(())).growth is None
    assert pf.linearize(kept, tokens()).size == tokens().n
    grows = pf.GradientFlow(pf.InteractionEnergy(1.0), pf.FisherRao())
    fed = pf.Switched([ATTENTION, grows], [0.0, 1.0, 2.0])
    assert not fed(0.5, tokens()).g.any() and fed(1.5, tokens()).g.any()
    momentum, rest = pf.Momentum(kept), pf.fields.at_rest(tokens())
    run = pf.flow(momentum, rest, 2.0, save=2, solver=pf.MomentumLayers(0.1))
    assert int(run.steps) == 2


def test_switches_are_found_and_hidden_at_any_depth():
    inner = pf.Switched([pf.MixNorm(ATTENTION, 0.3), PERCEPTRON], [0.0, 1.0, 2.0])
    field = 2.0 * pf.Heads([inner, ATTENTION])
    times = np.sort(np.concatenate([np.asarray(s) for s in field.switch_times()]))
    assert times.tolist() == [0.0, 0.3, 1.0, 2.0]
    seen = [np.asarray(s) for s in field.before(jnp.asarray(1.0)).switch_times()]
    assert np.sort(np.concatenate(seen)).tolist() == [0.0, 0.3, np.inf, np.inf]


def test_what_double_precision_resolves_is_known_at_any_depth():
    rescaled = pf.RescaledAttention()
    limit = rescaled.resolved_until
    assert 17 < limit < 19  # log(1 / eps) / 2
    inside = 2.0 * pf.Heads([pf.RescaledPerceptron(rescaled), ATTENTION])
    assert inside.resolved_until == limit


def test_a_background_weighs_what_the_tokens_weighed_at_the_start():
    atoms = pf.Circle().points(jnp.array([0.0, 3.0]))
    field = 2.0 * pf.Background(ATTENTION, atoms)
    given = 2.0 * pf.Background(ATTENTION, atoms, np.full(2, 1 / 5))
    mu = tokens(5)
    padded = pf.Particles(
        pf.Circle(), mu.points[np.array([0, 1, 2, 3, 4, 4, 4])], [0.2] * 5 + [0.0] * 2
    )
    fewer = pf.Particles(pf.Circle(), mu.points[:3], [0.4, 0.2, 0.4])
    for start in (mu, padded):
        started = field.started(start)
        np.testing.assert_allclose(started.field.weights, 1 / 5, rtol=1e-15)
        for later in (mu, padded, fewer):
            v, expected = started(0.0, later).v, given(0.0, later).v
            np.testing.assert_allclose(v, expected, atol=1e-15)
    run = pf.flow(field, padded, 0.1, save=2, solver=pf.Heun(0.1))
    np.testing.assert_allclose(run.field.field.weights, 1 / 5, rtol=1e-15)
