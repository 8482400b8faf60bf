"""Densities as spectral coefficients: the measures of the mean-field limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Complex, Float, PRNGKeyArray, Real

from pushforward._checks import (
    Number,
    as_float_array,
    check_finite,
    is_traced,
    prng_key,
    scalar,
)
from pushforward.errors import InputError
from pushforward.measures._basis import AbstractBasis
from pushforward.measures._measure import AbstractMeasure, taken
from pushforward.measures._particles import Particles
from pushforward.measures._sampling import basis_of, sampled
from pushforward.measures._zonal import Zonal
from pushforward.spaces import AbstractSpace

LAST_SHARE = 0.125  # of the degrees counts as "the last modes"
RESOLVED = 1e-4  # the largest share of a density that its last modes may hold


class Density(AbstractMeasure):
    """A measure with density rho = sum_j c_j phi_j against the uniform probability.

    The uniform measure has rho = 1. Coefficients are those of an orthonormal basis:
    `Fourier` on the circle, `Harmonics` on S^2, `Zonal` on any sphere; c_j = int phi_j
    dmu, and c_0 = 1 is the mass. Without coefficients it is uniform.

    rho is a truncated series and may dip below zero where modes run out: look at
    `minimum` and `resolution_error`. The grid of a zonal density is one meridian:
    `integrate` there takes functions of the last coordinate only.

    >>> rho = Density.uniform(Circle(), 64).perturbed(1, 0.1)
    >>> rho.mode(1).real.item()
    0.1
    """

    basis: AbstractBasis
    coefficients: Float[Array, "j"]

    def __init__(
        self,
        basis: AbstractBasis,
        coefficients: Real[ArrayLike, "j"] | Sequence | None = None,
    ):
        self.basis = basis
        self.coefficients = _checked(basis, coefficients)

    @classmethod
    def uniform(cls, space: AbstractSpace, resolution: int) -> Density:
        """The uniform measure: Fourier on the circle, harmonics on Sphere(3), else
        zonal. For a zonal density on S^2 write Density(Zonal(3, resolution))."""
        return cls(basis_of(space, resolution))

    @classmethod
    def from_function(
        cls, space: AbstractSpace | AbstractBasis, resolution: int, f: Callable
    ) -> Density:
        """The density proportional to f, a function of an (n, d) array of points."""
        basis = basis_of(space, resolution)
        values = as_float_array("f", f(jnp.asarray(basis.points)))
        if values.shape != basis.weights.shape:
            raise InputError(
                f"`f` must give one number per point: {basis.weights.shape} expected, "
                f"got shape {values.shape}. It is called with an (n, d) array."
            )
        check_finite("f", values)
        c = basis.project(values)
        if not is_traced(values):
            _refuse_negative("f", float(values.min()))
            if not float(c[0]) > 0:
                raise InputError("`f` must be positive somewhere, got zero everywhere.")
        return cls(basis, c / c[0])

    @classmethod
    def from_particles(
        cls, mu: Particles, resolution: int, *, bandwidth: Number = 0.0
    ) -> Density:
        """The modes of the particles, c_j = sum_i w_i phi_j(x_i), cut at `resolution`.

        With a `bandwidth` b they are first spread by heat for a time b^2 / 2, which
        multiplies degree l by e^{-b^2 l (l + d - 2) / 2}; without it the modes are
        exact but the series oscillates. Zonal spaces average about the last axis.
        """
        b = scalar("bandwidth", bandwidth)
        if not is_traced(b) and not float(b) >= 0:
            raise InputError(f"`bandwidth` must not be negative, got {float(b):g}.")
        basis = basis_of(mu.space, resolution)
        atoms = (mu.points, mu.weights)  # in float64, whatever the tokens are in
        c = basis.moments(*(jnp.asarray(a, float) for a in atoms))
        return cls(basis, c / c[0] * jnp.exp(-(b**2) / 2 * basis.eigenvalues))

    def perturbed(self, k: int, amplitude: Number, m: int = 0) -> Density:
        """The same with `amplitude` added to the real part of mode (k, m), k >= 1."""
        index, _, scale = self.basis.place(k, m)
        if index == 0:
            raise InputError("`k` must be at least 1: mode 0 is the mass, always 1.")
        change = scalar("amplitude", amplitude) / scale
        rho = self.moved(self.coefficients.at[index].add(change))
        if not is_traced(rho):
            _refuse_negative("amplitude", float(rho.minimum))
        return rho

    def mode(self, k: int, m: int = 0) -> Complex[Array, ""] | Float[Array, ""]:
        """One at most, and one for k = 0.

        On the circle int e^{-ik theta} dmu; zonal int P_k(s) dmu; on S^2
        sqrt(4 pi / (2k + 1)) int conj(Y_km) dmu, which for m = 0 is int P_k(z) dmu.
        """
        if isinstance(k, int) and k < 0:
            return jnp.conj(self.mode(-k, m))
        real, imaginary, scale = self.basis.place(k, m)
        c = self.coefficients
        if imaginary is None:
            return scale * c[real]
        return scale * jax.lax.complex(c[real], c[imaginary])

    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, "m"]:
        """rho at any points of the space."""
        points = Particles(self.space, x).points  # checks shape and place
        return self.basis.at(self.coefficients, points)

    def mean(self) -> Float[Array, "d"]:
        """int x dmu, in the ambient space."""
        mean = self.integrate(lambda x: x)
        return mean.at[0].set(0.0) if isinstance(self.basis, Zonal) else mean

    def sample(self, key: PRNGKeyArray, n: int) -> Particles:
        """n independent particles of this law, negative ripples counted as zero."""
        prng_key("key", key)
        return Particles(self.space, sampled(self.basis, self.coefficients, key, n))

    def quadrature(self) -> Particles:
        """The grid as weighted atoms: integrals of smooth functions agree."""
        if isinstance(self.basis, Zonal):
            raise InputError(
                "a zonal density has no quadrature by points: its grid is one meridian."
                " Use Density.uniform(Sphere(3), resolution), or `sample`."
            )
        weights = self.basis.weights * jnp.maximum(self.values, 0.0)
        points = jnp.asarray(self.basis.points)
        return Particles(self.space, points, weights / weights.sum())

    def moved(self, coefficients: Float[Array, "*b j"]) -> Density:
        """The same basis with other coefficients, unchecked; what solvers use."""
        return eqx.tree_at(lambda rho: rho.coefficients, self, coefficients)

    def arrays(self) -> dict[str, Array]:
        """The coefficients."""
        return {"coefficients": self.coefficients}

    def with_arrays(self, arrays: Mapping[str, Any]) -> Density:
        """Another density of the same basis, unchecked but for its shape."""
        c = jnp.asarray(taken(arrays, "coefficients"))
        size = len(self.basis.degrees)
        if c.ndim < 1 or c.shape[-1] != size:
            raise InputError(
                f"`arrays` must hold {size} coefficients for {self.basis!r}, got shape "
                f"{c.shape}."
            )
        return self.moved(c)

    def readable_arrays(self) -> dict[str, Array]:
        """rho on the grid."""
        return {"values": self.values}

    def blended(self, other: Density, s: float) -> Density:
        """Densities mix linearly."""
        return self.moved((1 - s) * self.coefficients + s * other.coefficients)

    @property  # type: ignore[misc]
    def space(self) -> AbstractSpace:  # type: ignore[override]
        """Where the measure lives."""
        return self.basis.space

    @property  # type: ignore[misc]
    def points(self) -> Float[Array, "n d"]:  # type: ignore[override]
        """The points of the grid."""
        return jnp.asarray(self.basis.points)

    @property
    def values(self) -> Float[Array, "n"]:
        """rho on the grid."""
        return self.basis.values(self.coefficients)

    @property
    def weights(self) -> Float[Array, "n"]:
        """The mass at each point of the grid; below zero where rho is."""
        return jnp.asarray(self.basis.weights) * self.values

    @property  # type: ignore[misc]
    def log_weights(self) -> Float[Array, "n"]:  # type: ignore[override]
        """Their logarithms, negative ripples counted as nothing."""
        return jnp.log(jnp.maximum(self.weights, 0.0))

    @property
    def mass(self) -> Float[Array, ""]:
        """One."""
        return self.coefficients[0]

    @property
    def minimum(self) -> Float[Array, ""]:
        """The least value on the grid; below zero where modes run out."""
        return jnp.min(self.values)

    @property
    def spectrum(self) -> Float[Array, "l"]:
        """The L2 norm of the part of each degree: 0, ..., resolution."""
        l = self.basis.degrees
        power = jnp.zeros(l.max() + 1).at[l].add(self.coefficients**2)
        return jnp.sqrt(power)

    @property
    def resolution_error(self) -> Float[Array, ""]:
        """The L2 norm of the last eighth of the degrees over that of rho.

        Near rounding the density is resolved; of order one it is not a density yet.
        """
        K = self.basis.resolution
        last = self.basis.degrees > K - max(1, round(LAST_SHARE * K))
        c = self.coefficients
        return jnp.linalg.norm(jnp.where(last, c, 0.0)) / jnp.linalg.norm(c)

    @property
    def is_finite(self) -> Bool[Array, ""]:
        """Whether every coefficient is."""
        return jnp.all(jnp.isfinite(self.coefficients))

    @property
    def is_resolved(self) -> Bool[Array, ""]:
        """Whether the last modes hold little of it."""
        return self.resolution_error <= RESOLVED

    def rule_of(self, field: Any) -> Callable:
        """The field on the grid."""
        return field.on_density(self.basis)

    def increment_of(self, noise: Any, key: PRNGKeyArray, h: Number) -> Array | None:
        """The common part; the independent part is diffusion, and is not random."""
        return noise.shared(key, h, self.d)

    def __repr__(self) -> str:
        return f"Density({self.basis!r})"


def _checked(basis, coefficients) -> Array:
    if not isinstance(basis, AbstractBasis):
        raise InputError(
            f"`basis` must be a basis such as Fourier(64), got {basis!r}. From a space "
            "use Density.uniform(space, resolution)."
        )
    size = len(basis.degrees)
    if coefficients is None:
        return jnp.zeros(size).at[0].set(1.0)
    c = as_float_array("coefficients", coefficients).astype(float)
    if c.shape != (size,):
        raise InputError(
            f"`coefficients` must have shape ({size},) for {basis!r}, got {c.shape}."
        )
    check_finite("coefficients", c)
    if not is_traced(c) and abs(float(c[0]) - 1) > 1e-9:
        raise InputError(
            f"`coefficients` must start with the mass 1, got {float(c[0]):.6g}. "
            "Divide them by the first one."
        )
    return c


def _refuse_negative(name: str, least: float) -> None:
    if least < -1e-12:
        raise InputError(
            f"`{name}` must leave the density nonnegative, got a minimum of "
            f"{least:.3g}. Take a smaller one; on the circle mode k holds at most 1/2 "
            "of a perturbation of the uniform measure."
        )


def check_not_negative(rho: Density, slack: float) -> None:
    """Refuse a density whose series dips below -slack times its maximum."""
    with jax.ensure_compile_time_eval():  # also where `jit` compiles around it
        values = np.asarray(rho.values)
    if values.min() < -slack * values.max():
        raise InputError(
            f"`mu` must not be negative, got a minimum of {values.min():.3g} against "
            f"a maximum of {values.max():.3g}. Raise the resolution, or smooth "
            "particles with from_particles(mu, resolution, bandwidth=0.2)."
        )
