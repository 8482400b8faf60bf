"""Blanks and quality controls: columns of a table that are no samples of the study.

A blank holds what the instrument sees without a sample, a pooled control the same
mixture again and again. Correlations over them say nothing of the features, so they are
left out of the intensities; what they measured can drop features.
"""

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pushforward._checks import above_zero
from pushforward.errors import InputError

WORD = r"(?:^|[^a-z])(?:{})(?:[^a-z]|$)"
BLANK = re.compile(WORD.format("blank|blanks|blk|procblank|extblank|solvent"))
CONTROL = re.compile(WORD.format("qc|sqc|ltr|pool|pooled|qcpool|pooledqc"))
KEEP = "keep"


@dataclass(frozen=True)
class SampleRoles:
    """Which samples are blanks and which are controls, and what these decide.

    `blanks` and `controls` are a text that their names contain; None recognizes the
    usual words (Blank_01, QC-3, pool), and the word keep takes them for samples.
    A feature is dropped where its mean over the samples is below `blank_ratio` times
    that over the blanks, or where the standard deviation over the controls is above
    `control_spread` times their mean; neither if None.
    """

    blanks: str | None = None
    controls: str | None = None
    blank_ratio: float | None = None
    control_spread: float | None = None

    def __post_init__(self) -> None:
        for name, value, example in (
            ("blank_ratio", self.blank_ratio, "3"),
            ("control_spread", self.control_spread, "0.3"),
        ):
            if value is not None:
                above_zero(name, value, f"Try {example}.")

    def applied(
        self, table: str, names: tuple[str, ...], values: Float[np.ndarray, "p n"]
    ) -> tuple[Bool[np.ndarray, "p"], Bool[np.ndarray, "n"], tuple[str, ...]]:
        """The features kept, the samples kept, and what was decided, in words."""
        blank = _marked(table, "blanks", names, self.blanks, BLANK)
        control = ~blank & _marked(table, "controls", names, self.controls, CONTROL)
        sample = ~(blank | control)
        every = np.ones(len(values), dtype=bool)
        if not sample.any():
            word = "all columns are named as blanks or controls: kept as samples"
            return every, ~sample, (word,)
        words = [
            f"{what} left out ({int(mask.sum())}): {_some(names, mask)}"
            for what, mask in (("blanks", blank), ("quality controls", control))
            if mask.any()
        ]
        dirty = self._background(table, values, sample, blank)
        loose = self._unsteady(table, values, control)
        for what, mask in (
            (f"below {self.blank_ratio} times the blanks", dirty),
            ("too spread over the controls", loose),
        ):
            if mask.any():
                words.append(f"{int(mask.sum())} features dropped, {what}")
        kept = ~(dirty | loose)
        if not kept.any():
            raise InputError(
                f"{table}: `blank_ratio` and `control_spread` drop every feature. Try "
                "milder ones, such as 3 and 0.3."
            )
        return kept, sample, tuple(words)

    def _background(
        self, table: str, values: np.ndarray, sample: np.ndarray, blank: np.ndarray
    ) -> np.ndarray:
        if self.blank_ratio is None:
            return np.zeros(len(values), dtype=bool)
        if not blank.any():
            raise InputError(
                f"{table} has no blanks for `blank_ratio`. Say which they are "
                "(--blanks TEXT, a text in their names)."
            )
        # what a blank does not show is zero there
        level = np.nan_to_num(values[:, blank]).mean(axis=1)
        return _mean(values[:, sample]) < self.blank_ratio * level

    def _unsteady(
        self, table: str, values: np.ndarray, control: np.ndarray
    ) -> np.ndarray:
        if self.control_spread is None:
            return np.zeros(len(values), dtype=bool)
        if control.sum() < 2:
            raise InputError(
                f"{table} has {int(control.sum())} quality controls for "
                "`control_spread`, which needs two. Say which they are (--controls "
                "TEXT, a text in their names)."
            )
        seen = values[:, control]
        middle = _mean(seen)
        spread = np.sqrt(_mean((seen - middle[:, None]) ** 2))
        count = np.maximum(np.isfinite(seen).sum(axis=1), 1)
        spread *= np.sqrt(count / np.maximum(count - 1, 1))
        return (spread > self.control_spread * middle) | (count < 2)


def _mean(values: np.ndarray) -> np.ndarray:
    """Of what is there, in each row; zero where nothing is."""
    there = np.isfinite(values)
    return np.where(there, values, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)


def _marked(
    table: str,
    argument: str,
    names: tuple[str, ...],
    text: str | None,
    usual: re.Pattern[str],
) -> Bool[np.ndarray, "n"]:
    if text == KEEP:
        return np.zeros(len(names), dtype=bool)
    if text is None:
        spelled = [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() for name in names]
        return np.array([bool(usual.search(name)) for name in spelled])
    found = np.array([text.lower() in name.lower() for name in names])
    if not found.any():
        raise InputError(
            f"`{argument}` must be a text in the names of some samples of {table}, got "
            f"{text!r}. They are named like {names[0]!r}."
        )
    return found


def _some(names: tuple[str, ...], mask: np.ndarray) -> str:
    chosen = [name for name, hit in zip(names, mask, strict=True) if hit]
    return ", ".join(chosen[:3]) + (", ..." if chosen[3:] else "")
