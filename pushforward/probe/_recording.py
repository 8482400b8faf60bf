"""A trained model on a text: everything it did to its tokens, and the trajectory."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError
from pushforward.flows import Outcome, Trajectory
from pushforward.probe.measured._normalization import (
    AbstractNormalization,
    Rms,
    lengths,
)
from pushforward.probe.models._loading import Model, load_model
from pushforward.probe.models._text import Tokens, patch_tokens, tokens_of
from pushforward.probe.models._torch import (
    from_transformers,
    is_torch,
    name_of,
    seen_by_torch,
)
from pushforward.probe.models._transformer import steps

Text = str | Sequence[int] | Int[np.ndarray, "n"] | Float[np.ndarray, "c y x"]
MOST_ATTENTION = 2**31  # bytes; larger attention matrices are not made


@dataclasses.dataclass(frozen=True, repr=False)
class Recording:
    """Hidden states by layer, and what each layer computed, on the tokens of a text.

    `hidden[0]` are the embeddings and `hidden[l]` the residual stream after layer l,
    before any last norm. `inputs[l]` is what the attention of layer l + 1 reads, and
    `inputs[-1]` the states after the model's last norm. `attention[l]` are the
    matrices of the heads, `update[l]` what attention adds to the tokens and
    `perceptron[l]` what the perceptron adds. Parts that are not known are None.
    """

    name: str
    tokens: Tokens
    hidden: Float[np.ndarray, "l n d"]
    inputs: Float[np.ndarray, "l n d"] | None = None
    attention: Float[np.ndarray, "k h n n"] | None = None
    update: Float[np.ndarray, "k n d"] | None = None
    causal: bool | None = None
    perceptron: Float[np.ndarray, "k n d"] | None = None

    def __post_init__(self) -> None:
        bad = ~np.isfinite(self.hidden).all(axis=2)
        if bad.any():
            layers = np.flatnonzero(bad.any(axis=1))
            layer, token = np.argwhere(bad)[0]
            few = ", ".join(str(k) for k in layers[:8])
            raise InputError(
                f"hidden states of {self.name} are not finite in layers {few}"
                f"{' ...' if len(layers) > 8 else ''} ({int(bad.sum())} tokens, first "
                f"token {token} of layer {layer}). Record in float32, look for such "
                "weights, or leave those layers or tokens out."
            )

    def __repr__(self) -> str:
        _, n, d = self.hidden.shape
        parts = ("inputs", "attention", "update", "perceptron")
        known = [name for name in parts if getattr(self, name) is not None]
        more = f", with {', '.join(known)}" if known else ", hidden states alone"
        return f"Recording({self.name}, {self.depth} layers, {n} tokens, d = {d}{more})"

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(self.hidden) - 1

    def trajectory(self, normalization: AbstractNormalization = Rms()) -> Trajectory:
        """The layers as times 0, 1, ..., L of a trajectory without a field.

        Its outcome names the model and the normalization; `observed["norm"]` keeps the
        lengths |x| that a normalization divides out.
        """
        chosen = normalization.points(self.hidden, self.inputs)
        _, n, d = chosen.shape
        norms = lengths(self.hidden)
        said = f"{self.name}, {self.depth} layers, {n} tokens, {normalization.label}"
        return Trajectory.recorded(
            normalization.space(d),
            np.asarray(chosen, float),
            observed={"norm": norms},
            steps=jnp.asarray(self.depth),
            outcome=Outcome("recorded", f"hidden states of {said}."),
        )

    def words(
        self, normalization: AbstractNormalization = Rms()
    ) -> tuple[tuple[str, ...], Float[np.ndarray, "l w d"]]:
        """Words of the text and the mean of the points of the tokens of each.

        Models that cut a text differently share its words, so that they can be
        compared on the same samples.
        """
        if not self.tokens.spans:
            raise InputError("words need a text; this recording is of token ids.")
        text = self.tokens.text
        starts = [k for k in range(len(text)) if _begins_word(text, k)]
        word = np.array(
            [
                np.searchsorted(starts, b - 1, side="right") - 1 if b > a else -1
                for a, b in self.tokens.spans
            ]
        )
        found = np.unique(word[word >= 0])
        names = tuple(text[starts[w] :].split(None, 1)[0] for w in found)
        points = normalization.points(self.hidden, self.inputs)
        means = [points[:, word == w].mean(axis=1) for w in found]
        return names, np.stack(means, axis=1)


def run(
    model: Any, text: Text, *, depth: int | None = None, tokenizer: Any = None
) -> Recording:
    """Run a trained model on a text and keep all that it did.

    `model` is a name ("minilm", "smollm2", or one in the hub cache), a local folder, a
    .gguf file, a `Model`, or a model object of transformers, whatever its family. An
    object runs as it is, in eval mode, by its own code; what only its weights tell is
    computed here where its family is known. `text` is a string, or token ids, or for a
    model of images an image (channels, height, width) as its own processor makes it.
    `depth` beyond the trained one is allowed where layers share their weights.
    Attention matrices are kept up to 2 GiB of them; above, heads whose scores are inner
    products are summed without, on a GPU by the fused kernel.
    """
    if is_torch(model):
        return _of_object(model, text, depth, tokenizer)
    chosen = load_any(model)
    transformer = chosen.transformer
    tokens, given = read_by(chosen, text, tokenizer)
    hidden, inputs, attention, update, push = [], [], [], [], []
    for x, parts in steps(transformer, given, depth, attention=MOST_ATTENTION):
        hidden.append(np.asarray(x))
        if parts is None:
            continue
        inputs.append(np.asarray(parts.inputs))
        update.append(np.asarray(parts.update))
        push.append(np.asarray(parts.perceptron))
        if parts.attention is not None:
            attention.append(np.asarray(parts.attention))
    inputs.append(np.asarray(transformer.last(x)))
    return Recording(
        name=chosen.name,
        tokens=tokens,
        hidden=_stacked(hidden),
        inputs=_stacked(inputs),
        attention=_stacked(attention) if attention else None,
        update=_stacked(update),
        perceptron=_stacked(push),
        causal=transformer.causal,
    )


def _stacked(parts: list[Any]) -> np.ndarray:
    """One array of them all; each is let go once it is in, so that memory holds one."""
    found = np.empty((len(parts), *parts[0].shape), parts[0].dtype)
    for k in range(len(parts)):
        found[k] = parts[k]
        parts[k] = None
    return found


def record(
    model: Any,
    text: Text,
    *,
    normalization: AbstractNormalization = Rms(),
    depth: int | None = None,
    tokenizer: Any = None,
) -> Trajectory:
    """The hidden states of a trained model, layer by layer, as a trajectory.

    See `run` for what `model` and `text` may be; files of hidden states are read by
    `read_hidden`. [geshkovski2023perspective]
    """
    recording = run(model, text, depth=depth, tokenizer=tokenizer)
    return recording.trajectory(normalization)


def read_by(chosen: Model, text: Text, tokenizer: Any) -> tuple[Tokens, np.ndarray]:
    """What a model reads, as tokens to print and as numbers to embed."""
    about = chosen.transformer.about
    if about.image is not None:
        return patch_tokens(text, about.image, about.context)
    tokens = tokens_of(
        text,
        tokenizer or chosen.tokenizer,
        context=about.context,
        vocabulary=about.vocabulary,
    )
    return tokens, tokens.ids


def _of_object(model: Any, text: Text, depth: int | None, tokenizer: Any) -> Recording:
    """By the object's own code; norms and updates by ours, from its weights."""
    own = from_transformers(model, tokenizer)
    if own is not None and not model.training:
        ours = run(own, text, depth=depth)
        if depth is not None:
            return ours
        given = np.asarray(text) if ours.tokens.image else ours.tokens.ids
        return dataclasses.replace(ours, hidden=seen_by_torch(model, given).hidden)
    if depth is not None:
        raise InputError(
            f"`depth` needs the layers of {name_of(model)}, whose family is not known "
            "here. Leave it out."
        )
    config = model.config
    if isinstance(text, str) or np.ndim(text) == 1:
        tokens = tokens_of(
            text,
            tokenizer,
            context=getattr(config, "max_position_embeddings", None) or 10**6,
            vocabulary=getattr(config, "vocab_size", None) or 10**9,
        )
        seen = seen_by_torch(model, tokens.ids)
    else:
        seen = seen_by_torch(model, np.asarray(text))
        count = seen.hidden.shape[1]
        tokens = Tokens(np.arange(count), tuple(f"<{i}>" for i in range(count)), ())
    return Recording(
        name=name_of(model),
        tokens=tokens,
        hidden=seen.hidden,
        attention=seen.attention,
        causal=looks_back(seen.attention),
    )


def looks_back(attention: Float[np.ndarray, "k h n n"] | None) -> bool | None:
    """Whether no token attends to a later one; None when attention is not known."""
    return None if attention is None else not np.triu(attention, 1).any()


def _begins_word(text: str, k: int) -> bool:
    return not text[k].isspace() and (k == 0 or text[k - 1].isspace())


def load_any(model: Any) -> Model:
    """A `Model`, with weights, from whatever `run` accepts."""
    if isinstance(model, Model):
        return model
    if is_torch(model):
        found = from_transformers(model, None)
        if found is None:
            raise InputError(
                f"the weights of `model` ({model.config.model_type!r}) are not known "
                "here. `run` records its hidden states and attention all the same."
            )
        return found
    if isinstance(model, str | pathlib.Path):
        return load_model(model)
    raise InputError(
        f"`model` must be a name, a folder or a model, got {type(model).__name__}."
    )
