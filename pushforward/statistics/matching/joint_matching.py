"""Match the features of several tables at once, so that the matches agree.

Every pair of tables is matched by itself; then features gather into groups with at most
one feature of each table, so that as many of the pairs inside groups as can be were
matched (`_consensus`): a pair that others contradict falls, and one that was missed is
mended by those around it. With two tables this is `match`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from pushforward._checks import listed, number
from pushforward.errors import InputError
from pushforward.statistics.matching.accuracy import Accuracy, accuracy_of
from pushforward.statistics.matching.distances import (
    CorrelationDistance,
    Distance,
    Gate,
    MassGate,
)
from pushforward.statistics.matching.drift import SplineDrift
from pushforward.statistics.matching.matching import Matching, match
from pushforward.statistics.tables.tables import FeatureTable
from pushforward.transport import SparseGromov

Members = dict[int, int]  # feature by table
ROUNDS = 50  # of moves; a handful is enough, since the sum only rises
ROUNDING = 1e-9


class Consensus:
    """Features of all tables, numbered through, and the matches between them."""

    def __init__(self, start: Int[np.ndarray, "k1"], agreement: float):
        self.start, self.agreement = start, agreement
        count, self.k = int(start[-1]), len(start) - 1
        self.table = np.repeat(np.arange(self.k), np.diff(start)).tolist()
        self.near: list[dict[int, float]] = [{} for _ in range(count)]
        self.group = list(range(count))
        self.unused = count
        self.members: dict[int, Members] = {u: {t: u} for u, t in enumerate(self.table)}

    def match(self, left: list[int], right: list[int], score: list[float]) -> None:
        """Note matches of features, with scores."""
        for u, v, s in zip(left, right, score, strict=True):
            self.near[u][v] = self.near[v][u] = s

    def groups(self) -> tuple[Int[np.ndarray, "g k"], Float[np.ndarray, "g"]]:
        """The features of each group, -1 for none, and its share of matched pairs."""
        self._join()
        for _ in range(ROUNDS):
            if not sum(self._moved(u) for u in range(len(self.group))):
                break
        found = sorted(
            sorted(members.values())
            for members in self.members.values()
            if len(members) > 1
        )
        groups, share = np.full((len(found), self.k), -1), np.ones(len(found))
        for g, members in enumerate(found):
            for u in members:
                groups[g, self.table[u]] = u - self.start[self.table[u]]
            matched = sum(v in self.near[u] for u in members for v in members)
            share[g] = matched / (len(members) * (len(members) - 1))
        return groups, share

    def _join(self) -> None:
        """Join groups while the share of matched pairs between them is large enough."""
        ties = [{v: (1, s) for v, s in near.items()} for near in self.near]

        def entry(u: int, v: int) -> tuple[float, float, int, int]:
            count, score = ties[u][v]
            size = len(self.members[u]) * len(self.members[v])
            return (-count / size, -score / size, u, v)

        waiting = [entry(u, v) for u in range(len(ties)) for v in ties[u] if u < v]
        heapify(waiting)
        while waiting:
            now = heappop(waiting)
            u, v = now[2:]
            if not self._apart(u, v) or now != entry(u, v):
                continue  # one of them has grown since
            if -now[0] < self.agreement:
                break
            self._merge(u, v)
            for w, (count, score) in ties[v].items():
                if w != u:
                    before = ties[u].get(w, (0, 0.0))
                    ties[u][w] = ties[w][u] = (before[0] + count, before[1] + score)
                    del ties[w][v]
            del ties[u][v]
            for w in ties[u]:
                if self._apart(u, w):
                    heappush(waiting, entry(u, w))

    def _apart(self, u: int, v: int) -> bool:
        """Whether both are groups, and of different tables."""
        both = u in self.members and v in self.members
        return both and self.members[u].keys().isdisjoint(self.members[v])

    def _merge(self, u: int, v: int) -> None:
        for feature in self.members[v].values():
            self.group[feature] = u
        self.members[u] |= self.members.pop(v)

    def _worth(self, u: int, group: int | None) -> float:
        """What u adds to a group, beside all but the member of its own table."""
        if group is None:
            return 0.0
        others = [
            v for t, v in self.members[group].items() if t != self.table[u] and v != u
        ]
        return sum(v in self.near[u] for v in others) - self.agreement * len(others)

    def _moved(self, u: int) -> bool:
        """Move one feature where it adds most; the one in its place moves back."""
        table, home = self.table[u], self.group[u]
        here, best, to, back = self._worth(u, home), ROUNDING, home, None
        if -here > best:
            best, to = -here, -1
        for other in sorted({self.group[v] for v in self.near[u]} - {home}):
            rival = self.members[other].get(table)
            gain, way = self._worth(u, other) - here, None
            if rival is not None:
                way = home if self._worth(rival, home) > 0 else -1
                gain -= self._worth(rival, other)
                gain += max(self._worth(rival, home), 0.0)
            if gain > best:
                best, to, back = gain, other, way
        if to == home:
            return False
        rival = self.members[to].get(table) if back is not None else None
        del self.members[home][table]
        if rival is not None:
            del self.members[to][table]
            self._put(rival, back)
        self._put(u, to)
        if not self.members[home]:
            del self.members[home]
        return True

    def _put(self, u: int, group: int | None) -> None:
        """Into a group; alone for -1."""
        if group is None or group < 0:
            group = self.unused
            self.members[group], self.unused = {}, group + 1
        self.members[group][self.table[u]] = u
        self.group[u] = group


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
