"""The potential energy whose force is a perceptron with tied weights.

Primitives of activations: phi with phi' = 2 sigma and phi(0) = 0.
"""

import math
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import as_float_array, check_finite, is_traced, matrix_or_none
from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.measures import AbstractMeasure, Particles

NODES = 48  # Gauss-Legendre: exact to rounding for smooth activations on |s| <= 5


def exact_gelu(s: Float[Array, "..."]) -> Float[Array, "..."]:
    """s Phi(s), with the normal distribution function, not its tanh approximation."""
    return jax.nn.gelu(s, approximate=False)


def primitive_of(activation: Callable) -> Callable:
    """The phi with phi' = 2 sigma, phi(0) = 0: a closed form where one is known.

    Otherwise phi(s) = 2 s int_0^1 sigma(s u) du by Gauss-Legendre quadrature, which
    never crosses a kink at s = 0. A constant in phi shifts the energy only.

    >>> float(primitive_of(jax.nn.relu)(jnp.asarray(3.0)))
    9.0
    """
    return _CLOSED.get(activation) or _Quadrature(activation)


class _Quadrature:
    """phi by quadrature; equal for equal activations, so that nothing recompiles."""

    def __init__(self, activation: Callable):
        self.activation = activation
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        self.nodes, self.weights = (nodes + 1) / 2, weights / 2

    def __call__(self, s: Float[Array, "..."]) -> Float[Array, "..."]:
        nodes, weights = (
            jnp.asarray(a, s.dtype).reshape((NODES,) + (1,) * s.ndim)
            for a in (self.nodes, self.weights)
        )
        return 2 * s * jnp.sum(weights * self.activation(nodes * s[None]), axis=0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Quadrature) and other.activation is self.activation

    def __hash__(self) -> int:
        return hash((_Quadrature, self.activation))


def _relu(s: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.maximum(s, 0) ** 2


def _tanh(s: Float[Array, "..."]) -> Float[Array, "..."]:
    """2 log cosh s, written so that it does not overflow."""
    return 2 * (jnp.abs(s) + jnp.log1p(jnp.exp(-2 * jnp.abs(s))) - math.log(2.0))


def _sigmoid(s: Float[Array, "..."]) -> Float[Array, "..."]:
    return 2 * (jax.nn.softplus(s) - math.log(2.0))


def _gelu(s: Float[Array, "..."]) -> Float[Array, "..."]:
    """s^2 Phi + s p - Phi + 1/2, with Phi and p of the standard normal law."""
    Phi, p = jax.scipy.stats.norm.cdf(s), jax.scipy.stats.norm.pdf(s)
    return s * s * Phi + s * p - Phi + 0.5


_CLOSED = {
    jax.nn.relu: _relu,
    jnp.tanh: _tanh,
    jax.nn.sigmoid: _sigmoid,
    exact_gelu: _gelu,
}


SAME = 1e-6  # relative agreement of phi' and 2 sigma asked of a primitive


class PerceptronPotential(AbstractFunctional):
    """P(mu) = (1/2) int v dmu, the potential of a perceptron with tied weights.

    v(x) = sum_j omega_j phi(<a_j, x> + b_j),   phi' = 2 sigma.

    Its first variation is v/2 and its force the perceptron with tied weights,
    grad v / 2 = sum_j omega_j sigma(<a_j, x> + b_j) a_j. `omega` is (h,), `A` is (h, d)
    with rows a_j, `b` is (h,). The sign is that of the papers' energy: a positive omega
    pushes mass away from a_j on descent and toward it on ascent.

    `primitive` is phi; left out it is (s_+)^2 for ReLU, closed for tanh, sigmoid and
    `exact_gelu`, and found by quadrature for the rest. A primitive whose derivative is
    not 2 sigma is refused.

    Add it to an interaction energy in the scaling that is meant:
    `paper_energy(beta) + P` has kernel e^{beta <x,y>}/beta, `code_energy(beta) + P` has
    e^{beta(<x,y>-1)}/beta, so that the same omega weighs e^beta more.
    [alvarezlopez2026perceptrons]

    >>> P = PerceptronPotential(omega=[5.0], A=[[1.0, 0.0]])
    >>> float(P(Particles(Circle(), [[1.0, 0.0]])))
    2.5
    """

    omega: Float[Array, "h"]
    A: Float[Array, "h d"]
    b: Float[Array, "h"]
    activation: Callable = eqx.field(static=True)
    primitive: Callable | None = eqx.field(static=True)

    def __init__(
        self,
        omega: Real[ArrayLike, "h"] | Sequence,
        A: Real[ArrayLike, "h d"] | Sequence,
        b: Real[ArrayLike, "h"] | Sequence | None = None,
        activation: Callable = jax.nn.relu,
        primitive: Callable | None = None,
    ):
        rows = matrix_or_none("A", A)
        if rows is None:
            raise InputError("`A` must be a matrix with one row per neuron, got None.")
        h = rows.shape[0]
        self.A = rows
        self.omega = as_float_array("omega", omega)
        self.b = jnp.zeros(h) if b is None else as_float_array("b", b)
        for name, array in (("omega", self.omega), ("b", self.b)):
            check_finite(name, array)
            if array.shape != (h,):
                raise InputError(
                    f"`{name}` must have shape ({h},), one number per row of `A`, "
                    f"got {array.shape}."
                )
        self.activation, self.primitive = activation, primitive
        self._check_primitive()

    def __call__(self, mu: Particles) -> Float[Array, ""]:
        """(1/2) sum_i w_i v(x_i)."""
        return self.variation(mu.points, mu) @ mu.weights

    def potential(self, x: Float[Array, "m d"]) -> Float[Array, "m"]:
        """v(x) = sum_j omega_j phi(<a_j, x> + b_j)."""
        phi = self.phi(self._arguments(x)).astype(x.dtype)  # quadrature is in float64
        return phi @ self.omega.astype(x.dtype)

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """v/2; the measure plays no part."""
        return self.potential(x) / 2

    def gradient(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The perceptron sum_j omega_j sigma(<a_j, x> + b_j) a_j, exactly."""
        omega, A = self.omega.astype(x.dtype), self.A.astype(x.dtype)
        return (self.activation(self._arguments(x)) * omega[None, :]) @ A

    @property
    def phi(self) -> Callable:
        """The primitive in use."""
        return self.primitive or primitive_of(self.activation)

    def _arguments(self, x: Array) -> Array:
        if x.shape[-1] != self.A.shape[1]:
            raise InputError(
                f"`A` must have rows of dimension {x.shape[-1]}, that of the points; "
                f"got shape {self.A.shape}."
            )
        return x @ self.A.T.astype(x.dtype) + self.b.astype(x.dtype)[None, :]

    def _check_primitive(self) -> None:
        """phi' = 2 sigma on the range of <a_j, x> + b_j over the unit sphere."""
        if is_traced(self.A, self.b):
            return
        A, b = np.asarray(self.A, float), np.asarray(self.b, float)
        reach = float(np.max(np.linalg.norm(A, axis=1) + np.abs(b), initial=1e-3))
        s = jnp.asarray(reach * np.sin(1.0 + 2.4 * np.arange(64)))  # away from kinks
        slope = np.asarray(_slopes(self.phi, s))
        twice = 2 * np.asarray(self.activation(s))
        off = np.abs(slope - twice)
        if not np.all(off <= SAME * (1 + np.abs(twice))):
            worst = int(np.nanargmax(np.where(np.isfinite(off), off, np.inf)))
            raise InputError(
                f"`primitive` must have the derivative 2 * activation: at s = "
                f"{float(s[worst]):.3g} it is {slope[worst]:.6g}, not "
                f"{twice[worst]:.6g}. Leave it out to have it found."
            )


def _slopes(phi: Callable, s: Array) -> Array:
    return jax.vmap(jax.grad(lambda u: phi(u[None])[0]))(s)
