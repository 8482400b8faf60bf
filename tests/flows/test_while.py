"""The loop of a flow against the same steps written out: values and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pushforward.flows.solvers._while import in_place_of, while_loop

X, A = jnp.array([0.1, 0.5, 1.0]), jnp.asarray(2.0)


def looped(a, x):
    """Seven steps; whole numbers travel along, and Python numbers begin it."""

    def step(state):
        i, x, count, total = state
        here = x + 0.1 * jnp.sin(a * x) * count.astype(float)
        return i + 1, here, count, total + jnp.sum(x) * a

    state = while_loop(lambda s: s[0] < 7, step, (0, x, jnp.ones((3,), int), 0.0))
    return jnp.sum(state[1] ** 3) + state[3]


def written_out(a, x):
    total = 0.0
    for _ in range(7):
        x, total = x + 0.1 * jnp.sin(a * x), total + jnp.sum(x) * a
    return jnp.sum(x**3) + total


MANY = jnp.linspace(0.0, 1.0, 4)
WAYS = {
    "value": lambda f: f(A, X),
    "jvp": lambda f: jax.jvp(f, (A, X), (0.3 * A, X + 1)),
    "grad": lambda f: jax.grad(f, (0, 1))(A, X),
    "grad of jit": lambda f: jax.grad(jax.jit(f), (0, 1))(A, X),
    "jacfwd": lambda f: jax.jacfwd(f, (0, 1))(A, X),
    "linearize": lambda f: jax.linearize(f, A, X)[1](A, X),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f, (0, 1)), (0, None))(MANY, X),
    "grad of vmap": lambda f: jax.grad(
        lambda a: jnp.sum(jax.vmap(f, (0, None))(a, X) ** 2)
    )(MANY),
    "forward over backward": lambda f: jax.hessian(f, (0, 1))(A, X),
    "backward over forward": lambda f: jax.jacrev(jax.jacfwd(f, (0, 1)))(A, X),
    "in a scan": lambda f: jax.grad(
        lambda a: jax.lax.scan(lambda x, _: (f(a, x * X), x), 1.0, None, length=3)[0]
    )(A),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_loop_is_what_it_says(way):
    leaves = [jax.tree_util.tree_leaves(WAYS[way](f)) for f in (looped, written_out)]
    for mine, exact in zip(*leaves, strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-11, atol=1e-13)


def test_the_fast_way_has_the_derivatives_of_the_other():
    # |x| by a root that has no derivative at zero, differentiated as another function.
    def length(x):
        return in_place_of(lambda: jnp.sqrt(jnp.sum(x**2)), lambda: jnp.sum(x * 3.0))

    assert float(length(X)) == pytest.approx(float(jnp.linalg.norm(X)))
    np.testing.assert_allclose(jax.grad(length)(0 * X), [3.0, 3.0, 3.0])
