"""Model objects of transformers: run by their own code, weights read as arrays.

The only file that touches torch, and only when handed one of its objects.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError
from pushforward.probe._loading import FAMILIES, Model, built

LAST_NORM = {"gpt2": "ln_f", "llama": "norm"}


def is_torch(model: Any) -> bool:
    """Whether this is a model object, told without importing torch."""
    return hasattr(model, "state_dict") and hasattr(model, "config")


def from_transformers(model: Any, tokenizer: Any = None) -> Model | None:
    """The weights of a model object as a model of ours; None for unknown families."""
    config = model.config.to_dict()
    if config.get("model_type") not in FAMILIES:
        return None
    if model.training:
        raise InputError(
            "`model` is in training mode, where dropout acts. Call `model.eval()` "
            "first; nothing about a model is changed here."
        )
    weights = model.base_model.state_dict()
    arrays = {k: v.detach().cpu().float().numpy() for k, v in weights.items()}
    name = getattr(model, "name_or_path", "") or type(model).__name__
    return Model(built(config, arrays, name), tokenizer)


def hidden_by_torch(
    model: Any, ids: Int[np.ndarray, "n"]
) -> Float[np.ndarray, "l n d"]:
    """Hidden states as the object computes them, the last one before the last norm."""
    import torch

    base = model.base_model
    before: list[Any] = []
    norm = getattr(base, LAST_NORM.get(model.config.model_type, ""), None)
    hook = None
    if norm is not None:
        hook = norm.register_forward_pre_hook(lambda _, args: before.append(args[0]))
    try:
        with torch.no_grad():
            batch = torch.as_tensor(ids, device=base.device)[None]
            out = base(batch, output_hidden_states=True)
    finally:
        if hook is not None:
            hook.remove()
    states = [*out.hidden_states[:-1], before[-1] if before else out.hidden_states[-1]]
    return np.stack([s[0].float().cpu().numpy() for s in states])
