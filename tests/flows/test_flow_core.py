"""The verb: orders, splits, determinism, stopping, switching, precision, outcomes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf

TIGHT = pf.Adaptive(rtol=1e-12, atol=1e-13)
A = np.cos(np.arange(9.0)).reshape(3, 3)
W = np.sin(np.arange(9.0)).reshape(3, 3)
SMOOTH = pf.Perceptron(W, A, None, jnp.tanh)
BLOCK = pf.Attention(2.0) + SMOOTH  # two terms that do not commute


@pytest.fixture
def mu(sine):
    return pf.Particles(pf.Sphere(3), sine(8, 3))


def end(field, mu, t1, solver, **options):
    return np.asarray(
        pf.flow(field, mu, t1, save=2, solver=solver, **options).final.points
    )


def slope(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize(
    ("make", "steps"),
    [(pf.Heun, 2.0 ** -np.arange(4, 10)), (pf.LieTrotter, 2.0 ** -np.arange(4, 10))],
    ids=["Heun", "LieTrotter"],
)
def test_fixed_steps_have_their_order(mu, make, steps):
    reference = end(BLOCK, mu, 1.0, TIGHT)
    errors = [np.abs(end(BLOCK, mu, 1.0, make(h)) - reference).max() for h in steps]
    assert slope(steps, errors) == pytest.approx(make.order, abs=0.1)


def test_layers_have_order_one(mu):
    """Measured on attention alone: with V = I the clock is slow, error O(h)."""
    field, steps = pf.Attention(2.0), 2.0 ** -np.arange(4, 10)
    reference = end(field, mu, 1.0, TIGHT)
    errors = [
        np.abs(end(field, mu, 1.0, pf.Layers(h)) - reference).max() for h in steps
    ]
    assert slope(steps, errors) == pytest.approx(pf.Layers.order, abs=0.1)


def test_adaptive_has_the_order_of_its_scheme(mu):
    """Fixed steps of Tsitouras' scheme: the order that error control relies on."""
    reference = np.asarray(end(BLOCK, mu, 1.0, TIGHT))
    solver = pf.Adaptive()

    @jax.jit
    def run(h, count):
        def body(k, m):
            t = k * h
            return solver.attempt(BLOCK, t, h, m, BLOCK(t, m), None).mu

        return jax.lax.fori_loop(0, count, body, mu).points

    counts = np.array([4, 6, 8, 12, 16, 24])
    errors = [np.abs(np.asarray(run(1.0 / c, c)) - reference).max() for c in counts]
    assert slope(1.0 / counts, errors) == pytest.approx(solver.order, abs=0.1)


def test_adaptive_error_follows_the_tolerance(mu):
    reference = end(BLOCK, mu, 1.0, TIGHT)
    for rtol in (1e-4, 1e-6, 1e-8):
        solver = pf.Adaptive(rtol=rtol, atol=rtol)
        error = np.abs(end(BLOCK, mu, 1.0, solver) - reference).max()
        assert error < 10 * rtol


@pytest.mark.parametrize("solver", [pf.Adaptive(), pf.Heun(0.01), pf.Layers(0.01)])
def test_stays_on_the_sphere(mu, solver):
    for sign in (1.0, -1.0):  # repulsion amplifies errors of the radius
        field = pf.Attention(2.0, V=sign * np.eye(3))
        run = pf.flow(field, mu, 50.0, save=5, solver=solver)
        radii = np.linalg.norm(run.points, axis=-1)
        assert np.abs(radii - 1).max() <= 1e-12


def test_stays_on_the_sphere_for_a_hundred_thousand_steps(mu):
    run = pf.flow(
        pf.Attention(2.0, V=-np.eye(3)), mu, 1000.0, save=2, solver=pf.Heun(0.01)
    )
    assert int(run.steps) == 100_000
    assert np.abs(np.linalg.norm(run.points, axis=-1) - 1).max() <= 1e-12


@pytest.mark.parametrize("solver", [pf.Heun(0.125), pf.Layers(0.125)])
def test_time_splits_bitwise_on_the_grid(mu, solver):
    field = pf.Attention(2.0)
    half = pf.flow(field, mu, 1.0, save=2, solver=solver).final
    split = pf.flow(field, half, 2.0, t0=1.0, save=2, solver=solver).final
    whole = pf.flow(field, mu, 2.0, save=2, solver=solver).final
    np.testing.assert_array_equal(split.points, whole.points)


def test_time_splits_to_the_tolerance(mu):
    field = pf.Attention(2.0)
    half = pf.flow(field, mu, 1.0, save=2, solver=TIGHT).final
    split = pf.flow(field, half, 2.0, t0=1.0, save=2, solver=TIGHT).final
    whole = end(field, mu, 2.0, TIGHT)
    np.testing.assert_allclose(split.points, whole, atol=1e-11)


def test_backward_in_time_is_the_field_with_a_minus(mu):
    there = pf.flow(pf.Attention(2.0), mu, 1.0, save=2, solver=TIGHT).final
    back = pf.flow(-1.0 * pf.Attention(2.0), there, 1.0, save=2, solver=TIGHT).final
    np.testing.assert_allclose(back.points, mu.points, atol=1e-10)


def test_the_same_call_gives_the_same_bits(mu):
    first = end(pf.Attention(2.0), mu, 2.0, pf.Adaptive())
    for _ in range(20):
        again = end(pf.Attention(2.0), mu, 2.0, pf.Adaptive())
        np.testing.assert_array_equal(again, first)


def test_saved_frames_do_not_change_the_accuracy(mu):
    few = pf.flow(pf.Attention(2.0), mu, 2.0, save=2, solver=TIGHT)
    many = pf.flow(pf.Attention(2.0), mu, 2.0, save=50, solver=TIGHT)
    np.testing.assert_allclose(few.final.points, many.final.points, atol=1e-11)
    np.testing.assert_array_equal(many.final.points, many.points[-1])


def test_frames_are_where_they_were_asked_for(mu):
    times = [0.3, 0.7, 1.0]
    run = pf.flow(pf.Attention(2.0), mu, 2.0, save=times, solver=TIGHT)
    np.testing.assert_array_equal(run.times, [0.0, 0.3, 0.7, 1.0, 2.0])
    np.testing.assert_allclose(
        run.points[2], end(pf.Attention(2.0), mu, 0.7, TIGHT), atol=1e-11
    )
    np.testing.assert_array_equal(run.at(0.7).points, run.points[2])
    log = pf.flow(pf.Attention(2.0), mu, 2.0, save=pf.LogTimes(0.02, 3), solver=TIGHT)
    np.testing.assert_allclose(log.times, [0.0, 0.02, 0.2, 2.0])


def test_layers_are_whole(mu):
    """A hundred thousand layers are that many, whatever the rounding of t + h."""
    for h, count in ((0.1, 1000), (0.01, 10_000), (0.3, 333)):
        run = pf.flow(pf.Attention(1.0), mu, h * count, save=2, solver=pf.Layers(h))
        assert int(run.steps) == count
        assert run.times[-1] == pytest.approx(h * count)


def test_a_layer_is_residual_then_normalize_for_each_sublayer(mu):
    h = 0.25
    x = np.asarray(mu.points)
    normalize = lambda y: y / np.linalg.norm(y, axis=1, keepdims=True)  # noqa: E731
    logits = np.exp(2.0 * x @ x.T)
    x = normalize(x + h * (logits / logits.sum(axis=1, keepdims=True)) @ x)
    x = normalize(x + h * np.tanh(x @ A.T) @ W.T)
    np.testing.assert_allclose(end(BLOCK, mu, h, pf.Layers(h)), x, atol=1e-15)


@pytest.mark.parametrize("solver", [TIGHT, pf.Heun(0.125)], ids=["Adaptive", "Heun"])
def test_switching_is_flowing_one_field_after_the_other(mu, solver):
    """No stage may look across a switch, nor beyond the end of the schedule."""
    one, two = pf.Attention(1.0), pf.Attention(6.0)
    first = pf.flow(one, mu, 1.0, save=2, solver=solver).final
    second = pf.flow(two, first, 2.0, t0=1.0, save=2, solver=solver).final
    field = pf.Switched([one, two], [0.0, 1.0, 2.0])
    run = pf.flow(field, mu, 2.0, save=2, solver=solver)
    np.testing.assert_allclose(run.final.points, second.points, atol=1e-11)
    if isinstance(solver, pf.Heun):
        assert int(run.steps) == 16
    inside = jax.jit(
        lambda m: pf.flow(field, m, 2.0, save=2, solver=solver).final.points
    )
    np.testing.assert_allclose(inside(mu), second.points, atol=1e-11)


def test_until_stops_at_the_first_time_the_rule_holds(mu):
    rule = lambda m: m.points[0] @ m.points[1] > 0.2  # noqa: E731
    run = pf.flow(pf.Attention(2.0), mu, 20.0, save=5, solver=TIGHT, until=rule)
    assert run.outcome.kind == "until"
    t = float(run.times[-1])
    assert bool(rule(run.final))
    before = end(pf.Attention(2.0), mu, t - 1e-9, TIGHT)
    assert before[0] @ before[1] <= 0.2
    assert f"{t:.4g}"[:4] in run.outcome.message


def test_observables_are_those_of_the_frames(mu):
    E = pf.InteractionEnergy(2.0)
    run = pf.flow(pf.Attention(2.0), mu, 1.0, save=5, observe={"E": E})
    np.testing.assert_array_equal(run.observed["E"], run.observe(E))
    lean = pf.flow(
        pf.Attention(2.0), mu, 1.0, save=pf.OnlyObservables(5), observe={"E": E}
    )
    np.testing.assert_array_equal(lean.observed["E"], run.observed["E"])
    np.testing.assert_array_equal(lean.final.points, run.final.points)
    assert lean.measures is None


def test_tracing_gives_what_the_host_gives(mu):
    field = pf.Attention(2.0)
    host = pf.flow(field, mu, 1.0, save=5)
    traced = jax.jit(lambda m: pf.flow(field, m, 1.0, save=5).points)(mu)
    np.testing.assert_allclose(traced, host.points, atol=1e-12)


def test_tracing_takes_as_many_steps_as_it_needs(mu):
    """Ten thousand steps between two frames must not stop half way in silence."""
    field, solver = pf.Attention(2.0), pf.Heun(1e-4)
    traced = jax.jit(
        lambda m: pf.flow(field, m, 1.0, save=2, solver=solver).final.points
    )
    host = pf.flow(field, mu, 1.0, save=2, solver=solver)
    assert int(host.steps) == 10_000
    np.testing.assert_allclose(traced(mu), host.final.points, atol=1e-12)


@pytest.mark.parametrize(
    "solver",
    [pf.Adaptive(1e-5, 1e-5), pf.Heun(0.05), pf.Layers(0.05), pf.LieTrotter(0.05)],
)
def test_float32_flows_stay_float32(mu, solver):
    E = pf.InteractionEnergy(2.0)
    field = pf.GradientFlow(-1.0 * E, pf.WassersteinFisherRao(0.7, 2.0))
    run = pf.flow(field, mu.astype(jnp.float32), 1.0, save=3, solver=solver)
    assert run.points.dtype == jnp.float32 and run.weights.dtype == jnp.float32
    double = pf.flow(field, mu, 1.0, save=3, solver=solver)
    np.testing.assert_allclose(run.points, double.points, atol=1e-4)
    np.testing.assert_allclose(run.weights, double.weights, atol=1e-4)


def test_more_dimensions_than_tokens_cost_nothing_and_change_nothing():
    """P1 notes: for d > n the Gram matrix evolves by itself."""
    mu = pf.Particles.uniform(pf.Sphere(20), 6, key=jax.random.key(1))
    run = pf.flow(pf.Attention(3.0), mu, 3.0, save=3, solver=TIGHT)
    eye = np.eye(20)  # a matrix, even the identity, forbids the rotation
    plain = pf.flow(pf.Attention(3.0, V=eye), mu, 3.0, save=3, solver=TIGHT)
    np.testing.assert_allclose(run.points, plain.points, atol=1e-11)


def test_brownian_motion_forgets_at_the_rate_of_the_laplacian():
    """E<x(t), x(0)> = exp(-(d-1) sigma^2 t / 2); 20,000 paths, five deviations."""
    n, sigma, t = 20_000, 0.8, 0.5
    for space in (pf.Sphere(3), pf.Circle()):
        start = jnp.tile(jnp.eye(space.d)[:1], (n, 1))
        mu = pf.Particles(space, start)
        still = pf.Perceptron(np.zeros((space.d, 1)), np.zeros((1, space.d)))
        noise, key = pf.Brownian(sigma), jax.random.key(4)
        run = pf.flow(still, mu, t, save=2, solver=pf.Heun(0.02), noise=noise, key=key)
        cosine = np.asarray(run.final.points[:, 0])
        expected = np.exp(-(space.d - 1) * sigma**2 * t / 2)
        deviation = cosine.std() / np.sqrt(n)
        assert cosine.mean() == pytest.approx(expected, abs=5 * deviation + 2e-3)


def test_noise_depends_on_the_key_and_on_nothing_else(mu):
    options = dict(save=3, solver=pf.Heun(0.1), noise=pf.Brownian(0.3))
    run = lambda seed: np.asarray(  # noqa: E731
        pf.flow(pf.Attention(2.0), mu, 1.0, key=jax.random.key(seed), **options).points
    )
    np.testing.assert_array_equal(run(0), run(0))
    assert np.abs(run(0)[-1] - run(1)[-1]).max() > 1e-2


class TestOutcome:
    def test_reached(self, mu):
        assert pf.flow(pf.Attention(2.0), mu, 1.0, save=2).outcome.kind == "reached t1"

    def test_one_cluster(self, mu):
        run = pf.flow(pf.Attention(0.0), mu, 40.0, save=2)
        assert run.outcome.kind == "one cluster"

    def test_stationary(self):
        pair = pf.Particles(pf.Sphere(3), [[0.0, 0, 1], [0.0, 0, -1]])
        run = pf.flow(pf.Attention(1.0), pair, 1.0, save=2)
        assert run.outcome.kind == "stationary"

    def test_frozen(self):
        pair = pf.Particles.orthonormal(pf.Sphere(3), 2)
        run = pf.flow(pf.Attention(1000.0), pair, 1e6, save=2)
        assert run.outcome.kind == "frozen"
        assert "not convergence" in run.outcome.message

    def test_weights_that_still_change_are_not_rest(self, mu):
        """Fisher-Rao moves mass and no token: this is not a stationary state."""
        field = pf.GradientFlow(pf.InteractionEnergy(2.0), pf.FisherRao())
        run = pf.flow(field, mu, 1.0, save=2)
        assert np.abs(run.weights[1] - run.weights[0]).max() > 1e-3
        assert run.outcome.kind == "reached t1"

    def test_budget(self, mu):
        solver = pf.Adaptive(max_steps=3)
        run = pf.flow(pf.Attention(2.0), mu, 10.0, save=2, solver=solver)
        assert run.outcome.kind == "budget"
        assert run.times[-1] < 10.0
        assert "max_steps" in run.outcome.message

    def test_a_budget_that_just_suffices(self, mu):
        solver = pf.Heun(0.125, max_steps=8)
        run = pf.flow(pf.Attention(2.0), mu, 1.0, save=2, solver=solver)
        assert run.outcome.kind == "reached t1" and int(run.steps) == 8

    def test_diverged(self, mu):
        run = pf.flow(pf.UnnormalizedAttention(1e6), mu, 1.0, save=2)
        assert run.outcome.kind == "diverged"
        assert np.isfinite(run.final.points).all()
        assert "log_scale" in run.outcome.message

    def test_massless_particles_have_an_outcome(self, mu):
        weights = np.array([0.5, 0.5, 0, 0, 0, 0, 0, 0])
        light = pf.Particles(mu.space, mu.points, weights)
        run = pf.flow(pf.Attention(2.0), light, 1.0, save=2)
        assert np.isfinite(run.final.points).all()
        assert run.outcome.kind == "reached t1"
        assert np.isfinite(light.merge(0.5).points).all()


class TestEdges:
    def test_huge_beta(self, mu):
        run = pf.flow(pf.Attention(1e6), mu, 10.0, save=2)
        np.testing.assert_allclose(run.final.points, mu.points, atol=1e-12)
        assert run.outcome.kind == "frozen"
        assert np.isfinite(float(pf.InteractionEnergy(1e6)(mu)))

    def test_strong_repulsion(self, mu):
        run = pf.flow(pf.Attention(-50.0), mu, 10.0, save=2)
        assert np.isfinite(run.final.points).all()
        E = pf.InteractionEnergy(-50.0)
        assert float(E(run.final)) != float(E(mu))

    def test_one_token_stands_still(self):
        mu = pf.Particles(pf.Sphere(3), [[0.6, 0.0, 0.8]])
        for field in (pf.Attention(4.0), pf.CausalAttention(4.0)):
            run = pf.flow(field, mu, 10.0, save=3)
            np.testing.assert_allclose(
                run.points, mu.points[None].repeat(3, 0), atol=1e-15
            )
            assert run.outcome.kind == "stationary"

    def test_antipodal_tokens_stay_for_a_while(self):
        mu = pf.Particles(pf.Sphere(3), [[0.6, 0.0, 0.8], [-0.6, 0.0, -0.8]])
        run = pf.flow(pf.Attention(4.0), mu, 1.0, save=2)
        np.testing.assert_allclose(run.final.points, mu.points, atol=1e-14)
        assert run.outcome.kind == "stationary"

    def test_coincident_tokens_stay_together(self, mu):
        x = np.asarray(mu.points).copy()
        x[5] = x[2]
        run = pf.flow(pf.Attention(4.0), mu.moved(jnp.asarray(x)), 2.0, save=2)
        np.testing.assert_allclose(run.final.points[5], run.final.points[2], atol=1e-15)

    def test_five_thousand_tokens(self):
        mu = pf.Particles.uniform(pf.Sphere(3), 5000, key=jax.random.key(0))
        field = pf.Attention(9.0)
        v = np.asarray(jax.jit(lambda m: field(0.0, m).v)(mu))
        x = np.asarray(mu.points)
        logits = np.exp(9.0 * (x[:7] @ x.T - 1))
        push = logits @ x / logits.sum(axis=1, keepdims=True)
        tangent = push - (push * x[:7]).sum(axis=1, keepdims=True) * x[:7]
        np.testing.assert_allclose(v[:7], tangent, atol=1e-13)
        run = pf.flow(field, mu, 1e-3, save=2, solver=pf.Heun(1e-3))
        np.testing.assert_allclose(run.final.points, x + 1e-3 * v, atol=1e-5)

    def test_many_dimensions(self):
        mu = pf.Particles.uniform(pf.Sphere(1024), 64, key=jax.random.key(0))
        run = pf.flow(pf.Attention(4.0), mu, 1.0, save=2)
        x = np.asarray(run.final.points)
        assert x.shape == (64, 1024)
        assert np.abs(np.linalg.norm(x, axis=1) - 1).max() < 1e-12
        gain = pf.InteractionEnergy(4.0)
        assert float(gain(run.final)) > float(gain(mu))

    def test_no_time_is_one_frame(self, mu):
        run = pf.flow(pf.Attention(4.0), mu, 0.0)
        assert len(run) == 1
        np.testing.assert_array_equal(run.final.points, mu.points)


def test_a_loop_over_frames_ends():
    mu = pf.Particles.equispaced(pf.Circle(), 3)
    run = pf.flow(pf.Attention(1.0), mu, 0.5, save=3, solver=pf.Layers(0.25))
    assert len(list(run)) == 3
    with pytest.raises(IndexError, match="frame 3"):
        run[3]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("weighted", [False, True])
def test_recorded_frames_have_weights_of_their_precision(dtype, weighted):
    """Weights in double beside single points: energies of recorded layers failed."""
    x = np.eye(3)[[[0, 1, 2], [1, 1, 2]]].astype(dtype)
    weights = np.array([0.5, 0.25, 0.25]) if weighted else None
    run = pf.Trajectory.recorded(pf.Sphere(3), x, weights=weights)
    expected = "float64" if dtype == "float16" else dtype
    for mu in (run[0], run[1], run.final):
        assert mu.points.dtype == mu.log_weights.dtype == expected
        assert pf.InteractionEnergy(1.0)(mu).dtype == expected
