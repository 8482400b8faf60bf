"""Single neurons in closed form: maps, inverses, determinants, densities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pushforward as pf
from pushforward.control import normalizing
from pushforward.control.normalizing.blocks import apply, forward_blocks
from pushforward.errors import InputError


def random_flow(seed, pieces=12, d=3):
    rng = np.random.default_rng(seed)
    w, a = rng.normal(size=(2, pieces, d))
    return pf.NormalizingFlow(
        w, a, rng.normal(size=pieces), rng.uniform(0, 0.5, pieces)
    )


@pytest.mark.parametrize("seed", range(4))
def test_one_piece_is_the_flow_of_its_neuron_M2_O1(seed):
    rng = np.random.default_rng(seed)
    w, a, x = rng.normal(size=(3, 3))
    b, t1 = 0.7, 0.8
    c = a @ w

    def velocity(_, z):
        return np.append(w * max(z[:3] @ a + b, 0.0), c * (z[:3] @ a + b > 0))

    x = x if x @ a + b > 0.1 else -x + 2 * a * abs(b) / (a @ a)
    ode = solve_ivp(velocity, (0, t1), [*x, 0.0], "DOP853", rtol=1e-12, atol=1e-12)
    y, log_det = pf.NormalizingFlow([w], [a], [b], [t1]).with_log_det(x[None])
    closed = x + w * (np.exp(c * t1) - 1) / c * max(a @ x + b, 0)
    np.testing.assert_allclose(y[0], closed, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(y[0], ode.y[:3, -1], rtol=1e-9, atol=1e-10)
    assert abs(log_det[0] - c * t1 * (a @ x + b > 0)) < 1e-14
    assert abs(log_det[0] - ode.y[3, -1]) < 1e-9


def test_log_determinant_is_that_of_the_derivative():
    flow = random_flow(1)
    x = np.random.default_rng(2).normal(size=(20, 3))
    _, log_det = flow.with_log_det(x)
    jacobian = jax.vmap(jax.jacfwd(lambda z: flow.forward(z[None])[0]))(jnp.asarray(x))
    sign, exact = np.linalg.slogdet(np.asarray(jacobian))
    assert (sign == 1).all()
    np.testing.assert_allclose(log_det, exact, atol=1e-11)


@pytest.mark.parametrize("d", [1, 3, 7])
def test_round_trip(d):
    flow = random_flow(3, pieces=40, d=d)
    x = np.random.default_rng(4).normal(size=(300, d))
    np.testing.assert_allclose(flow.inverse(flow.forward(x)), x, atol=1e-9)
    np.testing.assert_allclose(flow.forward(flow.inverse(x)), x, atol=1e-9)


def test_shears_in_a_block_equal_shears_one_by_one():
    """Grouped neighbors commute, also when a piece of duration zero leads them."""
    rng = np.random.default_rng(5)
    w, a = np.zeros((2, 11, 3))
    w[:, 1] = rng.normal(size=11)
    a[:, [0, 2]] = rng.normal(size=2)
    w[7, 1], w[7, 0] = 0.0, 0.4  # another direction in between
    b, t = rng.normal(size=11), rng.uniform(0.1, 1, 11)
    t[0] = 0.0
    flow = pf.NormalizingFlow(w, a, b, t)
    assert len(forward_blocks(w, a, b, t).threshold) < 8
    x = y = rng.normal(size=(200, 3))
    for k in range(11):
        y = y + w[k] * t[k] * np.maximum(y @ a[k] + b[k], 0)[:, None] * (
            np.expm1(t[k] * (a[k] @ w[k])) / (t[k] * (a[k] @ w[k]))
            if t[k] * (a[k] @ w[k])
            else 1.0
        )
    np.testing.assert_allclose(flow.forward(x), y, atol=1e-13)
    # under jit with traced weights the pieces run one by one: the same map
    traced = jax.jit(lambda f, z: f.forward(z))(flow, jnp.asarray(x))
    np.testing.assert_allclose(traced, y, atol=1e-13)


def test_chunks_do_not_change_the_result():
    flow = random_flow(6, pieces=5, d=2)
    x = np.random.default_rng(7).normal(size=(9000, 2))
    whole, parts = flow.forward(x), [flow.forward(part) for part in np.split(x, 10)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert apply(forward_blocks(*flow._weights()), jnp.zeros((0, 2)))[0].shape == (0, 2)


def test_monotone_map_is_exact_M2_O2():
    rng = np.random.default_rng(8)
    knots, values = (np.cumsum(rng.exponential(size=32)) for _ in range(2))
    flow = normalizing.monotone_map([0, 1.0], knots, values)
    assert flow.pieces == 32
    x = np.column_stack([rng.normal(size=500), rng.uniform(knots[0], knots[-1], 500)])
    y, log_det = flow.with_log_det(x)
    np.testing.assert_allclose(y[:, 1], np.interp(x[:, 1], knots, values), rtol=1e-11)
    np.testing.assert_array_equal(y[:, 0], x[:, 0])
    slopes = np.diff(values) / np.diff(knots)
    place = np.searchsorted(knots, x[:, 1]) - 1
    np.testing.assert_allclose(log_det, np.log(slopes[place]), atol=1e-12)


@pytest.mark.parametrize("h", [0.5, 0.25, 0.125])
def test_banana_error_is_a_quarter_of_h_squared_M2_O5(h):
    knots = np.arange(-4, 4 + h / 2, h)
    flow = normalizing.shear([0, 1.0], [1.0, 0], knots, knots**2, given=(0,))
    assert flow.pieces == round(8 / h) + 1
    line = np.linspace(-4, 4, 4097)
    y, log_det = flow.with_log_det(np.column_stack([line, 0 * line]))
    assert abs(np.abs(np.asarray(y[:, 1]) - line**2).max() - h**2 / 4) < 1e-12
    np.testing.assert_array_equal(y[:, 0], line)
    assert (log_det == 0).all()
    drawn = flow.sample(jax.random.key(0), 4000, given=[2.0])
    assert abs(float(drawn[:, 1].mean()) - 4.0) < 4 / np.sqrt(4000)
    density = flow.log_density([[2.0, 4.5]])
    assert abs(float(density[0]) + 0.125 + 0.5 * np.log(2 * np.pi)) < 1e-12


def test_density_integrates_to_one():
    """A bent and stretched Gaussian, midpoints of a grid whose faces meet the kinks."""
    knots, values = np.array([-1.0, 0.0, 1.0]), np.array([-2.0, 0.0, 0.5])
    bent = normalizing.shear([0, 1.0], [1.0, 0], [-1, 0, 1], [1, 0, 1.0])
    flow = normalizing.monotone_map([1.0, 0], knots, values).then(bent)
    assert (
        flow.pieces == (bent @ normalizing.monotone_map([1.0, 0], knots, values)).pieces
    )

    def mass(h):  # midpoints; Richardson below removes the error h^2
        x, y = np.arange(-9, 9, h) + h / 2, np.arange(-8, 18, 0.25)
        grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
        return float(jnp.exp(flow.log_density(grid)).sum()) * h * 0.25

    coarse, fine = mass(1 / 32), mass(1 / 64)
    assert abs((4 * fine - coarse) / 3 - 1) < 1e-6
    assert abs(fine - 1) < 1e-4


def test_field_reproduces_the_flow():
    rng = np.random.default_rng(9)
    flow = normalizing.monotone_map([1.0, 0], [0, 1], [0.0, 1.5]).then(
        normalizing.shear([0, 1.0], [1.0, 0], [-1, 0, 1], [0, -1, 1.0])
    )
    assert flow.pieces == 3
    field = flow.as_field()
    assert len(field.fields) == flow.pieces and isinstance(field, pf.Switched)
    x = rng.normal(size=(30, 2))
    mu = pf.Particles(pf.Euclidean(2), x)
    final = pf.flow(field, mu, field.times[-1], save=2).final
    np.testing.assert_allclose(final.points, flow.forward(x), atol=1e-6)


def test_sample_follows_the_density():
    flow = random_flow(10, pieces=6, d=2)
    x = flow.sample(jax.random.key(1), 20000)
    z = np.asarray(flow.inverse(x))
    assert (
        np.abs(z.mean(0)).max() < 0.04 and np.abs(np.cov(z.T) - np.eye(2)).max() < 0.05
    )
    base = pf.StandardNormal().log_density(jnp.asarray(z))
    _, log_det = flow.with_log_det(z)
    np.testing.assert_allclose(flow.log_density(x), base - log_det, atol=1e-9)


def test_weights_have_gradients():
    flow = random_flow(11, pieces=4, d=2)
    x = np.random.default_rng(12).normal(size=(5, 2))

    def loss(b):
        return (
            pf.NormalizingFlow(flow.w, flow.a, b, flow.durations).log_density(x).sum()
        )

    gradient = jax.grad(loss)(flow.b)
    step = 1e-6 * np.eye(4)
    slopes = [(loss(flow.b + e) - loss(flow.b - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)


ONE = {"w": [[1.0, 0]], "a": [[1.0, 0]], "b": [0.0], "durations": [1.0]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"w": [[1.0, np.nan]]}, "`w` has NaN"),
        ({"a": [[1.0]]}, "shape"),
        ({"b": [0.0, 1.0]}, "one number for each"),
        ({"durations": [-1.0]}, "change the sign"),
        ({"base": "normal"}, "StandardNormal"),
        ({"given": (0,)}, "moves it"),
        ({"given": (2,)}, "different coordinates"),
        ({"given": (0, 1)}, "not all"),
    ],
)
def test_bad_pieces_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        pf.NormalizingFlow(**(ONE | change))


def test_bad_points_are_refused():
    flow = pf.NormalizingFlow(**ONE)
    for x, words in (
        ([[np.nan, 0]], "NaN"),
        ([1.0, 2.0], "one point"),
        ([[1.0, 2.0, 3.0]], r"\(n, 2\)"),
    ):
        for method in (flow.forward, flow.inverse, flow.log_density):
            with pytest.raises(InputError, match=words):
                method(x)
    with pytest.raises(InputError, match="conditions on nothing"):
        flow.sample(jax.random.key(0), 3, given=[1.0])
    with pytest.raises(InputError, match="at least one"):
        normalizing.identity(2).as_field()
    with pytest.raises(InputError, match="flow on R"):
        flow.then(normalizing.identity(3))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0], [0, 1, 2], [0, 2, 1]), "`values` must increase"),
        (([1.0], [0, 0, 2], [0, 1, 2]), "`knots` must increase"),
        (([2.0], [0, 1], [0, 1]), "unit vector"),
        (([1.0], [0, 1], [0, 1, 2]), "equal lengths"),
        (([1.0], [0, np.nan], [0, 1]), "NaN"),
        (([1.0], [0], [0]), "at least two"),
    ],
)
def test_maps_that_are_not_increasing_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        normalizing.monotone_map(*arguments)


def test_shears_along_themselves_are_refused():
    with pytest.raises(InputError, match="orthogonal"):
        normalizing.shear([1.0, 0], [1.0, 1.0], [0, 1], [0, 1])
