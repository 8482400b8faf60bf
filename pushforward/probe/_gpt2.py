"""GPT-2: a decoder with causal attention and normalization before each sublayer.

x <- x + attention(LN(x)), x <- x + W s(A LN(x) + b) + c   [radford2019gpt2]
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

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


class Gpt2Layer(eqx.Module):
    """One layer; `norms` are gain and bias before attention and before perceptron."""

    heads: HeadWeights
    norms: Float[Array, "4 d"]
    A: Float[Array, "m d"]
    b: Float[Array, "m"]
    W: Float[Array, "d m"]
    c: Float[Array, "d"]


class Gpt2(AbstractTransformer):
    """A GPT-2-type decoder."""

    words: Float[Array, "v d"]
    positions: Float[Array, "p d"]
    norm: Float[Array, "2 d"]
    layers: Any  # Gpt2Layer, stacked
    about: About = eqx.field(static=True)
    rotary: None

    def embed(self, ids: Int[Array, "n"]) -> Float[Array, "n d"]:
        """Words and positions."""
        return self.words[ids] + self.positions[: len(ids)]

    def reads(self, layer: Gpt2Layer, x):
        """x normalized, with the gain and bias before attention."""
        return layer_norm(x, layer.norms[0], layer.norms[1], self.about.eps)

    def last(self, x):
        """The final LayerNorm."""
        return layer_norm(x, self.norm[0], self.norm[1], self.about.eps)

    def heads(self, layer: Gpt2Layer) -> HeadWeights:
        """The attention weights of a layer."""
        return layer.heads

    def mlp(self, layer: Gpt2Layer):
        """W, A, b, c; no gate."""
        return layer.W, layer.A, layer.b, layer.c, None

    def apply(self, layer: Gpt2Layer, x):
        """Attention of the normalized tokens, then the perceptron of them."""
        u = self.reads(layer, x)
        attention, update = attend(layer.heads, u, causal=self.causal)
        y = x + update
        z = layer_norm(y, layer.norms[2], layer.norms[3], self.about.eps)
        z = self.activation(z @ layer.A.T + layer.b[None, :]) @ layer.W.T
        return y + z + layer.c[None, :], Sublayers(u, attention, update)


def gpt2(config: dict[str, Any], arrays: dict[str, np.ndarray], name: str) -> Gpt2:
    """A Gpt2 from a configuration and weights; matrices are stored transposed there."""
    prefix = "transformer." if "transformer.wte.weight" in arrays else ""
    arrays = {k.removeprefix(prefix): v for k, v in arrays.items()}
    d, heads = config["n_embd"], config["n_head"]
    m = config.get("n_inner") or 4 * d
    layers = [_layer(arrays, k, heads, d, m) for k in range(config["n_layer"])]
    norm = [taken(arrays, f"ln_f.{part}", (d,)) for part in ("weight", "bias")]
    words = taken(arrays, "wte.weight", (config["vocab_size"], d))
    positions = taken(arrays, "wpe.weight", (config["n_positions"], d))
    return Gpt2(
        words=jnp.asarray(words),
        positions=jnp.asarray(positions),
        norm=jnp.asarray(np.stack(norm)),
        layers=stacked(layers),
        rotary=None,
        about=About(
            name=name,
            depth=config["n_layer"],
            context=config["n_positions"],
            vocabulary=config["vocab_size"],
            eps=float(config["layer_norm_epsilon"]),
            activation=activation_of(config, "activation_function"),
            causal=True,
        ),
    )


def _layer(arrays, k: int, heads: int, d: int, m: int) -> Gpt2Layer:
    get = lambda part, shape: taken(arrays, f"h.{k}.{part}", shape)  # noqa: E731
    matrices = np.split(get("attn.c_attn.weight", (d, 3 * d)).T, 3)
    matrices.append(get("attn.c_proj.weight", (d, d)).T)
    biases = np.split(get("attn.c_attn.bias", (3 * d,)), 3)
    biases.append(get("attn.c_proj.bias", (d,)))
    norms = [
        get(f"{n}.{p}", (d,)) for n in ("ln_1", "ln_2") for p in ("weight", "bias")
    ]
    made: Any = Gpt2Layer
    return made(
        heads=head_weights(heads, matrices, biases),
        norms=np.stack(norms),
        A=get("mlp.c_fc.weight", (d, m)).T,
        b=get("mlp.c_fc.bias", (m,)),
        W=get("mlp.c_proj.weight", (m, d)).T,
        c=get("mlp.c_proj.bias", (d,)),
    )
