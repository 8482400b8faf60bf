"""Series, histograms, phase diagrams, matrices and the page of a run."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.plot.runs._history import as_history, numbers
from pushforward.plot.runs._pairs import bin_count, pairs
from pushforward.plot.runs._principal import principal


def test_series_draws_values_and_theory(on_sphere):
    norm = lambda mu: jnp.linalg.norm(mu.mean())  # noqa: E731
    ax = pf.plot.series(
        on_sphere, {"norm": norm}, {"norm": lambda t: np.exp(-t), "limit": 1.0}
    )
    measured, predicted, limit = ax.lines
    np.testing.assert_allclose(measured.get_ydata(), on_sphere.observe(norm))
    np.testing.assert_allclose(predicted.get_ydata(), np.exp(-on_sphere.times))
    assert (limit.get_ydata() == 1).all()
    assert predicted.get_linestyle() == "--" and measured.get_linestyle() == "-"
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= ax.get_window_extent().x1  # beside the data, not over it


def test_series_in_log_time_keeps_pairs_together():
    t = np.array([1.0, 2.0, 5.0, 11.0])
    ax = pf.plot.series(t, {"square": t**2}, log_time=True)
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(x, t[1:] - 1.0)
    np.testing.assert_allclose(y, t[1:] ** 2)


@pytest.mark.parametrize(
    "times, values, message",
    [
        ([0.0, 1.0], {"a": [1.0]}, "one value for each of 2"),
        ([1.0, 0.0], {"a": [1.0, 2.0]}, "increasing"),
        ([0.0, 1.0], {}, "at least one"),
        ([0.0, 1.0], {"a": lambda mu: 1.0}, "trajectory"),
    ],
)
def test_series_refuses(times, values, message):
    with pytest.raises(InputError, match=message):
        pf.plot.series(np.array(times), values)


def test_pairs_are_cosines_with_their_masses():
    x = np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])
    cosines, mass = pairs(x, np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(cosines, [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(mass, [0.15, 0.10, 0.06])


def test_bins_follow_freedman_and_diaconis_within_their_caps():
    rng = np.random.default_rng(0)
    cosines = rng.uniform(-0.5, 0.5, 8000)
    edges = np.histogram_bin_edges(cosines, "fd", range=(-1, 1))
    assert bin_count(cosines) == len(edges) - 1
    assert bin_count(np.ones(100)) == 80
    assert bin_count(np.array([-1.0, 1.0])) == 24


def test_histograms_hold_all_pairs_at_the_asked_frames(on_sphere):
    figure = pf.plot.cosine_histograms(on_sphere, layers=[0, 4, -1])
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["layer 0", "layer 4", "layer 8"]
    for ax, k in zip(figure.axes, [0, 4, 8], strict=True):
        heights = np.array([bar.get_height() for bar in ax.patches])
        lefts = np.array([bar.get_x() for bar in ax.patches])
        x = np.asarray(on_sphere[k].points)
        i, j = np.triu_indices(len(x), 1)
        edges = np.append(lefts, 1.0)
        counts, _ = np.histogram(np.clip((x @ x.T)[i, j], -1, 1), edges)
        np.testing.assert_allclose(heights, counts / len(i), atol=1e-12)
    figure = pf.plot.cosine_histograms(on_sphere, [0.0, 2.5])
    assert [ax.get_title() for ax in figure.axes] == ["t = 0", "t = 2.5"]


def test_histograms_refuse(on_sphere):
    with pytest.raises(InputError, match="not both"):
        pf.plot.cosine_histograms(on_sphere, [0.0], layers=[0])
    with pytest.raises(InputError, match="frames are 0 to 8"):
        pf.plot.cosine_histograms(on_sphere, layers=[9])
    with pytest.raises(InputError, match="zero vector"):
        pf.plot.cosine_histograms(np.array([[0.0, 0.0], [1.0, 2.0]]))
    with pytest.raises(InputError, match="two tokens"):
        pf.plot.cosine_histograms(np.array([[1.0, 0.0]]))


def test_phase_diagram_puts_each_value_in_its_cell():
    x, y = np.geomspace(1, 8, 4), np.array([10.0, 20.0, 30.0])
    values = np.arange(12.0).reshape(3, 4)
    values[2, 1] = np.nan
    curve = np.array([1.0, 8.0]), np.array([10.0, 30.0])
    ax = pf.plot.phase_diagram(x, y, values, curve=curve, log_x=True)
    mesh = ax.collections[0]
    drawn = np.ma.asarray(mesh.get_array()).reshape(3, 4)
    assert drawn.mask.sum() == 1 and drawn.mask[2, 1]
    np.testing.assert_array_equal(drawn.compressed(), values[np.isfinite(values)])
    corners = mesh.get_coordinates()[0, :, 0]
    assert (corners[:-1] < x).all() and (x < corners[1:]).all()
    np.testing.assert_allclose(corners[1:-1] ** 2, x[:-1] * x[1:])
    np.testing.assert_array_equal(ax.lines[0].get_data(), curve)
    same = pf.plot.phase_diagram(x, y, values, curve=lambda u: 3 * u)
    u, v = same.lines[0].get_data()
    np.testing.assert_allclose(v, 3 * u)


def test_phase_diagram_refuses():
    x, y = np.arange(3.0), np.arange(2.0)
    with pytest.raises(InputError, match=r"values\.T"):
        pf.plot.phase_diagram(x, y, np.ones((3, 2)))
    with pytest.raises(InputError, match="increasing"):
        pf.plot.phase_diagram(x[::-1], y, np.ones((2, 3)))
    with pytest.raises(InputError, match="log_x"):
        pf.plot.phase_diagram(x, y, np.ones((2, 3)), log_x=True)
    with pytest.raises(InputError, match="curve"):
        pf.plot.phase_diagram(x, y, np.ones((2, 3)), curve=([0.0], [1.0, 2.0]))


def test_attention_matrix_draws_the_matrix():
    A = np.array([[1.0, 0.0], [0.25, 0.75]])
    ax = pf.plot.attention_matrix(A, tokens=["to", "be"])
    np.testing.assert_array_equal(ax.images[0].get_array(), A)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["to", "be"]
    with pytest.raises(InputError, match="tokens"):
        pf.plot.attention_matrix(A, tokens=["to"])
    with pytest.raises(InputError, match="negative"):
        pf.plot.attention_matrix(-A)
    with pytest.raises(InputError, match="matrix"):
        pf.plot.attention_matrix(A[0])


def test_numbers_of_two_opposite_clusters():
    """Half of the mass at each pole: E = (1 + e^{-2 beta}) / 2, mean cosine -1/3."""
    x = np.array([[1.0, 0, 0], [1.0, 0, 0], [-1.0, 0, 0], [-1.0, 0, 0]])
    found = numbers(as_history(x), 0, 1.5, 0.1)
    assert found.clusters == 2 and found.largest == 0.5
    assert found.energy == pytest.approx((1 + np.exp(-3.0)) / 2, rel=1e-12)
    assert found.cosine == pytest.approx(-1 / 3)


def test_principal_axes_keep_what_they_say():
    rng = np.random.default_rng(3)
    scale = np.array([3.0, 2.0, 1.0, 0.1, 0.1])
    x = rng.normal(size=(200, 5)) * scale
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    shown, label = principal(as_history(x))
    share = (shown.points**2).sum() / len(x)  # of the total second moment, which is 1
    largest = np.sort(np.linalg.eigvalsh(x.T @ x / len(x)))[-3:].sum()
    assert share == pytest.approx(largest)
    assert label == f"3 principal axes of 5, {100 * share:.0f} % of the variance"
    assert np.linalg.norm(shown.points, axis=2).max() <= 1 + 1e-12


def test_projection_of_plane_points_is_the_points(in_plane):
    ax = pf.plot.projection(in_plane)
    (beads,) = [c for c in ax.collections if type(c).__name__ == "EllipseCollection"]
    np.testing.assert_allclose(beads.get_offsets(), in_plane.final.points)


@pytest.mark.parametrize("run", ["on_sphere", "on_circle", "in_many", "in_plane"])
def test_summary_measures_every_frame(run, request):
    trajectory = request.getfixturevalue(run)
    figure = pf.plot.summary(trajectory)
    figure.canvas.draw()
    panels = [ax for ax in figure.axes if "clusters at" in ax.get_title()]
    drawn = panels[0].lines[0].get_ydata()
    expected = trajectory.observe(lambda mu: mu.labels(0.05).max() + 1)
    np.testing.assert_array_equal(drawn, expected)
    titles = " ".join(ax.get_title() for ax in figure.axes)
    assert ("variance" in titles) == (run == "in_many")
    if run != "in_plane":
        energy = next(ax for ax in figure.axes if ax.get_title() == "energy, β = 4")
        expected = trajectory.observe(pf.InteractionEnergy(4.0))
        np.testing.assert_allclose(energy.lines[0].get_ydata(), expected)


def test_summary_needs_a_course_of_time(on_sphere):
    with pytest.raises(InputError, match="summary needs a trajectory"):
        pf.plot.summary(on_sphere.final)


@pytest.fixture
def beyond(on_circle):
    """A run that goes on to t = 1e2000, as flows with merging do; two times tie."""
    logs = np.linspace(3.0, 2000.0, len(on_circle)) * np.log(10)
    logs[0], logs[-2] = -np.inf, logs[-1]
    with np.errstate(over="ignore"):
        times = np.exp(logs)
    return dataclasses.replace(on_circle, times=times, log_times=logs)


def test_times_beyond_the_largest_float_are_drawn_as_logarithms(beyond):
    logs = beyond.log_times[1:] / np.log(10)
    figure = pf.plot.summary(beyond)
    figure.canvas.draw()
    _, bottom, *panels = figure.axes
    for ax in (bottom, *panels):
        assert ax.get_xlim() == pytest.approx((logs[0], 2000.0))
        assert ax.get_xscale() == "linear"
    energy = panels[0].lines[0]
    np.testing.assert_allclose(energy.get_xdata(), logs)
    assert energy.get_ydata()[-1] == pytest.approx(
        float(pf.InteractionEnergy(beyond.field.beta)(beyond.final))
    )
    assert "log" in bottom.get_xlabel()
    assert "10^2000" in figure.axes[0].get_title()
    ax = pf.plot.series(beyond, {"cosine": pf.observables.mean_cosine})
    np.testing.assert_allclose(ax.lines[0].get_xdata(), logs)


def test_a_film_goes_through_all_frames_of_a_run_beyond_the_largest_float(beyond):
    history = as_history(beyond)
    last = len(history.times) - 1
    for k in (0, last - 1, last):
        np.testing.assert_array_equal(history.until(k).points[-1], beyond.points[k])
    between = history.until(last - 1.5)
    half = (history.points[last - 2] + history.points[last - 1]) / 2
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    np.testing.assert_allclose(between.points[-1], half, atol=1e-15)
    middle = history.log10_times[[last - 2, last - 1]].mean()
    assert between.log10_times[-1] == pytest.approx(middle)


def test_infinite_times_without_logarithms_are_refused(beyond):
    lost = dataclasses.replace(beyond, log_times=None)
    with pytest.raises(InputError, match="infinite times and no `log_times`"):
        pf.plot.summary(lost)
