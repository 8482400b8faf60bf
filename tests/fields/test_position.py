"""Position biases and frozen atoms, against the softmax written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.fields import (
    Alibi,
    Background,
    ByLag,
    PositionAttention,
    Window,
)


def written_out(x, beta, bias, Q, K, V):
    """The definition, token by token."""
    out = np.zeros_like(x)
    for k in range(len(x)):
        logit = np.array(
            [beta * (Q @ x[k]) @ (K @ x[j]) + bias(k - j) for j in range(k + 1)]
        )
        a = np.exp(logit - logit.max())
        y = (a / a.sum()) @ (x[: k + 1] @ V.T)
        out[k] = y - (y @ x[k]) * x[k]
    return out


@pytest.mark.parametrize(
    "bias, rule",
    [
        (Alibi(0.7), lambda r: -0.7 * r),
        (ByLag([0.0, 2.0, -1.0]), lambda r: [0.0, 2.0, -1.0][min(r, 2)]),
        (Window(3), lambda r: 0.0 if r < 3 else -np.inf),
    ],
)
def test_biased_attention_is_its_formula(sine, bias, rule):
    rng = np.random.default_rng(5)
    Q, K, V = rng.standard_normal((3, 3, 3))
    x = sine(9, 3)
    mu = pf.Particles(pf.Sphere(3), x)
    found = PositionAttention(2.0, bias, Q, K, V)(0.0, mu).v
    expected = written_out(x, 2.0, rule, Q, K, V)
    assert np.abs(np.asarray(found) - expected).max() < 1e-13


def test_without_bias_it_is_causal_attention(sine):
    mu = pf.Particles(pf.Sphere(3), sine(9, 3))
    plain = pf.CausalAttention(4.0)(0.0, mu).v
    for bias in (Alibi(0.0), ByLag([1.5]), Window(9)):
        found = PositionAttention(4.0, bias)(0.0, mu).v
        assert np.abs(np.asarray(found - plain)).max() < 1e-14


def test_strong_alibi_sees_only_the_neighbor(sine):
    """As the slope grows token k attends to itself; token k - 1 has e^{-slope}."""
    mu = pf.Particles(pf.Sphere(3), sine(9, 3))
    v = np.asarray(PositionAttention(0.0, Alibi(20.0))(0.0, mu).v)
    x = np.asarray(mu.points)
    pull = x[:-1] - (x[:-1] * x[1:]).sum(1, keepdims=True) * x[1:]
    assert v[1:] == pytest.approx(np.exp(-20.0) * pull, rel=1e-7)


def test_background_is_causal_attention_with_a_frozen_prefix(sine):
    x = sine(9, 3)
    whole = pf.CausalAttention(4.0)(0.0, pf.Particles(pf.Sphere(3), x)).v
    free = pf.Particles(pf.Sphere(3), x[4:])
    found = Background(pf.CausalAttention(4.0), x[:4])(0.0, free).v
    assert np.abs(np.asarray(found - whole[4:])).max() < 1e-15


def test_background_weights(sine):
    """An atom of weight 2/n counts like two atoms."""
    x = sine(5, 3)
    free = pf.Particles(pf.Sphere(3), x[1:])
    twice = Background(pf.Attention(4.0), np.stack([x[0], x[0]]))
    heavy = Background(pf.Attention(4.0), x[:1], [0.5])
    assert np.asarray(heavy.weights) == pytest.approx([0.5])
    found, expected = heavy(0.0, free).v, twice(0.0, free).v
    assert np.abs(np.asarray(found - expected)).max() < 1e-15


@pytest.mark.slow
def test_background_merges_to_exponential_times():
    """A free token 90 degrees from a frozen atom, beta = 40."""
    mu = pf.Particles(pf.Circle(), pf.Circle().points(np.array([np.pi / 2])))
    field = Background(pf.Attention(40.0), pf.Circle().points(np.array([0.0])))
    rule = lambda mu: mu.points[0, 0] >= 0.999  # noqa: E731
    run = pf.flow(
        field, mu, 1e30, save=pf.LogTimes(1.0, 3), merge=pf.Merge(), until=rule
    )
    assert run.times[-1] == pytest.approx(2 * 2.946022e15, rel=1e-5)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: PositionAttention(1.0, 0.5), "`bias` must be a bias such as Alibi"),
        (lambda: Alibi(np.nan), "`slope` must be finite"),
        (lambda: ByLag([]), "`values` must be a list of biases"),
        (lambda: ByLag([-np.inf, 0.0]), "`values` must not hold NaN, and the bias"),
        (lambda: Window(0), "`width` must be an integer of at least 1"),
        (lambda: Background(3.0, np.eye(2)), "`field` must be a field"),
        (lambda: Background(pf.Attention(1.0), [1.0]), "`atoms` must have shape"),
        (
            lambda: Background(pf.Attention(1.0), np.eye(2), [1.0]),
            "`weights` must have shape",
        ),
        (
            lambda: Background(pf.Attention(1.0), np.eye(2), [1.0, 0.0]),
            "`weights` of frozen atoms must be positive",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_atoms_of_another_dimension_are_refused(sine):
    mu = pf.Particles(pf.Sphere(3), sine(4, 3))
    with pytest.raises(InputError, match="`atoms` must have 3 coordinates"):
        Background(pf.Attention(1.0), np.eye(2))(0.0, mu)


def test_gradients_flow_through_biases(sine):
    x = jnp.asarray(sine(6, 3))
    mu = pf.Particles(pf.Sphere(3), x)

    def speed(slope):
        return jnp.sum(PositionAttention(2.0, Alibi(slope))(0.0, mu).v ** 2)

    slope, h = 0.3, 1e-6
    numeric = (speed(slope + h) - speed(slope - h)) / (2 * h)
    assert float(jax.grad(speed)(slope)) == pytest.approx(float(numeric), rel=1e-6)


def test_matrices_are_those_of_other_heads(sine):
    """A pair V = (O, U) is their product; matrices that do not fit are refused."""
    O, U = np.random.default_rng(6).standard_normal((2, 3, 2))
    mu = pf.Particles(pf.Sphere(3), sine(5, 3))
    pair = PositionAttention(2.0, Alibi(0.5), V=(O, U.T))(0.0, mu).v
    whole = PositionAttention(2.0, Alibi(0.5), V=O @ U.T)(0.0, mu).v
    assert np.abs(np.asarray(pair - whole)).max() < 1e-13
    with pytest.raises(InputError, match="`Q` must be square"):
        PositionAttention(2.0, Alibi(0.5), Q=np.ones((2, 3)))
    with pytest.raises(InputError, match="`Q` must act on points"):
        PositionAttention(2.0, Alibi(0.5), Q=np.eye(2))(0.0, mu)
