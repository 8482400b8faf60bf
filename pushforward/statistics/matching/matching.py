"""Match the features of two tables by mass, correlations and retention time."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from jaxtyping import Bool, Float, Int

from pushforward._wiring import connected
from pushforward.errors import InputError
from pushforward.statistics.matching.accuracy import (
    Accuracy,
    PrecisionRecall,
    accuracy_of,
    precision_recall_of,
)
from pushforward.statistics.matching.distances import (
    CorrelationDistance,
    Distance,
    Gate,
    MassGate,
    admissible_pairs,
    joint_distances,
)
from pushforward.statistics.matching.drift import Drift, SplineDrift
from pushforward.statistics.tables.tables import FeatureTable
from pushforward.transport import Coupling, Pairs, Segments, SparseGromov

# Two distance matrices, their differences on pairs and one copy each.
MEMORY_LIMIT = 12e9


class Reason(Enum):
    """What became of a pair whose masses agree."""

    ONLY = "kept: the only candidate of both features"
    BEST = "kept: the strongest of several candidates"
    DRIFT = "dropped: retention time off the drift"
    WEAK = "dropped: coupling below the threshold"
    RIVAL = "dropped: another pair is stronger"


@dataclass(frozen=True)
class Matching:
    """A one-to-one matching of two tables, with everything that led to it.

    Arrays run over the admissible `pairs`: `coupling` is the transported mass (flat
    without transport), `residual` the distance to the drift in minutes, `score` in
    [0, 1] the confidence, `reasons` what became of each. `ablation` is the same
    pipeline without transport, the honest measure of what transport adds.
    """

    A: FeatureTable
    B: FeatureTable
    pairs: Pairs
    coupling: Float[np.ndarray, "s"]
    residual: Float[np.ndarray, "s"]
    score: Float[np.ndarray, "s"]
    reasons: tuple[Reason, ...]
    drift: Drift
    plan: Coupling | None
    ablation: "Matching | None" = None

    @property
    def kept(self) -> Bool[np.ndarray, "s"]:
        """Which admissible pairs are in the matching."""
        return np.array([r in (Reason.ONLY, Reason.BEST) for r in self.reasons])

    @property
    def matches(self) -> Int[np.ndarray, "m 2"]:
        """Matched features: index in A, index in B."""
        kept = self.kept
        return np.column_stack([self.pairs.rows[kept], self.pairs.cols[kept]])

    @property
    def tables(self) -> tuple[FeatureTable, FeatureTable]:
        """A and B."""
        return self.A, self.B

    @property
    def groups(self) -> Int[np.ndarray, "m 2"]:
        """The matches, as those of several tables are written."""
        return self.matches

    def accuracy(self, truth: object, *, partial: bool = False) -> Accuracy:
        """Precision and recall against true pairs (m, 2) of indices.

        With `partial` truth a match counts as wrong only if it touches a feature that
        the truth knows.
        """
        return accuracy_of(self.matches, truth, self.pairs.shape, partial=partial)

    def precision_recall(self, truth: object) -> PrecisionRecall:
        """Precision and recall as the score demanded of a match falls."""
        score = self.score[self.kept]
        return precision_recall_of(self.matches, score, truth, self.pairs.shape)

    def thresholded(self, threshold: float) -> "Matching":
        """The same coupling and drift without pairs below a fraction of the largest."""
        _check_threshold(threshold)
        return _select(self, threshold)

    def __str__(self) -> str:
        off = sum(r is Reason.DRIFT for r in self.reasons)
        lines = [
            f"{self.A.name}: {self.A.p} features, {self.A.n} samples; "
            f"{self.B.name}: {self.B.p} features, {self.B.n} samples",
            f"{self.pairs.count} pairs within the mass gate, {off} of them off the "
            f"drift (cut {self.drift.cut:.3g} min)",
            f"{len(self.matches)} one-to-one matches",
        ]
        if self.plan is not None:
            state = "converged" if self.plan.converged else "NOT converged"
            lines.append(
                f"transport: mass {self.plan.mass:.4f}, {state} in "
                f"{self.plan.rounds} rounds"
            )
        if self.ablation is not None:
            lines.append(f"without transport: {len(self.ablation.matches)} matches")
        return "\n".join(lines)

    def _repr_html_(self) -> str:  # what a notebook shows
        A, B, kept = self.A, self.B, self.kept
        pairs = zip(self.matches, self.score[kept], strict=True)
        rows = [
            (A.ids[i], A.mz[i], A.rt[i], B.ids[j], B.mz[j], B.rt[j], score)
            for (i, j), score in pairs
        ]
        head = ["A", "m/z", "min", "B", "m/z", "min", "score"]
        return connected("report_table")(str(self), head, rows)


def match(
    A: FeatureTable,
    B: FeatureTable,
    *,
    gate: Gate = MassGate(),
    distance: Distance = CorrelationDistance(),
    transport: SparseGromov | None = SparseGromov(),
    drift: SplineDrift = SplineDrift(),
    threshold: float | None = None,
) -> Matching:
    """Match features of two tables: gate, transport, drift filter, one-to-one.

    1. pairs whose masses agree within `gate`; 2. unbalanced Gromov-Wasserstein between
    the two feature distance matrices on those pairs; 3. a spline drift weighted by the
    coupling, pairs off it dropped; 4. with `threshold` tau, pairs below tau times the
    largest coupling dropped (0.3 is the published variant); 5. the strongest pair of
    each column, then of each row. `transport=None` is the ablation: flat weights, the
    residual decides. [breeur2024gromovmatcher]
    """
    _check(A, B, threshold)
    pairs = admissible_pairs(A.mz, B.mz, gate)
    if pairs.count == 0:
        raise InputError(
            f"No feature of {A.name} (m/z {A.mz.min():.4f} to {A.mz.max():.4f}) agrees "
            f"with one of {B.name} (m/z {B.mz.min():.4f} to {B.mz.max():.4f}) within "
            f"{gate}. Check the m/z columns and ionization modes, or widen the gate."
        )
    ablation = _select(_fit(A, B, pairs, None, drift), 0.0)
    if transport is None:
        return ablation
    coupling = transport.couple(*joint_distances(A, B, distance), pairs)
    found = _fit(A, B, pairs, coupling, drift)
    return replace(_select(found, threshold or 0.0), ablation=ablation)


def _fit(
    A: FeatureTable,
    B: FeatureTable,
    pairs: Pairs,
    plan: Coupling | None,
    settings: SplineDrift,
) -> Matching:
    """The drift of a coupling (None: a flat one); nothing dropped yet."""
    flat = np.full(pairs.count, 1.0 / pairs.count)
    coupling = flat if plan is None else plan.values
    x, y = A.rt[pairs.rows], B.rt[pairs.cols]
    drift = settings.fit(x, y, coupling)
    residual = np.abs(drift(x) - y)
    on_drift = residual < drift.cut
    if plan is None:
        score = np.clip(1.0 - residual / drift.cut, 0.0, 1.0)
    else:
        score = _confidence(pairs, np.where(on_drift, coupling, 0.0))
    return Matching(A, B, pairs, coupling, residual, score, (), drift, plan)


def _select(m: Matching, threshold: float) -> Matching:
    """Keep pairs on the drift and above the threshold, one to one."""
    on_drift = (m.residual < m.drift.cut) & (m.coupling > 0)
    top = m.coupling[on_drift].max(initial=0.0)
    strong = on_drift & (m.coupling >= threshold * top)
    strength = -m.residual if m.plan is None else m.coupling
    kept = one_to_one(m.pairs, strength, strong)
    return replace(m, reasons=_reasons(m.pairs, on_drift, strong, kept))


def one_to_one(
    pairs: Pairs, strength: Float[np.ndarray, "s"], eligible: Bool[np.ndarray, "s"]
) -> Bool[np.ndarray, "s"]:
    """The strongest eligible pair of each column, then of each row of what is left.

    Ties go to the smaller index, so the result is one-to-one always.
    """
    kept = np.flatnonzero(eligible)
    for labels in (pairs.cols, pairs.rows):
        order = kept[np.lexsort((kept, -strength[kept], labels[kept]))]
        first = np.ones(len(order), dtype=bool)
        first[1:] = labels[order][1:] != labels[order][:-1]
        kept = np.sort(order[first])
    mask = np.zeros(pairs.count, dtype=bool)
    mask[kept] = True
    return mask


def _confidence(pairs: Pairs, coupling: np.ndarray) -> np.ndarray:
    """Pi_ij / (Pi_i. + Pi_.j - Pi_ij), times Pi_ij over the largest coupling."""
    rows, cols = Segments(pairs.rows), Segments(pairs.cols)
    around = rows.spread(rows.sums(coupling)) + cols.spread(cols.sums(coupling))
    share = coupling / np.maximum(around - coupling, np.finfo(float).tiny)
    return np.clip(share, 0.0, 1.0) * coupling / max(coupling.max(), 1e-300)


def _reasons(
    pairs: Pairs, on_drift: np.ndarray, strong: np.ndarray, kept: np.ndarray
) -> tuple[Reason, ...]:
    row_count = np.bincount(pairs.rows, minlength=pairs.shape[0])[pairs.rows]
    col_count = np.bincount(pairs.cols, minlength=pairs.shape[1])[pairs.cols]
    alone = (row_count == 1) & (col_count == 1)
    conditions = [kept & alone, kept, ~on_drift, ~strong]
    outcomes = np.select(conditions, [0, 1, 2, 3], 4)
    names = (Reason.ONLY, Reason.BEST, Reason.DRIFT, Reason.WEAK, Reason.RIVAL)
    return tuple(names[i] for i in outcomes)


def _check(A: FeatureTable, B: FeatureTable, threshold: float | None) -> None:
    for name, table in (("A", A), ("B", B)):
        if not isinstance(table, FeatureTable):
            raise InputError(
                f"`{name}` must be a FeatureTable, got {type(table).__name__}. Read a "
                "file with `read_table(path)`."
            )
    if threshold is not None:
        _check_threshold(threshold)
    needed = 8.0 * 3.0 * (A.p**2 + B.p**2)
    if needed > MEMORY_LIMIT:
        raise InputError(
            f"`A` and `B` have {A.p} and {B.p} features: their distance matrices need "
            f"about {needed / 1e9:.0f} GB. Split the tables by retention time or mass, "
            "or leave transport out (--no-transport, `transport=None`)."
        )


def _check_threshold(threshold: float) -> None:
    if not 0.0 <= threshold <= 1.0:
        raise InputError(
            f"`threshold` must lie in [0, 1], got {threshold}. It is a fraction of the "
            "largest coupling; the published value is 0.3."
        )
