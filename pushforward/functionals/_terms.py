"""A functional taken apart: interactions and potentials with their coefficients."""

import dataclasses
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.errors import InputError
from pushforward.functionals._functional import (
    AbstractFunctional,
    FunctionalMultiple,
    FunctionalSum,
)
from pushforward.functionals._interaction import InteractionEnergy
from pushforward.functionals._perceptron_potential import PerceptronPotential

PAD = 64  # arrays are padded to powers of two: few compilations, whatever the size


@dataclasses.dataclass(frozen=True)
class Neurons:
    """c/2 sum_j omega_j phi(<a_j, x> + b_j), in numpy."""

    omega: np.ndarray
    A: np.ndarray
    b: np.ndarray
    activation: Callable
    phi: Callable

    def values(
        self, u: Float[np.ndarray, "m h"]
    ) -> tuple[Float[np.ndarray, "m h"], ...]:
        """phi, sigma and sigma' at an array of arguments."""
        if self.activation is jax.nn.relu:  # most of the use, and no call to JAX
            sigma = np.maximum(u, 0.0)
            return sigma**2, sigma, (u > 0).astype(float)
        size = max(PAD, 1 << (u.size - 1).bit_length())
        flat = np.zeros(size)
        flat[: u.size] = u.ravel()
        out = _evaluated(self.phi, self.activation, flat)
        phi, sigma, slope = (np.asarray(a)[: u.size].reshape(u.shape) for a in out)
        return phi, sigma, slope

    @property
    def kinked(self) -> bool:
        """Whether sigma has a corner at 0, as ReLU does."""
        e = 1e-6
        left, here, right = np.asarray(self.activation(jnp.asarray([-e, 0.0, e])))
        return bool(abs(right - 2 * here + left) > 1e-3 * e)


@dataclasses.dataclass(frozen=True)
class Terms:
    """F(mu) = sum_k c_k int int e^{beta_k <x,y> - |beta_k|} + sum of neurons."""

    interactions: tuple[tuple[float, float], ...]
    neurons: tuple[Neurons, ...]

    @classmethod
    def of(cls, F: AbstractFunctional) -> "Terms":
        """Take a sum of multiples of interaction energies and potentials apart."""
        interactions: list[tuple[float, float]] = []
        neurons: list[Neurons] = []
        _collect(F, 1.0, interactions, neurons)
        return cls(tuple(interactions), tuple(neurons))

    @property
    def scale(self) -> float:
        """The largest value of the kernel; without one, the size of the potential."""
        kernel = sum(2 * abs(c) for c, _ in self.interactions)
        sizes = [np.abs(n.omega).sum() for n in self.neurons]
        return float(kernel or sum(sizes) or 1.0)

    def over(self, unit: float) -> "Terms":
        """The same functional divided by a number."""
        neurons = (dataclasses.replace(n, omega=n.omega / unit) for n in self.neurons)
        scaled = tuple((c / unit, beta) for c, beta in self.interactions)
        return Terms(scaled, tuple(neurons))

    def check_convex(self) -> None:
        """Refuse what is not convex in the measure: it has no duality gap."""
        for c, beta in self.interactions:
            if c < 0 or beta < 0:
                raise InputError(
                    f"`F` must be convex in the measure, got {c:g} * "
                    f"InteractionEnergy({beta:g}). Only positive multiples with beta "
                    ">= 0 are; maximizers of these are Dirac masses: use "
                    "pf.flow(pf.GradientFlow(-F), mu, t1)."
                )


def _collect(F, c: float, interactions: list, neurons: list) -> None:
    if isinstance(F, FunctionalSum):
        for term in F.terms:
            _collect(term, c, interactions, neurons)
    elif isinstance(F, FunctionalMultiple):
        _collect(F.F, c * float(F.c), interactions, neurons)
    elif isinstance(F, InteractionEnergy):
        interactions.append((c, float(F.beta)))
    elif isinstance(F, PerceptronPotential):
        omega, A, b = (np.asarray(a, dtype=float) for a in (F.omega, F.A, F.b))
        neurons.append(Neurons(c * omega, A, b, F.activation, F.phi))
    else:
        raise InputError(
            f"`F` must be a sum of InteractionEnergy and PerceptronPotential, "
            f"got {F!r}. Other functionals have no reduction to angles here."
        )


@partial(jax.jit, static_argnums=(0, 1))
def _evaluated(
    phi: Callable, activation: Callable, u: Float[Array, "p"] | Float[np.ndarray, "p"]
):
    slope = jax.vmap(jax.grad(lambda s: activation(s[None])[0]))
    return phi(u), activation(u), slope(u)
