"""Derivatives through `flow`, backward, against central differences; vmap."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf

SOLVER = pf.Adaptive(rtol=1e-11, atol=1e-12)
_a, _b = np.arange(3)[:, None], np.arange(3)[None, :]
WEIGHTS = {
    "beta": jnp.asarray(2.0),
    "Q": jnp.asarray(np.cos(_a + 2 * _b)),
    "K": jnp.asarray(np.sin(2 * _a + _b + 1)),
    "V": jnp.asarray(np.cos(_a * _b + 1)),
}


@pytest.fixture(scope="module")
def problem():
    """A loss of all parameters and of the initial points, compiled once."""
    i, k = np.arange(5)[:, None], np.arange(3)[None, :]
    x = np.sin(1.0 + 3 * i + 7 * k + i * k)
    x = jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    probe = jnp.asarray(np.cos(np.arange(15.0)).reshape(5, 3))
    base = pf.Particles(pf.Sphere(3), x)

    def loss(parameters):
        field = pf.Attention(**{k: v for k, v in parameters.items() if k != "points"})
        mu = base.moved(base.space.project(parameters["points"]))
        return jnp.sum(
            probe * pf.flow(field, mu, 1.0, save=2, solver=SOLVER).final.points
        )

    parameters = WEIGHTS | {"points": x}
    return jax.jit(loss), jax.jit(jax.grad(loss)), parameters


@pytest.mark.parametrize("name", ["beta", "Q", "K", "V", "points"])
def test_reverse_mode_against_central_differences(problem, name):
    loss, gradient, parameters = problem
    direction = jnp.asarray(np.sin(1.0 + np.arange(parameters[name].size)))
    direction = direction.reshape(parameters[name].shape)
    shifted = lambda s: float(  # noqa: E731
        loss(parameters | {name: parameters[name] + s * direction})
    )
    h = 1e-3  # fourth order: the error is h^4, the rounding 1e-12 / h
    numerical = (
        8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))
    ) / (12 * h)
    exact = float(jnp.sum(gradient(parameters)[name] * direction))
    assert exact == pytest.approx(numerical, rel=1e-6)
    assert abs(exact) > 1e-3


def test_vmap_over_beta_is_a_loop(problem):
    x = problem[2]["points"]
    mu = pf.Particles(pf.Sphere(3), x)
    betas = jnp.array([0.0, 1.0, 4.0, 9.0])
    run = lambda b: pf.flow(pf.Attention(b), mu, 2.0, save=5)  # noqa: E731
    together = eqx.filter_jit(eqx.filter_vmap(run))(betas)
    assert together.points.shape == (4, 5, 5, 3)
    for k, beta in enumerate(betas):
        alone = run(beta)
        np.testing.assert_allclose(together.points[k], alone.points, atol=1e-12)
        assert int(together.steps[k]) == int(alone.steps)


def cubic_loss(mu, **options):
    """A loss of the temperature that is cheap to compile."""

    def loss(beta):
        field, solver = pf.CausalAttention(beta), pf.Heun(0.1)
        end = pf.flow(field, mu, 1.0, save=2, solver=solver, **options).final
        return jnp.sum(end.points**3)

    return loss


MU = pf.Particles.uniform(pf.Circle(), 3, key=jax.random.key(1))


@pytest.mark.slow
def test_curvature_of_a_loss_forward_over_backward():
    loss = cubic_loss(MU)
    slope = jax.jit(jax.grad(loss))
    curvature = float(jax.jit(jax.hessian(loss))(2.0))
    h = 1e-4
    numerical = float(slope(2.0 + h) - slope(2.0 - h)) / (2 * h)
    assert curvature == pytest.approx(numerical, rel=1e-6) and abs(curvature) > 1e-4


@pytest.mark.slow
def test_many_gradients_at_once_are_those_one_by_one():
    loss, betas = cubic_loss(MU), jnp.array([0.5, 2.0])
    one = jax.jit(jax.grad(loss))
    for together in (jax.vmap(jax.grad(loss)), jax.vmap(jax.jacfwd(loss))):
        np.testing.assert_allclose(
            jax.jit(together)(betas), [one(beta) for beta in betas], rtol=1e-12
        )


def test_gradients_through_noise():
    loss = jax.jit(cubic_loss(MU, noise=pf.Brownian(0.2), key=jax.random.key(3)))
    h = 1e-5
    numerical = float(loss(2.0 + h) - loss(2.0 - h)) / (2 * h)
    assert float(jax.grad(loss)(2.0)) == pytest.approx(numerical, rel=1e-6)
    assert abs(numerical) > 1e-4


@pytest.mark.parametrize(
    "space", [pf.Sphere(3), pf.Circle(), pf.Euclidean(2)], ids=repr
)
def test_lengths_have_derivatives_where_they_vanish(space):
    x = pf.Particles.gaussian(space, 1, key=jax.random.key(0)).points[0]
    for other in (x, -x):
        assert np.isfinite(jax.grad(space.distance)(x, other)).all()
    if isinstance(space, pf.Circle):
        return  # it has neither exp nor log
    v, zero = space.tangent(x, jnp.ones_like(x)), jnp.zeros_like(x)
    walked = jax.jvp(lambda v: space.exp(x, v), (zero,), (v,))[1]
    back = jax.jvp(lambda y: space.log(x, y), (x,), (v,))[1]
    np.testing.assert_allclose(walked, v, atol=1e-15)
    np.testing.assert_allclose(back, v, atol=1e-15)


def test_observables_of_balanced_and_massless_tokens_have_derivatives():
    x = pf.Particles.equispaced(pf.Circle(), 4).points
    square = pf.Particles(pf.Circle(), x, [0.5, 0.0, 0.5, 0.0])
    for f in (pf.observables.order_parameter, pf.observables.effective_rank):
        of = lambda x, w: f(square.moved(x, w))  # noqa: E731, B023
        slopes = jax.grad(of, (0, 1))(square.points, square.log_weights)
        assert all(np.isfinite(slope).all() for slope in slopes)


def test_where_nothing_drives_a_normalized_token_there_is_a_derivative():
    mu = pf.Particles.orthonormal(pf.Sphere(3), 3)
    drift = lambda V: jnp.sum(  # noqa: E731
        pf.UnitNorm(pf.Attention(1.0, V=V))(0.0, mu).v
    )
    assert np.isfinite(jax.grad(drift)(jnp.zeros((3, 3)))).all()


def test_the_time_of_a_switch_has_a_derivative_and_is_met_under_jit(problem):
    """dx/ds at the switch is the difference of both velocities, carried to the end."""
    mu = pf.Particles(pf.Sphere(3), problem[2]["points"])
    fields = [pf.Attention(1.0), pf.Attention(9.0, V=-jnp.eye(3))]

    def ends(s):
        field = pf.Switched(fields, jnp.array([-1.0, 0.0, 9.0]).at[1].set(s))
        run = pf.flow(field, mu, 1.0, save=[0.5], solver=pf.Heun(0.1))
        return run.points[1:, :, 0]

    @jax.jit
    def both_ways(s):
        value, slope = jax.jvp(ends, (s,), (jnp.ones(()),))
        return value, slope, jax.grad(lambda s: jnp.sum(ends(s)))(s)

    s, h, value = jnp.asarray(0.25), 1e-4, jax.jit(ends)
    found, slope, back = both_ways(s)
    np.testing.assert_allclose(found, ends(s), atol=1e-14)  # the steps of the host
    numerical = (value(s + h) - value(s - h)) / (2 * h)
    assert np.abs(slope).max() > 0.1
    np.testing.assert_allclose(slope, numerical, atol=2e-3)  # of the order of the steps
    assert float(back) == pytest.approx(float(jnp.sum(slope)), rel=1e-9)
    assert not np.abs(both_ways(jnp.asarray(-0.5))[1]).any()  # before the flow began
