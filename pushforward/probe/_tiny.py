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
from pushforward.probe._attention_weights import HeadWeights
from pushforward.probe._bert import Bert, BertLayer
from pushforward.probe._gpt2 import Gpt2, Gpt2Layer
from pushforward.probe._loading import Model
from pushforward.probe._transformer import About, AbstractTransformer, run_layers

WORDS, LENGTH, MOST = 12, 24, 6  # vocabulary, tokens per sequence, largest count told
BATCH, RATE = 24, 2e-3
FLOAT = jnp.float32  # as models are trained


def tiny_post_norm(
    depth: int = 2, d: int = 32, heads: int = 4, *, key: PRNGKeyArray
) -> Bert:
    """A random model with LayerNorm after each sublayer, as in BERT; full attention."""
    about = _about("tiny post-norm", depth)
    key_words, key_places, key_layers = jax.random.split(key, 3)
    return Bert(
        words=jax.random.normal(key_words, (WORDS, d), FLOAT),
        positions=0.1 * jax.random.normal(key_places, (LENGTH, d), FLOAT),
        kind=jnp.zeros(d, FLOAT),
        norm=jnp.stack([jnp.ones(d, FLOAT), jnp.zeros(d, FLOAT)]),
        lift=None,
        layers=BertLayer(**_layers(depth, d, heads, key_layers)),
        rotary=None,
        about=about,
    )


def tiny_pre_norm(
    depth: int = 2, d: int = 32, heads: int = 4, *, key: PRNGKeyArray
) -> Gpt2:
    """A random model with LayerNorm before each sublayer, as in GPT-2; no mask."""
    about = _about("tiny pre-norm", depth)
    key_words, key_places, key_layers = jax.random.split(key, 3)
    return Gpt2(
        words=jax.random.normal(key_words, (WORDS, d), FLOAT),
        positions=0.1 * jax.random.normal(key_places, (LENGTH, d), FLOAT),
        norm=jnp.stack([jnp.ones(d, FLOAT), jnp.zeros(d, FLOAT)]),
        layers=Gpt2Layer(**_layers(depth, d, heads, key_layers)),
        rotary=None,
        about=about,
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
    transformer: AbstractTransformer, steps: int = 250, *, key: PRNGKeyArray
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


def _about(name: str, depth: int) -> About:
    depth = whole("depth", depth, 1, "It is a number of layers.")
    return About(name, depth, LENGTH, WORDS, 1e-5, "gelu_new", causal=False)


def _layers(depth: int, d: int, heads: int, key: PRNGKeyArray) -> dict:
    """Random weights of the usual scales: variance 1/d, biases zero."""
    if d % heads:
        raise InputError(f"`heads` = {heads} must divide `d` = {d}.")
    k, m = d // heads, 4 * d
    keys = jax.random.split(key, 6)

    def draw(key: PRNGKeyArray, *shape: int) -> Array:
        scale = float(shape[-1]) ** -0.5
        return scale * jax.random.normal(key, (depth, *shape), FLOAT)

    zeros = lambda *shape: jnp.zeros((depth, *shape), FLOAT)  # noqa: E731
    norm = jnp.stack([jnp.ones(d, FLOAT), jnp.zeros(d, FLOAT)] * 2)
    return {
        "heads": HeadWeights(
            Q=draw(keys[0], heads, k, d) / float(k) ** 0.5,
            K=draw(keys[1], heads, k, d),
            V=draw(keys[2], heads, k, d),
            O=draw(keys[3], heads, d, k) / float(heads) ** 0.5,
            q=zeros(heads, k),
            k=zeros(heads, k),
            v=zeros(heads, k),
            o=zeros(d),
        ),
        "norms": jnp.broadcast_to(norm, (depth, 4, d)),
        "A": draw(keys[4], m, d),
        "b": zeros(m),
        "W": draw(keys[5], d, m),
        "c": zeros(d),
    }


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
        x = run_layers(transformer, transformer.embed(ids), transformer.depth)[0]
        return transformer.last(x) @ readout.T

    return jax.vmap(one)(ids)


def _loss(arrays, rest, ids):
    logs = jax.nn.log_softmax(_logits(arrays, rest, ids), axis=-1)
    return -jnp.mean(jnp.take_along_axis(logs, _counts(ids)[..., None], axis=-1))
