"""Networks continuous in depth and in the neuron index, on grids that may change."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.optimize import minimize

from pushforward._checks import above_zero, not_negative
from pushforward.control._checks import count, finite
from pushforward.errors import InputError


def trapezoid_weights(nodes: np.ndarray) -> np.ndarray:
    """Quadrature weights of the trapezoid rule on increasing nodes."""
    gaps = np.diff(finite("nodes", nodes, (None,)))
    if np.any(gaps <= 0):
        raise InputError("`nodes` must increase; sort them and drop repetitions.")
    return 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))


def cubic_interpolation(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Matrix that maps values on `old` nodes to `new` ones by a cubic spline."""
    return CubicSpline(old, np.eye(len(old)))(new)


def linear_interpolation(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The same by straight lines: at every layer this is numerical diffusion."""
    return make_interp_spline(old, np.eye(len(old)), k=1)(new)


def width_profile(widths: Sequence[int]) -> list[np.ndarray]:
    """Uniform grids of (0, 1) with the given numbers of nodes, one per layer."""
    return [np.linspace(0.0, 1.0, count("widths", n, 4)) for n in widths]


def march(
    kernel: Callable[[np.ndarray, np.ndarray], np.ndarray],
    start: Callable[[np.ndarray], np.ndarray],
    grids: Sequence[np.ndarray],
    t1: float,
    *,
    activation: Callable[[np.ndarray], np.ndarray],
    interpolate: Callable[[np.ndarray, np.ndarray], np.ndarray] = cubic_interpolation,
) -> np.ndarray:
    """State at t1 of d/dt x(zeta) = int w(zeta, xi) sigma(x(xi)) dxi, kernel given.

    One midpoint step per pair of consecutive grids: the stage lives on the old
    grid, the result on the new one. Second order in depth and in the mesh.
    """
    x = start(grids[0])
    dt = above_zero("t1", t1, "It is the depth.") / (len(grids) - 1)
    for old, new in zip(grids[:-1], grids[1:], strict=True):
        q = trapezoid_weights(old)
        stage = x + 0.5 * dt * kernel(old[:, None], old[None, :]) @ (q * activation(x))
        push = kernel(new[:, None], old[None, :]) @ (q * activation(stage))
        same = len(old) == len(new) and np.array_equal(old, new)
        x = (x if same else interpolate(old, new) @ x) + dt * push
    return x


class SpaceTimeWeights(eqx.Module):
    """Scaled unknowns sqrt(q_i q_j) W_ij and sqrt(q_i) b_i, padded to one width.

    Their Euclidean norm is the L2 norm of the kernel, whatever the mesh.
    """

    W: Float[Array, "k n n"]
    b: Float[Array, "k n"]


class SpaceTimeProblem(eqx.Module):
    """E(X(T)) + tracking int E dt + lam int ||w||^2 + ||b||^2 dt for kernels w, b.

    x^{k+1} = Pi_k x^k + dt (W_k diag(q^k) sigma(x^k) + b_k), read out by the mean
    over the neuron index, squared loss. Grids may differ from layer to layer.
    [esteveyague2020large]
    """

    start: Float[Array, "s n"]
    labels: Float[Array, "s"]
    shift: Float[Array, "k n n"]
    roots: Float[Array, "k1 n"]
    lam: Float[Array, ""]
    dt: Float[Array, ""]
    tracking: Float[Array, ""]
    activation: Callable = eqx.field(static=True)

    def __init__(
        self,
        lifted: Callable[[np.ndarray], np.ndarray],
        labels: object,
        grids: Sequence[np.ndarray],
        *,
        lam: float,
        horizon: float,
        tracking: float = 0.0,
        activation: Callable = jnp.tanh,
    ):
        """`lifted(nodes)` gives the data as functions: (samples, nodes)."""
        if len(grids) < 2:
            raise InputError(
                f"`grids` needs at least two entries (one layer), got {len(grids)}; "
                "try width_profile([9] * 17)."
            )
        if min(len(g) for g in grids) < 4:
            raise InputError(
                f"`grids` must have at least 4 nodes each for cubic interpolation, got "
                f"one of {min(len(g) for g in grids)}."
            )
        width = max(len(g) for g in grids)
        layers = len(grids) - 1
        roots = np.zeros((layers + 1, width))
        shift = np.zeros((layers, width, width))
        for k, grid in enumerate(grids):
            roots[k, : len(grid)] = np.sqrt(trapezoid_weights(grid))
        for k, (old, new) in enumerate(zip(grids[:-1], grids[1:], strict=True)):
            shift[k, : len(new), : len(old)] = cubic_interpolation(old, new)
        first = finite("lifted", lifted(grids[0]), (None, len(grids[0])))
        start = np.zeros((len(first), width))
        start[:, : len(grids[0])] = first
        self.start = jnp.asarray(start)
        self.labels = jnp.asarray(finite("labels", labels, (len(first),)))
        self.shift, self.roots = jnp.asarray(shift), jnp.asarray(roots)
        self.lam = jnp.asarray(above_zero("lam", lam, "It weighs the penalty."))
        self.dt = jnp.asarray(
            above_zero("horizon", horizon, "It is the depth T.") / layers
        )
        self.tracking = jnp.asarray(not_negative("tracking", tracking))
        self.activation = activation

    def random(self, key: Array, scale: float = 0.1) -> SpaceTimeWeights:
        """Gaussian weights where the grids have nodes, zero in the padding."""
        alive = (self.roots > 0).astype(float)
        one, two = jax.random.split(key)
        mask = alive[1:, :, None] * alive[:-1, None, :]
        W = scale * mask * jax.random.normal(one, self.shift.shape)
        b = scale * alive[1:] * jax.random.normal(two, alive[1:].shape)
        return SpaceTimeWeights(W, b)

    def states(self, weights: SpaceTimeWeights) -> Float[Array, "k1 s n"]:
        """States of every sample on every grid (zero beyond its nodes)."""

        def layer(x, data):
            W, b, shift, root, after = data
            inverse = jnp.where(after > 0, 1.0 / jnp.where(after > 0, after, 1.0), 0.0)
            pushed = (root[None, :] * self.activation(x)) @ W.T + b[None, :]
            x = x @ shift.T + self.dt * inverse[None, :] * pushed
            return x, x

        data = (weights.W, weights.b, self.shift, self.roots[:-1], self.roots[1:])
        _, states = jax.lax.scan(layer, self.start, data)
        return jnp.concatenate([self.start[None], states])

    def outputs(self, weights: SpaceTimeWeights) -> Float[Array, "k1 s"]:
        """Mean over the neuron index, at every layer."""
        return jnp.einsum("ksn,kn->ks", self.states(weights), self.roots**2)

    def objective(self, weights: SpaceTimeWeights) -> Float[Array, ""]:
        """The cost named in the class."""
        miss = self.outputs(weights) - self.labels[None, :]
        risk = jnp.mean(miss**2, axis=1)
        running = self.dt * (jnp.sum(risk) - 0.5 * (risk[0] + risk[-1]))
        size = jnp.sum(weights.W**2) + jnp.sum(weights.b**2)
        return risk[-1] + self.tracking * running + self.lam * self.dt * size


@eqx.filter_jit
def _value_and_grad(problem: SpaceTimeProblem, weights: SpaceTimeWeights):
    return jax.value_and_grad(problem.objective)(weights)


def train_space_time(
    problem: SpaceTimeProblem, *, steps: int = 2000, key: Array
) -> tuple[SpaceTimeWeights, float, int]:
    """L-BFGS in the scaled unknowns: weights, objective, number of evaluations."""
    flat, unravel = ravel_pytree(problem.random(key))

    def function(x):
        value, slope = _value_and_grad(problem, unravel(jnp.asarray(x)))
        return float(value), np.asarray(ravel_pytree(slope)[0])

    run = minimize(
        function,
        np.asarray(flat),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxcor": 30,
            "maxiter": count("steps", steps),
            "gtol": 1e-8,
            "ftol": 1e-13,
            "maxfun": 3 * steps,
        },
    )
    return unravel(jnp.asarray(run.x)), float(run.fun), int(run.nfev)


def cosine_lift(points: object) -> Callable[[np.ndarray], np.ndarray]:
    """Planar points as functions x1 sqrt2 cos(pi z) + x2 sqrt2 cos(2 pi z) of z."""
    array = finite("points", points, (None, 2))

    def lifted(nodes: np.ndarray) -> np.ndarray:
        waves = np.sqrt(2) * np.cos(np.pi * np.outer([1.0, 2.0], nodes))
        return array @ waves

    return lifted
