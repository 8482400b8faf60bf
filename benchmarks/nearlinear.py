"""Near-linear sums on the circle and S^2 beside the exact sum and FINUFFT."""

import importlib.util
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from benchmarks.contest import OURS, Contestants, compared, rounds_of
from benchmarks.exact import drift as exact_drift
from benchmarks.exact import tokens
from pushforward.sums import Auto, Kernel


def rows(quick: bool) -> Iterator[dict]:
    """One drift at n = 1e5 and 1e6, with the error on two hundred rows."""
    sizes = (100_000,) if quick else (10_000, 100_000, 1_000_000)
    for d, name in ((2, "circle"), (3, "S^2")):
        for n in sizes:
            for beta in (9.0,) if quick else (9.0, 100.0, 1000.0):
                yield from _drift(d, name, n, beta, quick)
    yield from _energy(sizes[-1], quick)


def _drift(d: int, name: str, n: int, beta: float, quick: bool) -> Iterator[dict]:
    x = tokens(n, d, "float64")
    ours = average()
    contestants: Contestants = {OURS: lambda: ours(x, beta).block_until_ready()}
    if n <= 10_000:
        exact = exact_drift()
        contestants["ours, exact"] = lambda: exact(x, beta).block_until_ready()
    if d == 2 and importlib.util.find_spec("finufft"):
        contestants["FINUFFT, 1e-12"] = finufft_drift(x, beta)
    error = _error(np.asarray(ours(x, beta)), x, beta)
    common = {"work": f"drift on the {name}, beta={beta:g}", "n": n, "d": d}
    floor = f"{n * d * 8 * 2 / 1e6:.3g} MB read and written"
    common["dtype"] = "float64"
    yield from compared(contestants, rounds_of(quick), common, floor, error)


def _energy(n: int, quick: bool) -> Iterator[dict]:
    mu = pf.Particles.uniform(pf.Circle(), n, key=jax.random.key(0))
    energy = pf.InteractionEnergy(9.0)
    common = {"work": "interaction energy on the circle", "n": n, "d": 2}
    common["dtype"] = "float64"
    contestants: Contestants = {OURS: lambda: energy(mu).block_until_ready()}
    floor = f"{n * 24 / 1e6:.3g} MB read"
    theta = np.arctan2(*np.asarray(mu.points).T[::-1])
    modes = np.abs([np.exp(1j * k * theta).mean() for k in range(40)]) ** 2
    from scipy.special import ive

    expected = modes[0] * ive(0, 9.0) + 2 * modes[1:] @ ive(np.arange(1, 40), 9.0)
    error = abs(float(energy(mu)) - expected)
    yield from compared(contestants, rounds_of(quick), common, floor, error)


def average() -> Callable:
    """The softmax average seen from every token, by the automatic sum."""

    @jax.jit
    def run(x, beta):
        n, beta = x.shape[0], jnp.asarray(beta, x.dtype)
        # Not a constant, or the compiler would fold a million of them.
        weights = 0 * x[:, 0] - jnp.log(jnp.asarray(n, x.dtype))
        total = Auto()(Kernel(x, x, x, weights, beta, own=True, unit=True))
        own = jnp.exp(total.log_own - total.log_total)
        return total.average() + own[:, None] * x

    return run


def _error(found: np.ndarray, x: jax.Array, beta: float, some: int = 200) -> float:
    """Against the dense sum, on two hundred rows spread over the cloud."""
    y = np.asarray(x)
    pick = np.linspace(0, len(y) - 1, some).astype(int)
    worst = 0.0
    for rows in np.array_split(pick, 50):
        a = np.exp(beta * (y[rows] @ y.T - 1))
        exact = (a @ y) / a.sum(axis=1, keepdims=True)
        worst = max(worst, float(np.abs(found[rows] - exact).max()))
    return worst


def finufft_drift(x: jax.Array, beta: float) -> Callable:
    """One type 1 transform and one type 2: total and tangential part as one complex."""
    import finufft
    from scipy.special import ive

    theta = np.arctan2(np.asarray(x)[:, 1], np.asarray(x)[:, 0])
    K = int(12 + 9.5 * np.sqrt(beta))
    k = np.arange(-K, K + 1)
    even = ive(np.abs(k), beta)
    odd = 0.5j * (ive(np.abs(k - 1), beta) - ive(np.abs(k + 1), beta))
    weights = np.full(len(theta), 1 / len(theta), complex)

    def run():
        modes = finufft.nufft1d1(theta, weights, 2 * K + 1, eps=1e-12, isign=-1)
        return finufft.nufft1d2(theta, modes * (even + 1j * odd), eps=1e-12, isign=1)

    return run
