"""Precision and recall of a matching whose truth is known."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError


@dataclass(frozen=True)
class Accuracy:
    """Counts of true, false and missed matches."""

    true: int
    false: int
    missed: int

    @property
    def precision(self) -> float:
        """True among found; 1 when nothing was found."""
        found = self.true + self.false
        return self.true / found if found else 1.0

    @property
    def recall(self) -> float:
        """Found among true."""
        return self.true / (self.true + self.missed)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.true / (2 * self.true + self.false + self.missed)

    def __str__(self) -> str:
        found = f"precision {self.precision:.3f}, recall {self.recall:.3f}"
        return f"{found}, F1 {self.f1:.3f}"


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall when only matches of at least a score are taken."""

    scores: Float[np.ndarray, "m"]
    precision: Float[np.ndarray, "m"]
    recall: Float[np.ndarray, "m"]


def accuracy_of(
    matches: Int[np.ndarray, "m 2"],
    truth: object,
    shape: tuple[int, int],
    *,
    partial: bool,
) -> Accuracy:
    """Counts of a matching against the true pairs."""
    pairs = true_pairs(truth, shape)
    right = _hits(matches, pairs, shape)
    true = int(right.sum())
    counted = np.ones(len(matches), dtype=bool)
    if partial:
        known_a = np.isin(matches[:, 0], pairs[:, 0])
        counted = known_a | np.isin(matches[:, 1], pairs[:, 1])
    return Accuracy(true, int((counted & ~right).sum()), len(pairs) - true)


def precision_recall_of(
    matches: Int[np.ndarray, "m 2"],
    scores: Float[np.ndarray, "m"],
    truth: object,
    shape: tuple[int, int],
) -> PrecisionRecall:
    """The curve as the least score falls; equal scores step at once."""
    pairs = true_pairs(truth, shape)
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    true = np.cumsum(_hits(matches[order], pairs, shape))
    last = np.append(ordered[1:] != ordered[:-1], True) if len(order) else np.array([])
    steps = np.flatnonzero(last)
    return PrecisionRecall(
        ordered[steps], true[steps] / (steps + 1), true[steps] / len(pairs)
    )


def true_pairs(truth: object, shape: tuple[int, int]) -> Int[np.ndarray, "m 2"]:
    """True pairs of indices, each feature at most once, or a refusal."""
    pairs = np.asarray(truth)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0:
        raise InputError(
            f"`truth` must be pairs (m, 2) of feature indices, got shape {pairs.shape}."
            " From a file of ids use `read_truth(path, A, B)`."
        )
    if not np.issubdtype(pairs.dtype, np.integer):
        raise InputError(f"`truth` must hold integer indices, got {pairs.dtype}.")
    if pairs.min() < 0 or np.any(pairs.max(0) >= shape):
        raise InputError(
            f"`truth` has indices outside the tables of {shape[0]} and {shape[1]} "
            f"features: from {pairs.min()} to {pairs.max(0).tolist()}."
        )
    for side in (0, 1):
        if len(np.unique(pairs[:, side])) < len(pairs):
            raise InputError("`truth` names a feature twice; it must be one-to-one.")
    return pairs


def _hits(matches: np.ndarray, pairs: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    return np.isin(
        matches[:, 0] * shape[1] + matches[:, 1], pairs[:, 0] * shape[1] + pairs[:, 1]
    )
