"""BERT and ALBERT: encoders with full attention and normalization after each sublayer.

x <- LN(x + attention(x)), x <- LN(x + W s(A x + b) + c)
[devlin2019bert, lan2020albert]
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward.errors import InputError
from pushforward.probe._attention_weights import (
    HeadWeights,
    attend,
    head_weights,
)
from pushforward.probe._transformer import (
    About,
    AbstractTransformer,
    Sublayers,
    activation_of,
    layer_norm,
    stacked,
    taken,
)


class BertLayer(eqx.Module):
    """One layer: attention, its norm (gain, bias), the perceptron, its norm."""

    heads: HeadWeights
    norms: Float[Array, "4 d"]
    A: Float[Array, "m d"]
    b: Float[Array, "m"]
    W: Float[Array, "d m"]
    c: Float[Array, "d"]


class Bert(AbstractTransformer):
    """A BERT-type encoder; with one shared layer and a factored embedding, ALBERT."""

    words: Float[Array, "v e"]
    positions: Float[Array, "p e"]
    kind: Float[Array, "e"]
    norm: Float[Array, "2 e"]
    lift: tuple[Float[Array, "d e"], Float[Array, "d"]] | None
    layers: Any  # BertLayer, stacked
    about: About = eqx.field(static=True)
    rotary: None

    def embed(self, ids: Int[Array, "n"]) -> Float[Array, "n d"]:
        """Words, positions and kind of sentence, normalized; ALBERT lifts them."""
        x = self.words[ids] + self.positions[: len(ids)] + self.kind[None, :]
        x = layer_norm(x, self.norm[0], self.norm[1], self.about.eps)
        return x if self.lift is None else x @ self.lift[0].T + self.lift[1][None, :]

    def reads(self, layer: BertLayer, x):
        """x itself: it is normalized already."""
        return x

    def last(self, x):
        """x itself."""
        return x

    def heads(self, layer: BertLayer) -> HeadWeights:
        """The attention weights of a layer."""
        return layer.heads

    def mlp(self, layer: BertLayer):
        """W, A, b, c; no gate."""
        return layer.W, layer.A, layer.b, layer.c, None

    def apply(self, layer: BertLayer, x):
        """Attention, norm, perceptron, norm."""
        attention, update = attend(layer.heads, x, causal=False)
        y = layer_norm(x + update, layer.norms[0], layer.norms[1], self.about.eps)
        z = self.activation(y @ layer.A.T + layer.b[None, :]) @ layer.W.T
        z = layer_norm(
            y + z + layer.c[None, :], layer.norms[2], layer.norms[3], self.about.eps
        )
        return z, Sublayers(x, attention, update)


def bert(config: dict[str, Any], arrays: dict[str, np.ndarray], name: str) -> Bert:
    """A Bert from the configuration and weights of a BERT or ALBERT model."""
    albert = config["model_type"] == "albert"
    groups = config.get("num_hidden_groups", 1), config.get("inner_group_num", 1)
    if albert and groups != (1, 1):
        raise InputError("ALBERT is read with one group of one layer, got more groups.")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise InputError("only absolute positions are read for BERT.")
    prefix = next((p for p in ("", "bert.", "albert.") if f"{p}{_WORDS}" in arrays), "")
    arrays = {k.removeprefix(prefix): v for k, v in arrays.items()}
    d, m = config["hidden_size"], config["intermediate_size"]
    names, count = (_ALBERT, 1) if albert else (_BERT, config["num_hidden_layers"])
    heads = config["num_attention_heads"]
    layers = [_layer(arrays, names, k, heads, d, m) for k in range(count)]
    about = About(
        name=name,
        depth=config["num_hidden_layers"],
        context=config["max_position_embeddings"],
        vocabulary=config["vocab_size"],
        eps=float(config["layer_norm_eps"]),
        activation=activation_of(config, "hidden_act"),
        causal=False,
        shared=albert,
    )
    embeddings = _embeddings(config, arrays, albert)
    return Bert(**embeddings, layers=stacked(layers), rotary=None, about=about)


def _embeddings(config, arrays: dict[str, np.ndarray], albert: bool) -> dict[str, Any]:
    """Words, positions, the first kind of sentence, their norm, and ALBERT's lift."""
    d = config["hidden_size"]
    e = config["embedding_size"] if albert else d
    norm = [taken(arrays, f"embeddings.LayerNorm.{part}", (e,)) for part in _PARTS]
    kinds = taken(arrays, _KINDS, (config["type_vocab_size"], e))
    positions = taken(arrays, _POSITIONS, (config["max_position_embeddings"], e))
    lift = None
    if albert:
        into = "encoder.embedding_hidden_mapping_in"
        shapes = {"weight": (d, e), "bias": (d,)}
        lift = tuple(
            jnp.asarray(taken(arrays, f"{into}.{part}", shape))
            for part, shape in shapes.items()
        )
    return {
        "words": jnp.asarray(taken(arrays, _WORDS, (config["vocab_size"], e))),
        "positions": jnp.asarray(positions),
        "kind": jnp.asarray(kinds[0]),
        "norm": jnp.asarray(np.stack(norm)),
        "lift": lift,
    }


_PARTS = ("weight", "bias")
_WORDS = "embeddings.word_embeddings.weight"
_KINDS = "embeddings.token_type_embeddings.weight"
_POSITIONS = "embeddings.position_embeddings.weight"
_BERT = {
    "layer": "encoder.layer.{}.",
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "dense": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "in": "intermediate.dense",
    "out": "output.dense",
    "norm2": "output.LayerNorm",
}
_ALBERT = {
    "layer": "encoder.albert_layer_groups.{}.albert_layers.0.",
    "query": "attention.query",
    "key": "attention.key",
    "value": "attention.value",
    "dense": "attention.dense",
    "norm1": "attention.LayerNorm",
    "in": "ffn",
    "out": "ffn_output",
    "norm2": "full_layer_layer_norm",
}


def _layer(arrays, names: dict[str, str], k: int, heads: int, d: int, m: int):
    start = names["layer"].format(k)

    def get(part: str, kind: str, shape: tuple) -> np.ndarray:
        return taken(arrays, f"{start}{names[part]}.{kind}", shape)

    parts = ("query", "key", "value", "dense")
    matrices = [get(part, "weight", (d, d)) for part in parts]
    biases = tuple(get(part, "bias", (d,)) for part in parts)
    norms = [get(norm, kind, (d,)) for norm in ("norm1", "norm2") for kind in _PARTS]
    made: Any = BertLayer
    return made(
        heads=head_weights(heads, matrices, biases),
        norms=np.stack(norms),
        A=get("in", "weight", (m, d)),
        b=get("in", "bias", (m,)),
        W=get("out", "weight", (d, m)),
        c=get("out", "bias", (d,)),
    )
