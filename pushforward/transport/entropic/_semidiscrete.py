"""Entropic transport from a law that is not made of atoms to one that is.

The dual needs one potential, a number for each atom:

    max over g of  H(g) = E f_g(X) + <g, b>,
    f_g(x) = -eps log sum_j b_j e^{(g_j - c(x, y_j)) / eps}.

The law of X is seen through n points. The best g for them gives at least the maximum in
the mean, and H at this g, on points that g has not seen, at most: the true value lies
between the two, each known up to a standard error.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from pushforward._checks import prng_key, shown, whole
from pushforward.errors import InputError
from pushforward.measures import Density, Zonal
from pushforward.transport._atoms import Atoms, as_atoms, same_dimension
from pushforward.transport._costs import Cost, SquaredDistance
from pushforward.transport.entropic._entropic import entropic_plan
from pushforward.transport.entropic._sinkhorn import log_of
from pushforward.transport.entropic._tables import pairing_of

Sampler = Callable[[PRNGKeyArray, int], Any]


@dataclass(frozen=True, eq=False, repr=False)
class SemidiscretePlan:
    """Where every point x goes: to y_j with probability b_j e^{(f(x) + g_j - c) / eps}.

    `lower` and `upper` bracket the minimum of  <C, P> + eps KL(P | mu x nu), up to
    their `standard_errors`; `gap` is their distance, which may end below zero by as
    much. Both are zero for densities, seen through a grid and again through a finer
    one. `marginal_error` is the L1 distance of the masses that reach the atoms from
    those asked for, and `marginal_noise` what chance alone would show.
    """

    target: Atoms = field(repr=False)
    potential: Float[np.ndarray, "m"]
    eps: float
    cost: Cost
    lower: float
    upper: float
    standard_errors: tuple[float, float]
    masses: Float[np.ndarray, "m"]
    marginal_noise: float
    iterations: int

    def __repr__(self) -> str:
        low, high = self.standard_errors
        bracket = f"{self.lower:.6g} +- {low:.1g} to {self.upper:.6g} +- {high:.1g}"
        return f"SemidiscretePlan(m={self.target.n}, eps={self.eps:g}, {bracket})"

    @property
    def gap(self) -> float:
        """`upper` minus `lower`."""
        return self.upper - self.lower

    @property
    def marginal_error(self) -> float:
        """sum_j |mass that reaches y_j - b_j|, on points that g has not seen."""
        return float(np.abs(self.masses - self.target.weights).sum())

    def source_potential(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n"]:
        """f(x), at any points."""
        return -self.eps * np.asarray(self._seen(x, 0)[0])

    def map(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """E[Y | X = x], at any points."""
        return np.asarray(self._seen(x, self.target.points)[1])

    def probabilities(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """The chances of every atom, as a table; its rows sum to one."""
        return np.asarray(self._seen(x, np.eye(self.target.n))[1])

    def cells(self, x: Float[np.ndarray, "n d"]) -> np.ndarray:
        """The likeliest atom of every point."""
        return np.argmax(self.probabilities(x), axis=1)

    def _seen(self, x: object, values: object) -> tuple:
        points = as_atoms("x", x)
        same_dimension(points, self.target)
        pairing = pairing_of(self.cost, points.points, self.target.points)
        logs = log_of(jnp.asarray(self.target.weights))
        logs = logs + jnp.asarray(self.potential) / self.eps
        h = np.zeros((self.target.n, 0)) if isinstance(values, int) else values
        return pairing.averages(logs, jnp.asarray(h), jnp.asarray(self.eps))


def semidiscrete_plan(
    mu: object,
    nu: object,
    eps: float,
    *,
    key: PRNGKeyArray,
    samples: int = 10_000,
    cost: Cost = SquaredDistance(),
    tol: float = 1e-9,
    iterations: int = 20_000,
) -> SemidiscretePlan:
    """Entropic transport from a law that can be sampled to finitely many atoms.

    `mu` is a density or a Gaussian of the library, anything with `sample(key, n)`, or a
    function (key, n) -> (n, d) points. Densities on the circle and S^2 are seen through
    their own grid; all else through `samples` points, of which the error falls like
    samples^{-1/2}. The plan is a rule for all points of space, with a bracket of its
    value from points that it has not seen (for a density, those of a finer grid).

    >>> import jax, numpy as np
    >>> uniform = lambda key, n: jax.random.uniform(key, (n, 1))
    >>> key = jax.random.key(0)
    >>> plan = semidiscrete_plan(uniform, [[0.0], [1.0]], 0.01, key=key)
    >>> plan.cells(np.array([[0.4], [0.6]])).tolist()
    [0, 1]

    [genevay2016stochastic]
    """
    prng_key("key", key)
    count = whole("samples", samples, 2)
    first, second = jax.random.split(key)
    seen, exact = _nodes(mu, first, count)
    solved = entropic_plan(seen, nu, eps, cost=cost, tol=tol, iterations=iterations)
    f, g = solved.potentials
    b, eps = solved.target, float(solved.problem.eps)
    fresh = as_atoms("mu", _finer(mu) if exact else _drawn(mu, second, count))
    at = pairing_of(cost, fresh.points, b.points)
    logs = log_of(jnp.asarray(b.weights)) + jnp.asarray(g) / eps
    f_new = -eps * np.asarray(at.log_sums(logs, jnp.asarray(eps)))
    masses, noise = _masses(at, fresh, b, f_new, g, eps)
    return SemidiscretePlan(
        b,
        g,
        eps,
        cost,
        lower=float(fresh.weights @ f_new + b.weights @ g),
        upper=float(solved.source.weights @ f + b.weights @ g) + solved.gap,
        standard_errors=(0.0, 0.0) if exact else (_error(f_new), _error(f)),
        masses=masses,
        marginal_noise=0.0 if exact else noise,
        iterations=solved.iterations,
    )


def _masses(
    at: Any, fresh: Atoms, b: Atoms, f: np.ndarray, g: np.ndarray, eps: float
) -> tuple[np.ndarray, float]:
    """What reaches every atom, and the L1 error that chance would give."""
    back, share, scale = at.flipped(), g / eps, jnp.asarray(eps)
    logs = log_of(jnp.asarray(fresh.weights)) + jnp.asarray(f) / eps
    masses = b.weights * np.exp(np.asarray(back.log_sums(logs, scale)) + share)
    # sum_i w_i p_ij^2: chances squared, by the same sum at half the temperature
    logs = log_of(jnp.asarray(fresh.weights)) + 2 * jnp.asarray(f) / eps
    squares = np.asarray(back.log_sums(logs, scale / 2)) + 2 * share
    variances = np.maximum(b.weights**2 * np.exp(squares) - masses**2, 0.0)
    return masses, float(np.sqrt(2 / np.pi * variances / fresh.n).sum())


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _nodes(mu: object, key: PRNGKeyArray, count: int) -> tuple[object, bool]:
    """Points that stand for the law, and whether they do so exactly."""
    if _has_grid(mu):
        return mu.quadrature(), True  # type: ignore[attr-defined]
    return _drawn(mu, key, count), False


def _has_grid(mu: object) -> bool:
    return isinstance(mu, Density) and not isinstance(mu.basis, Zonal)


def _finer(rho: Any) -> object:
    """The same density on a grid of twice the resolution."""
    above = lambda x: jnp.maximum(rho(x), 0.0)  # noqa: E731
    size = 2 * rho.basis.resolution
    return Density.from_function(rho.space, size, above).quadrature()


def _drawn(mu: object, key: PRNGKeyArray, count: int) -> object:
    draw = getattr(mu, "sample", mu)
    if not callable(draw):
        raise InputError(
            "`mu` must be a law that can be sampled: a Density, a Gaussian, or a "
            f"function (key, n) -> (n, d) points, got {shown(mu)}. For points and "
            "weights use entropic_plan."
        )
    return draw(key, count)
