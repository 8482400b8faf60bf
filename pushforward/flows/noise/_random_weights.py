"""Weights drawn afresh in every layer, and the diffusion they become."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import Number, scalar, whole
from pushforward.errors import InputError
from pushforward.flows.noise._noise import AbstractNoise, NoiseSum
from pushforward.measures import Particles


class AbstractLayerNoise(AbstractNoise):
    """A noise that is added before the normalization of a layer: needs `Layers(h)`.

    Its size depends on the tokens, so that the midpoint of a Stratonovich step would
    change its mean.
    """


class AbstractInitialWeights(AbstractLayerNoise):
    """The random weights of a Transformer before training."""

    beta: Float[Array, ""]
    sigma: Float[Array, ""]
    head_dimension: int | None = eqx.field(static=True)

    def __init__(self, beta: Number, sigma: Number, head_dimension: int | None):
        self.beta, self.sigma = scalar("beta", beta), scalar("sigma", sigma)
        if head_dimension is not None:
            why = "Leave it out for square factors."
            head_dimension = whole("head_dimension", head_dimension, 1, why)
        self.head_dimension = head_dimension

    def _drawn(self, key: PRNGKeyArray, count: int, rows: int, mu: Particles):
        """Twice `count` normal matrices of so many rows, and a key for the rest."""
        keys = jax.random.split(key, 3)
        shape = count, rows, self.head_dimension or mu.d
        dtype = mu.points.dtype
        first, second = (jax.random.normal(one, shape, dtype) for one in keys[:2])
        return first, second, keys[2]

    def _barycenters(self, P, Q, mu: Particles) -> Float[Array, "h n d"]:
        """sum_k w_k softmax_k(beta sigma^2 <p_i, q_k>) x_k for every head."""
        beta = (self.beta * self.sigma**2).astype(mu.points.dtype)
        logits = beta * jnp.einsum("hid,hkd->hik", P, Q) + mu.log_weights[None, None, :]
        return jax.nn.softmax(logits, axis=-1) @ mu.points


class RandomWeights(AbstractInitialWeights):
    """A Transformer at initialization: every layer and head draws its own weights.

    x_i <- normalize(x_i + (h/H) sum_heads V m_i),
    m_i = sum_k softmax_k(beta <A x_i, x_k> + log w_k) x_k, A = W W'^T,

    with entries of W and W' N(0, sigma^2), of V N(0, 1/d).

    Time is h times the number of layers; the diffusive clock is s = h t / heads. All
    tokens share the weights: the same key is the same noise, whatever the tokens, and
    tokens of mass zero are carried along unseen. That gives the law of a token given
    the noise. `sigma` is sigma_A; only beta d sigma^2 matters. `head_dimension` k makes
    W and W' of shape (d, k). [koubbi2026homogenized]

    >>> mu = Particles.orthonormal(Sphere(8), 4)
    >>> field = Multiple(0.0, Attention(0.0))
    >>> noise = RandomWeights(4.0, 8**-0.5)
    >>> layers, key = Layers(0.25), jax.random.key(0)
    >>> run = flow(field, mu, 1.0, solver=layers, noise=noise, key=key)
    >>> int(run.steps)
    4
    """

    heads: int = eqx.field(static=True)

    def __init__(
        self,
        beta: Number,
        sigma: Number,
        *,
        heads: int = 1,
        head_dimension: int | None = None,
    ):
        super().__init__(beta, sigma, head_dimension)
        self.heads = whole("heads", heads, 1)

    def increment(
        self, key: PRNGKeyArray, h: Number, mu: Particles
    ) -> Float[Array, "n d"]:
        """(h/H) times the sum over heads of V m_i."""
        W, W_key, key = self._drawn(key, self.heads, mu.d, mu)
        x, d = mu.points, mu.d
        V = jax.random.normal(key, (self.heads, d, d), x.dtype)
        m = self._barycenters(x @ W_key, x @ W, mu)
        step = (jnp.asarray(h) / self.heads / jnp.sqrt(float(d))).astype(x.dtype)
        return step * jnp.einsum("hnd,hed->ne", m, V)


class GramNoise(AbstractInitialWeights):
    """The homogenized diffusion, driven by the Gram matrix of the tokens alone.

    x <- normalize(x + Z), Z Gaussian with covariance (h/d) s_ij I, s = E[Pi G Pi^T],
    Pi = softmax(beta sigma^2 P Q^T), P and Q with columns N(0, G); s is estimated from
    `draws` pairs in every step. Time is the diffusive clock s.

    Given P and Q the values of a layer are Gaussian, so that a step of size h is in law
    a layer of `RandomWeights` with H = `draws` heads and step sqrt(H h); it costs
    O(n d) random numbers per head instead of O(d^2). A singular covariance, as after
    collapse, gets 1e-12 on its diagonal before the Cholesky factor (in float32 1e-6):
    coincident tokens part by the square root of that. [koubbi2026homogenized]
    """

    draws: int = eqx.field(static=True)

    def __init__(
        self,
        beta: Number,
        sigma: Number,
        *,
        draws: int = 16,
        head_dimension: int | None = None,
    ):
        super().__init__(beta, sigma, head_dimension)
        why = "The covariance of a step is a mean over them."
        self.draws = whole("draws", draws, 1, why)

    def increment(
        self, key: PRNGKeyArray, h: Number, mu: Particles
    ) -> Float[Array, "n d"]:
        """sqrt(h) times a Gaussian of the averaged covariance."""
        x = mu.points
        P, Q, key = self._drawn(key, self.draws, mu.n, mu)
        root = _cholesky(x @ x.T)
        m = self._barycenters(root @ P, root @ Q, mu)
        s = jnp.einsum("hid,hjd->ij", m, m) / self.draws
        normal = jax.random.normal(key, x.shape, x.dtype)
        return jnp.sqrt(h / mu.d).astype(x.dtype) * (_cholesky(s) @ normal)


def _cholesky(matrix: Float[Array, "n n"]) -> Array:
    jitter = 1e-12 if matrix.dtype == jnp.float64 else 1e-6
    return jnp.linalg.cholesky(
        matrix + jitter * jnp.eye(len(matrix), dtype=matrix.dtype)
    )


def needs_layers(noise: AbstractNoise | None) -> None:
    """Refuse a solver that would change the mean of a layer's noise."""
    terms = noise.terms if isinstance(noise, NoiseSum) else (noise,)
    for term in terms:
        if not isinstance(term, AbstractLayerNoise):
            continue
        raise InputError(
            f"`solver` must be Layers(h) for {type(term).__name__}: it is added "
            "before the normalization of a layer. Pass solver=Layers(0.1)."
        )
