"""Self-attention, normalized by softmax (SA) or not (USA)."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number, scalar
from pushforward.fields._drive import (
    Affine,
    Drive,
    Factored,
    Motion,
    apply,
    inward,
    outward,
    softmax_affine,
)
from pushforward.fields._field import Rule
from pushforward.fields._mean_field import AbstractMeanField, by_quadrature
from pushforward.fields.attention._head import AbstractAttention, Matrix, Values
from pushforward.measures import (
    AbstractBasis,
    AbstractMeasure,
    Density,
    Gaussian,
    Particles,
)
from pushforward.spaces import Circle, Sphere
from pushforward.sums import (
    AbstractSum,
    Auto,
    Kernel,
    KernelSum,
    RowScaled,
    kernel_modes,
)

FLOOR = 1e-13  # below this share of its maximum, Z is rounding: no mass sees it


class Attention(AbstractAttention, AbstractMeanField, init=False):
    """Self-attention (SA): each point moves toward the softmax-weighted mean it sees.

    dx_i/dt = P_{x_i} [ (1/Z_i) sum_j w_j e^{beta <Q x_i, K x_j>} V x_j ],
    Z_i = sum_j w_j e^{beta <Q x_i, K x_j>}, with the self term j = i included.

    Matrices left out are the identity and cost nothing. A negative beta repels. A pair
    V = (O, U) of shapes (d, k) and (k, d) is O U, summed in k dimensions: together with
    Q and K of shape (k, d), one head of a Transformer. [geshkovski2023perspective]

    >>> field = Attention(beta=9.0)
    >>> v, g = field(0.0, Particles.orthonormal(Sphere(3), 3))
    """

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The softmax average of V y over mu, seen from x."""
        return apply(outward(self.V), self.sums(kernel_from(self, x, mu)).average())

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The softmax average over the others, and the share kept by itself."""
        total = self.sums(self_kernel(self, mu))
        return with_self(self.V, total.average(), total.share(), mu)

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The same, divided in the exponent."""
        return scaled_softmax(self.V, RowScaled()(self_kernel(self, mu)), mu, log_unit)

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """w_j e^{beta <Q x_i, K x_j>} / Z_i."""
        return softmax_matrix(self_kernel(self, mu))

    def on_density(self, basis: AbstractBasis) -> Rule:
        """grad Z / (beta Z), by modes; with matrices by quadrature."""
        if not self.isotropic:
            return by_quadrature(self, basis)
        total, slope = kernel_modes(self.beta, basis)

        def motion(t, rho: Density) -> Motion:
            Z = basis.values(total * rho.coefficients)
            Z = jnp.maximum(Z, FLOOR * jnp.max(Z))
            return Motion(basis.gradient(slope * rho.coefficients) / Z[:, None], None)

        return motion

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """V (m + S A x), A = beta K^T Q: a tilted Gaussian keeps its covariance."""
        return softmax_affine(self, mu)


class UnnormalizedAttention(AbstractAttention, AbstractMeanField):
    """Unnormalized self-attention (USA), a Wasserstein gradient flow on the sphere.

    dx_i/dt = e^{log_scale} P_{x_i} sum_j w_j e^{beta <Q x_i, K x_j>} V x_j.

    With `log_scale = 0` this is the convention of "A mathematical perspective on
    Transformers", whose speed grows like e^{beta}; `log_scale = -beta` gives the
    convention of "Dynamic metastability", bounded for every beta.
    [geshkovski2023perspective, geshkovski2024metastability]
    """

    log_scale: Float[Array, ""]

    def __init__(
        self,
        beta: Number,
        Q: Matrix = None,
        K: Matrix = None,
        V: Values = None,
        *,
        log_scale: Number = 0.0,
        sums: AbstractSum = Auto(),
    ):
        super().__init__(beta, Q, K, V, sums=sums)
        self.log_scale = scalar("log_scale", log_scale)

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """int e^{beta <Qx, Ky>} V y dmu(y)."""
        total = self.sums(kernel_from(self, x, mu))
        return apply(outward(self.V), self._scaled(total))

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The pull of the other particles, and of each particle on itself."""
        total = self.sums(self_kernel(self, mu))
        scale = self.log_scale.astype(mu.points.dtype)
        own = total.share() * jnp.exp(total.log_total + scale)
        return with_self(self.V, self._scaled(total), own, mu)

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The same, divided in the exponent."""
        total = RowScaled()(self_kernel(self, mu))
        unit = log_unit - self.log_scale
        assert total.log_own is not None
        others = exp_or_zero(total.log_scale - unit)[:, None] * total.moment
        return with_self(self.V, others, exp_or_zero(total.log_own - unit), mu)

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """w_j e^{beta <Q x_i, K x_j>} over its sum, which the field leaves out."""
        return softmax_matrix(self_kernel(self, mu))

    def on_density(self, basis: AbstractBasis) -> Rule:
        """grad Z / beta, by modes; with matrices by quadrature."""
        if not self.isotropic:
            return by_quadrature(self, basis)
        slope = kernel_modes(self.beta, basis)[1]
        slope = slope * jnp.exp(self.log_scale + jnp.abs(self.beta))
        return lambda t, rho: Motion(basis.gradient(slope * rho.coefficients), None)

    def _scaled(self, total: KernelSum) -> Array:
        scale = self.log_scale.astype(total.log_scale.dtype)
        return jnp.exp(total.log_scale + scale)[:, None] * total.moment


def kernel_from(field: Any, x: Float[Array, "m d"], mu: AbstractMeasure) -> Kernel:
    """The sum that defines attention at arbitrary points x."""
    q, k = apply(field.Q, x, "Q"), apply(field.K, mu.points, "K")
    beta = field.beta.astype(x.dtype)
    values = apply(inward(field.V), mu.points)
    return Kernel(q, k, values, mu.log_weights, beta)


def self_kernel(field: Any, mu: Particles, causal: bool = False) -> Kernel:
    """The sum that defines attention at the particles of mu themselves."""
    x = mu.points
    on_sphere = isinstance(mu.space, Sphere | Circle)
    unit = on_sphere and field.Q is None and field.K is None
    q, k = apply(field.Q, x, "Q"), apply(field.K, x, "K")
    beta = field.beta.astype(x.dtype)
    flags = {"own": True, "causal": causal, "unit": unit}
    return Kernel(q, k, apply(inward(field.V), x), mu.log_weights, beta, **flags)


def softmax_matrix(kernel: Kernel) -> Float[Array, "m n"]:
    """w_j e^{beta <q_i, k_j>} over its sum, for all pairs at once."""
    logits = kernel.beta * (kernel.queries @ kernel.keys.T)
    logits = logits + kernel.log_weights[None, :]
    if kernel.causal:
        logits = jnp.where(jnp.tri(len(logits), dtype=bool), logits, -jnp.inf)
    return softmax_or_zero(logits)


def softmax_or_zero(logits: Float[Array, "m n"]) -> Float[Array, "m n"]:
    """The softmax of every row, and zeros where a row sees no mass."""
    sees = jnp.isfinite(logits).any(axis=1, keepdims=True)
    found = jax.nn.softmax(jnp.where(sees, logits, 0.0), axis=1)
    return jnp.where(sees, found, 0.0)


def with_self(
    V: Float[Array, "e d"] | Factored | None,
    others: Float[Array, "n k"],
    own: Float[Array, "n"],
    mu: Particles,
) -> Drive:
    """The drive V (others_i + own_i x_i): its own share is radial when V = I."""
    if V is None:
        return Drive(others, own)
    seen = others + own[:, None] * apply(inward(V), mu.points)
    return Drive(apply(outward(V), seen))


def scaled_softmax(
    V: Float[Array, "e d"] | Factored | None,
    total: KernelSum,
    mu: Particles,
    log_unit: Float[Array, ""],
) -> Drive:
    """Softmax averages over e^{log_unit}, divided in the exponent."""
    assert total.log_own is not None
    unit = total.log_total + log_unit
    others = exp_or_zero(total.log_scale - unit)[:, None] * total.moment
    return with_self(V, others, exp_or_zero(total.log_own - unit), mu)


def exp_or_zero(log_factor: Float[Array, "n"]) -> Float[Array, "n"]:
    """e^x, and zero where x is not a number.

    Particles without mass have log_total = -inf: they drive nobody and do not move. An
    infinite factor is kept: it says that the unit was too small.
    """
    return jnp.exp(jnp.where(jnp.isnan(log_factor), -jnp.inf, log_factor))
