"""Random keys by purpose, so that one seed serves a whole experiment."""

import zlib

import jax
from jaxtyping import PRNGKeyArray

from pushforward._checks import whole


def key_for(seed: int, purpose: str) -> PRNGKeyArray:
    """The key of a seed for a named purpose: the same seed gives the same bits.

    Adding a new purpose never changes the numbers of the others.

    >>> mu = Particles.uniform(Sphere(3), 64, key=key_for(0, "tokens"))
    """
    seed = whole("seed", seed, 0)
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(purpose.encode()))
