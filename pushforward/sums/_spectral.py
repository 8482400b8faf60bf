"""Near-linear sums on the circle and on S^2, with error control."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pushforward._checks import is_traced, whole
from pushforward.errors import InputError
from pushforward.sums import _circle, _sphere
from pushforward.sums._blocks import blocked
from pushforward.sums._exact import Exact, tile_sizes
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum

ROUNDING = {2: 4e-15, 3: 2e-13}  # measured error of a transform of total weight one
FLOAT32_TOL = 1e-6
RECOMPUTED = 64  # isolated rows are handled this many at a time
LARGEST_BETA = {2: 1.2e4, 3: 4e4}  # beyond, the compiled modes or the grid end


class Spectral(AbstractSum):
    """Fourier modes on the circle, spherical harmonics on S^2: near-linear in n.

    `tol` bounds the error of every softmax average. A transform has an absolute error
    delta (the truncated tail plus rounding), so a row with total Z_i e^{-|beta|} has the
    error 2 delta e^{|beta|} / Z_i; rows where that exceeds `tol`, the isolated tokens,
    are recomputed exactly. Values inside the average are exact to `tol` of their size.

    `check` compares that many rows with the exact sum at run time, spread over the
    cloud, and stops with an error if one is off. Computed in float64 whatever the data;
    float32 data are held to 1e-6. Beyond beta = 1e4 the sum is exact instead. On S^2 the
    work is done on the host by ducc0; there reverse mode works and forward mode does not.
    """

    tol: float = eqx.field(static=True)
    check: int = eqx.field(static=True)

    def __init__(self, tol: float = 1e-10, *, check: int = 0):
        self.tol = tolerance(tol)
        self.check = whole("check", check, 0, "It is a number of rows.")

    def __call__(self, kernel: Kernel) -> KernelSum:
        """To the tolerance, in near-linear time."""
        self._refuse(kernel)
        d = kernel.keys.shape[1]
        of_keys = kernel.values is kernel.keys
        wide = jax.tree_util.tree_map(lambda a: a.astype(jnp.float64), kernel)
        near = lambda k: self._near(k, of_keys)  # noqa: E731
        limit = LARGEST_BETA[d]
        if not is_traced(kernel.beta):
            out = (near if abs(float(kernel.beta)) <= limit else Exact())(wide)
        else:
            out = jax.lax.cond(jnp.abs(wide.beta) <= limit, near, Exact(), wide)
        return jax.tree_util.tree_map(lambda a: a.astype(kernel.keys.dtype), out)

    def _refuse(self, kernel: Kernel) -> None:
        d = kernel.keys.shape[1]
        if not kernel.unit or kernel.causal or d not in (2, 3):
            what = "a causal mask" if kernel.causal else f"points of dimension {d}"
            raise InputError(
                f"Spectral sums need unit vectors on the circle or S^2 with Q = K = I "
                f"and every token in sight, got {what}. Use sums.Exact() or sums.Auto()."
            )

    def _near(self, kernel: Kernel, of_keys: bool) -> KernelSum:
        w = jnp.exp(kernel.log_weights)[:, None]
        u = jnp.concatenate([w, w * kernel.values], axis=1)
        y, delta = self._transformed(kernel, u, of_keys)
        tiny = jnp.finfo(y.dtype).tiny
        size = jnp.abs(kernel.beta)
        log_total = size + jnp.log(jnp.maximum(y[:, 0], tiny))
        moment, log_own = y[:, 1:], None
        if kernel.own:
            log_own = kernel.beta + kernel.log_weights
            moment = moment - jnp.exp(log_own - size)[:, None] * kernel.values
        out = KernelSum(log_total, jnp.full_like(log_total, size), moment, log_own)
        tol = max(self.tol, FLOAT32_TOL if kernel.keys.dtype == jnp.float32 else 0.0)
        out = _isolated_again(kernel, out, y[:, 0] * tol < 2 * delta)
        return self._checked(kernel, out, tol)

    def _transformed(self, kernel: Kernel, u: Array, of_keys: bool):
        """sum_j e^{beta <q_i, k_j> - |beta|} u_j and its absolute error."""
        q, k, beta = kernel.queries, kernel.keys, kernel.beta
        if k.shape[1] == 3:
            tail = 1e-3 * self.tol * 1e-2
            y = _sphere.transform(q, k, u, beta, tail, of_keys)
            return y, ROUNDING[3] + tail
        tails = _circle.tails(jax.lax.stop_gradient(beta))
        fits = tails <= max(1e-3 * self.tol * 1e-2, 1e-14)
        pick = jnp.where(fits.any(), jnp.argmax(fits), len(_circle.MODES) - 1)
        branches = [_Modes(modes) for modes in _circle.MODES]
        if is_traced(pick):
            y = jax.lax.switch(pick, branches, q, k, u, beta)
        else:
            y = branches[int(pick)](q, k, u, beta)
        return y, ROUNDING[2] + tails[pick]

    def _checked(self, kernel: Kernel, out: KernelSum, tol: float) -> KernelSum:
        if self.check == 0:
            return out
        m = kernel.queries.shape[0]
        golden = np.arange(1, self.check + 1) * (np.sqrt(5) - 1) / 2
        rows = jnp.asarray(np.unique((golden % 1 * m).astype(int)))
        exact = _some_rows(kernel, rows)
        found = jax.tree_util.tree_map(lambda a: a[rows], out)
        error = jnp.max(jnp.abs(found.average() - exact.average()), initial=0.0)
        error = jnp.maximum(error, jnp.abs(found.log_total - exact.log_total).max())
        text = f"a spectral sum is off by more than {tol:g}; use sums.Exact()."
        return eqx.error_if(out, ~(error <= 10 * tol), text)


def tolerance(tol: float) -> float:
    """A tolerance in (0, 1), as a Python number because it picks the algorithm."""
    if not isinstance(tol, int | float) or not 0 < tol < 1:
        raise InputError(
            f"`tol` must be a number between 0 and 1, got {tol!r}. It bounds the error "
            "of an average; 1e-10 is the default."
        )
    return float(tol)


class _Modes(eqx.Module):
    """The transform on the circle with a given number of modes."""

    modes: int = eqx.field(static=True)

    def __call__(self, q, k, u, beta) -> Float[Array, "m c"]:
        return _circle.transform(q, k, u, beta, self.modes)


def _some_rows(kernel: Kernel, rows: Int[Array, "r"]) -> KernelSum:
    """The exact sum for some rows, in increasing order."""
    some = eqx.tree_at(lambda k: k.queries, kernel, kernel.queries[rows])
    tiles = tile_sizes(len(rows), *kernel.keys.shape, None)
    return blocked(some, tiles, fixed=False, which=rows)


def _isolated_again(kernel: Kernel, out: KernelSum, bad: Bool[Array, "m"]) -> KernelSum:
    """Recompute the bad rows exactly, a few at a time; their gradient stays spectral."""
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
