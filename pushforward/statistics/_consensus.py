"""Groups of features, one at most of each table, from matches of pairs of tables.

The groups sought maximize

    (matched pairs inside groups) - agreement * (all pairs inside groups) .

Groups are joined first, those most agreed upon before the others; then single features
move, or change places with the feature of their table in another group, while the sum
rises: a local optimum, and nearly always the best one.
"""

from heapq import heapify, heappop, heappush

import numpy as np
from jaxtyping import Float, Int

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
