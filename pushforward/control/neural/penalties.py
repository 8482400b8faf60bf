"""What a control costs: squared L2 or H1 norms, or the L1 norm under a bound."""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.control._checks import positive
from pushforward.errors import InputError

_WHY = (
    "It weighs the penalty; without one the control is not determined and its norm "
    "may run away. Try 0.01."
)


class AbstractPenalty(eqx.Module):
    """A cost of piecewise constant controls, (k, p) on k layers of length dt."""

    @abc.abstractmethod
    def __call__(
        self, controls: Float[Array, "k p"], dt: Float[Array, ""]
    ) -> Float[Array, ""]:
        """The cost, quadrature weights included."""


class L2(AbstractPenalty):
    """lam int |u|^2 dt."""

    lam: Float[Array, ""]

    def __init__(self, lam: float):
        self.lam = jnp.asarray(positive("lam", lam, _WHY))

    def __call__(self, controls, dt):
        """lam dt sum |u_k|^2."""
        return self.lam * dt * jnp.sum(controls**2)


class H1(AbstractPenalty):
    """lam int |u|^2 + |u'|^2 dt, u' by differences: what the form `In` needs."""

    lam: Float[Array, ""]

    def __init__(self, lam: float):
        self.lam = jnp.asarray(positive("lam", lam, _WHY))

    def __call__(self, controls, dt):
        """L2, plus lam sum |u_{k+1} - u_k|^2/dt."""
        slope = jnp.sum(jnp.diff(controls, axis=0) ** 2) / dt
        return self.lam * (dt * jnp.sum(controls**2) + slope)


class L1(AbstractPenalty):
    """lam int ||u||_1 dt under ||u(t)||_1 <= bound: switches layers off exactly.

    The bound is not optional: the L1 norm does not see the speed along a path, so
    without it the optimum is an impulse at time zero. Train with
    `pushforward.control.train_sparse`. [esteveyague2023sparsity]
    """

    lam: Float[Array, ""]
    bound: Float[Array, ""]

    def __init__(self, lam: float, bound: float | None = None):
        self.lam = jnp.asarray(positive("lam", lam, _WHY))
        if bound is None:
            raise InputError(
                "L1 needs `bound` (M): the largest l1 norm of a layer. Without it the "
                "optimal control is an impulse at t = 0. For toy data take M near the "
                "horizon, for instance L1(lam=0.05, bound=8.0)."
            )
        why = "It is the largest l1 norm of one layer."
        self.bound = jnp.asarray(positive("bound", bound, why))

    def __call__(self, controls, dt):
        """lam dt sum ||u_k||_1; the bound is a constraint."""
        return self.lam * dt * jnp.sum(jnp.abs(controls))
