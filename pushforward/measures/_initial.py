"""Initial data: the clouds of points that the papers start from."""

import pathlib
import warnings
from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Key, Num, PRNGKeyArray, Real

from pushforward._checks import (
    Number,
    as_float_array,
    as_path,
    check_finite,
    is_traced,
    positive,
    prng_key,
    whole,
)
from pushforward._files import read_npy, read_npz
from pushforward.errors import InputError
from pushforward.spaces import AbstractSpace, Circle, Euclidean, Sphere


def uniform(space: AbstractSpace, n: int, key: PRNGKeyArray) -> Float[Array, "n d"]:
    """Rotation-invariant on spheres; the cube [-1, 1]^d in flat space."""
    _ask(space, key)
    n = whole("n", n, 1)
    if isinstance(space, Euclidean):
        return jax.random.uniform(key, (n, space.d), minval=-1.0, maxval=1.0)
    return space.project(jax.random.normal(key, (n, space.d)))


def gaussian(
    space: AbstractSpace,
    n: int,
    mean: Real[ArrayLike, "*d"] | Sequence,
    scale: Number,
    key: PRNGKeyArray,
) -> Float[Array, "n d"]:
    """mean + scale * normal, projected onto the space."""
    _ask(space, key)
    n = whole("n", n, 1)
    mean = as_float_array("mean", mean)
    if mean.shape not in ((), (1,), (space.d,)):
        raise InputError(f"`mean` must have shape ({space.d},), got {mean.shape}.")
    check_finite("mean", mean)
    center = jnp.broadcast_to(mean, (space.d,))
    scale = positive("scale", scale, "It is a standard deviation.")
    noise = jax.random.normal(key, (n, space.d))
    return space.project(center[None, :] + scale * noise)


def vonmises_fisher(
    space: AbstractSpace,
    n: int,
    mean: Real[ArrayLike, "*d"] | Sequence,
    kappa: Number,
    key: PRNGKeyArray,
) -> Float[Array, "n d"]:
    """Cosines with the mean by rejection (Wood's envelope), directions uniform."""
    _ask(space, key)
    if not isinstance(space, Sphere | Circle):
        raise InputError(f"`space` must be a sphere or the circle, got {space!r}.")
    n = whole("n", n, 1)
    kappa = positive("kappa", kappa, "It is a concentration; 0 is `uniform`.")
    if not is_traced(kappa) and kappa > 1e100:
        raise InputError(f"`kappa` must be at most 1e100, got {float(kappa):g}.")
    mean = as_float_array("mean", mean)
    check_finite("mean", mean)
    if mean.shape != (space.d,) or (not is_traced(mean) and not mean.any()):
        raise InputError(
            f"`mean` must be a direction of shape ({space.d},), got {mean}."
        )
    mean = space.project(mean)
    key_cosine, key_direction = jax.random.split(key)
    keys = jax.random.split(key_cosine, n)
    gap = _wood_gaps(keys, kappa, space.d)[:, None]
    across = jax.random.normal(key_direction, (n, space.d))
    across = across - (across @ mean)[:, None] * mean[None, :]
    across = across / jnp.linalg.norm(across, axis=1, keepdims=True)
    sine = jnp.sqrt(gap * (2 - gap))
    return space.project((1 - gap) * mean[None, :] + sine * across)


@partial(jax.jit, static_argnums=2)  # a loop outside of it compiles at every call
def _wood_gaps(keys: Key[Array, "n"], kappa: Number, d: int) -> Float[Array, "n"]:
    return jax.vmap(lambda key: _wood_gap(key, kappa, d))(keys)


def _wood_gap(key: PRNGKeyArray, kappa: Number, d: int) -> Array:
    """One minus the cosine: the cosine itself rounds to one at kappa = 1e16."""
    m = d - 1
    b = m / (2 * kappa + jnp.hypot(2 * kappa, m))
    gap_0 = 2 * b / (1 + b)

    def draw(state):
        key, _, _ = state
        key, key_z, key_u = jax.random.split(key, 3)
        z = jax.random.beta(key_z, m / 2, m / 2)
        gap = 2 * b * z / (1 - (1 - b) * z)
        quotient = (1 + (1 - gap_0) * gap / gap_0) / (2 - gap_0)
        log_ratio = kappa * (gap_0 - gap) + m * jnp.log(quotient)
        return key, gap, jnp.log(jax.random.uniform(key_u)) <= log_ratio

    start = (key, jnp.zeros(()), jnp.array(False))
    return jax.lax.while_loop(lambda s: ~s[2], draw, start)[1]


def orthonormal(space: AbstractSpace, n: int) -> Float[Array, "n d"]:
    """Rows of the identity."""
    _ask(space)
    n = whole("n", n, 1)
    if n > space.d:
        raise InputError(
            f"`n` must be at most d = {space.d} for orthonormal points, got {n}. "
            f"Use Sphere({n})."
        )
    return jnp.eye(space.d)[:n]


def clustered(
    space: AbstractSpace,
    n: int,
    centers: Real[ArrayLike, "k d"] | Real[ArrayLike, "d"] | Sequence | int,
    scale: Number,
    key: PRNGKeyArray,
) -> Float[Array, "n d"]:
    """Particle i belongs to center i mod k."""
    _ask(space, key)
    n = whole("n", n, 1)
    key_centers, key_noise = jax.random.split(key)
    if isinstance(centers, int):
        centers = uniform(space, whole("centers", centers, 1), key_centers)
    centers = jnp.atleast_2d(as_float_array("centers", centers))
    if centers.ndim != 2 or centers.shape[1] != space.d or not len(centers):
        raise InputError(
            f"`centers` must have shape (k, {space.d}), got {centers.shape}."
        )
    scale = positive("scale", scale, "It is the spread of one cluster.")
    base = centers[jnp.arange(n) % len(centers)]
    return space.project(base + scale * jax.random.normal(key_noise, (n, space.d)))


def equispaced(space: AbstractSpace, n: int) -> Float[Array, "n 2"]:
    """Angles 2 pi i / n."""
    _ask(space)
    n = whole("n", n, 1)
    if space.d != 2 or not isinstance(space, Sphere | Circle):
        raise InputError(
            f"equispaced points live on the circle, got {space!r}. Use Circle()."
        )
    return Circle().points(2 * np.pi * np.arange(n) / n)


_NO_KEY = object()


def _ask(space: object, key: object = _NO_KEY) -> None:
    """Refuse what is not a space, or not a key where one is needed."""
    if not isinstance(space, AbstractSpace):
        raise InputError(f"`space` must be a space such as Sphere(3), got {space!r}.")
    if key is not _NO_KEY and not is_traced(key):
        prng_key("key", key)


def read_points(
    path: str | pathlib.PurePath,
) -> tuple[Num[np.ndarray, "n d"], Num[np.ndarray, "n"] | None]:
    """Points, and weights where the file has them. Never unpickles."""
    path = as_path("path", path)
    if not path.is_file():
        raise InputError(f"no file at {path}. Check the path.")
    if path.suffix not in (".npy", ".npz", ".csv", ".txt"):
        raise InputError(
            f"`{path.suffix}` files are not read here; use .npy, .npz, .csv or .txt."
        )
    try:
        points, weights = _read(path)
        if points.ndim != 2 or points.dtype.kind not in "fiub" or not points.size:
            raise ValueError(f"it holds {points.dtype} of shape {points.shape}")
    except (ValueError, KeyError, OSError, UserWarning) as error:
        raise InputError(
            f"could not read points from {path.name}: {error}. Expected one point "
            "per row, numbers only; in .npz an entry called `points`."
        ) from error
    return points, weights


def _read(path: pathlib.Path) -> tuple[np.ndarray, np.ndarray | None]:
    if path.suffix == ".npy":
        return read_npy(path), None
    if path.suffix == ".npz":
        data = read_npz(path)
        return data["points"], data.get("weights")
    delimiter = "," if path.suffix == ".csv" else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an empty file only warns
        return np.loadtxt(path, delimiter=delimiter, ndmin=2), None
