"""Saved frames as a trajectory, for the functions that draw trajectories."""

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf


def replayed(space, points: np.ndarray, times: np.ndarray | None = None):
    """A trajectory without a field from (times, n, d) points."""
    times = np.arange(len(points), dtype=float) if times is None else times
    frames = jax.vmap(lambda x: pf.Particles(space, x))(jnp.asarray(points))
    last = pf.Particles(space, points[-1])
    none = jnp.zeros((), int)
    return pf.Trajectory(times, frames, last, {}, none, none, none, None)
