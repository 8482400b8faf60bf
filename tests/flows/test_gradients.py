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
