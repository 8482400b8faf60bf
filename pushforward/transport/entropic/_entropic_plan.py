"""The answer of entropic transport: a coupling that is never written out unasked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.errors import InputError
from pushforward.transport._atoms import Atoms, affordable, values_at
from pushforward.transport.entropic import _certificate
from pushforward.transport.entropic._certificate import Certificate
from pushforward.transport.entropic._sinkhorn import Problem, log_of


@dataclass(frozen=True, eq=False, repr=False)
class EntropicPlan:
    """P_ij = a_i b_j e^{(f_i + g_j - C_ij) / eps} + u_i v_j, known by its sums.

    `cost` is <C, P>; `value` bounds the objective of P from above, by `gap` at most
    above the minimum, whatever the iteration did. The product u v^T, of mass
    `residual`, is what the marginals lacked when it stopped, so that they are exact.
    `potentials` are (f, g), which are also the gradient of the minimum in the two
    vectors of weights. Memory is linear in the number of atoms until `dense` is called.
    """

    source: Atoms
    target: Atoms
    potentials: tuple[Float[np.ndarray, "n"], Float[np.ndarray, "m"]]
    iterations: int
    problem: Problem = field(repr=False)
    certificate: Certificate = field(repr=False)

    def __repr__(self) -> str:
        size = f"n={self.source.n}, m={self.target.n}, eps={float(self.problem.eps):g}"
        numbers = f"value={self.value:.6g}, gap={self.gap:.1e}"
        return f"EntropicPlan({size}, {numbers}, iterations={self.iterations})"

    @cached_property
    def cost(self) -> float:
        """sum_ij C_ij P_ij."""
        return float(_certificate.cost(self.problem, self.certificate))

    @property
    def value(self) -> float:
        """What is minimized, with entropy and penalties."""
        return float(self.certificate.value)

    @property
    def dual(self) -> float:
        """A lower bound of the minimum."""
        return float(self.certificate.dual)

    @property
    def gap(self) -> float:
        """`value` minus `dual`."""
        return self.value - self.dual

    @property
    def residual(self) -> float:
        """The mass that was still in the wrong place, and was spread as a product."""
        return float(jnp.sum(self.certificate.u))

    @property
    def mass(self) -> float:
        """Total mass transported; one unless the problem is unbalanced."""
        return float(self.carried(np.ones(self.target.n)).sum())

    @property
    def marginal_errors(self) -> tuple[float, float]:
        """L1 distances of the two marginals from the two measures."""
        back = self.reversed()
        rows = self.carried(np.ones(self.target.n)) - self.source.weights
        columns = back.carried(np.ones(self.source.n)) - self.target.weights
        return float(np.abs(rows).sum()), float(np.abs(columns).sum())

    @property
    def map(self) -> Float[np.ndarray, "n d"]:
        """Barycentric projection: E[Y | X = x_i] at each source point."""
        return self.apply(self.target.points)

    @property
    def matrix(self) -> Float[np.ndarray, "n m"]:
        """The coupling as a plain array; `dense` says the same."""
        return self.dense()

    def apply(
        self, values: Float[np.ndarray, "m *k"] | Callable[[np.ndarray], np.ndarray]
    ) -> Float[np.ndarray, "n *k"]:
        """E[h(Y) | X = x_i], for h given by its values or as a function of points.

        Rows that carry no mass are NaN. P h itself is the mass of a row times this;
        P^T h is that of `reversed()`.
        """
        h = values_at(values, self.target)
        carried = self.carried(h.reshape(len(h), -1))
        mass = self.carried(np.ones(len(h)))[:, None]
        mean = np.divide(
            carried, mass, out=np.full(carried.shape, np.nan), where=mass > 0
        )
        return mean.reshape(-1, *h.shape[1:])

    def reversed(self) -> EntropicPlan:
        """The same coupling, of nu with mu."""
        p = self.problem
        problem = Problem(p.pairing.flipped(), p.b, p.a, p.eps, p.rho)
        return replace(
            self,
            source=self.target,
            target=self.source,
            potentials=self.potentials[::-1],
            problem=problem,
            certificate=self.certificate.reversed(),
        )

    def gradient(self) -> Float[np.ndarray, "n d"]:
        """d minimum / dx_i = sum_j P_ij grad_x c(x_i, y_j), in the source points.

        That in the target points is the one of `reversed()`.
        """
        p = self.problem
        f, g = (jnp.asarray(h) for h in self.potentials)
        logs = log_of(p.b) + g / p.eps
        mass = p.a * jnp.exp(f / p.eps + p.pairing.log_sums(logs, p.eps))
        return np.asarray(mass[:, None] * p.pairing.slopes(logs, p.eps))

    def dense(self) -> Float[np.ndarray, "n m"]:
        """The coupling as a plain array."""
        affordable(self.source.n, self.target.n)
        p, c = self.problem, self.certificate
        logs = (c.f[:, None] + c.g[None, :] - p.pairing.table()) / p.eps
        matrix = p.a[:, None] * p.b[None, :] * jnp.exp(logs)
        return np.asarray(matrix + c.u[:, None] * c.v[None, :])

    def carried(self, values: np.ndarray) -> np.ndarray:
        """P h, for one vector h or several columns."""
        p = self.problem
        h = jnp.asarray(values, p.a.dtype)
        carried = _carried(p, self.certificate, h.reshape(h.shape[0], -1))
        return np.asarray(carried.reshape(-1, *h.shape[1:]))


@jax.jit
def _carried(
    p: Problem, c: Certificate, columns: Float[Array, "m k"]
) -> Float[Array, "n k"]:
    """P times columns."""
    found = p.pairing.averages(log_of(p.b) + c.g / p.eps, columns, p.eps)
    rows = p.a * jnp.exp(c.f / p.eps + found.log_sum)
    return rows[:, None] * found.mean + c.u[:, None] * (c.v @ columns)[None, :]


def as_potentials(start: object, n: int, m: int) -> tuple[Array, Array] | None:
    """A warm start: a plan, a pair of vectors (f, g), or nothing."""
    pair = getattr(start, "potentials", start)
    if pair is None:
        return None
    try:
        f, g = (np.asarray(part, dtype=float) for part in pair)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        f = g = np.zeros(0)
    good = f.shape == (n,) and g.shape == (m,)
    if not (good and np.isfinite(f).all() and np.isfinite(g).all()):
        raise InputError(
            f"`start` must be a plan or finite potentials (f, g) of lengths {n} and "
            f"{m}; leave it out to start from nothing."
        )
    return jnp.asarray(f), jnp.asarray(g)
