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
from pushforward.measures import Particles
from pushforward.probe._loading import Model, load_model
from pushforward.probe._normalization import AbstractNormalization, Rms
from pushforward.probe._text import Tokens, tokens_of
from pushforward.probe._torch import from_transformers, hidden_by_torch, is_torch
from pushforward.probe._transformer import forward

Text = str | Sequence[int] | Int[np.ndarray, "n"]


@dataclasses.dataclass(frozen=True)
class Recording:
    """Hidden states by layer, and what each layer computed, on the tokens of a text.

    `hidden[0]` are the embeddings and `hidden[l]` the residual stream after layer l,
    before any last norm. `inputs[l]` is what the attention of layer l + 1 reads, and
    `inputs[-1]` the states after the model's last norm. `attention[l]` are the
    matrices of the heads and `update[l]` what attention adds to the tokens. The parts
    are None when only hidden states are known.
    """

    name: str
    tokens: Tokens
    hidden: Float[np.ndarray, "l n d"]
    inputs: Float[np.ndarray, "l n d"] | None = None
    attention: Float[np.ndarray, "k h n n"] | None = None
    update: Float[np.ndarray, "k n d"] | None = None
    causal: bool | None = None

    def __post_init__(self) -> None:
        bad = ~np.isfinite(self.hidden).all(axis=2)
        if bad.any():
            layer, token = np.argwhere(bad)[0]
            raise InputError(
                f"hidden states of {self.name} are not finite in {int(bad.sum())} "
                f"places, first token {token} of layer {layer}. Leave them out."
            )

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
        points = jnp.asarray(chosen, float)
        count, n, d = points.shape
        first = Particles(normalization.space(d), points[0])
        weights = jnp.broadcast_to(first.log_weights, (count, n))
        frames = first.moved(points, weights)
        norms = np.linalg.norm(self.hidden.astype(float), axis=2)
        said = f"{self.name}, {self.depth} layers, {n} tokens, {normalization.label}"
        return Trajectory(
            times=np.arange(count, dtype=float),
            measures=frames,
            final=first.moved(points[-1]),
            observed={"norm": norms},
            steps=jnp.asarray(self.depth),
            rejected=jnp.asarray(0),
            status=jnp.asarray(0),
            field=None,
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

    `model` is a name ("minilm", "smollm2"), a local folder, a .gguf file, a `Model`, or
    a model object of transformers. An object runs as it is, in eval mode, by its own
    code; what only its weights tell is computed here. `text` is a string, or token ids.
    `depth` beyond the trained one is allowed where layers share their weights.
    """
    if is_torch(model):
        return _of_object(model, text, depth, tokenizer)
    chosen = model if isinstance(model, Model) else load_model(model)
    transformer = chosen.transformer
    tokens = tokens_of(
        text,
        tokenizer or chosen.tokenizer,
        context=transformer.about.context,
        vocabulary=transformer.about.vocabulary,
    )
    states = forward(transformer, tokens.ids, depth=depth)
    return Recording(
        name=chosen.name,
        tokens=tokens,
        hidden=np.asarray(states.hidden),
        inputs=np.concatenate([states.inputs, np.asarray(states.last)[None]]),
        attention=np.asarray(states.attention),
        update=np.asarray(states.update),
        causal=transformer.causal,
    )


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


def _of_object(model: Any, text: Text, depth: int | None, tokenizer: Any) -> Recording:
    """By the object's own code; attention and norms by ours, from its weights."""
    own = from_transformers(model, tokenizer)
    if own is None or depth is not None:
        if own is None:
            raise InputError(
                f"`model` of type {model.config.model_type!r} is not known here. Save "
                "its hidden states (layers, tokens, dim) and read them."
            )
        return run(own, text, depth=depth)
    ours = run(own, text)
    hidden = hidden_by_torch(model, ours.tokens.ids)
    return dataclasses.replace(ours, hidden=hidden)


def _begins_word(text: str, k: int) -> bool:
    return not text[k].isspace() and (k == 0 or text[k - 1].isspace())


def load_any(model: Any) -> Model:
    """A `Model` from whatever `run` accepts."""
    if isinstance(model, Model):
        return model
    if is_torch(model):
        found = from_transformers(model, None)
        if found is None:
            raise InputError(f"`model` {model.config.model_type!r} is not known here.")
        return found
    if isinstance(model, str | pathlib.Path):
        return load_model(model)
    raise InputError(
        f"`model` must be a name, a folder or a model, got {type(model).__name__}."
    )
