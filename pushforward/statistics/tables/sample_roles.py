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
KEEP, ABSENT = "keep", "too few"


@dataclass(frozen=True)
class SampleRoles:
    """Which samples are blanks and which are controls, and what these decide.

    `blanks` and `controls` are a text that their names contain; None recognizes the
    usual words (Blank_01, QC-3, pool), and the word keep takes them for samples.
    A feature is dropped where its mean over the samples is below `blank_ratio` times
    that over the blanks, or where the standard deviation over the controls is above
    `control_spread` times their mean; neither if None. With `elsewhere` a table may
    have none of them, which is said: another one has.
    """

    blanks: str | None = None
    controls: str | None = None
    blank_ratio: float | None = None
    control_spread: float | None = None
    elsewhere: bool = False

    def __post_init__(self) -> None:
        for name, value, example in (
            ("blank_ratio", self.blank_ratio, "3"),
            ("control_spread", self.control_spread, "0.3"),
        ):
            if value is not None:
                above_zero(name, value, f"Try {example}.")

    def applied(
        self, table: str, names: tuple[str, ...], values: Float[np.ndarray, "p n"]
    ) -> tuple[
        dict[str, Bool[np.ndarray, "p"]], Bool[np.ndarray, "n"], tuple[str, ...]
    ]:
        """Features to drop by reason, the samples kept, and what was decided, in words.

        A feature is dropped for one reason at most.
        """
        blank = self._marked(table, "blanks", names, self.blanks, BLANK)
        control = ~blank & self._marked(
            table, "controls", names, self.controls, CONTROL
        )
        sample = ~(blank | control)
        if not sample.any():
            word = "all columns are named as blanks or controls: kept as samples"
            return {}, ~sample, (word,)
        words = [
            f"{what} left out ({int(mask.sum())}): {_some(names, mask)}"
            for what, mask in (("blanks", blank), ("quality controls", control))
            if mask.any()
        ]
        words += self._absent(blank, control)
        dirty = self._background(table, values, sample, blank)
        drops = {
            f"below {self.blank_ratio} times the blanks": dirty,
            "too spread over the controls": self._unsteady(table, values, control)
            & ~dirty,
        }
        words += [
            f"{int(mask.sum())} features dropped, {what}"
            for what, mask in drops.items()
            if mask.any()
        ]
        if np.logical_or(*drops.values()).all():
            raise InputError(
                f"{table}: `blank_ratio` and `control_spread` drop every feature. Try "
                "milder ones, such as 3 and 0.3."
            )
        return drops, sample, tuple(words)

    def _absent(self, blank: np.ndarray, control: np.ndarray) -> list[str]:
        """What was asked for and is not in this table."""
        found = []
        for what, text, limit, mask, least in (
            ("blanks", self.blanks, self.blank_ratio, blank, 1),
            ("quality controls", self.controls, self.control_spread, control, 2),
        ):
            too_few = f"{ABSENT} {what}"
            if text not in (None, KEEP) and not mask.any():
                found.append(f"{too_few}: no name of a sample contains {text!r}")
            elif limit is not None and mask.sum() < least:
                found.append(f"{too_few} ({int(mask.sum())}): none dropped by them")
        return found

    def _marked(
        self,
        table: str,
        argument: str,
        names: tuple[str, ...],
        text: str | None,
        usual: re.Pattern[str],
    ) -> Bool[np.ndarray, "n"]:
        if text == KEEP:
            return np.zeros(len(names), dtype=bool)
        if text is None:
            spelled = [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", n).lower() for n in names]
            return np.array([bool(usual.search(name)) for name in spelled])
        found = np.array([text.lower() in name.lower() for name in names])
        if not found.any() and not self.elsewhere:
            raise InputError(
                f"`{argument}` must be a text in the names of some samples of {table}, "
                f"got {text!r}. They are named like {names[0]!r}."
            )
        return found

    def _background(
        self, table: str, values: np.ndarray, sample: np.ndarray, blank: np.ndarray
    ) -> np.ndarray:
        if self.blank_ratio is None or self._lacks(
            table, blank, 1, "blanks for `blank_ratio`", "--blanks"
        ):
            return np.zeros(len(values), dtype=bool)
        # what a blank does not show is zero there
        level = np.nan_to_num(values[:, blank]).mean(axis=1)
        return _mean(values[:, sample]) < self.blank_ratio * level

    def _unsteady(
        self, table: str, values: np.ndarray, control: np.ndarray
    ) -> np.ndarray:
        needed = "quality controls for `control_spread`, which needs two"
        if self.control_spread is None or self._lacks(
            table, control, 2, needed, "--controls"
        ):
            return np.zeros(len(values), dtype=bool)
        seen = values[:, control]
        middle = _mean(seen)
        spread = np.sqrt(_mean((seen - middle[:, None]) ** 2))
        count = np.maximum(np.isfinite(seen).sum(axis=1), 1)
        spread *= np.sqrt(count / np.maximum(count - 1, 1))
        return (spread > self.control_spread * middle) | (count < 2)

    def _lacks(
        self, table: str, mask: np.ndarray, least: int, what: str, option: str
    ) -> bool:
        """Whether a table has too few of them; refused if no other one may have."""
        count = int(mask.sum())
        if count < least and not self.elsewhere:
            raise InputError(
                f"{table} has {count or 'no'} {what}. Say which they are ({option} "
                "TEXT, a text in their names)."
            )
        return count < least


def _mean(values: np.ndarray) -> np.ndarray:
    """Of what is there, in each row; zero where nothing is."""
    there = np.isfinite(values)
    return np.where(there, values, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)


def _some(names: tuple[str, ...], mask: np.ndarray) -> str:
    chosen = [name for name, hit in zip(names, mask, strict=True) if hit]
    return ", ".join(chosen[:3]) + (", ..." if chosen[3:] else "")
