"""The result of a flow: times, measures, what was observed, and how it ended."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward._checks import scalar
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._outcome import Outcome
from pushforward.measures import Particles


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


class Trajectory(eqx.Module):
    """A curve of measures, saved at `times`.

    `measures` is one `Particles` object with a leading time axis; `traj[k]` is frame k.
    When only observables were kept, `measures` is None and `final` is still there.
    Flows with merging also have `log_times` (natural logarithms of the time since the
    start, for times beyond 1e308), the arc length `arc`, and the tree of `merges`.
    """

    times: Float[np.ndarray, "t"] | Float[Array, "t"]
    measures: Particles | None
    final: Particles
    observed: dict[str, Array] | dict[str, np.ndarray]
    steps: Int[Array, ""]
    rejected: Int[Array, ""]
    status: Int[Array, ""]
    field: AbstractField | None
    outcome: Outcome | None = eqx.field(static=True, default=None)
    log_times: Float[np.ndarray, "t"] | None = None
    arc: Float[np.ndarray, "t"] | None = None
    merges: Merges | None = None

    @property
    def points(self) -> Float[Array, "t n d"]:
        """All frames of points."""
        return self._frames().points

    @property
    def weights(self) -> Float[Array, "t n"]:
        """All frames of weights."""
        return self._frames().weights

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, k: int) -> Particles:
        return jax.tree_util.tree_map(lambda leaf: leaf[k], self._frames())

    def at(self, t: float) -> Particles:
        """The measure at time t: exact at saved times, projected-linear in between."""
        times, t = np.asarray(self.times), float(scalar("t", t))
        if not times[0] <= t <= times[-1]:
            raise InputError(
                f"`t` must lie in [{times[0]:g}, {times[-1]:g}], got {t:g}."
            )
        k = min(int(np.searchsorted(times, t, side="right")) - 1, len(times) - 2)
        k = max(k, 0)
        if len(times) == 1 or t == times[k]:
            return self[k]
        s = (t - times[k]) / (times[k + 1] - times[k])
        before, after = self[k], self[k + 1]
        mix = lambda a, b: (1 - s) * a + s * b  # noqa: E731
        points = before.space.project(mix(before.points, after.points))
        return before.moved(points, mix(before.log_weights, after.log_weights))

    def observe(self, f: Callable[[Particles], object]) -> np.ndarray:
        """f at every saved time, stacked into one array."""
        return np.stack([np.asarray(f(self[k])) for k in range(len(self))])

    def save(self, path) -> None:
        """Write the run as a Zarr store that xarray opens; `pf.load` reads it back."""
        # The one place where a lower folder reaches up: users expect the method here.
        from pushforward.io import save_trajectory

        save_trajectory(self, path)

    def _frames(self) -> Particles:
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
