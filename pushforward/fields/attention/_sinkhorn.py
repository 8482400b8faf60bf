"""Sinkhorn attention: doubly stochastic weights, and a gradient flow of transport."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number
from pushforward.fields._drive import (
    Affine,
    Drive,
    Motion,
    apply,
    logit_matrix,
    outward,
)
from pushforward.fields._field import Rule
from pushforward.fields._mean_field import AbstractMeanField, by_quadrature
from pushforward.fields.attention._attention import (
    FLOOR,
    kernel_from,
    self_kernel,
    softmax_matrix,
    with_self,
)
from pushforward.fields.attention._head import AbstractAttention
from pushforward.measures import (
    AbstractBasis,
    AbstractMeasure,
    Density,
    Gaussian,
    Particles,
)
from pushforward.sums import (
    balanced,
    balancing,
    kernel_modes,
    reweighted,
)

HALVINGS = 40  # of the error of a matrix root, beyond what any number needs


class SinkhornAttention(AbstractAttention, AbstractMeanField, init=False):
    """Attention whose weights are doubly stochastic.

    dx_i/dt = P_{x_i} sum_j Pi_ij V x_j, Pi_ij = w_j e^{f_i + g_j + beta <Q x_i, K x_j>}
    with rows that sum to one and w_i Pi_ij with columns that sum to w_j.

    Without matrices f = g, the velocity is -grad f / beta, and the flow climbs
    `SinkhornEnergy(beta)` in the Wasserstein metric, which softmax attention does not.
    For many tokens and large beta it is (1/(2 beta)) grad log rho, half of that of
    `Attention`: heat backward, and with V = -I forward. [sander2022sinkformers]

    >>> field = SinkhornAttention(beta=4.0)
    >>> v, g = field(0.0, Particles.orthonormal(Sphere(3), 3))
    """

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The average of V y over mu with the weights of the balanced kernel."""
        g = balancing(kernel_from(self, mu.points, mu), self.sums)
        total = self.sums(reweighted(kernel_from(self, x, mu), g))
        return apply(outward(self.V), total.average())

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The average over the others, and the share kept by itself."""
        g = balancing(kernel_from(self, mu.points, mu), self.sums)
        total = self.sums(reweighted(self_kernel(self, mu), g))
        return with_self(self.V, total.average(), total.share(), mu)

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """Pi_ij, whose columns w_i Pi_ij sum to w_j."""
        g = balancing(kernel_from(self, mu.points, mu), self.sums)
        return softmax_matrix(reweighted(self_kernel(self, mu), g))

    def on_density(self, basis: AbstractBasis) -> Rule:
        """grad Z / (beta Z) with Z = int e^{beta <x,y> + f(y)} dmu(y), by modes."""
        if not self.isotropic:
            return by_quadrature(self, basis)
        total, slope = kernel_modes(self.beta, basis)

        def motion(t, rho: Density) -> Motion:
            values = jnp.maximum(rho.values, 0.0)

            def sum_of(c: Array) -> Array:
                Z = basis.values(total * c)
                return jnp.maximum(Z, FLOOR * jnp.max(Z))

            lifted = lambda f: basis.project(values * jnp.exp(f))  # noqa: E731
            f = balanced(lambda f: jnp.log(sum_of(lifted(f))), jnp.zeros_like(values))
            c = lifted(f)
            return Motion(basis.gradient(slope * c) / sum_of(c)[:, None], None)

        return motion

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """V (m + F R F^T A (x - m)) with S = F F^T, B = F^T A F,

        R = 2 (I + sqrt(I + 4 B B^T))^{-1}: in the coordinates of F the balanced
        coupling of two standard normals has the correlation R B.
        """
        F, A = mu.factor, logit_matrix(self, mu)
        B, one = F.T @ A @ F, jnp.eye(mu.d, dtype=F.dtype)
        R = 2 * jnp.linalg.inv(one + _root(one + 4 * B @ B.T))
        matrix = F @ R @ F.T @ A
        return Affine(matrix, mu.center - matrix @ mu.center).seen_through(self.V)


def _root(M: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """The square root of a positive matrix by Newton's method (Denman and Beavers).

    Its derivatives exist also where eigenvalues coincide, unlike those of eigenvectors.
    """

    def once(pair, _):
        Y, Z = pair
        return ((Y + jnp.linalg.inv(Z)) / 2, (Z + jnp.linalg.inv(Y)) / 2), None

    start = M, jnp.eye(len(M), dtype=M.dtype)
    return jax.lax.scan(once, start, length=HALVINGS)[0][0]
