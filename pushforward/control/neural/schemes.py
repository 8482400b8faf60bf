"""One layer as one step of an explicit Runge-Kutta scheme with frozen control."""

import abc
from collections.abc import Callable

import equinox as eqx
from jaxtyping import Array, Float

Slope = Callable[[Array], Array]


class AbstractScheme(eqx.Module):
    """x_{k+1} from x_k for x' = f(x) over dt; a control never jumps inside a step."""

    @abc.abstractmethod
    def step(
        self, f: Slope, x: Float[Array, "n d"], dt: Float[Array, ""]
    ) -> Float[Array, "n d"]:
        """One step."""


class Euler(AbstractScheme):
    """x + dt f(x): the residual block. As an ODE solver it is of first order."""

    def step(self, f, x, dt):
        """One evaluation of f."""
        return x + dt * f(x)


class Midpoint(AbstractScheme):
    """x + dt f(x + dt/2 f(x)), of second order."""

    def step(self, f, x, dt):
        """Two evaluations of f."""
        return x + dt * f(x + 0.5 * dt * f(x))


class RungeKutta(AbstractScheme):
    """The classical scheme of fourth order."""

    def step(self, f, x, dt):
        """Four evaluations of f."""
        k1 = f(x)
        k2 = f(x + 0.5 * dt * k1)
        k3 = f(x + 0.5 * dt * k2)
        k4 = f(x + dt * k3)
        return x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
