"""A run being recorded: frames in the order of time, then how it ended.

Cluster labels that mean the same cluster in every frame.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

import pushforward as pf
from pushforward.measures import components
from pushforward.web import _caps
from pushforward.web.computing._frames import Reading, packed
from pushforward.web.state._given import as_tokens


class Labels:
    """Gives clusters names that last.

    A cluster keeps the name of its heaviest ancestor, the ancestor that gives it most
    mass; where a cluster splits, the heaviest part keeps the name and the others get
    new ones. At the start the heaviest cluster is 0.
    """

    def __init__(self) -> None:
        self.before: np.ndarray | None = None
        self.next = 0

    def follow(self, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Names for the clusters of the next frame, one per token."""
        count = int(labels.max()) + 1
        if self.before is None:
            masses = np.bincount(labels, weights, minlength=count)
            names = np.empty(count, int)
            names[np.argsort(-masses, kind="stable")] = np.arange(count)
            self.next = count
        else:
            names = self._inherited(labels, weights, count)
        self.before = names[labels]
        return self.before

    def _inherited(self, labels, weights, count: int) -> np.ndarray:
        assert self.before is not None
        pairs, place = np.unique(
            np.stack([self.before, labels]), axis=1, return_inverse=True
        )
        shared = np.bincount(place.ravel(), weights)
        names = np.full(count, -1)
        taken: set[int] = set()
        for k in np.argsort(-shared, kind="stable"):
            old, new = (int(x) for x in pairs[:, k])
            if names[new] < 0 and old not in taken:
                names[new] = old
                taken.add(old)
        for orphan in np.flatnonzero(names < 0):
            names[orphan] = self.next
            self.next += 1
        return names


WORDS = {"frozen": "frozen at machine precision"}
NOWHERE = (math.nan, math.nan)  # energy and cosine without a sphere


class Recorder:
    """Measures each frame and hands it on as bytes; `send(frame, points)`."""

    def __init__(self, n: int, beta: float, radius: float, send: Callable):
        self.n, self.beta, self.radius, self.send = n, beta, radius, send
        self.labels = Labels()
        self.basis: np.ndarray | None = None
        self.count = 0
        self.arc, self.drift = 0.0, 0.0
        self.before: np.ndarray | None = None
        self.pending: tuple[Callable[..., bytes], np.ndarray] | None = None
        self.masses = False
        self.scale = 1.0  # of the picture: tokens of R^d are shown in the unit ball
        self.variance: list[float] | None = None

    def project_on(self, final: np.ndarray) -> None:
        """Show principal coordinates of the final tokens; note what each keeps."""
        values, axes = np.linalg.eigh(final.T @ final)  # all d axes, also when n < d
        rows = min(final.shape[1], _caps.MOST_SHOWN)
        self.basis = axes.T[::-1][:rows]
        share = np.maximum(values[::-1], 0.0) / max(values.sum(), 1e-300)
        self.variance = [float(x) for x in share[:rows]]

    def frame(self, t: float, log_t: float | None, mu: Any, arc=None) -> None:
        """Measure one frame; the one before it goes out."""
        self.flush(last=False)
        spread = not isinstance(mu, pf.Particles)  # its points are only drawn
        density = isinstance(mu, pf.Density)  # it moves mass, not points
        values = np.asarray(mu.values) if density else None  # one where it is uniform
        mu = as_tokens(mu)
        points = np.asarray(mu.points)[: self.n]
        weights = np.asarray(mu.weights)[: self.n]
        wide = points.astype(float)
        round_space = not isinstance(mu.space, pf.Euclidean)
        if not self.count:
            self._begin(wide, weights, round_space)
        chains = components(mu.space, wide, self.radius)
        found = np.arange(len(wide)) if spread else chains
        sizes = np.bincount(found, weights)
        energy, cosine = self._on_sphere(mu, wide) if round_space else NOWHERE
        if self.before is not None:
            self.arc += float(np.linalg.norm(wide - self.before))
        self.before = wide
        if log_t is None:
            log_t = math.log(t) if t > 0 else -math.inf
        reading = Reading(
            t=t,
            log10_t=log_t / math.log(10),
            energy=energy,
            clusters=math.nan if spread else float(len(sizes)),
            largest=math.nan if spread else float(sizes.max()),
            cosine=cosine,
            arc=self.arc if arc is None else arc,
        )
        named = self.labels.follow(found, weights) % 65536
        shown = points if self.basis is None else wide @ self.basis.T
        shown = shown / self.scale
        masses = values if density else weights if self.masses else None
        hidden = points.shape[1] > _caps.MOST_SHOWN
        cosines = cosine_shares(wide) if hidden else None
        pack = partial(packed, self.count, reading, shown, named, masses, cosines)
        self.pending = (pack, points)
        self.count += 1

    def _begin(self, wide: np.ndarray, weights: np.ndarray, round_space: bool) -> None:
        self.masses |= bool(np.ptp(weights) > 1e-12)
        if not round_space:
            self.scale = float(np.linalg.norm(wide, axis=1).max()) or 1.0

    def _on_sphere(self, mu: pf.Particles, wide: np.ndarray) -> tuple[float, float]:
        """Energy and mean cosine; how far the tokens have left it is noted."""
        off = np.abs(np.linalg.norm(wide, axis=1) - 1).max()
        self.drift = max(self.drift, float(off))
        return energy_and_cosine(self.beta, mu)

    def replay(self, run: pf.Trajectory, most: int, check: Callable = bool) -> None:
        """Frames of a finished run; above d = 3 in principal coordinates of its end."""
        if as_tokens(run.final).d > 3:
            final = as_tokens(run.final).points
            self.project_on(np.asarray(final, float)[: self.n])
        for k in range(min(len(run), most)):
            check()
            mu = run[k]
            log_t = None if run.log_times is None else float(run.log_times[k])
            arc = None if run.arc is None else float(run.arc[k])
            self.frame(float(run.times[k]), log_t, mu, arc)

    def flush(self, last: bool) -> None:
        """Send the frame that waits: only now it is known whether it is the last."""
        if self.pending is not None:
            pack, points = self.pending
            self.send(pack(last=last), points)
            self.pending = None

    def summary(self, run: pf.Trajectory) -> dict:
        """How it ended, in numbers and words."""
        outcome = run.outcome or pf.Outcome("recorded", "not the result of a flow.")
        kind = WORDS.get(outcome.kind, outcome.kind)
        final = as_tokens(run.final)
        float32 = str(np.asarray(final.points).dtype) == "float32"
        return {
            "outcome": {"kind": kind, "sentence": outcome.message},
            "frames": self.count,
            "steps": int(run.steps),
            "rejected": int(run.rejected),
            "norm_drift": self.drift,
            "scale": self.scale,
            "space": "euclidean" if isinstance(final.space, pf.Euclidean) else "",
            "dtype": "float32" if float32 else "float64",
        }


def energy_and_cosine(beta: float, mu: pf.Particles) -> tuple[float, float]:
    """2 beta e^{-beta} E, and the mean cosine between two tokens."""
    energy, cosine = _both(pf.InteractionEnergy(beta), mu)
    return float(energy), 1.0 if mu.n == 1 else float(cosine)


@jax.jit
def _both(energy, mu: pf.Particles):
    return energy(mu), pf.observables.mean_cosine(mu)


def cosine_shares(points: np.ndarray) -> np.ndarray:
    """Shares of the pairs i < j whose cosine lies in each of 64 bins of [-1, 1]."""
    mu = pf.Particles.normalized(pf.Sphere(points.shape[1]), points)
    return pf.observables.cosine_histogram(mu, 64)[0]
