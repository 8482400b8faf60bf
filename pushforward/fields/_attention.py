"""Self-attention, normalized by softmax (SA) or not (USA)."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, is_traced, matrix_or_none, scalar
from pushforward.errors import InputError
from pushforward.fields._field import AbstractMeanField, Drive
from pushforward.measures import AbstractMeasure, Particles
from pushforward.spaces import Circle, Sphere
from pushforward.sums import AbstractSum, Auto, Kernel, KernelSum


class Attention(AbstractMeanField):
    """Self-attention (SA): each point moves toward the softmax-weighted mean it sees.

    dx_i/dt = P_{x_i} [ (1/Z_i) sum_j w_j e^{beta <Q x_i, K x_j>} V x_j ],
    Z_i = sum_j w_j e^{beta <Q x_i, K x_j>}, with the self term j = i included.

    Matrices left out are the identity and cost nothing. A negative beta repels.
    [geshkovski2023perspective]

    >>> field = Attention(beta=9.0)
    >>> v, g = field(0.0, Particles.orthonormal(Sphere(3), 3))
    """

    beta: Float[Array, ""]
    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | None
    sums: AbstractSum

    def __init__(self, beta, Q=None, K=None, V=None, *, sums: AbstractSum = Auto()):
        self.beta = inverse_temperature(beta)
        self.Q, self.K, self.V = attention_matrices(Q, K, V)
        self.sums = sums

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """The softmax average of V y over mu, seen from x."""
        return apply(self.V, self.sums(seen_from(self, x, mu)).average())

    def drive(self, t, mu: Particles) -> Drive:
        """The softmax average over the others, and the share kept by itself."""
        total = self.sums(seen_by_itself(self, mu))
        return own_apart(self.V, total.average(), total.share(), mu)


class UnnormalizedAttention(AbstractMeanField):
    """Unnormalized self-attention (USA), a Wasserstein gradient flow on the sphere.

    dx_i/dt = e^{log_scale} P_{x_i} sum_j w_j e^{beta <Q x_i, K x_j>} V x_j.

    With `log_scale = 0` this is the convention of "A mathematical perspective on
    Transformers", whose speed grows like e^{beta}; `log_scale = -beta` gives the
    convention of "Dynamic metastability", bounded for every beta.
    [geshkovski2023perspective, geshkovski2024metastability]
    """

    beta: Float[Array, ""]
    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | None
    log_scale: Float[Array, ""]
    sums: AbstractSum

    def __init__(
        self,
        beta,
        Q=None,
        K=None,
        V=None,
        *,
        log_scale=0.0,
        sums: AbstractSum = Auto(),
    ):
        self.beta = inverse_temperature(beta)
        self.Q, self.K, self.V = attention_matrices(Q, K, V)
        self.log_scale = scalar("log_scale", log_scale)
        self.sums = sums

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """int e^{beta <Qx, Ky>} V y dmu(y)."""
        total = self.sums(seen_from(self, x, mu))
        return apply(self.V, self._scaled(total))

    def drive(self, t, mu: Particles) -> Drive:
        """The pull of the other particles, and of each particle on itself."""
        total = self.sums(seen_by_itself(self, mu))
        scale = self.log_scale.astype(mu.points.dtype)
        own = total.share() * jnp.exp(total.log_total + scale)
        return own_apart(self.V, self._scaled(total), own, mu)

    def _scaled(self, total: KernelSum) -> Array:
        scale = self.log_scale.astype(total.log_scale.dtype)
        return jnp.exp(total.log_scale + scale)[:, None] * total.moment


def inverse_temperature(beta) -> Array:
    """beta as an array; infinity has a model of its own."""
    array = as_float_array("beta", beta)
    if not is_traced(array) and jnp.isinf(array).any():
        raise InputError(
            f"`beta` must be finite, got {array}. The limit of infinite beta is "
            "HardAttention()."
        )
    return scalar("beta", array)


def attention_matrices(Q, K, V) -> tuple[Array | None, Array | None, Array | None]:
    """Q, K, V as arrays of shapes that fit each other."""
    Q, K, V = (matrix_or_none(n, m) for n, m in (("Q", Q), ("K", K), ("V", V)))
    if Q is not None and K is not None:
        if Q.shape != K.shape:
            raise InputError(
                f"`Q` and `K` must have one shape (k, d), got {Q.shape} and {K.shape}."
            )
        alone = {"V": V}
    else:  # a missing matrix is the identity of R^d
        alone = {"Q": Q, "K": K, "V": V}
    for name, matrix in alone.items():
        if matrix is not None and matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"`{name}` must be square, got shape {matrix.shape}. Only Q and K "
                "together may map to another dimension."
            )
    return Q, K, V


def apply(
    matrix: Array | None, x: Float[Array, "n d"], name: str = "V"
) -> Float[Array, "n k"]:
    """x_i -> M x_i for every row, where None is the identity."""
    if matrix is None:
        return x
    if matrix.shape[-1] != x.shape[-1]:
        raise InputError(
            f"`{name}` must act on points of dimension {x.shape[-1]}, got a matrix of "
            f"shape {matrix.shape}."
        )
    return x @ matrix.T.astype(x.dtype)


def seen_from(field, x: Float[Array, "m d"], mu: AbstractMeasure) -> Kernel:
    """The sum that defines attention at arbitrary points x."""
    q, k = apply(field.Q, x, "Q"), apply(field.K, mu.points, "K")
    beta = field.beta.astype(x.dtype)
    return Kernel(q, k, mu.points, mu.log_weights, beta)


def seen_by_itself(field, mu: Particles, causal: bool = False) -> Kernel:
    """The sum that defines attention at the particles of mu themselves."""
    x = mu.points
    on_sphere = isinstance(mu.space, Sphere | Circle)
    unit = on_sphere and field.Q is None and field.K is None
    q, k = apply(field.Q, x, "Q"), apply(field.K, x, "K")
    beta = field.beta.astype(x.dtype)
    return Kernel(q, k, x, mu.log_weights, beta, own=True, causal=causal, unit=unit)


def own_apart(V: Array | None, others: Array, own: Array, mu: Particles) -> Drive:
    """The drive V (others_i + own_i x_i): its own share is radial when V = I."""
    if V is None:
        return Drive(others, own)
    return Drive(apply(V, others + own[:, None] * mu.points))
