"""From text to tokens: the tokenizer that a model was trained with."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from pushforward.errors import InputError


@dataclasses.dataclass(frozen=True)
class Tokens:
    """A text as the model sees it: ids, their strings, and their place in the text.

    `spans[i]` are the characters [start, end) of token i; a special token has (0, 0).
    """

    ids: Int[np.ndarray, "n"]
    strings: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    text: str = ""

    def __len__(self) -> int:
        return len(self.ids)


def library() -> Any:
    """The package `tokenizers`, or how to get it."""
    try:
        import tokenizers
    except ImportError:
        raise InputError(
            "reading text needs the package `tokenizers`. Run "
            "`pip install 'pushforward[models]'`."
        ) from None
    return tokenizers


def tokenizer_of(folder: pathlib.Path) -> Any:
    """The tokenizer of a model folder, or None when it has none."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        return None
    tokenizers = library()
    try:
        found = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise InputError(f"{path} is not a tokenizer: {error}.") from None
    found.no_truncation()  # a longer text is refused, never cut in silence
    found.no_padding()
    return found


def tokens_of(
    text: str | Sequence[int] | Int[np.ndarray, "n"],
    tokenizer: Any,
    *,
    context: int,
    vocabulary: int,
) -> Tokens:
    """The tokens of a text, or of ids given directly; neither empty nor too long."""
    if isinstance(text, str):
        tokens = _encoded(text, tokenizer)
    else:
        ids = np.asarray(text)
        if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
            raise InputError(
                f"`text` must be a string or a list of token ids, got {text!r:.60}."
            )
        tokens = Tokens(ids.astype(int), tuple(f"<{i}>" for i in ids), ())
    if len(tokens) < 2:
        raise InputError(
            "`text` must give at least 2 tokens, since everything here is about pairs; "
            f"got {len(tokens)}. Pass a sentence or a page."
        )
    if len(tokens) > context:
        raise InputError(
            f"`text` has {len(tokens)} tokens and this model reads at most {context}. "
            "Shorten the text; nothing is cut silently."
        )
    if tokens.ids.min() < 0 or tokens.ids.max() >= vocabulary:
        raise InputError(
            f"`text` has token ids outside 0 ... {vocabulary - 1}, the vocabulary."
        )
    return tokens


def _encoded(text: str, tokenizer: Any) -> Tokens:
    if not text.strip():
        raise InputError("`text` is empty. Pass a sentence or a page of text.")
    if tokenizer is None:
        raise InputError(
            "this model came without a tokenizer. Pass `tokenizer=` (a "
            "tokenizers.Tokenizer or one of transformers), or token ids as `text`."
        )
    if hasattr(tokenizer, "backend_tokenizer"):  # one of transformers wraps ours
        tokenizer = tokenizer.backend_tokenizer
    found = tokenizer.encode(text)
    strings = tuple(
        tokenizer.decode([i]) or t for i, t in zip(found.ids, found.tokens, strict=True)
    )
    spans = tuple((int(a), int(b)) for a, b in found.offsets)
    return Tokens(np.asarray(found.ids, int), strings, spans, text)
