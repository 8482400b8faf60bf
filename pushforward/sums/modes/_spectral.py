"""Near-linear sums on the circle and on S^2, with error control."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums import _native
from pushforward.sums._by_rows import error_on, recompute_exactly, spread_rows
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums.gpu import _circle as _gpu_circle
from pushforward.sums.gpu import _sphere as _gpu_sphere
from pushforward.sums.modes import _circle, _native_circle, _sphere, _transform

FLOAT32_TOL = 1e-6
SAFETY = 1e-5  # of the tolerance goes to the truncated tail: modes are cheap


class Spectral(AbstractSum):
    """Fourier modes on the circle, spherical harmonics on S^2: near-linear in n.

    `tol` bounds the error of every softmax average. A transform has an absolute error
    delta (the truncated tail plus rounding), so a row of total Z_i has the relative
    error 2 delta e^{|beta|} / Z_i; rows where that exceeds `tol`, the isolated tokens,
    are recomputed exactly.

    `check` compares that many rows, spread over the cloud, with the exact sum at run
    time, and stops with an error if one is off. Computed in float64 whatever the data;
    float32 data are held to 1e-6. Beyond beta = 1e4 (900 on S^2 on a GPU) the sum is
    exact instead. On a GPU the work is done by fused kernels in float64, on S^2 on a
    CPU by ducc0.
    """

    tol: float = eqx.field(static=True)
    check: int = eqx.field(static=True)

    def __init__(self, tol: float = 1e-10, *, check: int = 0):
        self.tol = tolerance(tol)
        self.check = whole("check", check, 0, "It is a number of rows.")

    def __call__(self, kernel: Kernel) -> KernelSum:
        """To the tolerance, in near-linear time."""
        d = kernel.keys.shape[1]
        if not kernel.unit or kernel.causal or d not in (2, 3):
            what = "a causal mask" if kernel.causal else f"points of dimension {d}"
            raise InputError(
                "Spectral sums need unit vectors on the circle or S^2, with Q = K = I "
                f"and no mask, got {what}. Use sums.Exact() or sums.Auto()."
            )
        return self.within(kernel, largest_beta(d))

    def within(self, kernel: Kernel, limit: float) -> KernelSum:
        """The spectral sum where |beta| <= limit, and the exact one beyond."""
        d = kernel.keys.shape[1]
        method = transform_for(d)
        limit = min(limit, largest_beta(d))
        tol = max(self.tol, FLOAT32_TOL if kernel.keys.dtype == jnp.float32 else 0.0)
        of_points = kernel.values is kernel.keys  # then one transform does for all
        wide = jax.tree_util.tree_map(lambda a: a.astype(jnp.float64), kernel)
        out = _spectral(wide, method(SAFETY * tol, limit), tol, self.check, of_points)
        return jax.tree_util.tree_map(lambda a: a.astype(kernel.keys.dtype), out)


@partial(jax.jit, static_argnames=("method", "tol", "check", "of_points"))
def _spectral(kernel: Kernel, method, tol, check, of_points) -> KernelSum:
    """The transform, the self term apart, isolated rows again, and the check."""
    q, k, beta = kernel.queries, kernel.keys, kernel.beta
    w = jnp.exp(kernel.log_weights)[:, None]
    if of_points:
        y = _transform.of_points(method, q, k, w, beta)
    else:
        u = jnp.concatenate([w, w * kernel.values], axis=1)
        y = _transform.of_values(method, q, k, u, beta)
    size = jnp.abs(beta)
    log_total = size + jnp.log(jnp.maximum(y[:, 0], jnp.finfo(y.dtype).tiny))
    moment, log_own = y[:, 1:], None
    if kernel.own:
        # Column by column: the compiler takes a sum over an axis out of the loop.
        overlap = sum(q[:, c] * k[:, c] for c in range(q.shape[1]))
        log_own = beta * overlap + kernel.log_weights
        moment = moment - jnp.exp(log_own - size)[:, None] * kernel.values
    out = KernelSum(log_total, jnp.full_like(log_total, size), moment, log_own)
    delta = method.error(*jax.lax.stop_gradient((beta, y[:, 0].max())))
    out = recompute_exactly(kernel, out, y[:, 0] * tol < 2 * delta)
    if not check:
        return out
    error = error_on(kernel, out, spread_rows(len(q), check))
    text = f"a spectral sum is off by more than {tol:g}; use sums.Exact()."
    return eqx.error_if(out, ~(error <= tol), text)


def transform_for(d: int) -> Callable[[float, float], _transform.AbstractTransform]:
    """The transform of this space on this machine, by its tail and limit."""
    on_gpu = jax.default_backend() == "gpu"
    if d == 3:
        return _gpu_sphere.FusedHarmonics if on_gpu else _sphere.Harmonics
    if on_gpu:
        return _gpu_circle.FusedModes
    return _native_circle.NativeModes if _native.available() else _circle.Modes


def largest_beta(d: int) -> float:
    """Up to which |beta| the transform has modes enough."""
    if d == 2:
        return _circle.LARGEST_BETA
    on_gpu = jax.default_backend() == "gpu"
    return _gpu_sphere.LARGEST_BETA if on_gpu else _sphere.LARGEST_BETA


def tolerance(tol: float) -> float:
    """A tolerance in (0, 1), as a Python number because it picks the algorithm."""
    if not isinstance(tol, int | float) or not 0 < tol < 1:
        raise InputError(
            f"`tol` must be a number between 0 and 1, got {tol!r}. It bounds the error "
            "of an average; 1e-10 is the default."
        )
    return float(tol)
