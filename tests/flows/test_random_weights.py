"""Weights drawn per layer: the chain, the diffusion, and one noise for all tokens."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.studies.homogenized._chains import simplex
from pushforward.theory import homogenized_pair

KEY = jax.random.key(7)
REST = 0.0 * pf.Attention(0.0)
SOFT = pf.RandomWeights(4.0, 8**-0.5)


def cosine(mu):
    return mu.points[0] @ mu.points[1]


def layered(noise, mu, t1, h, key=KEY, **options):
    return pf.flow(REST, mu, t1, solver=pf.Layers(h), noise=noise, key=key, **options)


def test_a_layer_is_its_formula():
    """W, W' and V are drawn in this order; values have variance 1/d."""
    mu, d, k, heads = simplex(4, 8, 0.2), 8, 5, 3
    noise = pf.RandomWeights(3.0, 0.4, heads=heads, head_dimension=k)
    found = np.asarray(noise.increment(KEY, jnp.asarray(0.3), mu))
    draw = lambda key, *shape: np.asarray(jax.random.normal(key, shape))  # noqa: E731
    keys, x = jax.random.split(KEY, 3), np.asarray(mu.points)
    W, W_key = draw(keys[0], heads, d, k), draw(keys[1], heads, d, k)
    V, expected = draw(keys[2], heads, d, d) / np.sqrt(d), np.zeros_like(x)
    for h in range(heads):
        A = 0.4**2 * W[h] @ W_key[h].T
        for i in range(4):
            logits = 3.0 * x @ (A @ x[i])
            weights = np.exp(logits - logits.max())
            expected[i] += 0.3 / heads * V[h] @ (weights @ x / weights.sum())
    assert found == pytest.approx(expected, abs=1e-13)


def test_gram_noise_is_a_layer_in_law():
    """E Z_i . Z_j over 4,000 draws: both have (h/d) s_ij d, with h = eta^2 / H."""
    mu, eta, keys = simplex(3, 6, 0.3), 0.5, jax.random.split(KEY, 4000)

    def products(noise, h):
        draw = lambda key: noise.increment(key, jnp.asarray(h), mu)  # noqa: E731
        Z = np.asarray(jax.jit(jax.vmap(draw))(keys))
        return np.einsum("bid,bjd->bij", Z, Z)

    layer = products(pf.RandomWeights(2.0, 0.5, heads=2), eta)
    gram = products(pf.GramNoise(2.0, 0.5, draws=2), eta**2 / 2)
    error = np.hypot(layer.std(0), gram.std(0)) / np.sqrt(4000)
    # nine numbers within 4.5 errors: fails once in 15,000 seeds, and this seed is fixed
    assert (np.abs(layer.mean(0) - gram.mean(0)) < 4.5 * error).all()
    assert layer.mean(0)[0, 0] > 20 * error[0, 0]


def test_an_ensemble_is_many_flows():
    mu = simplex(4, 8, 0.2)
    seen = pf.ensemble(
        SOFT, mu, 8, h=0.25, every=4, observe=cosine, replicas=3, key=KEY, batch=2
    )
    for row, key in zip(seen[2:], jax.random.split(KEY, 3)[2:], strict=True):
        run = layered(SOFT, mu, 2.0, 0.25, key, save=3)
        assert np.asarray(run.observe(cosine)) == pytest.approx(row, abs=1e-14)


def test_m5_1_chain_follows_the_generator():
    """d = 8 at s = 1, eta = .1, 2,000 chains: 4.5 standard errors + eta^2/4."""
    mu = pf.Particles.orthonormal(pf.Sphere(8), 2)
    seen = pf.ensemble(
        pf.RandomWeights(0.0, 1.0), mu, 100, h=0.1, every=100, observe=cosine,
        replicas=2000, key=KEY,
    )[:, -1]  # fmt: skip
    error = seen.std() / np.sqrt(2000)
    exact = homogenized_pair.pair_mean(1.0, 8)
    assert seen.mean() == pytest.approx(exact, abs=4.5 * error + 0.0025)


def test_the_key_is_the_noise_whatever_the_tokens():
    """Tokens of mass zero are carried along and change nothing: the conditional law."""
    mu = simplex(3, 8, 0.2)
    probe = pf.Particles.uniform(pf.Sphere(8), 2, key=jax.random.key(1)).points
    both = pf.Particles(
        pf.Sphere(8), jnp.concatenate([mu.points, probe]), [1 / 3, 1 / 3, 1 / 3, 0, 0]
    )
    h = jnp.asarray(0.25)
    alone, with_probes = (SOFT.increment(KEY, h, m) for m in (mu, both))
    assert np.asarray(with_probes[:3]) == pytest.approx(np.asarray(alone), abs=1e-14)
    assert np.abs(np.asarray(with_probes[3:])).max() > 0.01


def test_coincident_tokens_feel_the_same_noise():
    mu = pf.Particles(pf.Sphere(5), np.eye(2, 5)[[0, 0, 1]])
    push = np.asarray(pf.RandomWeights(1.0, 1.0).increment(KEY, jnp.asarray(0.1), mu))
    assert push[0] == pytest.approx(push[1], abs=1e-15)
    assert np.abs(push[0] - push[2]).max() > 1e-3


@pytest.mark.parametrize("dtype, apart", [("float64", 1e-5), ("float32", 1e-2)])
def test_a_singular_gram_matrix_is_handled(dtype, apart):
    """Cholesky of a collapsed state: finite, tokens part by the root of the jitter."""
    mu = pf.Particles(pf.Sphere(5), np.eye(2, 5)[[0, 0, 0, 1]]).astype(dtype)
    noise = pf.GramNoise(1.0, 1.0, draws=2)
    push = eqx.filter_jit(noise.increment)(KEY, jnp.asarray(0.05), mu)
    assert push.dtype == dtype and np.isfinite(np.asarray(push)).all()
    assert 0 < np.abs(np.asarray(push[0] - push[1])).max() < apart


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda mu: pf.flow(REST, mu, 1.0, noise=SOFT, key=KEY),
            r"`solver` must be Layers\(h\) for RandomWeights",
        ),
        (
            lambda mu: pf.flow(
                REST,
                mu,
                1.0,
                noise=pf.GramNoise(1.0, 1.0),
                solver=pf.Heun(0.1),
                key=KEY,
            ),
            r"`solver` must be Layers\(h\) for GramNoise",
        ),
        (lambda mu: pf.RandomWeights(np.nan, 1.0), "`beta` must be finite"),
        (lambda mu: pf.RandomWeights(1.0, 1.0, heads=0), "`heads` must be an integer"),
        (lambda mu: pf.GramNoise(1.0, 1.0, draws=0), "`draws` must be an integer"),
        (
            lambda mu: pf.GramNoise(1.0, 1.0, head_dimension=0),
            "`head_dimension` must be an integer",
        ),
        (
            lambda mu: pf.ensemble(
                SOFT, mu, 5, h=0.1, every=2, observe=cosine, replicas=1, key=KEY
            ),
            "`layers` must be a multiple of `every`",
        ),
        (
            lambda mu: pf.ensemble(
                3.0, mu, 5, h=0.1, observe=cosine, replicas=1, key=KEY
            ),
            "`by` must be a noise",
        ),
    ],
)
def test_bad_parameters_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call(simplex(3, 8, 0.2))


def test_an_ensemble_of_a_field_with_noise_is_the_flow_of_each_copy():
    mu = pf.Particles.orthonormal(pf.Sphere(3), 3)
    field, noise, key = pf.CausalAttention(2.0), pf.Brownian(0.3), jax.random.key(5)
    where = lambda mu: mu.points  # noqa: E731
    seen = pf.ensemble(
        field, mu, 4, h=0.25, noise=noise, observe=where, replicas=2, key=key
    )
    for copy, own in zip(seen, jax.random.split(key, 2), strict=True):
        layers = pf.Layers(0.25)
        run = pf.flow(field, mu, 1.0, save=5, solver=layers, noise=noise, key=own)
        np.testing.assert_allclose(copy, run.points, atol=1e-14)
    with pytest.raises(pf.errors.InputError, match="all copies are equal"):
        pf.ensemble(field, mu, 4, h=0.25, observe=where, replicas=2, key=key)
