"""The life of clusters: when each was born, what it weighed, when it was absorbed."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError


@dataclasses.dataclass(frozen=True)
class Life:
    """One cluster: named by its first token, alive from e^birth to e^death.

    Times since the start are natural logarithms, because plateaus last e^{beta}:
    -inf is the start, +inf "still there at the end". `parents` are the clusters it was
    made of, as places in `ClusterLife.lives`; none for those that were there first.
    """

    token: int
    mass: float
    birth: float
    death: float
    parents: tuple[int, ...]

    @property
    def log_lifetime(self) -> float:
        """log(e^death - e^birth)."""
        if self.death == np.inf:
            return np.inf
        return self.death + float(np.log1p(-np.exp(self.birth - self.death)))


@dataclasses.dataclass(frozen=True)
class Plateau:
    """An interval of time with the same clusters throughout."""

    count: int
    start: float
    end: float
    masses: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class ClusterLife:
    """The family tree of clusters along a trajectory, in order of birth."""

    lives: tuple[Life, ...]
    log_end: float

    @property
    def events(self) -> Float[np.ndarray, "k"]:
        """Logarithms of the times at which the clusters change."""
        births = np.unique([life.birth for life in self.lives])
        return births[np.isfinite(births)]

    @property
    def counts(self) -> Int[np.ndarray, "p"]:
        """The number of clusters at the start and after each event."""
        births = np.array([life.birth for life in self.lives])
        deaths = np.array([life.death for life in self.lives])
        at = np.concatenate([[-np.inf], self.events])
        return np.array([((births <= t) & (deaths > t)).sum() for t in at])

    def plateaus(self, decades: float = 0.0) -> tuple[Plateau, ...]:
        """Intervals between events; those that last at least so many decades of time.

        The first begins at the start, -inf, and always counts as long; the last ends
        where the trajectory does.
        """
        starts = np.concatenate([[-np.inf], self.events])
        ends = np.concatenate([self.events, [max(self.log_end, starts[-1])]])
        long = (ends - starts) / np.log(10.0) >= decades
        return tuple(
            self._plateau(a, b) for a, b in zip(starts[long], ends[long], strict=True)
        )

    def _plateau(self, start: float, end: float) -> Plateau:
        there = [c for c in self.lives if c.birth <= start < c.death]
        masses = tuple(sorted((c.mass for c in there), reverse=True))
        return Plateau(len(there), float(start), float(end), masses)


def cluster_life(trajectory: Any, radius: float | None = None) -> ClusterLife:
    """Follow clusters through a trajectory.

    A flow with merging knows every merger exactly: its atoms are the clusters and
    `radius` must be left out. Otherwise clusters are those of `Clusters(radius)` in
    each frame, events are known to the spacing of frames, and a cluster lives as long
    as it keeps the same tokens.
    """
    merges = getattr(trajectory, "merges", None)
    if merges is not None:
        if radius is not None:
            raise InputError(
                "`radius` must be left out for a flow with merging: its clusters are "
                "the atoms, merged at the radius of Merge."
            )
        weights = np.asarray(trajectory[0].weights)
        end = float(trajectory.log_times[-1])
        return life_from_merges(
            merges.log_times, merges.absorbed, merges.into, weights, end
        )
    if radius is None:
        raise InputError(
            "`radius` is needed for a flow without merging: pass a geodesic distance "
            "such as 0.05, or flow with merge=Merge()."
        )
    times = np.asarray(trajectory.times, float)
    with np.errstate(divide="ignore"):
        log_times = np.log(times - times[0])
    labels = np.stack([trajectory[k].labels(radius) for k in range(len(times))])
    weights = np.stack([np.asarray(trajectory[k].weights) for k in range(len(times))])
    return life_from_labels(log_times, labels, weights)


def life_from_merges(
    log_times: Float[np.ndarray, "k"],
    absorbed: Int[np.ndarray, "k"],
    into: Int[np.ndarray, "k"],
    weights: Float[np.ndarray, "n"],
    log_end: float,
) -> ClusterLife:
    """From mergers in their order; those into one atom at one time are one event."""
    lives = [Life(i, float(w), -np.inf, np.inf, ()) for i, w in enumerate(weights)]
    place = list(range(len(weights)))  # token that names an atom -> its present life
    rows_of = zip(log_times.tolist(), into.tolist(), absorbed.tolist(), strict=True)
    for (t, target), rows in itertools.groupby(rows_of, key=lambda row: row[:2]):
        parents = [place[target], *(place[row[2]] for row in rows)]
        for p in parents:
            lives[p] = dataclasses.replace(lives[p], death=t)
        mass = sum(lives[p].mass for p in parents)
        place[target] = len(lives)
        lives.append(Life(target, mass, t, np.inf, tuple(parents)))
    kept = [i for i, c in enumerate(lives) if c.death > c.birth]
    return ClusterLife(tuple(_renumbered(lives, kept)), log_end)


def life_from_labels(
    log_times: Float[np.ndarray, "t"],
    labels: Int[np.ndarray, "t n"],
    weights: Float[np.ndarray, "t n"],
) -> ClusterLife:
    """From the cluster of every token in every frame; clusters may also split."""
    lives: list[Life] = []
    present: dict[int, int] = {}  # label in the last frame -> place in `lives`
    for k, t in enumerate(log_times):
        now, first = np.unique(labels[k], return_index=True)
        masses = np.bincount(labels[k], weights[k])
        before = (
            []
            if k == 0
            else np.unique(
                np.stack([labels[k - 1], labels[k]], axis=1), axis=0
            ).tolist()
        )
        following: dict[int, int] = {}
        for label, token in zip(now.tolist(), first.tolist(), strict=True):
            parents = [a for a, b in before if b == label]
            whole = [b for a, b in before if parents == [a]]
            if whole == [label]:
                following[label] = present[parents[0]]
                continue
            made_of = tuple(present[a] for a in parents)
            following[label] = len(lives)
            birth = -np.inf if k == 0 else float(t)
            lives.append(Life(token, float(masses[label]), birth, np.inf, made_of))
        for gone in set(present.values()) - set(following.values()):
            lives[gone] = dataclasses.replace(lives[gone], death=float(t))
        present = following
    return ClusterLife(tuple(lives), float(log_times[-1]))


def _renumbered(lives: list[Life], kept: list[int]) -> list[Life]:
    """Only some of the lives; a parent that is left out is replaced by its parents."""
    place = {old: new for new, old in enumerate(kept)}

    def ancestors(i: int) -> tuple[int, ...]:
        if i in place:
            return (place[i],)
        return tuple(a for p in lives[i].parents for a in ancestors(p))

    return [
        dataclasses.replace(
            lives[i], parents=tuple(a for p in lives[i].parents for a in ancestors(p))
        )
        for i in kept
    ]
