"""Model objects of transformers: run by their own code, weights read as arrays.

The only file that touches torch, and only when handed one of its objects.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.probe.models._building import built
from pushforward.probe.models._families import FAMILIES
from pushforward.probe.models._loading import Model


class Seen(NamedTuple):
    """What an object told of itself; `attention` where its layers can tell."""

    hidden: Float[np.ndarray, "l n d"]
    attention: Float[np.ndarray, "k h n n"] | None


def is_torch(model: Any) -> bool:
    """Whether this is a model object, told without importing torch."""
    return hasattr(model, "state_dict") and hasattr(model, "config")


def from_transformers(model: Any, tokenizer: Any = None) -> Model | None:
    """The weights of a model object as a model of ours; None where they are not known.

    Then `run` still records what the object itself tells: hidden states and attention.
    """
    config = model.config.to_dict()
    if config.get("model_type") not in FAMILIES:
        return None
    weights = getattr(model, "base_model", model).state_dict()
    arrays = {k: v.detach().cpu().float().numpy() for k, v in weights.items()}
    try:
        return Model(built(config, arrays, name_of(model)), tokenizer)
    except InputError:  # a variant that is not known: the object still runs itself
        return None


def name_of(model: Any) -> str:
    """What an object calls itself, without folders, or the name of its class."""
    name = getattr(model, "name_or_path", "") or type(model).__name__
    return pathlib.Path(name).name if pathlib.Path(name).exists() else name


def base_of(model: Any) -> Any:
    """The part that computes hidden states: no head, and the encoder of a pair."""
    base = getattr(model, "base_model", model)
    if getattr(model.config, "is_encoder_decoder", False):
        return base.get_encoder()
    return base


def seen_by_torch(model: Any, given: np.ndarray) -> Seen:
    """Hidden states as the object computes them, and its attention if it tells.

    The last state is the one before the object's last norm, where it has one outside
    of its layers.
    """
    import torch

    if model.training:
        raise InputError(
            "`model` is in training mode, where dropout acts. Call `model.eval()` "
            "first; nothing about a model is changed here."
        )
    base = base_of(model)
    batch = torch.as_tensor(np.asarray(given), device=base.device)[None]
    if batch.is_floating_point():
        batch = batch.to(base.dtype)
    with torch.no_grad(), _eager(model) as plain, _watched(base) as norms:
        name = getattr(base, "main_input_name", "input_ids")
        out = base(**{name: batch}, output_hidden_states=True, output_attentions=plain)
    states = getattr(out, "hidden_states", None)
    if states is None:
        raise InputError(
            f"{name_of(model)} gives no hidden states when asked by "
            "`output_hidden_states=True`. Save them yourself and read the file."
        )
    arrays = [state[0].float().cpu().numpy() for state in states]
    for before, after in norms:  # the norm whose result the last state is, or was
        same = after.shape == states[-1].shape and torch.equal(after, states[-1])
        if same or states[-1].shape != states[0].shape:
            arrays[-1] = before[0].float().cpu().numpy()
    n = len(arrays[0])
    maps = [a for a in (getattr(out, "attentions", None) or ()) if a is not None]
    maps = [a[0].float().cpu().numpy() for a in maps if a.shape[2:] == (n, n)]
    known = len(maps) == len(arrays) - 1
    return Seen(np.stack(arrays), np.stack(maps) if known else None)


@contextlib.contextmanager
def _watched(base: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Inputs and outputs of norms that stand outside of the layers."""
    seen: list[tuple[Any, Any]] = []
    outside = [
        module
        for path, module in base.named_modules()
        if "norm" in type(module).__name__.lower()
        and not any(part.isdigit() for part in path.split("."))
    ]
    keep = lambda module, given, out: seen.append((given[0], out))  # noqa: E731
    hooks = [module.register_forward_hook(keep) for module in outside]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def _eager(model: Any) -> Iterator[bool]:
    """Attention by the plain code, which alone returns its matrices; then as before.

    False where an object does not change its code: asked for matrices all the same,
    some (Falcon) forget their causal mask.
    """
    now = lambda: getattr(model.config, "_attn_implementation", None)  # noqa: E731
    before = now()
    change = getattr(model, "set_attn_implementation", None)
    if change is not None and before not in (None, "eager"):
        with contextlib.suppress(ValueError, TypeError):  # layers without attention
            change("eager")
    try:
        yield now() in (None, "eager")
    finally:
        if now() != before and change is not None:
            change(before)
