"""From a configuration and weights to a model, as the tables of families say."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pushforward._files import physical_memory
from pushforward.errors import InputError
from pushforward.probe.models._attention_weights import Buckets, HeadWeights, Rotary
from pushforward.probe.models._config import (
    OTHERWISE,
    Sizes,
    activation_of,
    family_of,
    not_known,
    prefix_of,
    rates_of,
    sizes_of,
    windows_of,
)
from pushforward.probe.models._families import FAMILIES, VIT, VIT_OBJECT, Family
from pushforward.probe.models._layer import About, Layer, Norm
from pushforward.probe.models._transformer import Patches, Transformer, Words
from pushforward.probe.models._weights import Under

Linear = tuple[Any, Any]  # arrays of numpy, until a model is in memory


def built(config: dict[str, Any], arrays: Mapping[str, Any], name: str) -> Transformer:
    """The model that a configuration describes, with these weights."""
    config = config | config.get("text_config", {})
    if config.get("model_type") not in FAMILIES:
        raise InputError(not_known(config, arrays))
    try:
        return _Builder.of(config, arrays).model(name)
    except (KeyError, TypeError, ZeroDivisionError, IndexError) as error:
        raise InputError(
            f"the configuration of {name} is incomplete or wrong: {error!r}. "
            "Restore config.json from a copy."
        ) from None


@dataclasses.dataclass(frozen=True)
class _Builder:
    """A configuration and weights, about to become a model."""

    config: dict[str, Any]
    family: Family
    sizes: Sizes
    weights: Under

    @classmethod
    def of(cls, config: dict[str, Any], arrays: Mapping[str, Any]) -> "_Builder":
        family = family_of(config)
        if family is VIT and any(n.startswith("layers.0.") for n in arrays):
            family = VIT_OBJECT
        weights = Under(arrays, prefix_of(family, arrays))
        return cls(config, family, sizes_of(config, family), weights)

    def model(self, name: str) -> Transformer:
        """All of it; layers stay on disk when memory has no room for them."""
        family, sizes = self.family, self.sizes
        image = None
        if family.patches:
            side = self.config["image_size"]
            image = (self.config.get("num_channels", 3), side, side)
        about = About(
            name=name,
            depth=sizes.depth,
            context=sizes.context,
            vocabulary=sizes.vocabulary,
            activation=activation_of(self.config),
            causal=family.causal,
            scheme=_scheme(family),
            shared=family.shared,
            beside=family.beside,
            image=image,
        )
        layers: Sequence[Layer] = _OnDemand(self)
        first = layers[0]
        self._nothing_left(family.layer.format(0))
        size = sum(np.size(leaf) for leaf in jax.tree_util.tree_leaves(first))
        if 4 * size * len(layers) < physical_memory() / 4:
            layers = tuple(  # one by one, else there are two of each for a while
                jax.tree_util.tree_map(jnp.asarray, layers[k])
                for k in range(len(layers))
            )
        last = None if family.last is None else self.norm(family.last, sizes.d)
        return Transformer(self.embedding(), layers, last, about)

    def _nothing_left(self, layer: str) -> None:
        """Refuse a layer with weights that the table of its family does not name."""
        known = {layer + name for name in self.family.ignored} | self.weights.used
        left = sorted(n for n in self.weights if n.startswith(layer) and n not in known)
        if left:
            raise InputError(
                f"layers of this {self.config['model_type']} have parts that are not "
                f"recognised: {', '.join(left[:4])}. {OTHERWISE}"
            )

    def embedding(self) -> Words | Patches:
        """The part before the first layer."""
        family, sizes, weights = self.family, self.sizes, self.weights
        d = sizes.d
        if family.patches:
            p, c = self.config["patch_size"], self.config.get("num_channels", 3)
            return Patches(
                W=weights.take(f"{family.patches}.weight", (d, c, p, p)),
                b=weights.take(f"{family.patches}.bias", (d,)),
                first=weights.take("embeddings.cls_token", (1, 1, d))[0, 0],
                positions=weights.take(str(family.positions), (1, sizes.context, d))[0],
            )
        e = d
        if family.lift:
            e = self.config["embedding_size"]
        narrow = self.config["word_embed_proj_dim"] if family.widen else e
        kind = None
        if family.kind:
            kinds = (self.config["type_vocab_size"], e)
            kind = weights.take(f"{family.kind}.weight", kinds)[0]
        positions = None
        pad = self.config["pad_token_id"] if family.counted_from_pad else None
        if family.positions:
            count = sizes.context + family.skipped + (0 if pad is None else pad + 1)
            positions = weights.take(f"{family.positions}.weight", (count, e))
        norm = self.norm(family.embedding_norm, e) if family.embedding_norm else None
        return Words(
            words=weights.rows(f"{family.words}.weight", (sizes.vocabulary, narrow)),
            positions=positions,
            kind=kind,
            norm=norm,
            widen=self.linear(family.widen, d, narrow) if family.widen else None,
            lift=self.linear(family.lift, d, e) if family.lift else None,
            scale=float(np.sqrt(d)) if family.scaled_words else 1.0,
            skipped=family.skipped,
            pad=pad,
        )

    def layer(self, k: int) -> Layer:
        """One layer."""
        family, d, m = self.family, self.sizes.d, self.sizes.m
        start = family.layer.format(k)
        names = family.perceptron
        gate: tuple[Any, Any] = (None, None)
        if names[0].endswith("gate_up_proj"):
            both = self.linear(start + names[0], 2 * m, d)
            gate, inner = zip(*(np.split(part, 2) for part in both), strict=True)
        else:
            inner = self.linear(start + names[0], m, d)
            if len(names) > 2:
                gate = self.linear(start + names[2], m, d)
        outer = self.linear(start + names[1], d, m)
        places = (family.attention_norms, family.perceptron_norms)
        norms: Any = tuple(
            {place: self.norm(start + name, d) for place, name in named.items()}
            for named in places
        )
        A, b = inner
        W, c = outer
        G, g = gate
        return Layer(self.heads(start, k), norms, A, b, W, c, G, g)

    def heads(self, start: str, k: int) -> HeadWeights:
        """The attention of a layer."""
        family, sizes = self.family, self.sizes
        (Q, q), (K, k_), (V, v), (O, o) = self.projections(start)
        scalar = self.config.get("query_pre_attn_scalar") or sizes.width
        factor = np.float32(family.scores or scalar**-0.5)
        gains: Any = None
        if family.head_norms:
            gains = np.stack(
                [
                    family.unit_gain
                    + self.weights.take(f"{start}{name}.weight", (sizes.width,))
                    for name in family.head_norms
                ]
            ).astype(np.float32)
            gains[0] *= factor
            factor = np.float32(1.0)
        windows = windows_of(self.config, family, sizes)
        seen: Any = None
        if min(windows) < sizes.context:
            seen = np.asarray(windows[k])
        rates: Any = rates_of(self.config, sizes, k) if family.rotary else None
        cut = lambda M: M.reshape(-1, sizes.width, sizes.d)  # noqa: E731
        row = lambda b: b.reshape(-1, sizes.width)  # noqa: E731
        return HeadWeights(
            Q=factor * cut(Q),
            K=cut(K),
            V=cut(V),
            O=O.reshape(sizes.d, sizes.heads, sizes.width).transpose(1, 0, 2),
            q=factor * row(q),
            k=row(k_),
            v=row(v),
            o=o,
            rotary=None if rates is None else Rotary(rates),
            buckets=self.buckets(),
            gains=gains,
            window=seen,
            cap=self.config.get("attn_logit_softcapping"),
            eps=sizes.eps,
        )

    def buckets(self) -> Buckets | None:
        """The bias by distance, which the first layer keeps for all."""
        if self.family.relative is None:
            return None
        count = self.config.get("relative_attention_num_buckets", 32)
        name = f"{self.family.layer.format(0)}{self.family.relative}.weight"
        table = self.weights.take(name, (count, self.sizes.heads))
        return Buckets(table, self.config.get("relative_attention_max_distance", 128))

    def projections(self, start: str) -> list[Linear]:
        """Q, K, V, O and their biases, from four matrices or from two."""
        s = self.sizes
        names, d, every = self.family.attention, s.d, s.heads * s.width
        rows = (every, s.groups * s.width, s.groups * s.width)
        if len(names) == 4:
            found = [
                self.linear(start + name, count, d)
                for name, count in zip(names, rows, strict=False)
            ]
        else:
            both = self.linear(start + names[0], sum(rows), d)
            if self.family.by_head:  # head by head: its Q, its K, its V
                cuts = [
                    part.reshape(s.heads, 3, s.width, *part.shape[1:]) for part in both
                ]
                parts = [
                    [c[:, i].reshape(-1, *c.shape[3:]) for i in range(3)] for c in cuts
                ]
            else:
                ends = np.cumsum(rows)[:-1]
                parts = [np.split(part, ends) for part in both]
            found = list(zip(*parts, strict=True))
        return [*found, self.linear(start + names[-1], d, every)]

    def linear(self, name: str, rows: int, columns: int) -> Linear:
        """A matrix (rows, columns) and its bias, zero where there is none."""
        shape = (columns, rows) if self.family.transposed else (rows, columns)
        matrix = self.weights.take(f"{name}.weight", shape)
        has = self.family.biases
        if name == self.family.widen:
            has = None
        if has or (has is None and f"{name}.bias" in self.weights):
            bias = self.weights.take(f"{name}.bias", (rows,))
        else:
            bias = np.zeros(rows, np.float32)
        return (matrix.T if self.family.transposed else matrix), bias

    def norm(self, name: str, d: int) -> Norm:
        """A norm with its gain, and its bias unless it is an RMS norm."""
        family = self.family
        gain = self.weights.take(f"{name}.weight", (d,)) + np.float32(family.unit_gain)
        bias = None if family.rms else self.weights.take(f"{name}.bias", (d,))
        return Norm(gain, bias, eps=self.sizes.eps, centered=not family.rms)


class _OnDemand(Sequence[Layer]):
    """Layers that are read when they are asked for, and not kept."""

    def __init__(self, builder: _Builder):
        self._builder = builder

    def __len__(self) -> int:
        return 1 if self._builder.family.shared else self._builder.sizes.depth

    def __getitem__(self, k: Any) -> Any:
        if not 0 <= k < len(self):
            raise IndexError(k)
        return self._builder.layer(k)

    def __iter__(self) -> Iterator[Layer]:
        return (self[k] for k in range(len(self)))


def _scheme(family: Family) -> str:
    """Where the norms sit, as the theory calls it."""
    places = frozenset(family.attention_norms)
    return {
        frozenset({"after"}): "post-norm",
        frozenset({"before"}): "pre-norm",
        frozenset({"before", "inside"}): "peri-norm",
    }[places]
