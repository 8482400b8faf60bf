"""The Hessian of a functional at a configuration of tokens."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import is_traced, scalar
from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.measures import AbstractTangentMap, Modes, Particles, as_tangent


class Hessian(AbstractTangentMap):
    """The second derivative of F when tokens move along geodesics.

    It belongs to the metric of Wasserstein, sum_i m_i |xi_i|^2 with the masses m_i:
    xi -> P_x D (P_x grad dF/dmu) [xi], self-adjoint; coordinates are sqrt(m_i) xi_i in
    orthonormal tangent coordinates, so that the matrix is symmetric. With n equal
    masses it is n times the Hessian of F as a function of n points.
    """

    F: AbstractFunctional
    mu: Particles

    @property
    def size(self) -> int:
        """n (d - 1) on the sphere."""
        mu = self.mu
        return jax.eval_shape(mu.space.coordinates, mu.points, mu.points).size

    def mv(self, xi: Real[ArrayLike, "n d"] | Sequence) -> Float[Array, "n d"]:
        """The Hessian applied to one vector per token."""
        mu = self.mu
        return _moved(self, mu.space.tangent(mu.points, as_tangent(mu, xi)))

    def spectrum(self) -> Float[np.ndarray, "k"]:
        """All eigenvalues, ascending."""
        return np.linalg.eigvalsh(self._symmetric)

    def index(self, tol: float = 1e-9) -> int:
        """The number of directions in which F falls: eigenvalues below -tol."""
        return int(np.sum(self.spectrum() < -float(scalar("tol", tol))))

    def unstable(self, tol: float = 1e-9) -> Modes:
        """The modes along which F falls: eigenvalues below -tol."""
        values, columns = np.linalg.eigh(self._symmetric)
        fall = values < -float(scalar("tol", tol))
        return self._modes(values[fall], columns[:, fall])

    def lowest(self, count: int = 6) -> Modes:
        """The modes of the least eigenvalues, by Lanczos' method without the matrix."""
        count = self._count(count)
        if self.size <= max(count + 1, 20):
            values, columns = np.linalg.eigh(self._symmetric)
            return self._modes(values[:count], columns[:, :count])
        values, columns = scipy.sparse.linalg.eigsh(
            self._operator(), count, which="SA", v0=self._start
        )
        order = np.argsort(values)
        return self._modes(values[order], columns[:, order])

    def apply(self, c: Float[Array, "k"]):
        """The Hessian in coordinates."""
        xi, _ = self.tangent(c)
        mu, root = self.mu, jnp.exp(self.mu.log_weights / 2)
        moved = root[:, None] * self.moved(xi)
        return mu.space.coordinates(mu.points, moved).ravel()

    def tangent(self, c: Float[Array, "k"]):
        """Motion of the tokens; weights stay."""
        mu, root = self.mu, jnp.exp(self.mu.log_weights / 2)
        xi = mu.space.vectors(mu.points, c.reshape(mu.n, -1))
        return xi / root[:, None], None

    def moved(self, xi: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """P_x D (P_x grad dF/dmu) [xi]."""
        mu = self.mu

        def gradient(x):
            return mu.space.tangent(x, self.F.gradient(x, mu.moved(x)))

        return mu.space.tangent(mu.points, jax.jvp(gradient, (mu.points,), (xi,))[1])

    @property
    def _symmetric(self) -> np.ndarray:
        matrix = self.matrix()
        return (matrix + matrix.T) / 2  # symmetric but for rounding


def hessian(F: AbstractFunctional, mu: Particles) -> Hessian:
    """The Hessian of a functional at a configuration, in the metric of Wasserstein.

    `spectrum()` ascending, `index()` the number of falling directions, `unstable()`
    these directions; `mv(xi)` and `lowest(k)` never form the matrix. At a critical
    point `linearize(GradientFlow(F), mu)` is minus this map.

    >>> pair = Particles(Circle(), [[1.0, 0.0], [-1.0, 0.0]])
    >>> hessian(-InteractionEnergy(1.0), pair).index()
    1
    """
    if not isinstance(F, AbstractFunctional):
        raise InputError(
            f"`F` must be a functional such as InteractionEnergy(2.0), got {F!r}."
        )
    if not isinstance(mu, Particles):
        raise InputError(f"`mu` must be Particles, got {type(mu).__name__}.")
    if not is_traced(mu) and not np.all(np.asarray(mu.weights) > 0):
        raise InputError(
            "`mu` must give mass to every token: the metric weighs them by it. Leave "
            "out tokens without mass."
        )
    return Hessian(F=F, mu=mu)


@eqx.filter_jit
def _moved(a: Hessian, xi: Array) -> Array:
    return a.moved(xi)
