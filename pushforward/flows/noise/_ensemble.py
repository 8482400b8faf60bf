"""Many runs of one experiment at once: the law of what is observed, not one path."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from pushforward._checks import Number, measure, positive, prng_key, whole
from pushforward.errors import InputError, NumericalError
from pushforward.fields import AbstractField
from pushforward.flows._advance import known_switches
from pushforward.flows._times import layer_starts
from pushforward.flows.noise._noise import AbstractNoise
from pushforward.flows.solvers._fixed import Layers
from pushforward.measures import Particles


def ensemble(
    by: AbstractField | AbstractNoise,
    mu: Particles,
    layers: int,
    *,
    h: Number,
    noise: AbstractNoise | None = None,
    observe: Callable[[Particles], Array],
    replicas: int,
    key: PRNGKeyArray,
    every: int = 1,
    batch: int = 4096,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Observations of independent copies of x <- normalize(x + h drive + noise).

    All start from mu and are moved `by` a field with a `noise`, or by a noise alone. An
    array of shape (replicas, 1 + layers // every, ...): the start, then after every
    `every` layers of size h. Copy r is what `flow` gives with `Layers(h)` and the key
    `jax.random.split(key, replicas)[r]`. Copies run side by side, `batch` at a time;
    `progress` is called with (done, replicas).

    >>> mu = Particles.orthonormal(Sphere(8), 2)
    >>> cosine = lambda mu: mu.points[0] @ mu.points[1]
    >>> r = ensemble(GramNoise(0.0, 1.0, draws=1), mu, 5, h=0.1, observe=cosine,
    ...              replicas=3, key=jax.random.key(0))
    >>> r.shape
    (3, 6)
    """
    field, noise = _moved_by(by, noise)
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
    switches = np.empty(0) if field is None else known_switches(field)
    times = jnp.asarray(
        layer_starts(float(step) * np.arange(layers), 0.0, step, switches)
    )
    for begin in range(0, replicas, batch):
        some = keys[begin : begin + batch]
        parts.append(
            np.asarray(_run(field, noise, mu, some, step, times, every, observe))
        )
        if progress is not None:
            progress(min(begin + batch, replicas), replicas)
    seen = np.concatenate(parts)
    if not np.isfinite(seen).all():
        raise NumericalError(
            "an observation is not finite. Take a smaller h, or a smaller beta.", seen
        )
    return seen


def _moved_by(by, noise) -> tuple[AbstractField | None, AbstractNoise]:
    """The field, if there is one, and the noise."""
    if isinstance(by, AbstractNoise) and noise is None:
        return None, by
    if isinstance(by, AbstractField) and isinstance(noise, AbstractNoise):
        return by, noise
    raise InputError(
        "`by` must be a noise such as GramNoise, or a field together with "
        f"`noise=Brownian(0.1)`, without which all copies are equal; got {by!r} and "
        f"noise={noise!r}."
    )


@eqx.filter_jit
def _run(
    field, noise, mu: Particles, keys, h: Number, times, every: int, observe
) -> Array:
    field = None if field is None else field.started(mu)

    def step(key, state, layer):
        dW = noise.increment(jax.random.fold_in(key, layer), h, state)
        if field is None:
            return state.moved(state.space.project(state.points + dW))
        t = times[layer]
        motion = field(t, state)  # not used by layers
        return Layers(h).attempt(field, t, h, state, motion, dW).mu

    def one(key):
        def frame(state, index):
            body = lambda k, m: step(key, m, index * every + k)  # noqa: E731
            state = jax.lax.fori_loop(0, every, body, state)
            return state, observe(state)

        _, seen = jax.lax.scan(frame, mu, jnp.arange(len(times) // every))
        return jnp.concatenate([jnp.asarray(observe(mu))[None], seen])

    return jax.vmap(one)(keys)
