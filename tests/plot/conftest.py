"""Small runs to draw, made without a solver so that these tests test drawing only."""

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.measures import stack


def trajectory_through(space, points, times=None, beta=4.0):
    """A trajectory with the given frames (t, n, d) of unit vectors."""
    frames = [pf.Particles.normalized(space, x) for x in points]
    times = np.arange(len(points), dtype=float) if times is None else np.asarray(times)
    zero = jnp.asarray(0)
    field = pf.Attention(beta)
    return pf.Trajectory(
        times, stack(frames), frames[-1], {}, zero, zero, zero, field, None
    )


def converging(n: int, d: int, frames: int, seed: int = 0) -> np.ndarray:
    """Tokens that gather around two poles."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    pole = np.where(x[:, :1] > 0, 1.0, -1.0) * np.eye(d)[0]
    s = np.linspace(0, 1, frames)[:, None, None]
    x = (1 - s) * x + 50 * s**2 * pole
    return x / np.linalg.norm(x, axis=2, keepdims=True)


@pytest.fixture(scope="session")
def on_sphere():
    return trajectory_through(pf.Sphere(3), converging(20, 3, 9))


@pytest.fixture(scope="session")
def on_circle():
    return trajectory_through(pf.Circle(), converging(12, 2, 9))


@pytest.fixture(scope="session")
def in_many():
    return trajectory_through(pf.Sphere(6), converging(15, 6, 9))


@pytest.fixture(scope="session")
def in_plane():
    rng = np.random.default_rng(1)
    points = np.cumsum(rng.normal(size=(7, 10, 2)), axis=0)
    return trajectory_through(pf.Euclidean(2), points)
