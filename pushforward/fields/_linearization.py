"""Linear stability: the Jacobian of a field at a configuration of tokens."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Inexact, Real

from pushforward._checks import as_float_array, check_finite, scalar
from pushforward.errors import InputError
from pushforward.fields._drive import Motion
from pushforward.fields._field import AbstractField
from pushforward.measures import AbstractTangentMap, Modes, Particles, as_tangent
from pushforward.spaces import Sphere


class Linearization(AbstractTangentMap):
    """How a field changes when tokens (and weights, if they grow) are moved a little.

    The covariant derivative v -> P_x D field [v]: at a configuration at rest it is the
    linear equation of small deviations, d/dt v = J v. Coordinates are orthonormal for
    sum_i |v_i|^2, with sum_i w_i l_i^2 (Fisher and Rao) added for a change l of the
    logarithms of the weights, sum_i w_i l_i = 0.
    """

    field: AbstractField
    mu: Particles
    t: Float[Array, ""]

    @property
    def grows(self) -> bool:
        """Whether weights move too."""
        return jax.eval_shape(self.field, self.t, self.mu).g is not None

    @property
    def size(self) -> int:
        """n (d - 1) on the sphere, and n - 1 more if weights move."""
        n, k = self._split
        return n * k + (n - 1 if self.grows else 0)

    def mv(self, v: Real[ArrayLike, "n d"] | Sequence | Motion):
        """J v for one vector per token, or for a `Motion` if weights move."""
        return self._out(_apply(self, self._coordinates(v)), v)

    def vjp(self, v: Real[ArrayLike, "n d"] | Sequence | Motion):
        """The adjoint, J^T v."""
        return self._out(_transposed(self, self._coordinates(v)), v)

    def spectrum(self) -> Inexact[np.ndarray, "k"]:
        """All eigenvalues, the largest real part first."""
        return _sorted(np.linalg.eigvals(self.matrix()))[0]

    def unstable(self, tol: float = 1e-9) -> Modes:
        """The modes that grow: eigenvalues with a real part above `tol`."""
        values, columns = _sorted(*np.linalg.eig(self.matrix()))
        grow = values.real > float(scalar("tol", tol))
        return self._modes(values[grow], columns[:, grow])

    def leading(self, count: int = 6) -> Modes:
        """The modes of the largest real parts, by Arnoldi's method without the matrix.

        The cost is that of some hundred evaluations of the field.
        """
        count = self._count(count)
        if self.size <= max(count + 2, 20):
            values, columns = _sorted(*np.linalg.eig(self.matrix()))
            return self._modes(values[:count], columns[:, :count])
        pairs = scipy.sparse.linalg.eigs(
            self._operator(), count, which="LR", v0=self._start
        )
        return self._modes(*_sorted(*pairs))

    def apply(self, c: Float[Array, "k"]):
        """J in coordinates."""
        x, root = self.mu.points, jnp.exp(self.mu.log_weights / 2)
        xi, sigma = self._unpacked(c)
        if sigma is None:
            move = lambda x: self.field(self.t, self.mu.moved(x)).v  # noqa: E731
            return self._packed(jax.jvp(move, (x,), (xi,))[1], None)
        moved = jax.jvp(self._rates, (x, root), (xi, sigma / 2))[1]
        return self._packed(*moved)

    def tangent(self, c: Float[Array, "k"]):
        """Motion of the tokens and relative growth of the weights."""
        xi, sigma = self._unpacked(c)
        if sigma is None:
            return xi, None
        root = jnp.exp(self.mu.log_weights / 2)
        return xi, jnp.where(root > 0, sigma / jnp.where(root > 0, root, 1.0), 0.0)

    def _rates(self, x, root):
        """v, and twice d/dt of the roots of the weights: these lie on a sphere."""
        some = root > 0
        logs = jnp.where(some, 2 * jnp.log(jnp.where(some, root, 1.0)), -jnp.inf)
        v, g = self.field(self.t, self.mu.moved(x, logs))
        assert g is not None
        return v, root * (g - jnp.sum(root**2 * g))

    @property
    def _split(self) -> tuple[int, int]:
        """The number of tokens and of coordinates of one."""
        mu = self.mu
        one = jax.eval_shape(mu.space.coordinates, mu.points, mu.points)
        return one.shape

    def _unpacked(self, c: Float[Array, "k"]):
        n, k = self._split
        mu = self.mu
        xi = mu.space.vectors(mu.points, c[: n * k].reshape(n, k))
        if not self.grows:
            return xi, None
        return xi, Sphere(max(n, 2)).vectors(jnp.exp(mu.log_weights / 2), c[n * k :])

    def _packed(self, xi, sigma):
        mu = self.mu
        c = mu.space.coordinates(mu.points, mu.space.tangent(mu.points, xi)).ravel()
        if sigma is None:
            return c
        root, sphere = jnp.exp(mu.log_weights / 2), Sphere(max(mu.n, 2))
        return jnp.concatenate(
            [c, sphere.coordinates(root, sphere.tangent(root, sigma))]
        )

    def _coordinates(self, v) -> Array:
        v, g = v if isinstance(v, Motion) else (v, None)
        v = as_tangent(self.mu, v)
        if not self.grows:
            return self._packed(v, None)
        root = jnp.exp(self.mu.log_weights / 2)
        if g is None:
            return self._packed(v, jnp.zeros_like(root))
        g = as_float_array("g", g).astype(root.dtype)
        check_finite("g", g)
        if g.shape != root.shape:
            raise InputError(
                f"`g` must have one number per token, {root.shape}, got {g.shape}."
            )
        return self._packed(v, root * g)

    def _out(self, c: Float[Array, "k"], like):
        motion = Motion(*self.tangent(c))
        return motion if isinstance(like, Motion) or self.grows else motion.v


def linearize(field: AbstractField, mu: Particles, t: float = 0.0) -> Linearization:
    """The Jacobian of a field at a configuration, in tangent coordinates.

    Its `spectrum()` decides the stability of a configuration at rest; `unstable()`
    gives the directions in which it is left. `matrix()` has n (d - 1) rows on the
    sphere; `mv(v)`, `vjp(v)` and `leading(k)` never form it.

    >>> square = Particles.equispaced(Circle(), 4)
    >>> linearize(Attention(3.0), square).spectrum().real.round(4).tolist()
    [0.5421, 0.2756, 0.2756, 0.0]
    """
    if not isinstance(field, AbstractField):
        raise InputError(
            f"`field` must be a field such as Attention(9.0), got {field!r}."
        )
    if not isinstance(mu, Particles):
        raise InputError(
            f"`mu` must be Particles, got {type(mu).__name__}. Sample a density first; "
            "for the uniform one theory.stability.growth_rates has the spectrum."
        )
    return Linearization(field=field.started(mu), mu=mu, t=scalar("t", t))


def _sorted(values: np.ndarray, columns: np.ndarray | None = None):
    """Largest real part first; of a pair, the positive imaginary part."""
    order = np.lexsort((-values.imag, -values.real.round(12)))
    return values[order], None if columns is None else columns[:, order]


@eqx.filter_jit
def _apply(a: Linearization, c: Float[Array, "k"]) -> Array:
    return a.apply(c)


@eqx.filter_jit
def _transposed(a: Linearization, c: Float[Array, "k"]) -> Array:
    return jax.linear_transpose(a.apply, c)(c)[0]
