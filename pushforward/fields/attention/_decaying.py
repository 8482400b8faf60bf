"""Ordered tokens that see the past through weights decaying with distance in order."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward._checks import Number, is_traced, scalar, whole
from pushforward.errors import InputError
from pushforward.fields._drive import Drive
from pushforward.fields._field import AbstractField
from pushforward.fields.attention._head import inverse_temperature
from pushforward.measures import Particles
from pushforward.spaces import Circle, Sphere
from pushforward.sums import by_rows

STEEPEST = 80.0  # e^{80} is a float32: prefix sums carry the factor e^{lambda j/N}


class DecayingAttention(AbstractField):
    """Unnormalized causal attention with ALiBi weights of position, which sum to one.

    dx_j/dt = beta e^{log_scale} P_{x_j} (1/Z_j) sum_{k<j} w_k e^{-lambda (j-k)/n}
              e^{beta <x_j, x_k>} x_k,      Z_j = sum_{k<j} w_k e^{-lambda (j-k)/n},

    with lambda = `decay`; the first token stands still. On the circle this is
    theta_j' = mean of W'(theta_j - theta_k), W = e^{beta cos}. Only positions are
    normalized, not contents: for a softmax with ALiBi see `PositionAttention`.

    Every pair is summed unless `modes` is given; then, on the circle, the force is cut
    after that many Fourier modes and costs O(n modes) by prefix sums. 10 modes give
    1e-9 at beta = 1. [duerinckx2026kinetic]

    >>> mu = Particles.equispaced(Circle(), 5)
    >>> pairs = DecayingAttention(1.0, 1.0)(0.0, mu).v
    >>> sums = DecayingAttention(1.0, 1.0, modes=16)(0.0, mu).v
    >>> bool(abs(pairs - sums).max() < 1e-14)
    True
    """

    beta: Float[Array, ""]
    decay: Float[Array, ""]
    log_scale: Float[Array, ""]
    modes: int | None = eqx.field(static=True)

    def __init__(
        self,
        beta: Number,
        decay: Number,
        *,
        log_scale: Number = 0.0,
        modes: int | None = None,
    ):
        self.beta = inverse_temperature(beta)
        self.decay = scalar("decay", decay)
        self.log_scale = scalar("log_scale", log_scale)
        why = "It is a number of Fourier modes; leave it out to sum over pairs."
        self.modes = None if modes is None else whole("modes", modes, 1, why)
        if not is_traced(self.decay):
            _check_decay(float(self.decay), self.modes)

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The decaying average over the past, by pairs or by modes."""
        if self.modes is None:
            return Drive(self._pairs(mu))
        if not isinstance(mu.space, Circle) and mu.space != Sphere(2):
            raise InputError(
                f"`modes` is for tokens on the circle, got {mu.space!r}. Leave `modes` "
                "out: pairs are summed on any sphere."
            )
        x, speed = mu.points, self.angular_velocity(mu.points, mu.log_weights)
        return Drive(speed[:, None] * jnp.stack([-x[:, 1], x[:, 0]], axis=1))

    @property
    def isotropic(self) -> bool:
        """Whether pairs are summed: modes are those of the circle alone."""
        return self.modes is None

    def angular_velocity(
        self, x: Float[Array, "n 2"], log_weights: Float[Array, "n"]
    ) -> Float[Array, "n"]:
        """theta_j' = -2 sum_n n I_n (sin(n theta_j) C_nj - cos(n theta_j) S_nj).

        C_nj and S_nj are the averages of cos(n theta_k) and sin(n theta_k) over k < j.
        """
        assert self.modes is not None
        cos, sin = _powers(x, self.modes)
        u = jnp.concatenate([jnp.ones_like(x[:, :1]), cos, sin], axis=1)
        past = self._past_sums(jnp.exp(log_weights)[:, None] * u)
        mass = past[:, 0]
        C, S = past[:, 1 : self.modes + 1], past[:, self.modes + 1 :]
        pull = (cos * S - sin * C) @ self._coefficients().astype(x.dtype)
        return jnp.where(mass > 0, pull / jnp.where(mass > 0, mass, 1.0), 0.0)

    def _past_sums(self, u: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """sum_{k<j} e^{-lambda (j-k)/n} u_k, by one cumulative sum."""
        n = u.shape[0]
        place = jnp.arange(n, dtype=self.decay.dtype)
        growth = jnp.exp(self.decay * place / n).astype(u.dtype)[:, None]
        total = jnp.cumsum(growth * u, axis=0)[:-1]
        return jnp.concatenate([jnp.zeros_like(u[:1]), total]) / growth

    def _coefficients(self) -> Float[Array, "k"]:
        """2 n I_n(beta) e^{log_scale}: a mean over equispaced angles, by aliasing exact
        to I_{count - n}."""
        n = jnp.arange(1.0, self.modes + 1.0)  # type: ignore[operator]
        count = 4 * (self.modes or 0) + 64
        angle = 2 * jnp.pi * jnp.arange(float(count)) / count
        kernel = jnp.exp(self.beta * jnp.cos(angle) + self.log_scale)
        return 2 * n * (jnp.cos(n[:, None] * angle[None, :]) @ kernel) / count

    def _pairs(self, mu: Particles) -> Float[Array, "n d"]:
        return by_rows(lambda rows: self._rows(mu, rows), mu.n, mu.n)

    def _rows(self, mu: Particles, index: Int[Array, "b"]) -> Float[Array, "b d"]:
        x, n, dtype = mu.points, mu.n, mu.points.dtype
        lag = index[:, None] - jnp.arange(n)[None, :]
        past = lag > 0
        rate = (self.decay / n).astype(dtype)
        position = mu.log_weights[None, :] - rate * lag.astype(dtype)
        top = jnp.max(jnp.where(past, position, -jnp.inf), axis=1, keepdims=True)
        top = jnp.where(jnp.isfinite(top), top, 0.0)  # an empty past pulls nowhere
        p = jnp.where(past, jnp.exp(jnp.where(past, position - top, 0.0)), 0.0)
        mass = p.sum(axis=1, keepdims=True)
        p = p / jnp.where(mass > 0, mass, 1.0)
        beta, log_scale = self.beta.astype(dtype), self.log_scale.astype(dtype)
        logits = beta * (x[index] @ x.T) + log_scale
        pull = p * jnp.exp(jnp.where(past, logits, 0.0))
        return beta * (pull @ x)


def _powers(x: Float[Array, "n 2"], modes: int) -> tuple[Array, Array]:
    """cos(k theta) and sin(k theta), k = 1..modes, by complex multiplication."""
    c, s = x[:, 0], x[:, 1]
    cos, sin = [c], [s]
    for _ in range(modes - 1):
        a, b = cos[-1], sin[-1]
        cos.append(a * c - b * s)
        sin.append(a * s + b * c)
    return jnp.stack(cos, axis=1), jnp.stack(sin, axis=1)


def _check_decay(decay: float, modes: int | None) -> None:
    if decay < 0:
        raise InputError(
            f"`decay` must be zero or positive, got {decay:g}. At zero all earlier "
            "tokens count alike."
        )
    if modes is not None and decay > STEEPEST:
        raise InputError(
            f"`decay` must be at most {STEEPEST:g} with `modes`, got {decay:g}. "
            "Leave `modes` out: pairs are summed for any decay."
        )
