"""Which tokens pulled which: the most telling moves, and who moved tokens at all."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pushforward._checks import whole
from pushforward.measures import Particles
from pushforward.observables import Clusters
from pushforward.probe._recording import Recording, load_any
from pushforward.probe.measured._normalization import unit
from pushforward.probe.measured._split import MotionSplit, split_motion
from pushforward.spaces import Sphere

PULLERS = 5  # sources of a token's motion that are kept
RADIUS = 0.6  # of the clusters that a pull is along or against


@dataclasses.dataclass(frozen=True)
class Move:
    """One token that one head turned toward or away from what another token holds.

    `angle` is how far the layer turned the token, in degrees. The shares of attention,
    perceptron and norms sum to one; `pull` is the part of attention that `head` brought
    from `source`. `along` is the cosine of that pull with the way to the rest of the
    token's cluster; None for a token that stands alone.
    """

    layer: int
    token: int
    head: int
    source: int
    angle: float
    pull: float
    attention: float
    perceptron: float
    norms: float
    along: float | None


@dataclasses.dataclass(frozen=True)
class MotionSummary:
    """Who moved the tokens: by layer, and the moves that tell most.

    `attention`, `perceptron` and `norms` are medians over tokens of the shares of the
    motion along itself, which sum to one for each token. `sources[l, i]` are the other
    tokens that moved token i most in layer l, all heads together, and `pulls[l, i]`
    their shares of its motion; negative ones held it back.
    """

    attention: Float[np.ndarray, "l"]
    perceptron: Float[np.ndarray, "l"]
    norms: Float[np.ndarray, "l"]
    moves: tuple[Move, ...]
    sources: Int[np.ndarray, "l n k"]
    pulls: Float[np.ndarray, "l n k"]

    @property
    def parts(self) -> tuple[Float[np.ndarray, "l"], ...]:
        """The shares of attention, perceptron and norms."""
        return self.attention, self.perceptron, self.norms


class _Candidate(NamedTuple):
    """A move, how telling it is, and the vector that its head brought."""

    telling: float
    move: Move
    pull: Float[np.ndarray, "d"]


def motion_summary(model: Any, recording: Recording, count: int = 10) -> MotionSummary:
    """Split the motion of every layer; keep its shares and the most telling moves."""
    count = whole("count", count, 1, "It is a number of moves.")
    model = load_any(model)
    candidates: list[_Candidate] = []
    shares, pullers = [], []
    for k in range(min(recording.depth, model.transformer.depth)):
        split = split_motion(model, recording, k)
        two = [split.share("attention"), split.share("perceptron")]
        parts = (*two, 1 - two[0] - two[1])
        shares.append([float(np.median(part)) for part in parts])
        candidates += _best(split, recording, parts, count)
        pullers.append(_pullers(split))
    moves = tuple(_placed(one, recording) for one in _chosen(candidates, count))
    attention, push, norms = np.array(shares).T
    sources, pulls = (np.stack(part) for part in zip(*pullers, strict=True))
    return MotionSummary(attention, push, norms, moves, sources, pulls)


def _pullers(split: MotionSplit) -> tuple[np.ndarray, np.ndarray]:
    """Who pulled each token most, and the shares of its motion."""
    total = split.shares.sum(axis=0)
    np.fill_diagonal(total, 0.0)
    most = np.argsort(-np.abs(total), axis=1, kind="stable")[:, :PULLERS]
    return most, np.take_along_axis(total, most, axis=1)


def telling_moves(
    model: Any, recording: Recording, count: int = 10
) -> tuple[Move, ...]:
    """The moves that one other token explains best: far, and by a large share.

    Ordered by angle times share; at most two of a layer and one of a pair of tokens.
    """
    return motion_summary(model, recording, count).moves


def _chosen(candidates: list[_Candidate], count: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    for one in sorted(candidates, key=lambda one: -one.telling):
        layer, pair = one.move.layer, {one.move.token, one.move.source}
        known = any(pair == {o.move.token, o.move.source} for o in chosen)
        crowded = sum(o.move.layer == layer for o in chosen) >= 2
        if not known and not crowded and len(chosen) < count:
            chosen.append(one)
    return chosen


def _best(
    split: MotionSplit, recording: Recording, parts: tuple, count: int
) -> list[_Candidate]:
    k = split.layer
    before, after = unit(recording.hidden[k : k + 2])
    cosine = np.clip((before * after).sum(axis=1), -1, 1)
    angles = np.degrees(np.arccos(cosine))
    others = np.where(np.eye(len(angles), dtype=bool)[None], 0.0, split.shares)
    strongest = others.max(axis=(0, 2))
    found = []
    for i in np.argsort(-angles * strongest)[:count]:
        place = np.unravel_index(np.argmax(others[:, i]), others[:, i].shape)
        h, j = (int(part) for part in place)
        attention, push, norms = (float(part[i]) for part in parts)
        move = Move(
            layer=k,
            token=int(i),
            head=h,
            source=j,
            angle=float(angles[i]),
            pull=float(others[h, i, j]),
            attention=attention,
            perceptron=push,
            norms=norms,
            along=None,
        )
        telling = float(angles[i] * strongest[i])
        found.append(_Candidate(telling, move, split.pull(h, int(i), j)))
    return found


def _placed(one: _Candidate, recording: Recording) -> Move:
    """A move with the cosine of its pull and the way to the rest of the cluster."""
    move = one.move
    x = unit(recording.hidden[move.layer])
    labels = np.asarray(Clusters(RADIUS)(Particles(Sphere(x.shape[1]), x)).labels)
    rest = np.flatnonzero(labels == labels[move.token])
    rest = rest[rest != move.token]
    if not len(rest):
        return move
    way = x[rest].mean(axis=0) - x[move.token]
    sizes = np.linalg.norm(way) * np.linalg.norm(one.pull)
    return dataclasses.replace(move, along=float(way @ one.pull / max(sizes, 1e-300)))
