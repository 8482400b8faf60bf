"""The cosine histogram of many tokens, from some of their pairs."""

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.observables import cosine_histogram


def test_random_pairs_estimate_all_pairs():
    mu = pf.Particles.uniform(pf.Sphere(3), 400, key=jax.random.key(0))
    exact, edges = cosine_histogram(mu, bins=10)
    found, same = cosine_histogram(mu, bins=10, pairs=200_000, key=jax.random.key(1))
    assert np.array_equal(edges, same)
    # Five standard errors in ten bins: fails once in 2e5 keys, and the key is fixed.
    assert (np.abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / 200_000)).all()


def test_a_token_is_never_paired_with_itself():
    mu = pf.Particles(pf.Circle(), [[1.0, 0.0], [-1.0, 0.0]])
    share, _ = cosine_histogram(mu, bins=2, pairs=1000, key=jax.random.key(0))
    assert share.tolist() == [1.0, 0.0]


def test_a_million_tokens_ask_for_a_sample():
    mu = pf.Particles.uniform(pf.Circle(), 300_000, key=jax.random.key(0))
    with pytest.raises(InputError, match="pairs=10_000_000"):
        cosine_histogram(mu)
    with pytest.raises(InputError, match="needs a `key`"):
        cosine_histogram(mu, pairs=10)
