"""Near-linear sums on the circle and on S^2, with error control."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums import _circle, _sphere, _transform
from pushforward.sums._blocks import blocked
from pushforward.sums._exact import tile_sizes
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum

METHODS = {2: _circle.Modes, 3: _sphere.Harmonics}
LARGEST_BETA = {2: _circle.LARGEST_BETA, 3: _sphere.LARGEST_BETA}
FLOAT32_TOL = 1e-6
SAFETY = 1e-5  # of the tolerance goes to the truncated tail: modes are cheap
RECOMPUTED = 64  # isolated rows are handled this many at a time


class Spectral(AbstractSum):
    """Fourier modes on the circle, spherical harmonics on S^2: near-linear in n.

    `tol` bounds the error of every softmax average. A transform has an absolute error
    delta (the truncated tail plus rounding), so a row of total Z_i has the relative
    error 2 delta e^{|beta|} / Z_i; rows where that exceeds `tol`, the isolated tokens,
    are recomputed exactly.

    `check` compares that many rows, spread over the cloud, with the exact sum at run
    time, and stops with an error if one is off. Computed in float64 whatever the data;
    float32 data are held to 1e-6. Beyond beta = 1e4 the sum is exact instead. On S^2
    the work is done on the host by ducc0.
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
        return self.within(kernel, LARGEST_BETA[d])

    def within(self, kernel: Kernel, limit: float) -> KernelSum:
        """The spectral sum where |beta| <= limit, and the exact one beyond."""
        method = METHODS[kernel.keys.shape[1]]
        limit = min(limit, LARGEST_BETA[kernel.keys.shape[1]])
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
        log_own = beta * jnp.sum(q * k, axis=1) + kernel.log_weights
        moment = moment - jnp.exp(log_own - size)[:, None] * kernel.values
    out = KernelSum(log_total, jnp.full_like(log_total, size), moment, log_own)
    delta = method.error(*jax.lax.stop_gradient((beta, y[:, 0].max())))
    out = _isolated_again(kernel, out, y[:, 0] * tol < 2 * delta)
    return _checked(kernel, out, tol, check) if check else out


def _checked(kernel: Kernel, out: KernelSum, tol: float, check: int) -> KernelSum:
    m = kernel.queries.shape[0]
    golden = np.arange(1, check + 1) * (np.sqrt(5) - 1) / 2
    rows = jnp.asarray(np.unique((golden % 1 * m).astype(int)))
    exact = _some_rows(kernel, rows)
    found = jax.tree_util.tree_map(lambda a: a[rows], out)
    error = jnp.max(jnp.abs(found.average() - exact.average()), initial=0.0)
    error = jnp.maximum(error, jnp.abs(found.log_total - exact.log_total).max())
    text = f"a spectral sum is off by more than {tol:g}; use sums.Exact()."
    return eqx.error_if(out, ~(error <= tol), text)


def tolerance(tol: float) -> float:
    """A tolerance in (0, 1), as a Python number because it picks the algorithm."""
    if not isinstance(tol, int | float) or not 0 < tol < 1:
        raise InputError(
            f"`tol` must be a number between 0 and 1, got {tol!r}. It bounds the error "
            "of an average; 1e-10 is the default."
        )
    return float(tol)


def _some_rows(kernel: Kernel, rows: Int[Array, "r"]) -> KernelSum:
    """The exact sum for some rows, in increasing order."""
    some = eqx.tree_at(lambda k: k.queries, kernel, kernel.queries[rows])
    n, d = kernel.keys.shape
    tiles = tile_sizes(len(rows), n, d, None)
    return blocked(some, tiles, which=rows)


def _isolated_again(kernel: Kernel, out: KernelSum, bad: Bool[Array, "m"]) -> KernelSum:
    """Recompute the bad rows exactly, a few at a time; the gradient stays spectral."""
    m = bad.shape[0]
    still = jax.lax.stop_gradient
    fixed_kernel, scale = still(kernel), still(jnp.abs(kernel.beta))
    totals, moments = still(out.log_total), still(out.moment)

    def some_left(state):
        return state[0].any()

    def again(state):
        bad, totals, moments = state
        rows = jnp.nonzero(bad, size=min(RECOMPUTED, m), fill_value=m)[0]
        inside = jnp.minimum(rows, m - 1)
        exact = _some_rows(fixed_kernel, inside)
        rescaled = jnp.exp(exact.log_scale - scale)[:, None] * exact.moment
        totals = totals.at[rows].set(exact.log_total, mode="drop")
        moments = moments.at[rows].set(rescaled, mode="drop")
        return bad.at[rows].set(False, mode="drop"), totals, moments

    state = (still(bad), totals, moments)
    _, new_totals, new_moments = jax.lax.while_loop(some_left, again, state)
    log_total = out.log_total + (new_totals - totals)
    moment = out.moment + (new_moments - moments)
    return out._replace(log_total=log_total, moment=moment)
