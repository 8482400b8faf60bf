"""The result of a flow: times, measures, what was observed, and how it ended."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward._checks import scalar
from pushforward._wiring import connected
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._outcome import Outcome, OutcomeKind
from pushforward.flows._times import bracket
from pushforward.measures import AbstractMeasure, Particles
from pushforward.spaces import AbstractSpace

COLUMNS = ("log_times", "arc", "absorbed", "into")


if TYPE_CHECKING:  # which kind it is, the caller knows
    Measure: TypeAlias = Any
else:
    Measure = AbstractMeasure


class Merges(eqx.Module):
    """Who was absorbed by whom, and when: the tree of a flow with merging.

    At e^{log_times[k]} the atom named by token `absorbed[k]` became part of the atom
    named by token `into[k]`. In order of time.
    """

    log_times: Float[np.ndarray, "k"]
    arc: Float[np.ndarray, "k"]
    absorbed: Int[np.ndarray, "k"]
    into: Int[np.ndarray, "k"]

    @classmethod
    def of(cls, rows: list[tuple[float, float, int, int]]) -> Merges:
        """From rows (log time, arc length, absorbed, into)."""
        times, arc, absorbed, into = zip(*rows, strict=True) if rows else ((),) * 4
        return cls(
            np.array(times, float),
            np.array(arc, float),
            np.array(absorbed, int),
            np.array(into, int),
        )

    def table(self) -> dict[str, np.ndarray]:
        """The columns, by the names they have in a store."""
        return {f"merge_{name}": np.asarray(getattr(self, name)) for name in COLUMNS}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Merges | None:
        """What `table` gave; None if these are not all there."""
        names = [f"merge_{name}" for name in COLUMNS]
        if not set(names) <= set(table):
            return None
        return cls(*(np.asarray(table[name]) for name in names))


class Trajectory(eqx.Module):
    """A curve of measures, saved at `times`: those asked for, and t0 and t1 always.

    `measures` is one object, `Particles`, a `Density` or a `Gaussian`, with a leading
    time axis;
    `traj[k]` is frame k.
    When only observables were kept, `measures` is None and `final` is still there.
    Flows with merging also have `log_times` (natural logarithms of the time since the
    start, for times beyond 1e308), the arc length `arc`, and the tree of `merges`.
    """

    times: Float[np.ndarray, "t"] | Float[Array, "t"]
    measures: Measure | None
    final: Measure
    observed: dict[str, Array] | dict[str, np.ndarray]
    steps: Int[Array, ""]
    rejected: Int[Array, ""]
    status: Int[Array, ""]
    field: AbstractField | None
    outcome: Outcome | None = eqx.field(static=True, default=None)
    log_times: Float[np.ndarray, "t"] | None = None
    arc: Float[np.ndarray, "t"] | None = None
    merges: Merges | None = None

    @classmethod
    def recorded(
        cls,
        space: AbstractSpace,
        points: Float[Array, "t n d"] | Float[np.ndarray, "t n d"],
        times: Float[np.ndarray, "t"] | None = None,
        *,
        weights: Float[np.ndarray, "*t n"] | None = None,
        **more: Any,
    ) -> Trajectory:
        """Frames that were saved elsewhere, as a trajectory without a field.

        - `times`: 0, 1, 2, ... unless given.
        - `weights`: equal unless given; one row for all frames, or one for each.
        - `more`: any other attribute, for instance `outcome`, `field` or `observed`.
        """
        frames = jnp.asarray(points)
        if frames.dtype not in (jnp.float32, jnp.float64):
            frames = frames.astype(float)
        first = Particles(space, np.asarray(points[0], float))
        logs = first.log_weights if weights is None else jnp.log(jnp.asarray(weights))
        logs = jnp.broadcast_to(logs.astype(frames.dtype), frames.shape[:2])
        none = jnp.zeros((), int)
        return cls(
            times=np.arange(len(frames), dtype=float) if times is None else times,
            measures=first.moved(frames, logs),
            final=first.moved(frames[-1], logs[-1]),
            **{
                "observed": {},
                "steps": none,
                "rejected": none,
                "status": none,
                "field": None,
                **more,
            },
        )

    @property
    def points(self) -> Float[Array, "*batch t n d"]:
        """All frames of points."""
        return self._particles().points

    @property
    def weights(self) -> Float[Array, "*batch t n"]:
        """All frames of weights."""
        return self._particles().weights

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, k: int) -> Measure:
        # JAX clamps an index that is out of range: a loop over frames would not end.
        if not -len(self) <= k < len(self):
            raise IndexError(f"frame {k} of a trajectory with {len(self)} frames.")
        return jax.tree_util.tree_map(lambda leaf: leaf[k], self._frames())

    def at(self, t: float) -> Measure:
        """The measure at time t: exact at saved times, in between a mixture.

        Points mix linearly and are put back onto the space, weights and densities mix
        linearly; the share is linear in t, or in log t where there are `log_times`.
        """
        times = np.asarray(self.times)
        t, outcome = float(scalar("t", t)), self.outcome
        if outcome is None or outcome.kind == OutcomeKind.REACHED_T1:
            k, s = bracket(times, self.log_times, t)
        else:  # a later t1 would change nothing
            k, s = bracket(times, self.log_times, t, f"It ended there: {outcome}")
        return self[k] if s == 0 else self[k].blended(self[k + 1], s)

    def observe(self, f: Callable[[Any], object]) -> np.ndarray:
        """f at every saved time, stacked into one array."""
        return np.stack([np.asarray(f(self[k])) for k in range(len(self))])

    def save(self, path: str | pathlib.PurePath) -> None:
        """Write the run as a Zarr store that xarray opens; `pf.load` reads it back."""
        self._frames()
        connected("save_trajectory")(self, path)

    def _particles(self) -> Particles:
        """The frames, refused for densities; `final` if only observables were kept."""
        if not isinstance(self.final, Particles):
            raise InputError(
                f"this trajectory holds measures of kind {type(self.final).__name__}, "
                "which has no particles: look at `measures`, or draw some with "
                "trajectory[k].sample(key, n)."
            )
        frames = self._frames()
        assert isinstance(frames, Particles)
        return frames

    def view(self, *, beta: float | None = None, height: int = 520) -> Any:
        """The run in a notebook: turn, play and scrub it; needs `pushforward[web]`.

        Energy is measured at `beta`, the field's own unless given.
        """
        self._particles()
        return connected("view")(self, beta=beta, height=height)

    def _repr_png_(self) -> bytes | None:  # what a notebook shows
        return connected("picture")(self)

    def _frames(self) -> Measure:
        if self.measures is None:
            raise InputError(
                "this trajectory kept only observables: use `.observed` or `.final`, "
                "or flow again without OnlyObservables."
            )
        return self.measures

    def __repr__(self) -> str:
        times = np.asarray(self.times)
        if times.ndim != 1:
            return f"Trajectory(batch of {times.shape[0]})"
        ended = "" if self.outcome is None else f", {self.outcome.kind}"
        return (
            f"Trajectory({len(times)} frames, t = {times[0]:g} to {times[-1]:g}, "
            f"n = {self.final.n}, {int(jnp.sum(self.steps))} steps{ended})"
        )
