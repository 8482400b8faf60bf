"""Merging obeys the whole equation: time, switches, growth, tokens without mass."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from thinned import thinned

import pushforward as pf
from pushforward.errors import InputError
from pushforward.fields import (
    AbstractField,
    Background,
    DepthScaledNorm,
    Drive,
    MixNorm,
    PreNorm,
)
from pushforward.flows.merging._state import traits
from pushforward.functionals import FisherRao, WassersteinFisherRao

TRIANGLE = np.array([[1.0, 0.2], [0.8, 0.3], [-0.4, 0.9]])


class Swing(AbstractField):
    """v = cos(t) (target - x): a field of one's own that uses the time."""

    target: jax.Array

    ordered = False

    def drive(self, t, mu):
        return Drive(jnp.cos(t) * (self.target[None, :] - mu.points))


class Grow(AbstractField):
    """Tokens stand; the mass at x grows at the rate x_1, times cos(t) if `swings`."""

    swings: bool = False

    ordered = False

    def drive(self, t, mu):
        rate = jnp.cos(t) * mu.points[:, 0] if self.swings else mu.points[:, 0]
        return Drive(jnp.zeros_like(mu.points), growth=rate)


def plane(points=TRIANGLE, weights=None):
    return pf.Particles(pf.Euclidean(2), points, weights)


def crowd(n, seed=0, d=2):
    return pf.Particles.uniform(pf.Sphere(d), n, key=jax.random.key(seed))


def both(field, mu, t1, **options):
    """The run without merging, and with it."""
    return (
        pf.flow(field, mu, t1, **options),
        pf.flow(field, mu, t1, merge=pf.Merge(), **options),
    )


def moved(x, y):
    return np.abs(np.asarray(x - y)).max()


def assert_same(alone, merged, atol=1e-7):
    assert merged.times.tolist() == alone.times.tolist()
    assert moved(merged.points, alone.points) < atol
    assert moved(merged.weights, alone.weights) < atol
    assert np.abs(np.asarray(merged.weights).sum(axis=1) - 1).max() < 1e-12


TIMED = [
    pf.RescaledAttention(),
    DepthScaledNorm(pf.Attention(2.0)),
    MixNorm(pf.Attention(2.0), 0.7),
    Swing(jnp.array([2.0, -1.0])),
    Grow(swings=True),
]


@pytest.mark.parametrize(
    "field",
    thinned(TIMED, TIMED[0], TIMED[3], TIMED[4]),
    ids=lambda f: type(f).__name__,
)
def test_fields_that_depend_on_time_are_followed(field):
    """Frames before, between and after the switches; the flow starts at t0 = 0.2."""
    mu = plane(TRIANGLE / np.linalg.norm(TRIANGLE, axis=1, keepdims=True))
    alone, merged = both(field, mu, 2.0, t0=0.2, save=[0.25, 0.7, 1.7])
    assert_same(alone, merged)
    assert merged.outcome.kind == "reached t1"
    way = moved(alone.points[-1], mu.points)
    assert max(way, moved(alone.weights[-1], mu.weights)) > 0.1


def test_whether_a_field_depends_on_time_is_read_off_its_program():
    mu = plane()
    assert all(traits(field, mu).timed for field in TIMED)
    energy = pf.InteractionEnergy(2.0)
    for field in (pf.Attention(2.0), PreNorm(pf.Attention(1.0)), Grow()):
        assert not traits(field, mu).timed
    assert traits(Grow(), mu).grows
    assert not traits(pf.Attention(2.0), mu).grows
    assert traits(pf.GradientFlow(energy, FisherRao()), mu).grows


def pieces(first, second, times):
    """One shape for all that switches here, so that it compiles once."""
    return pf.Switched([pf.Attention(first), -pf.Attention(second)], times)


@pytest.mark.slow
def test_switches_are_met_exactly():
    """Frames before, at and between the switches; nothing moves after the last one."""
    mu, field = crowd(6), pieces(4.0, 1.0, [0.3, 0.9, 1.6])
    alone, merged = both(field, mu, 2.0, t0=0.2, save=[0.25, 0.9, 1.2, 1.7])
    assert_same(alone, merged)
    assert moved(merged.points[1], mu.points) < 1e-14
    assert moved(merged.points[-1], merged.points[-2]) < 1e-14
    assert moved(alone.points[2], mu.points) > 0.1
    assert moved(alone.points[4], alone.points[2]) > 0.1


def test_frames_by_arc_length_cross_a_switch():
    mu, field = crowd(6), pieces(4.0, 4.0, [0.0, 1.0, 2.0])
    run = pf.flow(field, mu, 2.0, save=pf.ArcLength(0.05), merge=pf.Merge())
    alone = pf.flow(field, mu, 2.0, save=2)
    assert (np.diff(run.arc)[:-1] > 0.05 - 1e-12).all()
    assert len(run) > 4 and run.times[-1] == 2.0
    assert moved(run.final.points, alone.final.points) < 1e-7


def test_a_rest_in_a_changing_field_takes_few_steps():
    """A balance at one time is no end; steps grow to the length of the rest.

    Clusters form until 1e10 as they do without a switch, are pushed apart for a moment,
    and stand from then on.
    """
    mu, field = crowd(6), pieces(9.0, 9.0, [0.0, 1e10, 1e10 + 4])
    run = pf.flow(field, mu, 1e40, save=[1e10, 2e10, 1e40], merge=pf.Merge())
    first = pf.flow(pf.Attention(9.0), mu, 1e10, save=2, merge=pf.Merge())
    assert moved(run.points[1], first.final.points) < 1e-6
    assert run.times.tolist() == [0.0, 1e10, 2e10, 1e40] and int(run.steps) < 1000
    assert moved(run.points[3], run.points[2]) < 1e-14


class Late(AbstractField):
    """A pull to the right that begins at t = 5."""

    ordered = False

    def drive(self, t, mu):
        right = jnp.zeros_like(mu.points).at[:, 0].set(1.0)
        return Drive(jnp.maximum(t - 5.0, 0.0) * right)


def test_a_balance_in_a_changing_field_is_no_end():
    """Six tokens at equal angles stand until they are pulled aside."""
    mu, field = pf.Particles.equispaced(pf.Circle(), 6), pf.Attention(1.0) + Late()
    alone, merged = both(field, mu, 6.0, save=[4.0, 6.0])
    assert_same(alone, merged, atol=3e-6)  # the pull has a kink
    assert merged.outcome.kind == "reached t1"
    assert moved(merged.points[1], mu.points) < 1e-12
    assert moved(merged.points[2], mu.points) > 0.1


@pytest.mark.parametrize("rate", [1.0, 40.0])
def test_constant_growth_has_a_closed_form(rate):
    """w_i(t) ~ w_i e^{t x_i}; forty tokens, of which ten lie on others, are packed."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (40, 2))
    x[30:] = x[:10]
    weights = rng.uniform(0.5, 1.5, 40)
    mu = plane(x, weights / weights.sum())
    run = pf.flow(rate * Grow(), mu, 3.0, save=4, merge=pf.Merge())
    expected = np.log(np.asarray(mu.weights)) + rate * 3.0 * x[:, 0]
    expected -= np.logaddexp.reduce(expected)
    assert np.asarray(run.final.log_weights) == pytest.approx(expected, abs=1e-9)
    assert np.abs(np.asarray(run.weights).sum(axis=1) - 1).max() < 1e-12
    assert np.asarray(run.points) == pytest.approx(np.stack([x] * 4), abs=1e-12)
    assert len(run.merges.absorbed) == 10
    assert run.outcome.kind == "reached t1"


class Gather(AbstractField):
    """Tokens approach the origin and gain mass at the rate x_1."""

    ordered = False

    def drive(self, t, mu):
        return Drive(-mu.points, growth=mu.points[:, 0])


def test_an_absorbed_token_keeps_what_it_has_gained():
    """x = e^{-t} x_0, so that the logarithm of its mass gains (1 - e^{-t}) x_0."""
    x = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 2.0]])
    mu = plane(x, [0.25, 0.25, 0.5])
    run = pf.flow(Gather(), mu, 40.0, save=[1.0, 15.0, 40.0], merge=pf.Merge())
    gain = np.log(mu.weights) + (1 - np.exp(-run.times))[:, None] * x[:, 0]
    expected = np.exp(gain) / np.exp(gain).sum(axis=1, keepdims=True)
    assert np.asarray(run.weights) == pytest.approx(expected, abs=2e-6)
    assert run.merges.absorbed.tolist() == [1, 2]
    ratio = np.asarray(run.weights[-1]) / np.asarray(run.weights[-2])
    assert ratio == pytest.approx(np.ones(3), abs=1e-14)  # no gain in common counts


@pytest.mark.parametrize(
    "metric",
    [pytest.param(FisherRao(), marks=pytest.mark.slow), WassersteinFisherRao(1.0, 0.5)],
)
def test_gradient_flows_that_move_mass(metric):
    field = pf.GradientFlow(-pf.InteractionEnergy(2.0), metric)
    alone, merged = both(field, crowd(10, seed=1), 8.0, save=3)
    assert_same(alone, merged, atol=1e-6)
    assert moved(alone.weights[-1], 0.1) > 0.05


def test_growth_ends_when_one_atom_is_left_or_all_grow_alike():
    field = pf.GradientFlow(-pf.InteractionEnergy(2.0), WassersteinFisherRao())
    run = pf.flow(field, crowd(10, seed=1), 1e6, save=3, merge=pf.Merge())
    assert run.outcome.kind == "one cluster"
    assert np.isfinite(np.asarray(run.weights)).all()
    alike = plane([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    run = pf.flow(Grow(), alike, 1e6, save=3, merge=pf.Merge())
    assert run.outcome.kind == "frozen" and int(run.steps) == 0


@pytest.mark.slow
def test_frozen_atoms_weigh_what_they_weighed_at_the_start():
    """As many tokens as at the start count, however many slots are left."""
    mu = pf.Particles.uniform(pf.Circle(), 60, key=jax.random.key(0))
    field = Background(pf.Attention(8.0), pf.Circle().points(np.array([0.5, 2.0])))
    alone, merged = both(field, mu, 50.0, save=2)
    assert moved(merged.final.points, alone.final.points) < 2e-6


def test_frames_are_at_the_times_asked_for():
    times = [0.1, 7.0, 300.0, 2000.0]
    for t0 in (0.0, 0.05):
        run = pf.flow(
            pf.Attention(40.0), crowd(6), 2000.0, t0=t0, save=times, merge=pf.Merge()
        )
        assert run.times.tolist() == [t0, *times]
        assert run.at(2000.0).points.tolist() == run.points[-1].tolist()
        assert run.log_times[1:] == pytest.approx(np.log(np.array(times) - t0))


@pytest.mark.slow
def test_tokens_without_mass_follow():
    """Copies of the last one (as a page pads its arrays), and one that is alone."""
    x = np.array(crowd(8, seed=5).points)
    x[6:] = x[5]
    weights = np.array([0.2, 0.2, 0.2, 0.2, 0.0, 0.2, 0.0, 0.0])
    mu = pf.Particles(pf.Sphere(2), x, weights)
    for field in (
        pf.Attention(4.0),
        pf.GradientFlow(-pf.InteractionEnergy(2.0), WassersteinFisherRao()),
    ):
        alone, merged = both(field, mu, 3.0, save=3)
        assert_same(alone, merged, atol=1e-6)
        assert moved(merged.points[-1, 4], x[4]) > 0.1
        end = pf.flow(field, mu, 1e9, save=2, merge=pf.Merge())
        assert end.outcome.kind == "one cluster"
        assert np.isfinite(np.asarray(end.points)).all()
        assert not np.isnan(np.asarray(end.weights)).any()


def test_a_stopping_rule_sees_absorbed_tokens_where_they_went():
    together = lambda mu: jnp.min(mu.points @ mu.points.T) >= 0.999  # noqa: E731
    mu = crowd(20, seed=4)
    alone, merged = both(pf.Attention(2.0), mu, 100.0, save=2, until=together)
    assert alone.outcome.kind == merged.outcome.kind == "until"
    assert merged.times[-1] == pytest.approx(float(alone.times[-1]), rel=1e-6)


def test_only_observables_are_kept_when_asked_for():
    save = pf.OnlyObservables(3)
    observe = {"m": lambda mu: mu.mean()}
    run = pf.flow(
        pf.Attention(2.0), crowd(6), 5.0, save=save, merge=pf.Merge(), observe=observe
    )
    assert run.measures is None and run.observed["m"].shape == (3, 2)
    assert np.asarray(run.final.mean()) == pytest.approx(run.observed["m"][-1])


class Unsaid(AbstractField):
    """A field of one's own that does not say whether order matters."""

    def drive(self, t, mu):
        return Drive(-mu.points)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda mu: pf.flow(Unsaid(), mu, 1.0, merge=pf.Merge()), "ordered = False"),
        (
            lambda mu: pf.flow(
                Swing(jnp.ones(2)),
                mu,
                np.inf,
                save=pf.ArcLength(0.1),
                merge=pf.Merge(),
            ),
            "`t1` must be finite for a field that depends on time",
        ),
        (
            lambda mu: jax.jit(
                lambda b: pf.flow(pf.Attention(b), mu, 1.0, merge=pf.Merge()).steps
            )(1.0),
            "`merge` works on the host",
        ),
        (
            lambda mu: pf.flow(
                pf.Attention(1.0),
                mu,
                1.0,
                merge=pf.Merge(),
                noise=pf.Brownian(0.1),
                key=jax.random.key(0),
            ),
            "`merge` works on the host",
        ),
        (
            lambda mu: pf.flow(
                pf.Attention(1.0), mu, -1.0, save=pf.ArcLength(0.1), merge=pf.Merge()
            ),
            "`t1` must not be before `t0`",
        ),
    ],
)
def test_what_merging_refuses(call, words):
    with pytest.raises(InputError, match=words):
        call(crowd(4))
