"""Ordered states along a branch, by Newton's method on Gauss nodes of u = <e,x>."""

import functools
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ive, logsumexp, roots_jacobi

from pushforward.errors import NumericalError
from pushforward.theory._bessel import log_normalized, log_ratios

NODES = 200
STEP, SHORTEST = 0.03, 1e-5  # of r, between states that start each other's Newton
NEWTON = 60


class State(NamedTuple):
    """A stationary measure about an axis.

    `r` = int <e,x> dmu is its order parameter, `u` and `weights` the law of <e,x> on
    Gauss nodes; `free_energy` is KL(mu | uniform) - (kappa / 2 beta) (int int
    e^{beta <x,y>} - c_0), zero for the uniform measure (None under SA, which has
    no such functional).
    """

    kappa: float
    r: float
    u: np.ndarray
    weights: np.ndarray
    free_energy: float | None

    def __repr__(self) -> str:
        energy = "None" if self.free_energy is None else f"{self.free_energy:.6g}"
        law = f"<the law of u on {len(self.u)} nodes>"
        return (
            f"State(kappa={self.kappa:.10g}, r={self.r:.10g}, {law}, "
            f"free_energy={energy})"
        )


class Branch:
    """States by order parameter, each found by Newton's method from its neighbor.

    Unknown are y, on nodes of u = <e,x>, and the scale kappa / kappa_#: y = K mu (USA)
    or y = a log K mu (SA), mu proportional to e^{scale y}, int u dmu = r.
    """

    def __init__(self, beta: float, d: int, softmax: bool, threshold: float):
        self.softmax, self.threshold = softmax, threshold
        self.u, self.uniform = nodes(d)
        self.kernel = _kernel(beta, d)
        # SA: the exponent is (kappa / beta) log K mu; USA: K is in units of c_1
        self.power = self.threshold / beta if softmax and beta else 1.0
        self.known: dict[float, tuple[float, np.ndarray]] = {}

    def at(self, r: float) -> State:
        """The state of this order parameter."""
        scale, y = self._solved(float(r))
        mu, log_mass = self._measure(scale, y)
        energy: float | None = None
        if not self.softmax:
            apart = mu @ y + self.uniform @ self.kernel @ self.uniform
            energy = float(scale / 2 * apart - log_mass)
        return State(float(scale * self.threshold), float(r), self.u, mu, energy)

    def _solved(self, r: float) -> tuple[float, np.ndarray]:
        if r in self.known:
            return self.known[r]
        nearest = min(self.known, key=lambda s: abs(s - r), default=None)
        if nearest is not None:
            return self._walked(nearest, r, *self.known[nearest])
        lean = self.uniform * (1 + 1e-3 * self.u / (self.uniform @ self.u**2))
        return self._walked(1e-3, r, 1.0, self._image(lean)[0])

    def _walked(self, s: float, r: float, scale: float, y: np.ndarray):
        """From s to r in steps, for Newton's method knows only its neighborhood."""
        step = STEP
        while s != r:
            there = r if abs(r - s) <= step else s + np.sign(r - s) * step
            try:
                scale, y = self._newton(there, scale, y)
            except NumericalError:
                step /= 2
                if step < SHORTEST:
                    raise
                continue
            s = there
            self.known[s] = scale, y
        return self.known[r]

    def _measure(self, scale: float, y: np.ndarray) -> tuple[np.ndarray, float]:
        """Weights of mu on the nodes, and log int e^{scale y}."""
        logs = scale * y + np.log(self.uniform)
        log_mass = float(logsumexp(logs))
        return np.exp(logs - log_mass), log_mass

    def _image(self, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """y of a measure, and its derivative with respect to the weights."""
        Z = self.kernel @ mu
        if not self.softmax:
            return Z, self.kernel
        return self.power * np.log(Z), self.power * self.kernel / Z[:, None]

    def _newton(self, r: float, scale: float, y: np.ndarray):
        n = len(y)
        for _ in range(NEWTON):
            mu, _ = self._measure(scale, y)
            image, slope = self._image(mu)
            spread = slope * mu - np.outer(slope @ mu, mu)  # d image / d (scale y)
            lean = mu * (self.u - mu @ self.u)  # d r / d (scale y)
            jacobian = np.zeros((n + 1, n + 1))
            jacobian[:n, :n] = scale * spread - np.eye(n)
            jacobian[:n, n] = spread @ y
            jacobian[n, :n], jacobian[n, n] = scale * lean, lean @ y
            missing = np.concatenate([y - image, [r - mu @ self.u]])
            move = _step(jacobian, missing)
            y, scale = y + move[:n], scale + move[n]
            if not np.isfinite(move).all() or not 0 < scale < 1e6:
                break
            if np.abs(move).max() < 1e-13 * max(1.0, np.abs(y).max()):
                return scale, y
        if np.isfinite(move).all() and np.abs(missing).max() < 1e-11 * np.abs(y).max():
            return scale, y
        raise NumericalError(f"no ordered state found at r = {r:g}.")


def _step(jacobian: np.ndarray, missing: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(jacobian, missing)
    except np.linalg.LinAlgError:
        return np.full(len(missing), np.nan)  # a step too far: it is halved


@functools.lru_cache(64)
def nodes(d: int) -> tuple[np.ndarray, np.ndarray]:
    """u = <e,x> and weights of its law under the uniform measure."""
    if d == 2:  # Chebyshev, in closed form
        angles = (np.arange(NODES) + 0.5) * np.pi / NODES
        return np.cos(angles), np.full(NODES, 1 / NODES)
    u, weights = roots_jacobi(NODES, (d - 3) / 2, (d - 3) / 2)
    kept = weights > 0  # at large d the ends of the interval carry nothing
    return u[kept], weights[kept] / weights[kept].sum()


def _kernel(beta: float, d: int) -> np.ndarray:
    """e^{beta <x,y>} / c_1 averaged about the axis, between nodes.

    e^{beta u v} Gamma(nu+1) (2/x)^nu I_nu(x) with x = beta |u_perp| |v_perp| and
    nu = (d - 3) / 2. A constant is left out for small beta, where c_1 vanishes.
    """
    u, _ = nodes(d)
    log_c1 = log_ratios(d / 2 - 1, beta, 1)[1] + log_normalized(d / 2 - 1, beta)
    nu, s = (d - 3) / 2, np.sqrt(1 - u**2)
    x = beta * np.outer(s, s)
    if beta < 1e-2:
        return _kernel_near_zero(beta, d)
    if d == 2:
        radial = np.logaddexp(x, -x) - np.log(2)
    else:
        radial = x + gammaln(nu + 1) + nu * np.log(2 / x) + np.log(ive(nu, x))
    return np.exp(beta * (np.outer(u, u) - 1) + radial - log_c1) / beta


def _kernel_near_zero(beta: float, d: int) -> np.ndarray:
    """The same by degrees 1 to 8: N_k c_k / c_1 P_k(u) P_k(v), plus the constant."""
    u, _ = nodes(d)
    logs = log_ratios(d / 2 - 1, beta, 8)
    rows, found = [np.ones_like(u), u], np.zeros((len(u), len(u)))
    for k in range(1, 9):
        count = (2 * k + d - 2) * np.exp(
            gammaln(k + d - 2) - gammaln(k + 1) - gammaln(d - 1)
        )
        weight = count * np.exp(logs[k] - logs[1]) * beta ** (k - 1)
        found = found + weight * np.outer(rows[k], rows[k])
        upper = (2 * k + d - 2) * u * rows[k] - k * rows[k - 1]
        rows.append(upper / (k + d - 2))
    return found
