"""LLaMA type: a causal decoder with rotary positions, RMS norms and gated perceptrons.

x <- x + attention(RMS(x)), x <- x + W (s(G u) * (A u)) with u = RMS(x).
Groups of heads may share keys and values. [touvron2023llama]
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward.errors import InputError
from pushforward.probe._attention_weights import (
    HeadWeights,
    Rotary,
    attend,
    head_weights,
)
from pushforward.probe._transformer import (
    About,
    AbstractTransformer,
    Sublayers,
    activation_of,
    rms_norm,
    stacked,
    taken,
)


class LlamaLayer(eqx.Module):
    """One layer; `norms` are the gains before attention and before the perceptron."""

    heads: HeadWeights
    norms: Float[Array, "2 d"]
    G: Float[Array, "m d"]
    A: Float[Array, "m d"]
    W: Float[Array, "d m"]


class Llama(AbstractTransformer):
    """A LLaMA-type decoder."""

    words: Float[Array, "v d"]
    norm: Float[Array, "d"]
    layers: Any  # LlamaLayer, stacked
    rotary: Rotary
    about: About = eqx.field(static=True)

    def embed(self, ids: Int[Array, "n"]) -> Float[Array, "n d"]:
        """Words; positions enter by rotation."""
        return self.words[ids]

    def reads(self, layer: LlamaLayer, x):
        """x over its root mean square, times the gain before attention."""
        return rms_norm(x, layer.norms[0], self.about.eps)

    def last(self, x):
        """The final RMS norm."""
        return rms_norm(x, self.norm, self.about.eps)

    def heads(self, layer: LlamaLayer) -> HeadWeights:
        """The attention weights of a layer."""
        return layer.heads

    def mlp(self, layer: LlamaLayer):
        """W, A and the gate G; no biases."""
        return layer.W, layer.A, None, None, layer.G

    def apply(self, layer: LlamaLayer, x):
        """Attention of the normalized tokens, then the gated perceptron of them."""
        u = self.reads(layer, x)
        attention, update = attend(layer.heads, u, causal=True, rotary=self.rotary)
        y = x + update
        z = rms_norm(y, layer.norms[1], self.about.eps)
        z = self.activation(z @ layer.G.T) * (z @ layer.A.T)
        return y + z @ layer.W.T, Sublayers(u, attention, update)


def llama(config: dict[str, Any], arrays: dict[str, np.ndarray], name: str) -> Llama:
    """A Llama from a configuration and weights under their names of the hub."""
    prefix = "model." if "model.norm.weight" in arrays else ""
    arrays = {k.removeprefix(prefix): v for k, v in arrays.items()}
    d, heads = config["hidden_size"], config["num_attention_heads"]
    if (config.get("head_dim") or d // heads) * heads != d:
        raise InputError("heads whose widths do not add up to d are not read.")
    if config.get("mlp_bias"):
        raise InputError("gated perceptrons with biases are not read.")
    layers = [_layer(arrays, config, k) for k in range(config["num_hidden_layers"])]
    return Llama(
        words=jnp.asarray(
            taken(arrays, "embed_tokens.weight", (config["vocab_size"], d))
        ),
        norm=jnp.asarray(taken(arrays, "norm.weight", (d,))),
        layers=stacked(layers),
        rotary=Rotary(jnp.asarray(_rotary_base(config))),
        about=About(
            name=name,
            depth=config["num_hidden_layers"],
            context=config["max_position_embeddings"],
            vocabulary=config["vocab_size"],
            eps=float(config["rms_norm_eps"]),
            activation=activation_of(config, "hidden_act"),
            causal=True,
        ),
    )


def _rotary_base(config: dict[str, Any]) -> float:
    """theta of the rotary positions; stretched positions are refused."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind != "default":
        raise InputError(f"rotary positions of type {kind!r} are not read.")
    return float(config.get("rope_theta") or rope.get("rope_theta") or 10_000.0)


def _layer(arrays, config: dict[str, Any], k: int) -> LlamaLayer:
    d, m = config["hidden_size"], config["intermediate_size"]
    heads = config["num_attention_heads"]
    few = d // heads * (config.get("num_key_value_heads") or heads)
    get = lambda part, shape: taken(arrays, f"layers.{k}.{part}.weight", shape)  # noqa: E731
    names = [f"self_attn.{x}_proj" for x in "qkvo"]
    shapes = [(d, d), (few, d), (few, d), (d, d)]
    biases = tuple(
        taken(arrays, key, (shape[0],))
        if (key := f"layers.{k}.{n}.bias") in arrays
        else None
        for n, shape in zip(names, shapes, strict=True)
    )
    matrices = [get(n, shape) for n, shape in zip(names, shapes, strict=True)]
    norms = [get(n, (d,)) for n in ("input_layernorm", "post_attention_layernorm")]
    made: Any = LlamaLayer
    return made(
        heads=head_weights(heads, matrices, biases),
        norms=np.stack(norms),
        G=get("mlp.gate_proj", (m, d)),
        A=get("mlp.up_proj", (m, d)),
        W=get("mlp.down_proj", (d, m)),
    )
