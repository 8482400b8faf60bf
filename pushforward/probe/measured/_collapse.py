"""Measures of collapse that people ask for, by layer and by class of tokens."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float

from pushforward.errors import InputError
from pushforward.probe._recording import Recording
from pushforward.probe.measured._normalization import unit

Mask = Bool[np.ndarray, "n"]


@dataclasses.dataclass(frozen=True)
class Collapse:
    """One row per class of tokens, one column per layer; layer 0 are the embeddings.

    - `mean_cosine`: of two different tokens; 1 after collapse.
    - `dirichlet`: mean of |x_i - x_j|^2 / 2 over pairs, over the mean of |x|^2; 0 after
      collapse, 1 for tokens that sum to zero (up to n / (n - 1)).
    - `effective_rank`: exp of the entropy of the normalized squares of the singular
      values of the tokens; 1 after collapse.
    - `centered_cosine`, `centered_rank`: the mean of |cosine| and the effective rank
      after the mean token of the class and layer is removed; the second does not see
      a direction that all tokens share.
    """

    classes: tuple[str, ...]
    mean_cosine: Float[np.ndarray, "c l"]
    dirichlet: Float[np.ndarray, "c l"]
    effective_rank: Float[np.ndarray, "c l"]
    centered_cosine: Float[np.ndarray, "c l"]
    centered_rank: Float[np.ndarray, "c l"]

    def by_class(self) -> dict[str, dict[str, Float[np.ndarray, "l"]]]:
        """The measures of every class, by name."""
        names = [field.name for field in dataclasses.fields(self)][1:]
        return {
            one: {name: getattr(self, name)[k] for name in names}
            for k, one in enumerate(self.classes)
        }


def collapse(
    recording: Recording, classes: Mapping[str, Mask] | None = None
) -> Collapse:
    """How far tokens have collapsed, layer by layer, all of them and class by class.

    `classes` are masks of tokens by name; `token_classes(recording)` makes some.

    >>> from pushforward.probe import recording_of
    >>> states = np.stack([np.eye(4), np.ones((4, 4)) + 0.01 * np.eye(4)])
    >>> found = collapse(recording_of(states, "two layers"))
    >>> print(found.mean_cosine.round(2), found.effective_rank.round(2))
    [[0. 1.]] [[4. 1.]]
    """
    x = np.asarray(recording.hidden, float)
    n = x.shape[1]
    masks = {"all": np.ones(n, bool)} | dict(classes or {})
    for name, mask in masks.items():
        if np.shape(mask) != (n,) or np.sum(mask) < 2:
            raise InputError(
                f"`classes` has {name!r} with {int(np.sum(mask))} of {n} tokens; a "
                "class is a mask of all tokens that picks at least 2."
            )
    chosen = [np.asarray(mask, bool) for mask in masks.values()]
    rows = [[_measures(layer[mask]) for layer in x] for mask in chosen]
    return Collapse(tuple(masks), *np.moveaxis(np.array(rows), 2, 0))


def _measures(x: np.ndarray) -> tuple[float, ...]:
    n = len(x)
    square = max(float((x**2).sum(axis=1).mean()), 1e-300)
    spread = (n * square - (x.sum(axis=0) ** 2).sum() / n) / (n - 1) / square
    around = x - x.mean(axis=0, keepdims=True)
    apart = unit(around) @ unit(around).T
    np.fill_diagonal(apart, 0.0)
    return (
        float(mean_of_cosines(x)),
        spread,
        spectral_rank(squared_singular_values(x)),
        np.abs(apart).sum() / (n * (n - 1)),
        spectral_rank(squared_singular_values(around)),
    )


def squared_singular_values(x: np.ndarray) -> np.ndarray:
    """Largest first, from the smaller Gram matrix; exact to rounding of the largest."""
    n, d = x.shape
    found = np.linalg.eigvalsh(x @ x.T if n <= d else x.T @ x)[::-1]
    return np.maximum(found, 0.0)


def spectral_rank(squares: np.ndarray) -> float:
    """exp of the entropy of squares of singular values, normalized."""
    p = squares[squares > 0] / max(squares.sum(), 1e-300)
    return float(np.exp(-(p * np.log(p)).sum())) if len(p) else 1.0


def token_classes(recording: Recording) -> dict[str, Mask]:
    """Words, pieces of words, and marks, by their strings; classes of two or more.

    A piece continues the word before it; a mark has no letter or digit in it.
    """
    strings, spans = recording.tokens.strings, recording.tokens.spans
    text = recording.tokens.text
    marks = np.array([not any(c.isalnum() for c in s) for s in strings])
    inside = np.array(
        [
            0 < a < b and text[a].isalnum() and text[a - 1].isalnum()
            for a, b in (spans or ((0, 0),) * len(strings))
        ]
    )
    found = {
        "words": ~marks & ~inside,
        "pieces": ~marks & inside,
        "marks": marks,
    }
    return {name: mask for name, mask in found.items() if mask.sum() >= 2}


def mean_of_cosines(x: Float[np.ndarray, "*l n d"]) -> Float[np.ndarray, "*l"]:
    """The mean of <x_i, x_j> / (|x_i| |x_j|) over i != j, of every layer."""
    x, n = unit(x), x.shape[-2]
    return np.asarray(((x.sum(axis=-2) ** 2).sum(axis=-1) - n) / (n * (n - 1)))


def growth_exponent(layers: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The exponent of a power law in the layer, and its standard error."""
    (slope, _), covariance = np.polyfit(np.log(layers), np.log(values), 1, cov=True)
    return float(slope), float(np.sqrt(covariance[0, 0]))


def received_attention(A: np.ndarray) -> np.ndarray:
    """What each token gets from later ones, in units of uniform attention."""
    n = A.shape[-1]
    mean = A.astype(float).mean(axis=0) * np.arange(1, n + 1)[:, None]
    later = np.tri(n, k=-1)
    return (mean * later).sum(axis=0) / np.maximum(later.sum(axis=0), 1) + 1e-12
