"""The front door: which sum for which space, size, temperature and device."""

import dataclasses
import importlib.util
import math

import equinox as eqx
import jax
import jax.numpy as jnp

from pushforward._checks import whole
from pushforward.sums import _native
from pushforward.sums._exact import DENSE_PAIRS, FEW_PAIRS, Exact
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums.gpu._fused import FusedGPU
from pushforward.sums.modes._spectral import Spectral, largest_beta, tolerance


class Auto(AbstractSum):
    """The fastest sum that keeps the tolerance: the default of every field.

    - Up to 2**21 pairs (n = 1448): exact to rounding.
    - On the circle, and on S^2 on a GPU or with ducc0, with Q = K = I and no mask:
      spectral to `tol`, for |beta| up to the measured crossover `spectral_limit(n, d)`.
    - In float32 on a GPU, where it is not spectral: exact, as one fused kernel.
    - All else: exact, in tiles.

    The choice depends on sizes alone except for beta, which picks when it runs:
    changing a temperature never recompiles. Name a sum to override it, as in
    `Attention(9.0, sums=Exact())`. Exponentially long times, where drifts fall below
    `tol`, need `Exact()` or few atoms. `describe` says the choice in words.
    """

    tol: float = eqx.field(static=True)

    def __init__(self, tol: float = 1e-10):
        self.tol = tolerance(tol)

    def __call__(self, kernel: Kernel) -> KernelSum:
        """As exact as `tol` or better."""
        m, (n, d) = kernel.queries.shape[0], kernel.keys.shape
        plain = kernel.unit and not kernel.causal
        method = choose(m, n, d, plain=plain, tol=self.tol)
        if kernel.queries.dtype == jnp.float32 and jax.default_backend() == "gpu":
            return _single_on_gpu(kernel, method)
        if isinstance(method, Spectral):
            return method.within(kernel, spectral_limit(n, d))
        return method(kernel)


def _single_on_gpu(kernel: Kernel, method: Exact | Spectral) -> KernelSum:
    """Modes on the circle and S^2 while they are faster than the fused kernel.

    On an H200 a pair takes 0.4 ps. On the circle a token takes 3 ps for each of
    9 sqrt(beta) modes of two series; three series and up to twice the modes are
    reckoned with. On S^2 it takes 3 ps for each of the (8.4 sqrt(beta))^2 harmonics, up
    to twice as many, and every sum 0.3 ms besides.
    """
    m, n = kernel.queries.shape[0], kernel.keys.shape[0]
    if m * n <= DENSE_PAIRS:
        return Exact()(kernel)
    if not isinstance(method, Spectral):
        return FusedGPU()(kernel)
    d = kernel.keys.shape[1]
    crossover = (n / 200) ** 2 if d == 2 else max(n - 20_000, 0) / 1100
    limit = min(crossover, largest_beta(d))
    if limit == 0:  # nothing is compiled that is never used
        return FusedGPU()(kernel)
    tokens_themselves = kernel.values is kernel.keys

    def by_modes(kernel: Kernel) -> KernelSum:
        if tokens_themselves:  # in a branch one array has become two
            kernel = dataclasses.replace(kernel, values=kernel.keys)
        return method.within(kernel, limit)

    few = jnp.abs(kernel.beta) <= limit
    return jax.lax.cond(few, by_modes, FusedGPU(), kernel)


def choose(
    m: int, n: int, d: int, *, plain: bool, tol: float = 1e-10
) -> Exact | Spectral:
    """The sum for m queries and n keys of dimension d.

    `plain`: unit vectors seen as they are, all of them (Q = K = I, no causal mask).
    """
    few = m * n <= DENSE_PAIRS
    if few or not plain or not _spectral_here(d):
        return Exact()
    return Spectral(tol)


def spectral_limit(n: int, d: int) -> float:
    """The largest |beta| at which the spectral sum is still the faster one.

    Measured on two cores in float64. By compiled loops exact takes 0.55 ns per pair and
    the circle 60 to 90 ns per token, whatever beta; by XLA 1.0 ns, and 3.5 ns per token
    and each of 9 sqrt(beta) modes. S^2 takes, besides 0.5 us per token, 1.5 ns times
    the cube of the degree 8.4 sqrt(beta).
    """
    compiled = _native.available()
    if d == 2:
        crossover = math.inf if compiled else (n / 31) ** 2
    else:
        crossover = n ** (4 / 3) / (137 if compiled else 92)
    return min(crossover, largest_beta(d))


def describe(
    n: int,
    d: int,
    beta: float,
    *,
    plain: bool = True,
    causal: bool = False,
    tol: float = 1e-10,
) -> str:
    """The choice for n tokens that see each other, in words; `plain`: Q = K = I.

    >>> describe(64, 3, 9.0)
    'exact, dense'
    >>> describe(1_000_000, 2, 9.0)
    'spectral, Fourier modes on the circle, error below 1e-10'
    """
    n, d = whole("n", n, 1), whole("d", d, 1)
    method = choose(n, n, d, plain=plain and not causal, tol=tol)
    if isinstance(method, Spectral) and abs(beta) <= spectral_limit(n, d):
        what = "Fourier modes on the circle" if d == 2 else "spherical harmonics on S^2"
        fused = ", fused" if jax.default_backend() == "gpu" else ""
        return f"spectral, {what}{fused}, error below {tol:g}"
    compiled = plain and n * n > FEW_PAIRS and _native.available()
    if compiled:
        return "exact, pair by pair, compiled"
    return "exact, dense" if n * n <= DENSE_PAIRS else "exact, in tiles"


def _spectral_here(d: int) -> bool:
    """The circle anywhere; S^2 on a GPU, and elsewhere if ducc0 is installed."""
    if not jnp.zeros(()).dtype == jnp.float64:
        return False
    on_gpu = jax.default_backend() == "gpu"
    if d == 2 or (d == 3 and on_gpu):
        return True
    return d == 3 and importlib.util.find_spec("ducc0") is not None
