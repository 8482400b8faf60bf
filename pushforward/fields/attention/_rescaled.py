"""Attention without layer norm, in coordinates that stay bounded.

In R^d the tokens of dx_i/dt = sum_j P_ij V x_j run off like e^{tV}. The rescaled tokens
z_i = e^{-tV} x_i have the same attention matrix and a limit. [geshkovski2023clusters]
"""

import math
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Complex, Float, Real

from pushforward._checks import Number, matrix_or_none
from pushforward.errors import InputError
from pushforward.fields._drive import Drive, apply
from pushforward.fields._field import AbstractField
from pushforward.fields.attention._attention import softmax_matrix
from pushforward.fields.attention._head import (
    AbstractHead,
    Matrix,
    Values,
    inverse_temperature,
)
from pushforward.measures import Particles
from pushforward.sums import AbstractSum, Exact, Kernel

LARGEST_LOGIT = 690.0  # e^{2 lambda t} beyond this overflows; by then it is a hardmax


class RescaledAttention(AbstractHead):
    """dz_i/dt = sum_j P_ij V (z_j - z_i), the tokens z = e^{-tV} x.

    P_ij = softmax_j beta <Q e^{tV} z_i, K e^{tV} z_j>.

    A field on `Euclidean(d)`. V is diagonalized once. Logits grow like e^{2 lambda t},
    lambda the largest real part of the spectrum of V; that factor is carried as an
    inverse temperature, so nothing overflows. After `resolved_until` the differences
    between logits of nearly equal tokens are rounding: double precision ends there.
    """

    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | None
    beta: Float[Array, ""]
    sums: AbstractSum
    growth_rate: float = eqx.field(static=True)
    modes: (
        tuple[Complex[Array, "d"], Complex[Array, "d d"], Complex[Array, "d d"]] | None
    )

    def __init__(
        self,
        Q: Matrix = None,
        K: Matrix = None,
        V: Values = None,
        *,
        beta: Number = 1.0,
        sums: AbstractSum = Exact(),
    ):
        self.Q = matrix_or_none("Q", Q)
        self.K = matrix_or_none("K", K)
        self.V = matrix_or_none("V", V)
        self.beta = inverse_temperature(beta)
        self.sums = sums
        self.growth_rate, self.modes = _diagonalized(self.V)

    @property
    def resolved_until(self) -> float:
        """The time at which e^{2 lambda t} reaches one over the machine precision."""
        if self.growth_rate <= 0:
            return math.inf
        return math.log(1 / np.finfo(float).eps) / (2 * self.growth_rate)

    def expansion(self, t: Number) -> Float[Array, "d d"] | None:
        """e^{t (V - lambda)}, bounded for all t; None when V is the identity."""
        if self.V is None:
            return None
        if self.modes is None:  # V cannot be diagonalized
            return jsl.expm(t * (self.V - self.growth_rate * jnp.eye(len(self.V))))
        values, right, left = self.modes
        rates = values - self.growth_rate
        growth = jnp.exp(jnp.asarray(t, rates.dtype) * rates)
        return ((right * growth[None, :]) @ left).real

    def differences(self, t: Number, mu: Particles) -> Float[Array, "n d"]:
        """sum_j P_ij (z_j - z_i)."""
        total = self.sums(self._kernel(t, mu))
        return total.average() - (1.0 - total.share())[:, None] * mu.points

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """P_ij, the attention of the tokens x = e^{tV} z themselves."""
        return softmax_matrix(self._kernel(t, mu))

    def _kernel(self, t: Number, mu: Particles) -> Kernel:
        z = mu.points
        x = apply(self.expansion(t), z)
        log_factor = jnp.minimum(2 * self.growth_rate * t, LARGEST_LOGIT)
        beta = (self.beta * jnp.exp(log_factor)).astype(z.dtype)
        q, k = apply(self.Q, x), apply(self.K, x)
        return Kernel(q, k, z, mu.log_weights, beta, own=True)

    def drive(self, t: Number, mu: Particles) -> Drive:
        """V times the difference."""
        return Drive(apply(self.V, self.differences(t, mu)))

    @property
    def ordered(self) -> bool:
        """No: a sum over all tokens alike."""
        return False


class RescaledPerceptron(AbstractField):
    """The same with a perceptron: dz_i/dt = W sigma(V sum_j P_ij (z_j - z_i))."""

    attention: RescaledAttention
    W: Float[Array, "d d"] | None
    activation: Callable = eqx.field(static=True)

    def __init__(
        self,
        attention: RescaledAttention,
        W: Real[ArrayLike, "d h"] | Sequence | None = None,
        activation: Callable = jax.nn.relu,
    ):
        if not isinstance(attention, RescaledAttention):
            raise InputError(
                f"`attention` must be a RescaledAttention, got {attention!r}."
            )
        self.attention = attention
        self.W = matrix_or_none("W", W)
        self.activation = activation

    def drive(self, t: Number, mu: Particles) -> Drive:
        """W sigma of the attention drive."""
        inner = self.attention.drive(t, mu).vector
        return Drive(apply(self.W, self.activation(inner)))

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """That of its attention."""
        return self.attention.attention_matrix(t, mu)

    @property
    def ordered(self) -> bool:
        """No: the perceptron acts on every token by itself."""
        return False


def _diagonalized(V: Array | None):
    """The largest real part of the spectrum, and V = right diag(values) left."""
    if V is None:
        return 1.0, None
    if V.shape[0] != V.shape[1] or not V.size:
        raise InputError(f"`V` must be square and not empty, got shape {V.shape}.")
    if isinstance(V, jax.core.Tracer):
        raise InputError(
            "`V` of RescaledAttention is diagonalized when the field is built, so it "
            "cannot be traced: build the field outside of jit, vmap and grad."
        )
    values, right = np.linalg.eig(np.asarray(V))
    rate = float(values.real.max())
    if np.linalg.cond(right) > 1e8:
        return rate, None
    left = np.linalg.inv(right)
    return rate, tuple(jnp.asarray(m.astype(complex)) for m in (values, right, left))
