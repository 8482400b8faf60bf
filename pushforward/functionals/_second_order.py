"""The second-order test at an atomic measure: is it a local minimum of the descent?"""

import dataclasses

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._terms import Terms
from pushforward.measures import Particles
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
