"""The perceptron and its output bias."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError

RNG = np.random.default_rng(0)
W, A, b, c = (RNG.normal(size=s) for s in ((3, 5), (5, 3), 5, 3))
MU = pf.Particles(pf.Euclidean(3), RNG.normal(size=(7, 3)))


@pytest.mark.parametrize("activation", [jax.nn.relu, jnp.tanh])
def test_the_output_bias_is_added(activation):
    field = pf.Perceptron(W, A, b, activation, c=c)
    x = np.asarray(MU.points)
    expected = np.asarray(activation(jnp.asarray(x @ A.T + b))) @ W.T + c
    np.testing.assert_allclose(field(0.0, MU).v, expected, atol=1e-13)
    plain = field.without_output_bias()
    assert plain.c is None and plain.W.shape == (3, 6)
    np.testing.assert_allclose(plain(0.0, MU).v, expected, atol=1e-13)


def test_an_activation_that_is_zero_at_one_has_no_unit_that_is_always_on():
    field = pf.Perceptron(W, A, b, lambda x: jnp.maximum(x - 1, 0.0), c=c)
    with pytest.raises(InputError, match="`activation` is zero at 1"):
        field.without_output_bias()


def test_the_output_bias_is_stored(tmp_path):
    field = pf.Perceptron(W, A, b, jnp.tanh, c=c)
    run = pf.flow(field, MU, 0.1, save=2, store=tmp_path / "run")
    again = pf.load(tmp_path / "run").field
    np.testing.assert_array_equal(again.c, field.c)
    np.testing.assert_array_equal(again(0.0, MU).v, run.field(0.0, MU).v)
