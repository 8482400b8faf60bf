"""Random keys by purpose, so that one seed serves a whole experiment."""

import zlib

import jax
from jaxtyping import PRNGKeyArray

from pushforward._checks import is_traced, whole
from pushforward.errors import InputError


def key_for(seed, purpose: str) -> PRNGKeyArray:
    """The key of a seed for a named purpose: the same seed gives the same bits.

    Adding a new purpose never changes the numbers of the others.

    >>> mu = Particles.uniform(Sphere(3), 64, key=key_for(0, "tokens"))
    """
    if not is_traced(seed):
        seed = whole("seed", seed, 0)
        if seed >= 2**63:
            raise InputError(f"`seed` must be below 2^63, got {str(seed)[:20]}.")
    if not isinstance(purpose, str):
        raise InputError(f"`purpose` must be a name such as 'tokens', got {purpose!r}.")
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(purpose.encode()))
