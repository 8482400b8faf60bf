"""The second-order test at an atomic measure: is it a local minimum of the descent?"""

import dataclasses
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
from pushforward.functionals._terms import Terms
from pushforward.measures import AbstractTangentMap, Modes, Particles, as_tangent
from pushforward.spaces import Circle, Sphere


@dataclasses.dataclass(frozen=True)
class SecondOrder:
    """How stationary an atomic measure is, and the spectrum of its Wasserstein Hessian.

    - `slope`: the largest |grad F_mu| at the atoms; zero at a critical point.
    - `eigenvalues`: of H relative to the masses, ascending: xi^T H xi >= kappa
      sum_i m_i |xi_i|^2 with `kappa` the least of them.
    """

    slope: float
    eigenvalues: Float[np.ndarray, "k"]

    @property
    def kappa(self) -> float:
        """The least eigenvalue: positive for a strict second-order point of descent."""
        return float(self.eigenvalues[0])

    def holds(self, tol: float = 1e-9) -> bool:
        """Stationary with a non-negative Hessian, up to `tol`."""
        return self.slope <= tol and self.kappa >= -tol

    def __repr__(self) -> str:
        return f"SecondOrder(slope={self.slope:.2e}, kappa={self.kappa:.6g})"


def second_order(F: AbstractFunctional, mu: Particles) -> SecondOrder:
    """Slope and Hessian of F when the atoms of mu move as wholes.

    With kernel k(<x,y>) and potential V, and tangent directions xi_i,

        H_ij = m_i m_j (k'' <xi_i, x_j><x_i, xi_j> + k' <xi_i, xi_j>),   i != j,
        H_ii = m_i [sum_{j != i} m_j (k'' x_j x_j^T - k' <x_i, x_j>) + R_i],
        R_i = Hess V - <x_i, grad V>.

    On the circle the off-diagonal is -m_i m_j K''(theta_i - theta_j). Fields are
    gradients, which move an atom as a whole: there are no other directions. Merge
    coincident particles first (`mu.merge(radius)`): an atom split in two may also be
    tested apart, which is another question. [alvarezlopez2026perceptrons]

    >>> two = Particles(Circle(), [[1.0, 0.0], [-1.0, 0.0]])
    >>> second_order(pf.functionals.paper_energy(0.02), two).holds()
    True
    """
    if not isinstance(mu.space, Circle | Sphere):
        raise InputError(f"`mu` must live on a circle or a sphere, got {mu.space!r}.")
    terms = Terms.of(F)
    x, m = np.asarray(mu.points, dtype=float), np.asarray(mu.weights, dtype=float)
    x, m = x[m > 0], m[m > 0]
    bases = np.stack([_tangent_basis(point) for point in x])  # (n, d, d - 1)
    k1, k2 = _kernel_slopes(terms, x)
    V1, V2 = _potential_slopes(terms, x)
    gradient = (k1 * m[None, :]) @ x + V1
    slope = np.linalg.norm(np.einsum("iab,ia->ib", bases, gradient), axis=1).max()
    H = _hessian(x, m, bases, k1, k2, V1, V2)
    root = np.repeat(np.sqrt(m), x.shape[1] - 1)
    return SecondOrder(float(slope), np.linalg.eigvalsh(H / np.outer(root, root)))


def _hessian(x, m, bases, k1, k2, V1, V2) -> np.ndarray:
    n, k = len(x), x.shape[1] - 1
    k1, k2 = (np.where(np.eye(n, dtype=bool), 0.0, a) for a in (k1, k2))
    seen = np.einsum("iab,ja->ijb", bases, x)  # <xi_i, x_j>
    pairs = np.einsum("iab,jac->ijbc", bases, bases)
    H = k2[..., None, None] * seen[..., :, None] * seen.swapaxes(0, 1)[..., None, :]
    H = (H + k1[..., None, None] * pairs) * (m[:, None] * m[None, :])[..., None, None]
    cosines = x @ x.T
    own = np.einsum("ij,ijb,ijc->ibc", k2 * m[None, :], seen, seen)
    own += np.einsum("iab,iac,icd->ibd", bases, V2, bases)
    radial = (k1 * cosines) @ m + np.sum(x * V1, axis=1)
    own -= radial[:, None, None] * np.eye(k)
    H[np.arange(n), np.arange(n)] = m[:, None, None] * own
    return H.swapaxes(1, 2).reshape(n * k, n * k)


def _kernel_slopes(terms: Terms, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """k' and k'' in <x_i, x_j>, for k the kernel of the first variation."""
    cosines = x @ x.T
    k1, k2 = np.zeros_like(cosines), np.zeros_like(cosines)
    for c, beta in terms.interactions:
        k = 2 * c * np.exp(beta * cosines - abs(beta))
        k1, k2 = k1 + beta * k, k2 + beta**2 * k
    return k1, k2


def _potential_slopes(terms: Terms, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ambient gradient and Hessian of V at every point."""
    n, d = x.shape
    V1, V2 = np.zeros((n, d)), np.zeros((n, d, d))
    for neurons in terms.neurons:
        _, sigma, slope = neurons.values(x @ neurons.A.T + neurons.b)
        V1 += (sigma * neurons.omega) @ neurons.A
        weights = slope * neurons.omega
        V2 += np.einsum("ih,ha,hb->iab", weights, neurons.A, neurons.A)
    return V1, V2


def _tangent_basis(x: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the tangent space, as columns."""
    return np.linalg.svd(x[None, :])[2][1:].T


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
