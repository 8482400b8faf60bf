"""Linear maps of tangent vectors at a configuration of tokens."""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jax.typing import ArrayLike
from jaxtyping import Array, Complex, Float, Real

from pushforward._checks import as_float_array, check_finite, whole
from pushforward.errors import InputError
from pushforward.measures._particles import Particles

AT_ONCE = 32  # columns of a matrix computed together: each needs memory of its own


class Modes(NamedTuple):
    """Eigenvalues, and for each the motion of every token that belongs to it.

    `directions[k]` has the shape (n, d); of a complex pair, real and imaginary part
    span the plane in which tokens spiral. `growths[k]`, of shape (n,), is the change of
    the logarithms of the weights, where weights move at all.
    """

    values: Float[np.ndarray, "m"] | Complex[np.ndarray, "m"]
    directions: Float[np.ndarray, "m n d"] | Complex[np.ndarray, "m n d"]
    growths: Float[np.ndarray, "m n"] | Complex[np.ndarray, "m n"] | None


class AbstractTangentMap(eqx.Module):
    """A linear map of tangent vectors at mu, in orthonormal coordinates."""

    mu: eqx.AbstractVar[Particles]

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """The number of coordinates, such as n (d - 1) on the sphere."""

    @abc.abstractmethod
    def apply(self, c: Float[Array, "k"]) -> Float[Array, "k"]:
        """The map in coordinates."""

    @abc.abstractmethod
    def tangent(self, c: Float[Array, "k"]) -> tuple[Array, Array | None]:
        """The motion of tokens, and of weights, with these coordinates."""

    def matrix(self) -> Float[np.ndarray, "k k"]:
        """The matrix in orthonormal tangent coordinates."""
        return np.asarray(_matrix(self))

    def _modes(self, values: np.ndarray, columns: np.ndarray) -> Modes:
        """Modes from eigenvectors in coordinates."""
        parts = [np.real(columns), np.imag(columns)]
        real, imaginary = (_tangents(self, jnp.asarray(p.T)) for p in parts)
        if not np.iscomplexobj(columns) or not np.any(parts[1]):
            own = [None if a is None else np.asarray(a) for a in real]
            return Modes(values, *own)  # type: ignore[arg-type]
        both = [
            None if a is None else np.asarray(a) + 1j * np.asarray(b)
            for a, b in zip(real, imaginary, strict=True)
        ]
        return Modes(values, *both)  # type: ignore[arg-type]

    def _operator(self) -> Any:
        """The map for the iterations of scipy, which never see its matrix."""

        def mv(c):
            return np.asarray(_applied(self, jnp.asarray(np.ravel(c), float)))

        return scipy.sparse.linalg.LinearOperator(
            (self.size, self.size), matvec=mv, dtype=float
        )

    def _count(self, count: int) -> int:
        count = whole("count", count, 1, "It is the number of modes.")
        if count > self.size:
            raise InputError(
                f"`count` must be at most {self.size}, the dimension of the tangent "
                f"space, got {count}."
            )
        return count

    @property
    def _start(self) -> np.ndarray:
        """Where iterations begin: the same in every run."""
        return np.cos(1.0 + np.arange(self.size) ** 2)


def as_tangent(mu: Particles, v: Real[ArrayLike, "n d"] | Sequence) -> Array:
    """An array of one vector per token."""
    v = as_float_array("v", v).astype(mu.points.dtype)
    check_finite("v", v)
    if v.shape != mu.points.shape:
        raise InputError(
            f"`v` must have one vector per token, {mu.points.shape}, got {v.shape}."
        )
    return v


@eqx.filter_jit
def _applied(a: AbstractTangentMap, c: Array) -> Array:
    return a.apply(c)


@eqx.filter_jit
def _matrix(a: AbstractTangentMap) -> Array:
    columns = jax.lax.map(a.apply, jnp.eye(a.size), batch_size=min(AT_ONCE, a.size))
    return columns.T


@eqx.filter_jit
def _tangents(a: AbstractTangentMap, c: Array):
    return jax.vmap(a.tangent)(c)
