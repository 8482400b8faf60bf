"""Flows have derivatives both ways, against central differences: every field."""

import contract_examples as examples
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf

ALL = examples.examples(examples.FIELDS)
CHEAP = pf.Adaptive(1e-10, 1e-12, scheme=diffrax.Bosh3())  # compiles in half the time


def both_ways(loss, at, direction):
    """The derivative of a loss by jvp, by grad, and by central differences."""

    @jax.jit
    def exact(at):
        _, forward = jax.jvp(loss, (at,), (direction,))
        dots = jax.tree_util.tree_map(jnp.vdot, jax.grad(loss)(at), direction)
        return forward, sum(jax.tree_util.tree_leaves(dots))

    value = jax.jit(loss)

    def shifted(s):
        move = lambda a, d: a + s * d  # noqa: E731
        return float(value(jax.tree_util.tree_map(move, at, direction)))

    h = 1e-3  # fourth order
    near, far = shifted(h) - shifted(-h), shifted(2 * h) - shifted(-2 * h)
    return *map(float, exact(at)), (8 * near - far) / (12 * h)


def check(field, mu, t1=1.0, solver=None, near=2e-5):
    """Every real array of a field and the tokens move at once."""
    real = lambda a: eqx.is_inexact_array(a) and not jnp.iscomplexobj(a)  # noqa: E731
    arrays, rest = eqx.partition(field, real)
    probe = jnp.cos(jnp.arange(float(mu.points.size))).reshape(mu.points.shape)
    heavy = jnp.sin(jnp.arange(1.0, mu.n + 1))

    def loss(at):
        arrays, x = at
        field, start = eqx.combine(arrays, rest), mu.moved(mu.space.project(x))
        end = pf.flow(field, start, t1, save=2, solver=solver).final
        return jnp.sum(probe * end.points) + jnp.sum(heavy * end.weights)

    at = arrays, mu.points
    move = lambda a: jnp.cos(jnp.arange(float(a.size))).reshape(a.shape)  # noqa: E731
    direction = jax.tree_util.tree_map(move, at)
    if hasattr(field, "tie"):  # what counts as a tie jumps with it
        still = eqx.tree_at(lambda f: f.tie, direction[0], jnp.zeros(()))
        direction = still, direction[1]
    forward, backward, numerical = both_ways(loss, at, direction)
    assert abs(forward) > 1e-4
    assert forward == pytest.approx(backward, rel=1e-9)
    assert forward == pytest.approx(numerical, rel=near)


# At a kink of relu a step is chosen for the tokens; its derivative is off by the root
# of their error, so that it is small errors that show whether it is right.
KINKED = ((None, 2e-2), (pf.Adaptive(1e-12, 1e-14), 2e-4))


def kinked(field):
    """Whether some perceptron of a field has a kink."""
    parts = jax.tree_util.tree_leaves(field, is_leaf=lambda x: hasattr(x, "activation"))
    return any(getattr(part, "activation", None) is jax.nn.relu for part in parts)


def test_both_ways_take_the_same_steps_at_a_kink():
    """Of a hundred steps and more, some are taken again on the way back."""
    W, A = np.cos(np.arange(12.0)).reshape(3, 4), np.sin(np.arange(12.0)).reshape(4, 3)
    field, mu = pf.Perceptron(W, A), examples.tokens("", 4)

    def loss(x):
        start = mu.moved(mu.space.project(x))
        solver = pf.Adaptive(1e-12, 1e-14)
        return jnp.sum(pf.flow(field, start, 2.0, save=2, solver=solver).final.points)

    forward, backward = jax.jit(jax.jacfwd(loss)), jax.jit(jax.grad(loss))
    np.testing.assert_allclose(forward(mu.points), backward(mu.points), atol=1e-12)


# Tokens that rest: the first under a causal mask; dependent tokens with d > n.
def test_a_token_at_rest_has_derivatives_both_ways_by_default():
    check(pf.CausalAttention(4.0), examples.tokens("", 4))


def test_a_token_alone_at_rest():
    mu = pf.Particles(pf.Sphere(3), [[0.0, 0.6, 0.8]])
    check(pf.Attention(2.0), mu, solver=CHEAP)


def test_dependent_tokens_in_many_dimensions():
    x = np.sin(1.0 + 3.0 * np.arange(15).reshape(3, 5) ** 1.5)
    x[2] = x[1]
    mu = pf.Particles.normalized(pf.Sphere(5), x)
    check(pf.Attention(2.0), mu, solver=CHEAP)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "field"), [item[:2] for item in ALL], ids=[item[2] for item in ALL]
)
def test_every_field_has_derivatives_both_ways(name, field):
    mu = examples.tokens(name, 4)
    if name == "MixNorm":  # it begins on the unit sphere
        mu = mu.moved(pf.Sphere(3).project(mu.points))
    if kinked(field):
        for solver, near in KINKED:
            check(field, mu, 0.7, solver, near)
        return
    # Best matches jump later; the derivative is one between jumps.
    check(field, mu, 0.05 if hasattr(field, "tie") else 0.7)
