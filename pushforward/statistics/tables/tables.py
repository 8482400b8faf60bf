"""A table of untargeted features: masses, retention times, intensities."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float

from pushforward._checks import listed
from pushforward.errors import InputError

LARGEST = 1e100


@dataclass(frozen=True)
class FeatureTable:
    """p features measured on n samples.

    `mz` in m/z units, `rt` in minutes, `intensities` (n, p), samples first.
    `decisions` says, line by line, how a file was read; `samples` are the names of the
    samples, none if they have none; `gaps` is where nothing was measured and a value
    was filled in, for the sake of correlations; `left_out` are the ids of features of
    the file that are not in the table, with the reason.
    """

    ids: tuple[str, ...]
    mz: Float[np.ndarray, "p"]
    rt: Float[np.ndarray, "p"]
    intensities: Float[np.ndarray, "n p"]
    name: str = "table"
    decisions: tuple[str, ...] = field(default=(), compare=False)
    samples: tuple[str, ...] = ()
    gaps: Bool[np.ndarray, "n p"] | None = field(default=None, compare=False)
    left_out: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        _refuse_other_types(self)
        p = len(self.ids)
        if p == 0:
            raise InputError(
                f"{self.name} is an empty table: it has no feature. Export at least "
                "one feature row with id, m/z and retention time."
            )
        for label, values in (("mz", self.mz), ("rt", self.rt)):
            if values.shape != (p,):
                raise InputError(
                    f"`{label}` of {self.name} must have one entry per feature ({p}), "
                    f"got shape {values.shape}."
                )
            _refuse_nonfinite(self, label, values)
        largest = float(np.abs(self.intensities).max(initial=0.0))
        if largest > LARGEST and np.isfinite(largest):
            raise InputError(
                f"{self.name} has intensities up to {largest:.3g}; peak areas are "
                f"below {LARGEST:g}. Check which columns hold samples."
            )
        if self.mz.max() > 1e7 or self.rt.max() > 1e6:
            raise InputError(
                f"{self.name} has m/z up to {self.mz.max():g} and retention times up "
                f"to {self.rt.max():g} min, which no instrument gives. Check which "
                "columns hold m/z and rt."
            )
        if self.mz.min() <= 0 or self.rt.min() < 0:
            raise InputError(
                f"{self.name} has m/z down to {self.mz.min():g} and retention times "
                f"down to {self.rt.min():g}; masses are positive and times not "
                "negative. Check which columns hold m/z and rt."
            )
        _refuse_shapes(self)
        _refuse_duplicates(self)
        _refuse_missing(self)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.intensities.shape[0]

    @property
    def p(self) -> int:
        """Number of features."""
        return len(self.ids)

    def logarithm(self) -> "FeatureTable":
        """The table of log(1 + intensity): peak areas span decades, logs do not."""
        if self.intensities.min() < 0:
            raise InputError(
                f"{self.name} has negative intensities, so it is already transformed. "
                "Use it as it is."
            )
        note = (*self.decisions, "intensities: log(1 + x)")
        values = np.log1p(self.intensities)
        return replace(self, intensities=values, decisions=note)

    def select(self, features: np.ndarray) -> "FeatureTable":
        """The table of some features, in the order given."""
        return replace(
            self,
            ids=tuple(self.ids[i] for i in features),
            mz=self.mz[features],
            rt=self.rt[features],
            intensities=self.intensities[:, features],
            gaps=None if self.gaps is None else self.gaps[:, features],
        )

    def measured(self) -> Float[np.ndarray, "n p"]:
        """The intensities, NaN where nothing was measured."""
        if self.gaps is None:
            return self.intensities
        return np.where(self.gaps, np.nan, self.intensities)

    def sample_names(self) -> tuple[str, ...]:
        """The names of the samples; numbered if they have none."""
        return self.samples or tuple(f"sample{k + 1}" for k in range(self.n))


def _refuse_other_types(table: "FeatureTable") -> None:
    names = listed("ids", table.ids, "names")
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"`ids` must be a list of words, got {table.ids!r:.60}.")
    for label in ("mz", "rt", "intensities"):
        values = getattr(table, label)
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
            raise InputError(
                f"`{label}` of {table.name} must be an array of numbers, "
                f"got {type(values).__name__}."
            )


def _refuse_shapes(table: "FeatureTable") -> None:
    if table.intensities.ndim != 2 or table.intensities.shape[1] != table.p:
        raise InputError(
            f"`intensities` of {table.name} must be (n samples, {table.p} features), "
            f"got {table.intensities.shape}."
        )
    if table.samples and len(table.samples) != table.n:
        raise InputError(
            f"`samples` of {table.name} must be {table.n} names, got "
            f"{len(table.samples)}. Give one per row of `intensities`, or none."
        )


def _refuse_nonfinite(table: FeatureTable, label: str, values: np.ndarray) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"`{label}` of {table.name} is not finite for {bad.size} of {table.p} "
            f"features, the first is {table.ids[bad[0]]!r}. Drop those features."
        )


def _refuse_duplicates(table: FeatureTable) -> None:
    seen: set[str] = set()
    repeated = [i for i in table.ids if i in seen or seen.add(i)]  # type: ignore[func-returns-value]
    if repeated:
        raise InputError(
            f"{table.name} has duplicated ids: {len(repeated)} repeat, the first is "
            f"{repeated[0]!r}. Give every feature its own id (or drop the id column: "
            "features are then numbered)."
        )


def _refuse_missing(table: FeatureTable) -> None:
    bad = ~np.isfinite(table.intensities)
    if bad.any():
        sample, feature = np.argwhere(bad)[0]
        raise InputError(
            f"{table.name} has {int(bad.sum())} missing (NaN) intensities in "
            f"{int(bad.any(0).sum())} of {table.p} features, the first for feature "
            f"{table.ids[feature]!r}, sample {sample}. Impute them (--impute, or "
            "read_table(path, imputation=HalfMinimum())) or drop those features."
        )
