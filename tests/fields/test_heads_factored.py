"""Heads as Transformers have them: Q, K of shape (k, d) and V = O U of rank k."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import pushforward as pf
from pushforward.errors import InputError
from pushforward.sums import Exact, FusedGPU

D, RANK, N = 6, 2, 9


def matrices(seed):
    rng = np.random.default_rng(seed)
    shapes = ((RANK, D), (RANK, D), (D, RANK), (RANK, D))
    return [rng.normal(size=shape) for shape in shapes]


def cloud():
    return pf.Particles.uniform(pf.Sphere(D), N, key=jax.random.key(0))


@pytest.mark.parametrize(
    "kind", [pf.Attention, pf.UnnormalizedAttention, pf.CausalAttention]
)
def test_a_pair_is_the_product_of_its_factors(kind):
    Q, K, O, U = matrices(0)
    mu = cloud()
    two, one = kind(2.0, Q, K, (O, U)), kind(2.0, Q, K, O @ U)
    assert_allclose(two(0.0, mu).v, one(0.0, mu).v, atol=1e-12)
    scaled = [f.scaled_drive(0.0, mu, jnp.asarray(1.0)).vector for f in (two, one)]
    assert_allclose(*scaled, atol=1e-12)
    if kind is not pf.CausalAttention:
        x = mu.points[:4]
        assert_allclose(two.at(0.0, x, mu), one.at(0.0, x, mu), atol=1e-12)


def test_a_head_sums_in_few_dimensions(monkeypatch):
    Q, K, O, U = matrices(1)
    widths = []

    class Seen(Exact):
        def __call__(self, kernel):
            widths.append((kernel.keys.shape[1], kernel.values.shape[1]))
            return super().__call__(kernel)

    pf.Attention(2.0, Q, K, (O, U), sums=Seen())(0.0, cloud())
    assert widths == [(RANK, RANK)]


def test_heads_of_pairs_are_evaluated_together():
    parts = [matrices(s) for s in range(3)]
    two = [pf.Attention(1.0, Q, K, (O, U)) for Q, K, O, U in parts]
    one = [pf.Attention(1.0, Q, K, O @ U) for Q, K, O, U in parts]
    mu = cloud()
    right = pf.Heads(one)(0.0, mu).v
    assert_allclose(pf.Heads(two)(0.0, mu).v, right, atol=1e-12)
    fused = [pf.Attention(1.0, *p[:2], p[2:], sums=FusedGPU(16, 16, 1)) for p in parts]
    found = pf.Heads(fused)(0.0, mu.astype("float32")).v
    assert_allclose(found, right, atol=1e-5 * float(np.abs(right).max()))


def test_factors_must_fit():
    with pytest.raises(InputError, match=r"\(d, k\) and \(k, d\)"):
        pf.Attention(1.0, V=(np.ones((4, 2)), np.ones((3, 4))))
