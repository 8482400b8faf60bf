"""What is asked of all pairs is asked row by row: no table is held."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.fields import Alibi, DecayingAttention, HardRelaxation
from pushforward.flows.merging._merge import Slots, lowest_in_reach
from pushforward.observables import ClosePairs, effective_rank
from pushforward.sums import _by_rows, by_rows

N = 150  # two blocks of rows, the second one not full
MU = pf.Particles.uniform(pf.Sphere(3), N, key=jax.random.key(0))


def lowest(mu):
    blank = jnp.full(mu.n, -jnp.inf)
    slots = Slots(mu.points, mu.log_weights, jnp.arange(mu.n), blank, blank)
    return lowest_in_reach(mu.space, slots, 0.3)


ASKED = {
    "hard attention": HardRelaxation(V=np.diag([1.0, 2.0, 3.0])),
    "decaying attention": DecayingAttention(4.0, 3.0),
    "position attention": pf.fields.PositionAttention(4.0, Alibi(0.5)),
    "close pairs": ClosePairs(0.9),
    "merging": lowest,
}


def answer(name):
    """With the gradient by the tokens, for a field."""
    asked = ASKED[name]
    if not isinstance(asked, pf.fields.AbstractField):
        return asked(MU)
    v = lambda x: asked(0.0, MU.moved(x)).v  # noqa: E731
    value, pulled = jax.vjp(v, MU.points)
    return value, pulled(jnp.cos(value))


@pytest.mark.parametrize("name", ASKED)
def test_blocks_of_rows_give_what_the_whole_table_gives(name, monkeypatch):
    whole = answer(name)
    monkeypatch.setattr(_by_rows, "DENSE_PAIRS", 1)
    blocks = answer(name)
    jax.tree_util.tree_map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=1e-13), blocks, whole
    )


def test_no_table_is_made():
    """A billion pairs; only shapes are computed."""
    x = jax.ShapeDtypeStruct((32_768, 3), jnp.float64)
    traced = jax.make_jaxpr(
        lambda x: by_rows(lambda i: (x[i] @ x.T).max(axis=1), len(x), len(x))
    )(x)
    sizes = [
        np.prod(v.aval.shape, dtype=int)
        for equation in traced.jaxpr.eqns
        for v in equation.outvars
    ]
    assert max(sizes) <= 32_768 * 3


def test_the_rank_of_many_tokens_needs_no_table():
    mu = pf.Particles.uniform(pf.Sphere(3), 200_000, key=jax.random.key(1))
    assert effective_rank(mu) == pytest.approx(3.0, abs=1e-3)
