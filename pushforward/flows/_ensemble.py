"""Many runs of one noise at once: the law of what is observed, not one path."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from pushforward._checks import measure, positive, prng_key, whole
from pushforward.errors import InputError, NumericalError
from pushforward.flows._noise import AbstractNoise
from pushforward.measures import Particles


def ensemble(
    noise: AbstractNoise,
    mu: Particles,
    layers: int,
    *,
    h: float,
    observe: Callable[[Particles], Array],
    replicas: int,
    key: PRNGKeyArray,
    every: int = 1,
    batch: int = 4096,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Observations of independent copies of x <- normalize(x + noise), all from mu.

    An array of shape (replicas, 1 + layers // every, ...): the start, then after every
    `every` layers of size h. Copy r is what `flow` gives with `Layers(h)`, no drift and
    the key `jax.random.split(key, replicas)[r]`. Copies run side by side, `batch` at a
    time; `progress` is called with (done, replicas).

    >>> mu = Particles.orthonormal(Sphere(8), 2)
    >>> cosine = lambda mu: mu.points[0] @ mu.points[1]
    >>> r = ensemble(GramNoise(0.0, 1.0, draws=1), mu, 5, h=0.1, observe=cosine,
    ...              replicas=3, key=jax.random.key(0))
    >>> r.shape
    (3, 6)
    """
    if not isinstance(noise, AbstractNoise):
        raise InputError(f"`noise` must be a noise such as GramNoise, got {noise!r}.")
    measure("mu", mu)
    if not callable(observe):
        raise InputError(f"`observe` must be a function of a measure, got {observe!r}.")
    layers, every = whole("layers", layers, 1), whole("every", every, 1)
    replicas, batch = whole("replicas", replicas, 1), whole("batch", batch, 1)
    if layers % every:
        raise InputError(f"`layers` must be a multiple of `every`: {layers}, {every}.")
    prng_key("key", key)
    step = positive("h", h)
    keys, parts = jax.random.split(key, replicas), []
    for begin in range(0, replicas, batch):
        some = keys[begin : begin + batch]
        parts.append(np.asarray(_run(noise, mu, some, step, layers, every, observe)))
        if progress is not None:
            progress(min(begin + batch, replicas), replicas)
    seen = np.concatenate(parts)
    if not np.isfinite(seen).all():
        raise NumericalError(
            "an observation is not finite. Take a smaller h, or a smaller beta.", seen
        )
    return seen


@eqx.filter_jit
def _run(noise, mu: Particles, keys, h, layers: int, every: int, observe) -> Array:
    def step(key, state, layer):
        push = noise.increment(jax.random.fold_in(key, layer), h, state)
        return state.moved(state.space.project(state.points + push))

    def one(key):
        def frame(state, index):
            body = lambda k, m: step(key, m, index * every + k)  # noqa: E731
            state = jax.lax.fori_loop(0, every, body, state)
            return state, observe(state)

        _, seen = jax.lax.scan(frame, mu, jnp.arange(layers // every))
        return jnp.concatenate([jnp.asarray(observe(mu))[None], seen])

    return jax.vmap(one)(keys)
