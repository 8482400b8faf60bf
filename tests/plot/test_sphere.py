import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.plot.runs._globe import LEAST, WHOLE, radii, strength
from pushforward.plot.runs._history import as_history


def beads(ax):
    """(far, near) layers of beads, told apart by their order of drawing."""
    kind = "EllipseCollection"
    found = [c for c in ax.collections if type(c).__name__ == kind]
    return sorted(found, key=lambda c: c.get_zorder())


def test_beads_stand_at_the_projected_points(on_sphere):
    camera = pf.plot.Camera(azimuth=30.0, elevation=15.0)
    ax = pf.plot.sphere(on_sphere, camera=camera)
    seen = camera.see(np.asarray(on_sphere.final.points))
    far, near = beads(ax)
    for layer, side in ((far, seen[:, 2] < 0), (near, seen[:, 2] >= 0)):
        drawn = np.asarray(layer.get_offsets())
        expected = seen[side, :2]
        key = lambda a: a[np.lexsort(a.round(9).T)]  # noqa: E731
        np.testing.assert_allclose(key(drawn), key(expected), atol=1e-12)


def test_camera_is_a_rotation_that_sees_its_own_direction_in_front():
    camera = pf.plot.Camera(azimuth=70.0, elevation=-35.0)
    np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(camera.axes) == pytest.approx(1.0)
    a, e = np.radians([70.0, -35.0])
    eye = np.array([[np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]])
    np.testing.assert_allclose(camera.see(eye), [[0, 0, 1]], atol=1e-15)
    up = camera.see(np.array([[0.0, 0.0, 1.0]]))[0]
    assert up[1] > 0 and up[0] == pytest.approx(0.0)


def test_camera_faces_the_mass():
    cluster = np.array([[0.0, -1.0, 0.0]] * 9 + [[0.0, 1.0, 0.0]])
    camera = pf.plot.Camera.facing(cluster, np.full(10, 0.1))
    depth = camera.see(cluster)[:, 2]
    assert depth[0] > 0.8 and depth[-1] < 0


def test_volume_of_a_bead_is_the_mass_at_its_place():
    apart = np.eye(3)
    weights = np.array([0.125, 0.375, 0.5])
    np.testing.assert_allclose(radii(apart, weights), WHOLE * np.cbrt(weights))
    together = np.repeat(apart[:1], 8, axis=0)
    np.testing.assert_allclose(radii(together, np.full(8, 1 / 8)), WHOLE)
    tiny = radii(apart, np.array([1e-9, 0.5, 0.5]))
    assert tiny[0] == LEAST


def test_hidden_side_is_paler():
    depth = np.linspace(-1, 1, 101)
    share = strength(depth)
    assert (np.diff(share) >= 0).all()
    assert share[0] < 0.3 and share[-1] == pytest.approx(1.0)


def test_color_by_cluster_ranks_by_mass_and_by_last_frame():
    first = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0, -1.0, 0]])
    last = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 1.0, 1e-3], [0, 1.0, -1e-3]])
    last = last / np.linalg.norm(last, axis=1, keepdims=True)
    colors = pf.plot.ByCluster(0.1).of(as_history(np.stack([first, last])))
    assert (colors[1] == colors[2]).all() and (colors[2] == colors[3]).all()
    big, small = np.array([0, 0x72, 0xB2]) / 255, np.array([0xD5, 0x5E, 0]) / 255
    np.testing.assert_allclose(colors[1], big)
    np.testing.assert_allclose(colors[0], small)


def test_lone_tokens_are_gray_only_when_there_are_many():
    few, many = np.eye(3), np.random.default_rng(0).normal(size=(12, 3))
    many = np.concatenate([many, many[:1]])
    many /= np.linalg.norm(many, axis=1, keepdims=True)
    color = pf.plot.ByCluster(0.01)
    assert len(np.unique(color.of(as_history(few)), axis=0)) == 3
    colors = color.of(as_history(many))
    assert len(np.unique(colors, axis=0)) == 2
    assert (colors[0] == colors[-1]).all() and (colors[0] != colors[1]).any()


def test_frames_draw_the_interpolated_measure(on_sphere):
    figure = pf.plot.frames(on_sphere, [0.0, 2.5, 8.0])
    assert [ax.get_title() for ax in figure.axes] == ["t = 0", "t = 2.5", "t = 8"]
    history = as_history(on_sphere)
    middle = history.until(history.place(2.5))
    expected = np.asarray(on_sphere.at(2.5).points)
    np.testing.assert_allclose(middle.points[-1], expected, atol=1e-14)
    np.testing.assert_allclose(middle.times, [0, 1, 2, 2.5])


def test_trails_join_the_frames(on_sphere):
    camera = pf.plot.Camera(0.0, 0.0)
    ax = pf.plot.sphere(on_sphere, camera=camera)
    lines = [c for c in ax.collections if type(c).__name__ == "LineCollection"]
    pieces = [s for c in lines for s in c.get_segments() if len(s) == 2]
    seen = camera.see(np.asarray(on_sphere.points))[..., :2]
    ends = np.concatenate(pieces)
    gap = np.linalg.norm(ends[:, None] - seen.reshape(-1, 2), axis=2).min(axis=1)
    assert len(pieces) > 20 and gap.max() < 1e-12
    still = pf.plot.sphere(on_sphere, camera=camera, trails=False)
    lines = [c for c in still.collections if type(c).__name__ == "LineCollection"]
    assert not [s for c in lines for s in c.get_segments() if len(s) == 2]


def test_the_given_axes_are_used_and_settings_are_restored(on_sphere):
    import matplotlib

    before = dict(matplotlib.rcParams)
    first = pf.plot.sphere(on_sphere)
    assert pf.plot.sphere(on_sphere.final, ax=first) is first
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("d, right", [(2, "plot.circle"), (6, "plot.projection")])
def test_other_dimensions_are_sent_to_the_right_function(d, right):
    points = np.eye(d)
    with pytest.raises(InputError, match=right):
        pf.plot.sphere(points)
    with pytest.raises(InputError, match="plot.sphere"):
        pf.plot.circle(np.eye(3))
    with pytest.raises(InputError, match="plot.sphere"):
        pf.plot.projection(np.eye(3))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: pf.plot.sphere(2 * x), "plot.projection"),
        (lambda x: pf.plot.sphere(np.full((2, 3), np.nan)), "NaN"),
        (lambda x: pf.plot.sphere("tokens"), "Trajectory"),
        (lambda x: pf.plot.sphere(x[0]), "shape"),
        (lambda x: pf.plot.sphere(x, color="no color"), "ByCluster"),
        (lambda x: pf.plot.sphere(x, color=["red"] * 2), "one per token"),
        (lambda x: pf.plot.frames(x, [0.0]), "trajectory"),
        (lambda x: pf.plot.frames(np.stack([x, x]), []), "times"),
        (lambda x: pf.plot.frames(np.stack([x, x]), [5.0]), "later t1"),
        (lambda x: pf.plot.Camera(elevation=120.0), "elevation"),
    ],
)
def test_bad_input_says_what_to_do(call, message):
    with pytest.raises(InputError, match=message):
        call(np.eye(3))
