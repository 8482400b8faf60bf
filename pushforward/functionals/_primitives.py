"""Primitives of activations: phi with phi' = 2 sigma and phi(0) = 0."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

NODES = 48  # Gauss-Legendre: exact to rounding for smooth activations on |s| <= 5


def exact_gelu(s: Array) -> Array:
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

    def __call__(self, s: Array) -> Array:
        nodes, weights = (
            jnp.asarray(a, s.dtype).reshape((NODES,) + (1,) * s.ndim)
            for a in (self.nodes, self.weights)
        )
        return 2 * s * jnp.sum(weights * self.activation(nodes * s[None]), axis=0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Quadrature) and other.activation is self.activation

    def __hash__(self) -> int:
        return hash((_Quadrature, self.activation))


def _relu(s: Array) -> Array:
    return jnp.maximum(s, 0) ** 2


def _tanh(s: Array) -> Array:
    """2 log cosh s, written so that it does not overflow."""
    return 2 * (jnp.abs(s) + jnp.log1p(jnp.exp(-2 * jnp.abs(s))) - np.log(2.0))


def _sigmoid(s: Array) -> Array:
    return 2 * (jax.nn.softplus(s) - np.log(2.0))


def _gelu(s: Array) -> Array:
    """s^2 Phi + s p - Phi + 1/2, with Phi and p of the standard normal law."""
    Phi, p = jax.scipy.stats.norm.cdf(s), jax.scipy.stats.norm.pdf(s)
    return s * s * Phi + s * p - Phi + 0.5


_CLOSED = {
    jax.nn.relu: _relu,
    jnp.tanh: _tanh,
    jax.nn.sigmoid: _sigmoid,
    exact_gelu: _gelu,
}
