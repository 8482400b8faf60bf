import numpy as np
import pytest
from conftest import trajectory_through

import pushforward as pf
from pushforward.errors import InputError
from pushforward.plot.runs._colors import wheel


def turning(laps: float = 2.5, frames: int = 200):
    """Three tokens that run around the circle at different speeds."""
    s = np.linspace(0, 1, frames)[:, None]
    theta = 2 * np.pi * laps * s * np.array([[1.0, -0.5, 0.0]]) + [[3.0, -3.0, 1.0]]
    points = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    return trajectory_through(pf.Circle(), points, times=10 * s[:, 0]), theta


def lines_of(ax):
    return ax.collections[0].get_segments()


def test_circle_draws_the_points(on_circle):
    ax = pf.plot.circle(on_circle)
    (beads,) = [c for c in ax.collections if type(c).__name__ == "EllipseCollection"]
    np.testing.assert_allclose(beads.get_offsets(), on_circle.final.points)


def test_rainbow_lines_never_jump():
    trajectory, _ = turning()
    for line in lines_of(pf.plot.rainbow(trajectory)):
        assert np.abs(np.diff(line[:, 1])).max() < np.pi


def test_rainbow_shows_every_angle_in_the_window():
    trajectory, theta = turning()
    lines = lines_of(pf.plot.rainbow(trajectory))
    seen = np.concatenate(lines)
    inside = seen[np.abs(seen[:, 1]) <= np.pi]
    wrapped = np.angle(np.exp(1j * theta))
    expected = np.column_stack([np.repeat(trajectory.times, 3), wrapped.ravel()])
    order = lambda a: a[np.lexsort(a.round(9).T)]  # noqa: E731
    np.testing.assert_allclose(order(inside), order(expected), atol=1e-9)


def test_rainbow_in_log_time_leaves_out_the_start():
    trajectory, _ = turning()
    ax = pf.plot.rainbow(trajectory, log_time=True)
    assert ax.get_xscale() == "log"
    assert min(line[:, 0].min() for line in lines_of(ax)) == trajectory.times[1]


def test_rainbow_colors_depend_on_the_start_only():
    trajectory, theta = turning(laps=0.1)
    ax = pf.plot.rainbow(trajectory)
    drawn = ax.collections[0].get_colors()[:, :3]
    for color in wheel(theta[0]):
        assert np.abs(drawn - color).max(axis=1).min() < 1e-9


def test_wheel_is_cyclic_and_inside_the_gamut():
    angle = np.linspace(-np.pi, np.pi, 361)
    colors = wheel(angle)
    np.testing.assert_allclose(colors[0], colors[-1], atol=1e-12)
    assert np.abs(np.diff(colors, axis=0)).max() < 0.05
    assert colors.min() >= 0 and colors.max() < 1


def test_rainbow_refuses_one_frame_and_other_dimensions(on_circle, on_sphere):
    with pytest.raises(InputError, match="pf.flow"):
        pf.plot.rainbow(on_circle.final)
    with pytest.raises(InputError, match="plot.sphere"):
        pf.plot.rainbow(on_sphere)
    short = trajectory_through(pf.Circle(), np.asarray(on_circle.points)[:2])
    with pytest.raises(InputError, match="log_time"):
        pf.plot.rainbow(short, log_time=True)
