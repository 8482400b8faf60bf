"""A tiny Transformer of our own, trained in seconds: what training does to collapse.

The task is counting: every token must say how often it occurs in its sequence, which
one layer can do by attending to tokens like itself and no token can do alone.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.probe.models._attention_weights import HeadWeights
from pushforward.probe.models._layer import About, Layer, Norm
from pushforward.probe.models._loading import Model
from pushforward.probe.models._transformer import Transformer, Words, through

WORDS, LENGTH, MOST = 12, 24, 6  # vocabulary, tokens per sequence, largest count told
BATCH, RATE = 24, 2e-3
FLOAT = jnp.float32  # as models are trained


def tiny_post_norm(
    depth: int = 2, d: int = 32, heads: int = 4, *, key: PRNGKeyArray
) -> Transformer:
    """A random model with LayerNorm after each sublayer, as in BERT; full attention."""
    return _tiny("post-norm", "after", depth, d, heads, key)


def tiny_pre_norm(
    depth: int = 2, d: int = 32, heads: int = 4, *, key: PRNGKeyArray
) -> Transformer:
    """A random model with LayerNorm before each sublayer, as in GPT-2; no mask."""
    return _tiny("pre-norm", "before", depth, d, heads, key)


def _tiny(
    scheme: str, place: str, depth: int, d: int, heads: int, key: PRNGKeyArray
) -> Transformer:
    depth = whole("depth", depth, 1, "It is a number of layers.")
    if d % heads:
        raise InputError(f"`heads` = {heads} must divide `d` = {d}.")
    key_words, key_places, key_layers = jax.random.split(key, 3)
    post = place == "after"
    return Transformer(
        embed=Words(
            words=jax.random.normal(key_words, (WORDS, d), FLOAT),
            positions=0.1 * jax.random.normal(key_places, (LENGTH, d), FLOAT),
            norm=_norm(d) if post else None,
        ),
        layers=_layers(place, depth, d, heads, key_layers),
        norm=None if post else _norm(d),
        about=About(
            name=f"tiny {scheme}",
            depth=depth,
            context=LENGTH,
            vocabulary=WORDS,
            activation="gelu_new",
            causal=False,
            scheme=scheme,
        ),
    )


@dataclasses.dataclass(frozen=True)
class TinyTraining:
    """A trained tiny model, the losses of its training, and its held-out accuracy.

    `chance` is the accuracy of the best constant answer.
    """

    model: Model
    losses: Float[np.ndarray, "steps"]
    accuracy: float
    chance: float


def train_tiny(
    transformer: Transformer, steps: int = 250, *, key: PRNGKeyArray
) -> TinyTraining:
    """Train a tiny model to count its tokens, by Adam on fresh random sequences."""
    try:
        import optax
    except ImportError:
        raise InputError(
            "training needs optax. Run `pip install 'pushforward[control]'`."
        ) from None
    steps = whole("steps", steps, 1, "It is a number of batches.")
    d = transformer.last(transformer.embed(jnp.zeros(2, int))).shape[1]
    key_readout, key_batches, key_test = jax.random.split(key, 3)
    readout = jax.random.normal(key_readout, (MOST, d), FLOAT) / float(d) ** 0.5
    arrays, rest = eqx.partition((transformer, readout), eqx.is_inexact_array)
    adam = optax.adam(RATE)

    def step(carry, key):
        arrays, state = carry
        loss, slope = jax.value_and_grad(_loss)(arrays, rest, _batch(key, BATCH))
        with jax.numpy_dtype_promotion("standard"):  # optax mixes integers and floats
            updates, state = adam.update(slope, state)
        return (optax.apply_updates(arrays, updates), state), loss

    train = jax.jit(lambda carry, keys: jax.lax.scan(step, carry, keys))
    keys = jax.random.split(key_batches, steps)
    (arrays, _), losses = train((arrays, adam.init(arrays)), keys)
    trained, _ = eqx.combine(arrays, rest)
    test = _batch(key_test, 256)
    guesses = jnp.argmax(_logits(arrays, rest, test), axis=-1)
    counts = _counts(test)
    chance = np.bincount(np.asarray(counts).ravel()).max() / counts.size
    accuracy = float(jnp.mean(guesses == counts))
    return TinyTraining(
        Model(trained, None), np.asarray(losses), accuracy, float(chance)
    )


def counting_text(key: PRNGKeyArray) -> Int[np.ndarray, "n"]:
    """One sequence of the task, as token ids."""
    return np.asarray(_batch(key, 1)[0])


def _norm(d: int) -> Norm:
    return Norm(jnp.ones(d, FLOAT), jnp.zeros(d, FLOAT), eps=1e-5, centered=True)


def _layers(
    place: str, depth: int, d: int, heads: int, key: PRNGKeyArray
) -> tuple[Layer, ...]:
    """Random weights of the usual scales: variance 1/d, biases zero."""
    k, m = d // heads, 4 * d
    keys = jax.random.split(key, 6)

    def draw(key: PRNGKeyArray, *shape: int) -> Array:
        scale = float(shape[-1]) ** -0.5
        return scale * jax.random.normal(key, (depth, *shape), FLOAT)

    zeros = lambda *shape: jnp.zeros((depth, *shape), FLOAT)  # noqa: E731
    parts = {
        "Q": draw(keys[0], heads, k, d) / float(k) ** 0.5,
        "K": draw(keys[1], heads, k, d),
        "V": draw(keys[2], heads, k, d),
        "O": draw(keys[3], heads, d, k) / float(heads) ** 0.5,
        **{name: zeros(heads, k) for name in "qkv"},
        "o": zeros(d),
    }
    A, W = draw(keys[4], m, d), draw(keys[5], d, m)
    return tuple(
        Layer(
            heads=HeadWeights(**{name: part[i] for name, part in parts.items()}),
            norms=({place: _norm(d)}, {place: _norm(d)}),
            A=A[i],
            b=jnp.zeros(m, FLOAT),
            W=W[i],
            c=jnp.zeros(d, FLOAT),
        )
        for i in range(depth)
    )


def _batch(key: PRNGKeyArray, size: int) -> Int[Array, "b n"]:
    """Sequences over few letters, how few drawn per sequence, so that counts vary."""
    key_count, key_letters = jax.random.split(key)
    few = jax.random.randint(key_count, (size, 1), 6, WORDS + 1)
    return jax.random.randint(key_letters, (size, LENGTH), 0, 10**6) % few


def _counts(ids: Int[Array, "b n"]) -> Int[Array, "b n"]:
    """How often each token occurs in its sequence, less one, at most MOST - 1."""
    same = (ids[:, :, None] == ids[:, None, :]).sum(axis=2)
    return jnp.minimum(same, MOST) - 1


def _logits(arrays, rest, ids):
    transformer, readout = eqx.combine(arrays, rest)

    def one(ids):
        return through(transformer, transformer.embed(ids)) @ readout.T

    return jax.vmap(one)(ids)


def _loss(arrays, rest, ids):
    logs = jax.nn.log_softmax(_logits(arrays, rest, ids), axis=-1)
    return -jnp.mean(jnp.take_along_axis(logs, _counts(ids)[..., None], axis=-1))
