"""The laws that a normalizing flow starts from."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import is_traced
from pushforward._printing import shown
from pushforward.errors import InputError


class AbstractLaw(eqx.Module):
    """A law on R^k, for every k, with a density and a sampler."""

    __repr__ = shown

    @abc.abstractmethod
    def log_density(
        self, z: Float[Array, "n k"] | Float[np.ndarray, "n k"]
    ) -> Float[Array, "n"]:
        """The logarithm of the density at every row."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, n: int, k: int) -> Float[Array, "n k"]:
        """n independent points of R^k."""

    @abc.abstractmethod
    def check_inside(self, name: str, z: Float[Array, "n k"]) -> None:
        """Refuse points that the law cannot produce."""


class StandardNormal(AbstractLaw):
    """The Gaussian N(0, I) on R^k.

    >>> round(float(StandardNormal().log_density(jnp.zeros((1, 2)))[0]), 4)
    -1.8379
    """

    def log_density(
        self, z: Float[Array, "n k"] | Float[np.ndarray, "n k"]
    ) -> Float[Array, "n"]:
        """-|z|^2 / 2 - (k / 2) log(2 pi)."""
        return -0.5 * (jnp.sum(z**2, axis=1) + z.shape[1] * jnp.log(2 * jnp.pi))

    def sample(self, key: PRNGKeyArray, n: int, k: int) -> Float[Array, "n k"]:
        """n independent Gaussian points."""
        return jax.random.normal(key, (n, k))

    def check_inside(self, name: str, z: Float[Array, "n k"]) -> None:
        """Every point of R^k is inside."""


class UnitCube(AbstractLaw):
    """The uniform law on [0, 1]^k: where permutations of grid cells live.

    >>> UnitCube().log_density(jnp.array([[0.5, 0.5], [1.5, 0.5]])).tolist()
    [0.0, -inf]
    """

    def log_density(
        self, z: Float[Array, "n k"] | Float[np.ndarray, "n k"]
    ) -> Float[Array, "n"]:
        """Zero inside, minus infinity outside."""
        inside = jnp.all((z >= 0) & (z <= 1), axis=1)
        return jnp.where(inside, 0.0, -jnp.inf)

    def sample(self, key: PRNGKeyArray, n: int, k: int) -> Float[Array, "n k"]:
        """n independent uniform points."""
        return jax.random.uniform(key, (n, k))

    def check_inside(self, name: str, z: Float[Array, "n k"]) -> None:
        """Refuse points outside the cube, and name the first."""
        if is_traced(z):
            return
        out = np.flatnonzero(((np.asarray(z) < 0) | (np.asarray(z) > 1)).any(axis=1))
        if len(out):
            raise InputError(
                f"`{name}` has {len(out)} of {len(z)} points outside the unit cube; "
                f"the first is row {out[0]}: {np.asarray(z)[out[0]]}. This flow moves "
                f"the uniform law on [0, 1]^{z.shape[1]}: rescale the points to it."
            )
