"""From text to tokens: the tokenizer that a model was trained with.

A page of English to look at models with, written for this library.
"""

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
    Patches of an `image` are called by their row and column.
    """

    ids: Int[np.ndarray, "n"]
    strings: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    text: str = ""
    image: bool = False

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
    _whole(found)
    return found


def _whole(tokenizer: Any) -> None:
    """Nothing but the text and all of it: a longer one is refused, never cut."""
    tokenizer.no_truncation()
    tokenizer.no_padding()


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


def patch_tokens(
    image: Any, shape: tuple[int, int, int], count: int
) -> tuple[Tokens, np.ndarray]:
    """The patches of an image as tokens, row by row, and the image itself."""
    try:
        pixels = np.asarray(image, np.float32)
    except (TypeError, ValueError):
        pixels = np.zeros(0, np.float32)
    if pixels.shape != shape or not np.isfinite(pixels).all():
        raise InputError(
            f"`text` must be an image of shape {shape} (channels, height, width) of "
            f"finite numbers for this model, got {image!r:.60}. Use the processor that "
            "came with the model."
        )
    side = round((count - 1) ** 0.5)
    places = [f"({i // side}, {i % side})" for i in range(count - 1)]
    return Tokens(np.arange(count), ("[CLS]", *places), (), image=True), pixels


def _encoded(text: str, tokenizer: Any) -> Tokens:
    if not text.strip():
        raise InputError("`text` is empty. Pass a sentence or a page of text.")
    if tokenizer is None:
        raise InputError(
            "this model came without a tokenizer that is known here. Pass "
            "`tokenizer=` (a tokenizers.Tokenizer or one of transformers), or token "
            "ids as `text`."
        )
    if hasattr(tokenizer, "backend_tokenizer"):  # one of transformers wraps ours
        tokenizer = tokenizer.backend_tokenizer
    if getattr(tokenizer, "padding", None) or getattr(tokenizer, "truncation", None):
        tokenizer = tokenizer.from_str(tokenizer.to_str())  # not the one of the user
        _whole(tokenizer)
    found = tokenizer.encode(text)
    if isinstance(found, list):  # a tokenizer in Python tells no places
        strings = tuple(tokenizer.convert_ids_to_tokens(found))
        return Tokens(np.asarray(found, int), strings, (), text)
    strings = tuple(
        tokenizer.decode([i]) or t for i, t in zip(found.ids, found.tokens, strict=True)
    )
    spans = tuple((int(a), int(b)) for a, b in found.offsets)
    return Tokens(np.asarray(found.ids, int), strings, spans, text)


SAMPLE = """\
The river rises in the hills above the old town, where three springs meet under a
stand of alder trees. For the first few miles it is no wider than a cart, and children
cross it on stones. Farmers have argued about its water for as long as anyone can
remember. In dry years the upper villages close their gates early and the lower
villages send letters of complaint; in wet years nobody writes to anybody.

Below the town the valley opens and the river slows. Here the water turns brown and
carries clay, which the potters used to dig from the banks every autumn. Their kilns
are gone, but the name of the street remains, and so does the habit of painting doors
the same dark red that once came out of the fire. A small museum keeps the last wheel.
Its keeper is a retired engineer who measures the height of the river each morning and
writes it in a green notebook. He has not missed a day in nineteen years.

What he has learned from the numbers is modest. Floods come when snow melts quickly,
not when it rains for a long time. The river remembers a wet winter until June. After a
dry summer the first storm hardly moves the gauge, because the ground drinks the water
before it can run. He once tried to predict the height one week ahead and was right
about as often as his neighbor, who looks at the swallows.

Still, people come to ask him. The baker wants to know whether to move her flour from
the cellar. The school wants to know whether the boats can go out. He opens the
notebook, finds the years that look like this one, and tells them what the river did
then. He never says what it will do now.
"""
