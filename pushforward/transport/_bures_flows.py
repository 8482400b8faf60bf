"""Gradient flows of the Kullback-Leibler divergence on Gaussians.

KL(. | pi), pi proportional to e^{-V}, flows on the Bures space by

    m' = -E grad V,     S' = 2 I - S E[Hess V] - E[Hess V] S,

expectations under N(m, S): Gaussian variational inference. For a Gaussian target
this is the Wasserstein (Fokker-Planck) flow itself, and the implicit (JKO) step has
a closed form.

Unadjusted Langevin sampling: the particle form of the Fokker-Planck flow.
"""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray, Real
from scipy.integrate import solve_ivp

from pushforward._checks import above_zero
from pushforward.errors import InputError, NumericalError
from pushforward.transport._gaussian import Gaussian, check_gaussians, square_root

NODES = 20_000


def gaussian_kl(mu: Gaussian, target: Gaussian) -> float:
    """KL(mu | target) between Gaussians; the target must be invertible."""
    check_gaussians(mu=mu, target=target)
    precision = _precision(target)
    shift = mu.mean - target.mean
    product = precision @ mu.covariance
    sign, log_det = np.linalg.slogdet(product)
    if sign <= 0:
        raise InputError("KL needs a start with an invertible covariance.")
    quadratic = float(shift @ precision @ shift)
    return 0.5 * (float(np.trace(product)) - mu.d - float(log_det) + quadratic)


def _precision(target: Gaussian) -> np.ndarray:
    """The inverse covariance, or an error where there is none."""
    try:
        return np.linalg.inv(target.covariance)
    except np.linalg.LinAlgError as error:
        raise InputError(
            "target must have an invertible covariance; add a small ridge to it."
        ) from error


def jko_step(mu: Gaussian, target: Gaussian, h: float) -> Gaussian:
    """The implicit step: argmin over nu of W_2^2(nu, mu) / (2 h) + KL(nu | target).

    With P the precision of the target, M = I + h P and K = M^{-1/2} S_k M^{-1/2}, the
    covariance is M^{-1/2} Y M^{-1/2}, Y = h + K/2 + (h K + K^2/4)^{1/2}. In dimension
    one with a standard target: s^2 (1 + h) - s s_k - h = 0.
    """
    check_gaussians(mu=mu, target=target)
    h = above_zero("h", h, "It is a time step.")
    precision = _precision(target)
    m = np.eye(mu.d) + h * precision
    mean = np.linalg.solve(m, mu.mean + h * precision @ target.mean)
    inverse_root = np.linalg.inv(square_root(m))
    k = inverse_root @ mu.covariance @ inverse_root
    y = h * np.eye(mu.d) + k / 2 + square_root(h * k + k @ k / 4)
    covariance = inverse_root @ y @ inverse_root
    return Gaussian(mean, (covariance + covariance.T) / 2)


def bures_flow(
    potential: Callable[[Float[Array, "d"]], Float[Array, ""]],
    start: Gaussian,
    times: Real[ArrayLike, "t"] | Sequence,
    *,
    order: int = 7,
    rtol: float = 1e-9,
) -> Sequence[Gaussian]:
    """Gaussian variational inference: the Bures flow of KL(. | e^{-V}) at `times`.

    `potential` is V, a JAX function of one point. Expectations are Gauss-Hermite sums
    of `order` nodes per dimension, exact for polynomials of degree 2 order - 1.
    """
    t = np.asarray(times, dtype=float)
    if t.ndim != 1 or len(t) < 1 or (np.diff(t) <= 0).any() or t[0] < 0:
        raise InputError("times must be increasing and not negative.")
    d = start.d
    if order < 1 or float(order) ** d > NODES:
        raise InputError(
            f"order {order} in dimension {d} needs {order**d} nodes, at most {NODES}; "
            f"lower it."
        )
    z, w = _nodes(order, d)
    gradient, hessian = jax.grad(potential), jax.hessian(potential)

    @jax.jit
    def slope(state: Array) -> Array:
        mean, matrix = state[:d], state[d:].reshape(d, d)
        points = mean[None, :] + z @ jnp.linalg.cholesky(matrix).T
        mean_gradient = w @ jax.vmap(gradient)(points)
        mean_hessian = jnp.einsum("k,kij->ij", w, jax.vmap(hessian)(points))
        flux = 2 * jnp.eye(d) - matrix @ mean_hessian - mean_hessian @ matrix
        return jnp.concatenate([-mean_gradient, flux.reshape(-1)])

    first = np.concatenate([start.mean, start.covariance.reshape(-1)])
    run = solve_ivp(
        lambda _, s: np.asarray(slope(jnp.asarray(s))),
        (0.0, float(t[-1]) or 1e-12),
        first,
        t_eval=t,
        method="DOP853",
        rtol=rtol,
        atol=rtol * 1e-2,
    )
    if not (run.success and np.isfinite(run.y).all()):
        raise NumericalError(f"the Bures flow stopped: {run.message}", partial=run)
    return [_gaussian(column, d) for column in run.y.T]


def _nodes(order: int, d: int) -> tuple[Array, Array]:
    node, weight = np.polynomial.hermite_e.hermegauss(order)
    grids = np.meshgrid(*[node] * d, indexing="ij")
    weights = np.meshgrid(*[weight / weight.sum()] * d, indexing="ij")
    z = np.stack([g.reshape(-1) for g in grids], axis=1)
    return jnp.asarray(z), jnp.asarray(np.prod(weights, axis=0).reshape(-1))


def _gaussian(state: np.ndarray, d: int) -> Gaussian:
    matrix = state[d:].reshape(d, d)
    return Gaussian(state[:d], (matrix + matrix.T) / 2)


@partial(jax.jit, static_argnames=("potential", "steps"))
def _walk(
    potential: Callable, points: Array, h: Array, steps: int, key: PRNGKeyArray
) -> Array:
    drift = jax.vmap(jax.grad(potential))

    def body(x: Array, one: PRNGKeyArray) -> tuple[Array, None]:
        noise = jax.random.normal(one, x.shape, dtype=x.dtype)
        return x - h * drift(x) + jnp.sqrt(2 * h) * noise, None

    return jax.lax.scan(body, points, jax.random.split(key, steps))[0]


def langevin(
    potential: Callable[[Float[Array, "d"]], Float[Array, ""]],
    points: Float[Array, "n d"],
    h: float,
    steps: int,
    *,
    key: PRNGKeyArray,
) -> Float[Array, "n d"]:
    """n independent chains after `steps` of x <- x - h grad V(x) + sqrt(2 h) noise.

    The step biases the law: for V = |x|^2 / 2 the stationary variance is
    1 / (1 - h / 2), not one.
    """
    x = jnp.asarray(points, dtype=float)
    if x.ndim != 2 or x.size == 0 or not bool(jnp.isfinite(x).all()):
        raise InputError(f"points must be finite of shape (n, d), got {x.shape}.")
    if not 0 < h < float("inf") or steps < 1:
        raise InputError(f"h must be positive and steps >= 1, got {h} and {steps}.")
    return _walk(potential, x, jnp.asarray(h), steps, key)
