"""Hidden states that somebody saved: files of (layers, tokens, dim)."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

import numpy as np

from pushforward.errors import InputError
from pushforward.probe._recording import Recording, looks_back
from pushforward.probe.models._text import Tokens
from pushforward.probe.models._weights import read_arrays

HIDDEN = ("hidden", "hidden_states", "array")
ATTENTION = ("attention", "attentions")
WORDS = ("words", "tokens")


def read_hidden(path: str | pathlib.Path, *, sample: int | None = None) -> Recording:
    """Hidden states (layers, tokens, dim) from .safetensors, .npz or .npy.

    The array is called `hidden` or `hidden_states`, or is the only one of the file.
    Layer 0 are the embeddings. A batch axis in second place is dropped when it is one;
    otherwise `sample` says which text of the batch is meant. `attention`, of shape
    (layers - 1, heads, tokens, tokens), and `words`, the tokens as strings (in
    safetensors: their UTF-8 bytes, one per line), are read when they are there.
    """
    path = pathlib.Path(path)
    arrays = read_arrays(path)
    chosen = _first(arrays, HIDDEN)
    if chosen is None and len(arrays) == 1:
        chosen = next(iter(arrays.values()))
    if chosen is None:
        raise InputError(
            f"{path.name} has arrays {sorted(arrays)[:5]}; call the hidden states "
            "`hidden`, of shape (layers, tokens, dim)."
        )
    words = _first(arrays, WORDS)
    if words is not None and words.dtype == np.uint8:
        words = np.array(words.tobytes().decode("utf-8", "replace").split("\n"))
    attention = _first(arrays, ATTENTION)
    return recording_of(
        _of_batch(chosen, 4, sample),
        path.stem,
        attention=None if attention is None else _of_batch(attention, 5, sample),
        words=None if words is None else [str(w) for w in np.ravel(words)],
    )


def recording_of(
    hidden: np.ndarray,
    name: str,
    *,
    attention: np.ndarray | None = None,
    words: Sequence[str] | None = None,
) -> Recording:
    """A recording of hidden states, and of attention and words where they are known.

    >>> states = np.random.default_rng(0).normal(size=(3, 8, 4))
    >>> recording_of(states, "mine", words="a b c d e f g h".split())
    Recording(mine, 2 layers, 8 tokens, d = 4, hidden states alone)
    """
    hidden = _of_batch(np.asarray(hidden), 4, None)
    if hidden.ndim != 3 or not _real(hidden):
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
    if words is not None and len(words) != n:
        raise InputError(
            f"`words` must name the {n} tokens of the hidden states, got {len(words)}."
        )
    if attention is not None:
        attention = _checked_attention(np.asarray(attention), layers - 1, n)
    strings = tuple(words) if words else tuple(f"<{i}>" for i in range(n))
    return Recording(
        name,
        Tokens(np.arange(n), strings, ()),
        hidden.astype(np.float64),
        attention=attention,
        causal=looks_back(attention),
    )


def _checked_attention(attention: np.ndarray, layers: int, n: int) -> np.ndarray:
    shape = attention.shape
    if len(shape) != 4 or shape[0] != layers or shape[2:] != (n, n):
        raise InputError(
            f"`attention` must have shape ({layers}, heads, {n}, {n}) for these hidden "
            f"states, got {shape}."
        )
    attention = attention.astype(np.float64)
    sums = attention.sum(axis=-1)
    if not (np.isfinite(sums).all() and (np.abs(sums - 1) < 0.02).all()):
        raise InputError(
            "`attention` must have rows that sum to one. Save it after softmax, "
            "without dropout."
        )
    return attention / sums[..., None]


def _first(arrays: dict[str, np.ndarray], names: Sequence[str]) -> np.ndarray | None:
    return next((arrays[name] for name in names if name in arrays), None)


def _real(array: np.ndarray) -> bool:
    return np.issubdtype(array.dtype, np.floating) or array.dtype.name == "bfloat16"


def _of_batch(array: np.ndarray, axes: int, sample: int | None) -> np.ndarray:
    """Without its batch axis, the second, if it has one."""
    if array.ndim != axes:
        return array
    count = array.shape[1]
    if sample is None and count != 1:
        raise InputError(
            f"`hidden` holds {count} texts (second axis); choose one by `sample`, "
            "0 the first, or save them apart."
        )
    sample = 0 if sample is None else sample
    if not 0 <= sample < count:
        raise InputError(f"`sample` must be 0 ... {count - 1}, got {sample}.")
    return array[:, sample]
