"""Hidden states that somebody saved: a file of (layers, tokens, dim)."""

import pathlib

import numpy as np

from pushforward.errors import InputError
from pushforward.probe._recording import Recording
from pushforward.probe._tensors import read_arrays
from pushforward.probe._text import Tokens

NAMES = ("hidden", "hidden_states", "array")


def read_hidden(path: str | pathlib.Path) -> Recording:
    """Hidden states (layers, tokens, dim) from .safetensors, .npz or .npy.

    The array is called `hidden` or `hidden_states`, or is the only one of the file; a
    batch axis of one in second place is dropped. Layer 0 are the embeddings.
    """
    path = pathlib.Path(path)
    arrays = read_arrays(path)
    chosen = [arrays[name] for name in NAMES if name in arrays]
    if not chosen and len(arrays) == 1:
        chosen = list(arrays.values())
    if not chosen:
        raise InputError(
            f"{path.name} has arrays {sorted(arrays)[:5]}; call the hidden states "
            "`hidden`, of shape (layers, tokens, dim)."
        )
    return recording_of(chosen[0], path.stem)


def recording_of(hidden: np.ndarray, name: str) -> Recording:
    """A recording of hidden states alone; nothing else of the model is known."""
    hidden = np.asarray(hidden)
    if hidden.ndim == 4 and hidden.shape[1] == 1:
        hidden = hidden[:, 0]
    if hidden.ndim != 3 or not np.issubdtype(hidden.dtype, np.floating):
        raise InputError(
            f"hidden states must be real numbers of shape (layers, tokens, dim), got "
            f"{hidden.dtype} of shape {hidden.shape}."
        )
    layers, n, d = hidden.shape
    if layers < 2 or n < 2 or d < 2:
        raise InputError(
            f"hidden states need at least 2 layers, 2 tokens and 2 dimensions, got "
            f"{hidden.shape}."
        )
    strings = tuple(f"<{i}>" for i in range(n))
    tokens = Tokens(np.arange(n), strings, ())
    return Recording(name, tokens, hidden.astype(np.float64))
