"""The result of a flow: times, measures, what was observed, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward._checks import scalar
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._kinds import Measure, blended
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

    `measures` is one object, `Particles` or a `Density`, with a leading time axis;
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

    @property
    def points(self) -> Float[Array, "t n d"]:
        """All frames of points."""
        return self._particles().points

    @property
    def weights(self) -> Float[Array, "t n"]:
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
        """The measure at time t: exact at saved times, linear in between (points are
        projected, densities averaged)."""
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
        return blended(self[k], self[k + 1], s)

    def observe(self, f: Callable[[Any], object]) -> np.ndarray:
        """f at every saved time, stacked into one array."""
        return np.stack([np.asarray(f(self[k])) for k in range(len(self))])

    def save(self, path) -> None:
        """Write the run as a Zarr store that xarray opens; `pf.load` reads it back."""
        self._particles()
        # A lower folder reaches up: users expect the method here.
        from pushforward.io import save_trajectory

        save_trajectory(self, path)

    def _particles(self) -> Particles:
        """The frames, refused for densities; `final` if only observables were kept."""
        if not isinstance(self.final, Particles):
            raise InputError(
                "this trajectory holds densities, which have no particles and no run "
                "on disk yet: keep `measures.coefficients`, or draw particles with "
                "trajectory[k].sample(key, n)."
            )
        return self._frames()

    def view(self, *, beta: float | None = None, height: int = 520) -> Any:
        """The run in a notebook: turn, play and scrub it; needs `pushforward[web]`.

        Energy is measured at `beta`, the field's own unless given.
        """
        self._particles()
        # Reaching up like `save`: users expect the method here.
        from pushforward.web._widget import view

        return view(self, beta=beta, height=height)

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
