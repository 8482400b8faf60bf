"""A trajectory between its frames: one rule, for measures, pictures and films."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.plot.runs._history import as_history


def curve(weights, times=(0.0, 1.0), log_times=None, angles=(0.0, 0.4)):
    """Two tokens of the circle, turned by an angle from frame to frame."""
    points = np.array([pf.Circle().points(np.array([0.0, 1.0]) + a) for a in angles])
    first = pf.Particles(pf.Circle(), points[0])
    with np.errstate(divide="ignore"):
        measures = first.moved(jnp.asarray(points), jnp.log(jnp.asarray(weights)))
    zero = jnp.asarray(0)
    return pf.Trajectory(
        times=np.array(times),
        measures=measures,
        final=first,
        observed={},
        steps=zero,
        rejected=zero,
        status=zero,
        field=None,
        log_times=None if log_times is None else np.array(log_times),
    )


def angle_at(run, t):
    x = np.asarray(run.at(t).points[0])
    return math.atan2(x[1], x[0])


def test_weights_mix_and_sum_to_one():
    run = curve([[0.9, 0.1], [0.1, 0.9]])
    np.testing.assert_allclose(run.at(0.5).weights, [0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(run.at(0.25).weights, [0.7, 0.3], atol=1e-15)
    np.testing.assert_allclose(run.at(0.8).weights.sum(), 1.0, atol=1e-15)


def test_tokens_without_mass_give_numbers():
    run = curve([[1.0, 0.0], [1.0, 0.0]])
    for t in (0.0, 0.5, 1.0):
        np.testing.assert_array_equal(run.at(t).weights, [1.0, 0.0])
        assert np.isfinite(run.at(t).points).all()


def test_a_time_that_is_a_frame_up_to_rounding_is_that_frame():
    t1 = np.nextafter(np.nextafter(2000.0, 0), 0)
    run = curve([[0.9, 0.1], [0.1, 0.9]], times=(0.0, t1))
    np.testing.assert_array_equal(run.at(2000.0).points, run[1].points)
    np.testing.assert_array_equal(run.at(2000.0).weights, run[1].weights)
    with pytest.raises(InputError, match="later t1"):
        run.at(2000.001)


def test_a_flow_that_ended_by_itself_says_so_of_later_times():
    run = curve([[0.9, 0.1], [0.1, 0.9]])
    ended = pf.Outcome("one cluster", "all 2 tokens are one atom since t = 1.")
    run = dataclasses.replace(run, outcome=ended)
    with pytest.raises(InputError, match="It ended there: one cluster: all 2 tokens"):
        run.at(2.0)


def test_frames_far_apart_are_joined_in_log_time():
    half = [[0.5, 0.5]] * 4
    logs = [-np.inf, 0.0, 100.0, 900.0]
    with np.errstate(over="ignore"):
        times = np.exp(logs)
    run = curve(half, times, logs, angles=(0.0, 0.1, 0.3, 0.5))
    assert angle_at(run, math.exp(50.0)) == pytest.approx(0.2, abs=1e-3)
    assert angle_at(run, math.exp(500.0)) == pytest.approx(0.4, abs=1e-3)
    assert angle_at(run, 0.5) == pytest.approx(0.05, abs=1e-3)  # log t has no start


@pytest.mark.parametrize("t", [0.3, 0.5, 1.0])
def test_pictures_use_the_same_rule(t):
    run = curve([[0.9, 0.1], [0.1, 0.9]])
    history = as_history(run)
    drawn = history.until(history.place(t))
    np.testing.assert_allclose(drawn.weights[-1], run.at(t).weights, atol=1e-15)
    np.testing.assert_allclose(drawn.points[-1], run.at(t).points, atol=1e-15)


def test_frames_at_the_start_and_the_end_are_always_there():
    mu = pf.Particles.equispaced(pf.Circle(), 4)
    run = pf.flow(pf.Attention(1.0), mu, 3.0, save=[1.0, 2.0])
    assert run.times.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert "t0 and t1" in pf.flow.__doc__ and "t0 and t1" in pf.Trajectory.__doc__
