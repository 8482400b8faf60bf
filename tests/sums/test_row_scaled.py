"""The sum for long times: many atoms by pairs, few or far ones densely, the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pushforward.sums import Kernel, RowScaled
from pushforward.sums import _exact as row_scaled

MANY = 400  # more than 2**17 pairs


def kernel_of(beta, seed=0, spread=4.0, dead=0, causal=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(MANY, 3)) + spread * np.eye(3)[rng.integers(0, 3, MANY)]
    x = jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    log_weights = np.log(rng.dirichlet(np.ones(MANY)))
    log_weights[:dead] = -np.inf
    return Kernel(
        x,
        x,
        x,
        jnp.asarray(log_weights),
        jnp.asarray(beta),
        own=True,
        unit=True,
        causal=causal,
    )


def assert_same(found, exact):
    assert_allclose(found.log_total, exact.log_total, atol=1e-11)
    # The pull of the others itself, not only its effect on the total.
    pull = jnp.exp(found.log_scale - exact.log_scale)[:, None] * found.moment
    assert_allclose(pull, exact.moment, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("dead", [0, 150])
@pytest.mark.parametrize("beta", [0.0, 9.0, 300.0, 5000.0, 1e6, -9.0])
def test_pairs_and_dense_agree(beta, dead):
    kernel = kernel_of(beta, dead=dead)
    assert_same(jax.jit(RowScaled())(kernel), row_scaled._all_at_once(kernel))


def test_causal_sums_agree():
    kernel = kernel_of(9.0, causal=True)
    found, exact = RowScaled()(kernel), row_scaled._all_at_once(kernel)
    assert_allclose(found.log_total, exact.log_total, atol=1e-12)


def test_pulls_below_the_smallest_number_keep_their_digits():
    """Two tight clusters at an angle: the far one pulls with e^{-5000} at the most."""
    kernel = kernel_of(5000.0)
    x = jnp.eye(2)[jnp.arange(MANY) % 2]
    alone = jnp.where(jnp.arange(MANY) < 2, -jnp.log(2.0), -jnp.inf)
    kernel = Kernel(x, x, x, alone, kernel.beta, own=True, unit=True)
    found = RowScaled()(kernel)
    assert_allclose(found.log_scale[0], -jnp.log(2.0), atol=1e-9)
    assert_allclose(found.moment[0], [0.0, 1.0], atol=1e-12)
    assert float(found.log_own[0] - found.log_scale[0]) == pytest.approx(5000.0)


def test_the_derivative_is_that_of_the_dense_sum():
    kernel = kernel_of(9.0)

    def effect(beta, x, summed):
        own = Kernel(x, x, x, kernel.log_weights, beta, own=True, unit=True)
        return jnp.sum(jnp.sin(summed(own).average()))

    found = jax.grad(effect, (0, 1))(kernel.beta, kernel.keys, RowScaled())
    exact = jax.grad(effect, (0, 1))(kernel.beta, kernel.keys, row_scaled._all_at_once)
    assert_allclose(found[0], exact[0], rtol=1e-9)
    assert_allclose(found[1], exact[1], atol=1e-11)
