"""The Sinkhorn divergence, differentiable in points and weights.

S = OT_eps(mu, nu) - OT_eps(mu, mu) / 2 - OT_eps(nu, nu) / 2 with cost |x - y|^2:
non-negative, zero only at mu = nu, W_2^2 as eps -> 0 and |E X - E Y|^2 as eps -> inf.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import as_float_array, check_finite, is_traced, whole
from pushforward.errors import InputError, NumericalError
from pushforward.measures import AbstractMeasure, Density, Gaussian
from pushforward.transport._atoms import FARTHEST, as_atoms
from pushforward.transport.entropic._differentiable import Limits, value, value_alone
from pushforward.transport.entropic._pairing import on_sphere, squared_pairing
from pushforward.transport.entropic._sinkhorn import Problem

LACKING = 1e-2  # of the mass in the wrong place is no answer


def sinkhorn_divergence(
    x: Real[ArrayLike, "n d"] | AbstractMeasure,
    y: Real[ArrayLike, "m d"] | AbstractMeasure,
    eps: float | Float[Array, ""],
    *,
    a: Real[ArrayLike, "n"] | None = None,
    b: Real[ArrayLike, "m"] | None = None,
    tol: float = 1e-10,
    iterations: int = 5_000,
) -> Float[Array, ""]:
    """S_eps between sum_i a_i delta_{x_i} and sum_j b_j delta_{y_j}.

    x and y are points, with weights a and b, equal unless given, or measures of the
    library. Straight lines are measured, on a sphere chords. Works under `jit`, `grad`,
    `vmap` and their compositions: gradients are exact at convergence, and so are
    Hessians and their products with vectors. Memory is linear in n + m. `tol` bounds
    the error of the marginals; what it leaves below zero is rounded up. Where the
    iterations end far from that, as they do at very small eps, an error says so, but
    not under `jit` or `grad`; `entropic_divergence` brings bounds.

    >>> import jax, jax.numpy as jnp
    >>> x = jnp.zeros((1, 2)); y = jnp.ones((1, 2))
    >>> float(sinkhorn_divergence(x, y, 0.5))
    2.0
    >>> jax.grad(sinkhorn_divergence)(x, y, 0.5).tolist()
    [[-2.0, -2.0]]

    [feydy2019interpolating]
    """
    x, a = checked_cloud("x", x, a)
    y, b = checked_cloud("y", y, b)
    if x.shape[1] != y.shape[1]:
        raise InputError(
            f"x and y must have points of one dimension, got {x.shape} and {y.shape}."
        )
    dtype = jnp.result_type(*{z.dtype for z in (x, y)})
    x, y, a, b = (z.astype(dtype) for z in (x, y, a, b))
    eps = checked_eps(eps).astype(dtype)
    most = jnp.asarray(whole("iterations", iterations, 1))
    limits = Limits(jnp.asarray(tol, dtype), most)
    unit = not is_traced(x, y) and on_sphere(np.asarray(x)) and on_sphere(np.asarray(y))
    return settled(limits, *debiased(x, y, a, b, eps, limits, unit))


def settled(
    limits: Limits, s: Float[Array, "*k"], lacking: Float[Array, "*k"]
) -> Float[Array, "*k"]:
    """Divergences, unless one is known to be no answer."""
    if is_traced(s, lacking, limits.most):
        return s
    worst = float(jnp.max(lacking))
    if not worst <= LACKING:
        where = f" in pair {int(jnp.argmax(lacking))}" if lacking.ndim else ""
        raise NumericalError(
            f"Sinkhorn left {worst:.1%} of the mass in the wrong place{where} after "
            f"{int(limits.most)} iterations; raise iterations or eps.",
            partial=s,
        )
    return s


@partial(jax.jit, static_argnames=("unit",))
def debiased(
    x: Float[Array, "n d"],
    y: Float[Array, "m d"],
    a: Float[Array, "n"],
    b: Float[Array, "m"],
    eps: Float[Array, ""],
    limits: Limits,
    unit: bool,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The divergence of checked clouds, and what marginals lack."""
    across = Problem(squared_pairing(x, y, unit=unit), a, b, eps, _infinite(eps))
    s, lacking = value(across, limits)
    for z, w in ((x, a), (y, b)):
        alone = Problem(squared_pairing(z, z, unit=unit), w, w, eps, _infinite(eps))
        own, off = value_alone(alone, limits)
        s, lacking = s - 0.5 * own, jnp.maximum(lacking, off)
    # rounding may end below zero; the gradient is that of what was computed
    return s + jax.lax.stop_gradient(jnp.maximum(-s, 0.0)), lacking


def _infinite(eps: Array) -> Array:
    return jnp.full_like(eps, jnp.inf)


def checked_cloud(
    name: str, measure: ArrayLike | AbstractMeasure, weights: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Points and weights of a cloud."""
    if isinstance(measure, AbstractMeasure):
        if weights is not None:
            raise InputError(
                f"weights of {name} must be left out: a measure brings its own."
            )
        points, weights = measure.points, measure.weights
        if isinstance(measure, Density | Gaussian):
            atoms = as_atoms(name, measure)  # a grid, or an error
            points, weights = jnp.asarray(atoms.points), jnp.asarray(atoms.weights)
    else:
        points = as_float_array(name, measure)
    if points.ndim != 2 or points.size == 0:
        raise InputError(
            f"{name} must have shape (n, d) with n, d >= 1, got {points.shape}; for n "
            "numbers on a line pass x[:, None]."
        )
    n = len(points)
    if weights is None:
        weights = jnp.full(n, 1 / n)
    weights = as_float_array(f"weights of {name}", weights)
    if weights.shape != (n,):
        raise InputError(
            f"weights of {name} must have shape ({n},), got {weights.shape}."
        )
    _check_values(name, points, weights)
    return points, weights


def _check_values(name: str, points: Array, weights: Array) -> None:
    """Values can be checked only outside `jit` and `grad`, where they are known."""
    if is_traced(points, weights):
        return
    check_finite(name, points)
    if float(jnp.abs(points).max()) > FARTHEST:
        raise InputError(f"{name} is so large that squares overflow; rescale x and y.")
    if not (np.asarray(weights) >= 0).all() or abs(float(weights.sum()) - 1) > 1e-6:
        raise InputError(
            f"weights of {name} must not be negative and sum to one; pass w / w.sum()."
        )


def checked_eps(eps: ArrayLike) -> Array:
    """One positive number, or several."""
    found = as_float_array("eps", eps)
    if not is_traced(found):
        values = np.asarray(found)
        if not ((values > 0) & np.isfinite(values)).all():
            raise InputError(f"eps must be positive and finite, got {eps}.")
    return found
