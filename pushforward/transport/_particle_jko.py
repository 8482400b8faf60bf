"""The implicit (JKO) step of a gradient flow, carried by particles.

    mu_{k+1} = argmin over mu of  F(mu) + W_2^2(mu, mu_k) / (2 h).

For n particles of equal mass and an energy that does not depend on their order, the
best coupling can be taken to be the labels, once these are chosen well:

    min over Y and permutations s of  F(Y) + sum_i |y_i - x_{s(i)}|^2 / (2 h n).

Newton's method moves Y, an assignment chooses s, until neither changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from pushforward._checks import Number, above_zero
from pushforward.errors import InputError, NumericalError
from pushforward.transport._atoms import as_atoms

Energy = Callable[[Float[Array, "n d"]], Float[Array, ""]]
LARGEST = 4_000  # coordinates: the Hessian is a dense matrix of this side


@dataclass(frozen=True, eq=False)
class ParticleStep:
    """The particles after one implicit step, with what certifies them.

    `points[i]` is where `points[i]` of the call went. `value` is energy plus
    `distance`^2 / (2 h), `distance` being W_2 between the two clouds, exactly.
    `residual` is the root mean square over particles of the W_2 gradient of that sum.
    Where the energy is convex in the points, `value` is above the minimum by at most
    `gap` = h residual^2 / 2.
    """

    points: Float[np.ndarray, "n d"] = field(repr=False)
    value: float
    distance: float
    residual: float
    gap: float
    iterations: int


def particle_jko_step(
    points: Float[np.ndarray, "n d"] | Sequence,
    energy: Energy,
    h: float,
    *,
    tol: float = 1e-10,
    iterations: int = 200,
) -> ParticleStep:
    """One step of size h of the W_2 gradient flow of `energy`, from equal particles.

    `energy` is a JAX function of the (n, d) points, the value F of their empirical
    measure: it must not depend on their order, and may be infinite outside its domain.
    Stops when the residual is below `tol`.

    >>> import jax.numpy as jnp
    >>> step = particle_jko_step([[2.0], [4.0]], lambda x: jnp.mean(x**2) / 2, 1.0)
    >>> step.points.ravel().tolist()  # x / (1 + h)
    [1.0, 2.0]
    """
    h = above_zero("h", h, "It is a time step.")
    tol = above_zero("tol", tol, "It bounds the residual.")
    x = as_atoms("points", points).points
    n, d = x.shape
    if n * d > LARGEST:
        raise InputError(
            f"{n} particles in dimension {d} need a Hessian of side {n * d}, at most "
            f"{LARGEST}; take fewer particles."
        )
    y, labels, used = x.copy(), np.arange(n), 0
    while True:
        y, residual, more = _newton(y, x[labels], energy, h, tol, iterations - used)
        used, better = used + more, _assignment(x, y)
        moved, least = _moved(x[labels], y), _moved(x[better], y)
        if moved <= least * (1 + 1e-12):
            break
        labels = better
    value = float(_value(jnp.asarray(y), jnp.asarray(x[labels]), energy, h))
    arrived = np.empty_like(y)
    arrived[labels] = y
    step = ParticleStep(
        arrived, value, np.sqrt(moved), residual, h * residual**2 / 2, used
    )
    if residual > tol:
        raise NumericalError(
            f"the JKO step stopped at residual {residual:.1e} after {used} Newton "
            f"steps; lower h or raise tol or iterations.",
            partial=step,
        )
    return step


def spacing_entropy(points: Float[Array, "n 1"]) -> Float[Array, ""]:
    """int rho log rho for mass 1 / (n - 1), uniform, between neighbors on the line.

        H = -(1 / (n - 1)) sum_i log((n - 1) (x_{i+1} - x_i)),   x sorted.

    Convex in the sorted points, infinite where two coincide. H(c x) = H(x) - log c, as
    for densities: with V = x^2 / 2 the steps of a cloud are those of a Gaussian.
    """
    x = jnp.sort(points[:, 0])
    return -jnp.mean(jnp.log((len(x) - 1) * jnp.diff(x)))


def _objective(y: Array, origin: Array, energy: Energy, h: Number) -> Array:
    return energy(y) + jnp.sum((y - origin) ** 2) / (2 * h * len(y))


@partial(jax.jit, static_argnames="energy")
def _value(y: Array, origin: Array, energy: Energy, h: Number) -> Array:
    return _objective(y, origin, energy, h)


@partial(jax.jit, static_argnames="energy")
def _slopes(y: Array, origin: Array, energy: Energy, h: Number) -> tuple[Array, Array]:
    def flat(z: Array) -> Array:
        return _objective(z.reshape(y.shape), origin, energy, h)

    return jax.grad(flat)(y.reshape(-1)), jax.hessian(flat)(y.reshape(-1))


def _newton(
    y: np.ndarray, origin: np.ndarray, energy: Energy, h: float, tol: float, limit: int
) -> tuple[np.ndarray, float, int]:
    """Damped Newton steps from y; returns the point, its residual and their number."""
    start, n = jnp.asarray(origin), len(y)
    value = float(_value(jnp.asarray(y), start, energy, h))
    if not np.isfinite(value):
        raise InputError(
            f"the energy of the points is {value}: start inside its domain (an entropy "
            f"needs distinct points)."
        )
    for count in range(max(limit, 0) + 1):
        slope, hessian = map(np.asarray, _slopes(jnp.asarray(y), start, energy, h))
        residual = float(np.sqrt(n) * np.linalg.norm(slope))
        if residual <= tol or count >= limit:
            break
        move = _direction(slope, hessian, 1 / (h * n)).reshape(y.shape)
        length, descent = 1.0, float(slope @ move.reshape(-1))
        while length > 1e-12:
            ahead = float(_value(jnp.asarray(y + length * move), start, energy, h))
            if ahead <= value + 1e-4 * length * descent + 4e-16 * abs(value):
                break
            length /= 2
        else:
            break  # rounding: the residual tells
        y, value = y + length * move, ahead
    return y, residual, count


def _direction(slope: np.ndarray, hessian: np.ndarray, least: float) -> np.ndarray:
    """The Newton direction, with curvatures below `least` (concave energy) raised."""
    try:
        np.linalg.cholesky(hessian - 0.5 * least * np.eye(len(slope)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(hessian)
        values = np.maximum(np.abs(values), least)
        return -vectors @ ((vectors.T @ slope) / values)
    return -np.linalg.solve(hessian, slope)


def _assignment(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Indices s of the best coupling: y[i] with x[s[i]]."""
    if x.shape[1] > 1:
        return linear_sum_assignment(cdist(y, x, "sqeuclidean"))[1]
    labels = np.empty(len(x), dtype=int)
    labels[np.argsort(y[:, 0], kind="stable")] = np.argsort(x[:, 0], kind="stable")
    return labels


def _moved(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(np.sum((y - x) ** 2, axis=1)))
