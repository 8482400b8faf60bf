"""Causal self-attention: token k sees tokens 1, ..., k, perhaps less from afar."""

import abc
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, Real

from pushforward._checks import Number, as_float_array, scalar, whole
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.fields._drive import (
    Affine,
    Drive,
    Factored,
    apply,
    inward,
    softmax_affine,
)
from pushforward.fields.attention._attention import (
    scaled_softmax,
    self_kernel,
    softmax_matrix,
    softmax_or_zero,
    with_self,
)
from pushforward.fields.attention._head import (
    AbstractAttention,
    AbstractHead,
    Matrix,
    Values,
    attention_matrices,
    inverse_temperature,
)
from pushforward.measures import Gaussian, Particles
from pushforward.sums import RowScaled, by_rows

NO_MASS = -1e30  # a logarithm no real weight has: what sees only such tokens rests


class CausalAttention(AbstractAttention, init=False):
    """Causal self-attention (CSA), the dynamics of a decoder.

    dx_k/dt = P_{x_k} [ (1/Z_k) sum_{j <= k} w_j e^{beta <Q x_k, K x_j>} V x_j ].

    A field of ordered tokens: it has no value "at any x". The first token sees only
    itself; a token before which, and at which, there is no mass sees nothing and stands
    still. [karagodin2024causal]
    """

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The softmax average over the past, and the share kept by itself."""
        sees = jax.lax.cummax(mu.log_weights) > -jnp.inf
        # A finite stand-in, so that 0/0 is not met on the way to the zeros below.
        present = mu.moved(mu.points, jnp.where(sees, mu.log_weights, NO_MASS))
        total = self.sums(self_kernel(self, present, causal=True))
        others = jnp.where(sees[:, None], total.average(), 0.0)
        own = jnp.where(sees, total.share(), 0.0)
        return with_self(self.V, others, own, mu)

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """That of attention without a mask, for tokens of one law at all positions.

        A long prefix of independent tokens has that law, whichever its length. Tokens
        whose laws differ by position become mixtures: follow them as Particles.
        """
        return softmax_affine(self, mu)

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The same, divided in the exponent."""
        total = RowScaled()(self_kernel(self, mu, causal=True))
        return scaled_softmax(self.V, total, mu, log_unit)

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """w_j e^{beta <Q x_k, K x_j>} / Z_k for j <= k, else zero."""
        return softmax_matrix(self_kernel(self, mu, causal=True))


class AbstractBias(eqx.Module):
    """What is added to the logit of token k for token j, as a function of k - j."""

    __repr__ = shown

    @abc.abstractmethod
    def __call__(self, lag: Int[Array, "m n"]) -> Float[Array, "m n"]:
        """The bias at every lag k - j; negative lags are masked by the caller."""


class Alibi(AbstractBias):
    """A penalty linear in distance: -slope (k - j). [press2022alibi]"""

    slope: Float[Array, ""]

    def __init__(self, slope: Number):
        self.slope = scalar("slope", slope)

    def __call__(self, lag: Int[Array, "m n"]) -> Float[Array, "m n"]:
        """Minus slope times the lag."""
        return -self.slope * lag.astype(self.slope.dtype)


class ByLag(AbstractBias):
    """Any bias: `values[r]` at lag r, and the last value at all larger lags."""

    values: Float[Array, "r"]

    def __init__(self, values: Real[ArrayLike, "k"] | Sequence):
        self.values = as_float_array("values", values)
        if self.values.ndim != 1 or len(self.values) == 0:
            raise InputError(
                "`values` must be a list of biases for the lags 0, 1, ..., got shape "
                f"{self.values.shape}."
            )
        if bool(jnp.isnan(self.values).any()) or not bool(jnp.isfinite(self.values[0])):
            raise InputError(
                "`values` must not hold NaN, and the bias at lag 0 must be finite: a "
                "token always sees itself."
            )

    def __call__(self, lag: Int[Array, "m n"]) -> Float[Array, "m n"]:
        """The table, read at the lags."""
        return self.values[jnp.clip(lag, 0, len(self.values) - 1)]


class Window(AbstractBias):
    """Only the last `width` tokens are seen, the token itself among them."""

    width: int = eqx.field(static=True)

    def __init__(self, width: int):
        self.width = whole("width", width, 1, "A token always sees itself.")

    def __call__(self, lag: Int[Array, "m n"]) -> Float[Array, "m n"]:
        """Zero inside the window, minus infinity beyond it."""
        return jnp.where(lag < self.width, 0.0, -jnp.inf)


class PositionAttention(AbstractHead):
    """Causal attention with a bias that depends on how far back a token stands.

    dx_k/dt = P_{x_k} [ (1/Z_k) sum_{j<=k} w_j e^{beta <Q x_k, K x_j> + b(k-j)} V x_j ].

    With `Alibi(slope)`, b(r) = -slope r. A field of ordered tokens: it has no value
    "at any x". With b = 0 it is `CausalAttention`.

    >>> field = PositionAttention(9.0, Alibi(0.5))
    >>> v, g = field(0.0, Particles.orthonormal(Sphere(3), 3))
    >>> float(abs(v[0]).max())  # the first token sees only itself
    0.0
    """

    beta: Float[Array, ""]
    bias: AbstractBias
    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | Factored | None

    def __init__(
        self,
        beta: Number,
        bias: AbstractBias,
        Q: Matrix = None,
        K: Matrix = None,
        V: Values = None,
    ):
        if not isinstance(bias, AbstractBias):
            raise InputError(
                f"`bias` must be a bias such as Alibi(0.5), got {bias!r}. For a table "
                "of biases by distance pass ByLag(values)."
            )
        self.beta = inverse_temperature(beta)
        self.bias = bias
        self.Q, self.K, self.V = attention_matrices(Q, K, V, factors=True)

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The biased softmax average over the past, and the share kept by itself."""
        others, own = by_rows(lambda rows: self._sums(mu, rows), mu.n, mu.n)
        return with_self(self.V, others, own, mu)

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """The softmax of beta <Q x_k, K x_j> + b(k - j) over j <= k."""
        return self._rows(mu, jnp.arange(mu.n))

    def _sums(self, mu: Particles, index: Int[Array, "b"]) -> tuple[Array, Array]:
        """The average over the others, and the self share, for some tokens."""
        a_kj, own = self._rows(mu, index), index[:, None] == jnp.arange(mu.n)[None, :]
        shares = jnp.sum(jnp.where(own, a_kj, 0.0), axis=1)
        values = apply(inward(self.V), mu.points)
        return jnp.where(own, 0.0, a_kj) @ values, shares

    def _rows(self, mu: Particles, index: Int[Array, "b"]) -> Float[Array, "b n"]:
        """The attention that some tokens pay."""
        x = mu.points
        q, k = apply(self.Q, x[index], "Q"), apply(self.K, x, "K")
        logits = self.beta.astype(x.dtype) * (q @ k.T) + mu.log_weights[None, :]
        lag = index[:, None] - jnp.arange(mu.n)[None, :]
        logits = logits + self.bias(lag).astype(x.dtype)
        # A token that sees no mass stands still.
        return softmax_or_zero(jnp.where(lag >= 0, logits, -jnp.inf))
