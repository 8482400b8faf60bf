"""Match the features of several tables at once, so that the matches agree.

Every pair of tables is matched by itself; then features gather into groups with at most
one feature of each table, so that as many of the pairs inside groups as can be were
matched (`_consensus`): a pair that others contradict falls, and one that was missed is
mended by those around it. With two tables this is `match`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from pushforward._checks import listed, number
from pushforward.errors import InputError
from pushforward.statistics._consensus import Consensus
from pushforward.statistics.accuracy import Accuracy, accuracy_of
from pushforward.statistics.admissible import Gate, MassGate
from pushforward.statistics.drift import SplineDrift
from pushforward.statistics.feature_distances import CorrelationDistance, Distance
from pushforward.statistics.matching import Matching, match
from pushforward.statistics.tables import FeatureTable
from pushforward.transport import SparseGromov

Both = tuple[int, int]


@dataclass(frozen=True)
class JointMatching:
    """Groups of features, at most one of each table, and the matchings behind them.

    `groups[g, k]` is the feature of table k in group g, -1 if there is none; each group
    has at least two. `support` is the share of its pairs that were matched directly: 1
    where all tables agree. `pairs[a, b]` is the matching of tables a < b alone.
    """

    tables: tuple[FeatureTable, ...]
    groups: Int[np.ndarray, "g k"]
    support: Float[np.ndarray, "g"]
    pairs: Mapping[Both, Matching]

    def matches(self, a: int, b: int) -> Int[np.ndarray, "m 2"]:
        """Matched features of two tables: index in a, index in b."""
        found = self.groups[:, [a, b]]
        return found[(found >= 0).all(axis=1)]

    def accuracy(self, truth: object, *, partial: bool = False) -> Accuracy:
        """Precision and recall over all pairs of tables.

        `truth` has a row per true group and a column per table, -1 where the group has
        no feature; `partial` as in `Matching.accuracy`.
        """
        known = self._known(truth)
        true = false = missed = 0
        for a, b in combinations(range(len(self.tables)), 2):
            pairs = known[:, [a, b]]
            pairs = pairs[(pairs >= 0).all(axis=1)]
            found = self.matches(a, b)
            if not len(pairs):
                false += 0 if partial else len(found)
                continue
            shape = (self.tables[a].p, self.tables[b].p)
            counts = accuracy_of(found, pairs, shape, partial=partial)
            true, false = true + counts.true, false + counts.false
            missed += counts.missed
        return Accuracy(true, false, missed)

    def _known(self, truth: object) -> np.ndarray:
        known = np.asarray(truth)
        shape = (len(known), len(self.tables)) if known.ndim else ()
        if known.shape != shape or not np.issubdtype(known.dtype, np.integer):
            raise InputError(
                f"`truth` must be integer indices (m, {len(self.tables)}), one column "
                f"per table and -1 for none, got shape {known.shape}."
            )
        if not (np.sort(known, axis=1)[:, -2:] >= 0).all() or not len(known):
            raise InputError("`truth` must name two features at least in each row.")
        return known

    def __str__(self) -> str:
        K = len(self.tables)
        sizes = np.bincount((self.groups >= 0).sum(axis=1), minlength=K + 1)
        lines = [f"{t.name}: {t.p} features, {t.n} samples" for t in self.tables]
        lines.append(f"{len(self.groups)} groups of matched features")
        lines += [
            f"  {sizes[k]} in {'all ' if k == K else ''}{k} tables"
            for k in range(K, 1, -1)
        ]
        whole = float(np.mean(self.support == 1)) if len(self.support) else 1.0
        lines.append(f"{whole:.0%} of the groups agree in every pair of tables")
        return "\n".join(lines)


def match_jointly(
    tables: Sequence[FeatureTable],
    *,
    gate: Gate = MassGate(),
    distance: Distance = CorrelationDistance(),
    transport: SparseGromov | None = SparseGromov(),
    drift: SplineDrift = SplineDrift(),
    threshold: float | None = None,
    agreement: float = 0.3,
) -> JointMatching:
    """Match the features of two or more tables; the options are those of `match`.

    A group is worth the number of its matched pairs less `agreement` times that of all
    its pairs: near 0 one match joins groups, at 1 all of them must agree.
    """
    given = tuple(listed("tables", tables, "feature tables"))
    if len(given) < 2:
        raise InputError(f"`tables` must be two tables or more, got {len(given)}.")
    if not 0 < number("agreement", agreement) <= 1:
        raise InputError(
            f"`agreement` must lie in (0, 1], got {agreement}. The default is 0.3."
        )
    pairs = {
        (a, b): match(
            given[a],
            given[b],
            gate=gate,
            distance=distance,
            transport=transport,
            drift=drift,
            threshold=threshold,
        )
        for a, b in combinations(range(len(given)), 2)
    }
    return gathered(given, pairs, agreement)


def gathered(
    tables: tuple[FeatureTable, ...],
    pairs: Mapping[Both, Matching],
    agreement: float = 0.3,
) -> JointMatching:
    """The groups that the matchings of all pairs of tables agree upon."""
    start = np.cumsum([0, *(t.p for t in tables)])
    features = Consensus(start, agreement)
    for (a, b), found in pairs.items():
        kept = found.kept
        left = start[a] + found.pairs.rows[kept]
        right = start[b] + found.pairs.cols[kept]
        features.match(left.tolist(), right.tolist(), found.score[kept].tolist())
    groups, support = features.groups()
    return JointMatching(tables, groups, support, pairs)
