"""A normalizing flow made of single ReLU neurons, in closed form, and the laws that it
starts from."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import as_float_array, check_finite, is_traced, listed, whole
from pushforward._printing import shown
from pushforward.control.normalizing.blocks import (
    apply,
    forward_blocks,
    inverse_blocks,
)
from pushforward.errors import InputError
from pushforward.fields import Perceptron, Switched


class AbstractLaw(eqx.Module):
    """A law on R^k, for every k, with a density and a sampler."""

    __repr__ = shown

    @abc.abstractmethod
    def log_density(
        self, z: Float[Array, "n k"] | Float[np.ndarray, "n k"]
    ) -> Float[Array, "n"]:
        """The logarithm of the density at every row."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, n: int, k: int) -> Float[Array, "n k"]:
        """n independent points of R^k."""

    @abc.abstractmethod
    def check_inside(self, name: str, z: Float[Array, "n k"]) -> None:
        """Refuse points that the law cannot produce."""


class StandardNormal(AbstractLaw):
    """The Gaussian N(0, I) on R^k.

    >>> round(float(StandardNormal().log_density(jnp.zeros((1, 2)))[0]), 4)
    -1.8379
    """

    def log_density(
        self, z: Float[Array, "n k"] | Float[np.ndarray, "n k"]
    ) -> Float[Array, "n"]:
        """-|z|^2 / 2 - (k / 2) log(2 pi)."""
        return -0.5 * (jnp.sum(z**2, axis=1) + z.shape[1] * jnp.log(2 * jnp.pi))

    def sample(self, key: PRNGKeyArray, n: int, k: int) -> Float[Array, "n k"]:
        """n independent Gaussian points."""
        return jax.random.normal(key, (n, k))

    def check_inside(self, name: str, z: Float[Array, "n k"]) -> None:
        """Every point of R^k is inside."""


class UnitCube(AbstractLaw):
    """The uniform law on [0, 1]^k: where permutations of grid cells live.

    >>> UnitCube().log_density(jnp.array([[0.5, 0.5], [1.5, 0.5]])).tolist()
    [0.0, -inf]
    """

    def log_density(
        self, z: Float[Array, "n k"] | Float[np.ndarray, "n k"]
    ) -> Float[Array, "n"]:
        """Zero inside, minus infinity outside."""
        inside = jnp.all((z >= 0) & (z <= 1), axis=1)
        return jnp.where(inside, 0.0, -jnp.inf)

    def sample(self, key: PRNGKeyArray, n: int, k: int) -> Float[Array, "n k"]:
        """n independent uniform points."""
        return jax.random.uniform(key, (n, k))

    def check_inside(self, name: str, z: Float[Array, "n k"]) -> None:
        """Refuse points outside the cube, and name the first."""
        if is_traced(z):
            return
        out = np.flatnonzero(((np.asarray(z) < 0) | (np.asarray(z) > 1)).any(axis=1))
        if len(out):
            raise InputError(
                f"`{name}` has {len(out)} of {len(z)} points outside the unit cube; "
                f"the first is row {out[0]}: {np.asarray(z)[out[0]]}. This flow moves "
                f"the uniform law on [0, 1]^{z.shape[1]}: rescale the points to it."
            )


class NormalizingFlow(eqx.Module):
    """x' = w_k (a_k.x + b_k)_+ for a time T_k, one neuron after the other.

    Every piece is x + u (a.x + b)_+ with u = w (e^{cT} - 1)/c and c = a.w, and adds
    cT 1{a.x + b > 0} to the log-determinant: the flow, its inverse and its densities
    need no ODE solver and are exact. `base` is the law that it moves (the standard
    Gaussian when left out). Coordinates in `given` are conditioned on: the flow
    leaves them alone, and its densities are those of the others given these.

    Nobody writes the pieces by hand: see `shear`, `monotone_map`, `permutation`,
    `diffeomorphism`, `maurey`, `knothe_rosenblatt` in
    `pushforward.control.normalizing`.

    >>> flow = NormalizingFlow(w=[[1.0]], a=[[1.0]], b=[0.0], durations=[jnp.log(2.0)])
    >>> flow.forward(jnp.array([[-1.0], [3.0]])).ravel().tolist()
    [-1.0, 6.0]

    [geshkovski2026conditional]
    """

    w: Float[Array, "k d"]
    a: Float[Array, "k d"]
    b: Float[Array, "k"]
    durations: Float[Array, "k"]
    base: AbstractLaw
    given: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, w, a, b, durations, base: AbstractLaw | None = None, given=()):
        self.w, self.a = as_float_array("w", w), as_float_array("a", a)
        self.b = as_float_array("b", b)
        self.durations = as_float_array("durations", durations)
        self.base = StandardNormal() if base is None else base
        self.given = tuple(whole("given", i, 0) for i in listed("given", given, "axes"))
        _check_pieces(self)
        _check_given(self)

    @property
    def d(self) -> int:
        """The dimension of the points."""
        return self.w.shape[1]

    @property
    def pieces(self) -> int:
        """How many neurons run one after the other; switches are one fewer."""
        return self.w.shape[0]

    def forward(self, x) -> Float[Array, "n d"]:
        """The image of every row of x."""
        return self.with_log_det(x)[0]

    def with_log_det(self, x) -> tuple[Float[Array, "n d"], Float[Array, "n"]]:
        """The images, and log det of the derivative of the flow at every row of x."""
        x = self._points("x", x)
        self.base.check_inside("x", self._moving(x))
        return apply(forward_blocks(*self._weights()), x)

    def inverse(self, x) -> Float[Array, "n d"]:
        """The points that the flow carries to the rows of x."""
        return apply(inverse_blocks(*self._weights()), self._points("x", x))[0]

    def log_density(self, x) -> Float[Array, "n"]:
        """log of the density of the image of `base` (given the coordinates `given`)."""
        points = self._points("x", x)
        z, log_det = apply(inverse_blocks(*self._weights()), points)
        return self.base.log_density(self._moving(z)) + log_det

    def sample(self, key: PRNGKeyArray, n: int, given=None) -> Float[Array, "n d"]:
        """n points of the image of `base`.

        A conditional flow also needs the values `given`: one row for all samples or
        one row per sample, a column per conditioned coordinate.
        """
        n = whole("n", n, 1)
        moving = self._moving_coordinates()
        z = jnp.zeros((n, self.d))
        z = z.at[:, moving].set(self.base.sample(key, n, len(moving)))
        if self.given:
            values = _condition(given, n, len(self.given))
            z = z.at[:, list(self.given)].set(values)
        elif given is not None:
            raise InputError(
                "`given` was passed to a flow that conditions on nothing. Build it "
                "with `given=(...)`, or leave `given` out."
            )
        return apply(forward_blocks(*self._weights()), z)[0]

    def then(self, other: NormalizingFlow) -> NormalizingFlow:
        """This flow followed by another; `other @ self` is the same."""
        if not isinstance(other, NormalizingFlow) or other.d != self.d:
            raise InputError(f"`other` must be a flow on R^{self.d}, got {other!r}.")
        pairs = zip(self._weights(), other._weights(), strict=True)
        w, a, b, durations = (jnp.concatenate(pair) for pair in pairs)
        return NormalizingFlow(w, a, b, durations, self.base, self.given)

    def __matmul__(self, other: NormalizingFlow) -> NormalizingFlow:
        return other.then(self)

    def as_field(self) -> Switched:
        """The same flow as a field on `Euclidean(d)`, piecewise constant in time.

        `flow(field, mu, field.times[-1])` repeats it with an ODE solver. Every piece
        becomes one compiled branch: meant for hundreds of pieces, not for thousands.
        """
        alive = np.flatnonzero(np.asarray(self.durations) > 0)
        if not len(alive):
            raise InputError("the flow has no pieces, and a field needs at least one.")
        fields = [
            Perceptron(self.w[k][:, None], self.a[k][None, :], self.b[k][None])
            for k in alive
        ]
        times = np.concatenate([[0.0], np.cumsum(np.asarray(self.durations)[alive])])
        return Switched(fields, times)

    def __repr__(self) -> str:
        given = f", given={self.given}" if self.given else ""
        return f"NormalizingFlow(d={self.d}, pieces={self.pieces}, {self.base}{given})"

    def _weights(self) -> tuple[Array, Array, Array, Array]:
        return self.w, self.a, self.b, self.durations

    def _moving_coordinates(self) -> np.ndarray:
        return np.setdiff1d(np.arange(self.d), self.given)

    def _moving(self, x: Array) -> Array:
        return x[:, self._moving_coordinates()] if self.given else x

    def _points(self, name: str, x) -> Array:
        points = as_float_array(name, x)
        if points.ndim != 2 or points.shape[1] != self.d:
            hint = " Pass x[None, :] for one point." if points.ndim == 1 else ""
            raise InputError(
                f"`{name}` must have shape (n, {self.d}), got {points.shape}.{hint}"
            )
        check_finite(name, points)
        return points


def _check_pieces(flow: NormalizingFlow) -> None:
    w, a, b, durations = flow._weights()
    if w.ndim != 2 or a.shape != w.shape or w.shape[1] == 0:
        raise InputError(
            f"`w` and `a` must both have shape (pieces, d), got {w.shape}, {a.shape}."
        )
    if b.shape != w.shape[:1] or durations.shape != w.shape[:1]:
        raise InputError(
            f"`b` and `durations` need one number for each of {len(w)} pieces, got "
            f"shapes {b.shape} and {durations.shape}."
        )
    for name, value in (("w", w), ("a", a), ("b", b), ("durations", durations)):
        check_finite(name, value)
    if not is_traced(durations) and (np.asarray(durations) < 0).any():
        first = int(np.argmax(np.asarray(durations) < 0))
        raise InputError(
            f"`durations` must not be negative, got {float(durations[first]):g} for "
            f"piece {first}. To run a neuron backward, change the sign of its `w`."
        )
    if not isinstance(flow.base, AbstractLaw):
        raise InputError(
            f"`base` must be StandardNormal() or UnitCube(), got {flow.base!r}."
        )


def _check_given(flow: NormalizingFlow) -> None:
    given = flow.given
    if len(set(given)) != len(given) or not set(given) < set(range(flow.d)):
        raise InputError(
            f"`given` must be different coordinates from 0 to {flow.d - 1}, not all "
            f"of them; got {given}."
        )
    if given and not is_traced(flow.w):
        moved = np.any(np.asarray(flow.w)[:, list(given)] != 0, axis=0)
        if moved.any():
            raise InputError(
                f"coordinate {given[int(np.argmax(moved))]} is in `given`, but a piece "
                "moves it. Set those entries of `w` to zero."
            )


def _condition(given, n: int, k: int) -> Array:
    if given is None:
        raise InputError(f"a conditional flow needs `given`: {k} values, or (n, {k}).")
    values = jnp.atleast_2d(as_float_array("given", given))
    if values.shape not in ((1, k), (n, k)):
        raise InputError(
            f"`given` must have shape ({k},) or ({n}, {k}), got {values.shape}."
        )
    check_finite("given", values)
    return jnp.broadcast_to(values, (n, k))


def identity(d: int, base: AbstractLaw | None = None) -> NormalizingFlow:
    """The flow without pieces: where a composition begins."""
    d = whole("d", d, 1)
    none = jnp.zeros((0, d))
    return NormalizingFlow(none, none, jnp.zeros(0), jnp.zeros(0), base)
