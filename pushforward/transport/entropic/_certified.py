"""The divergence of two measures with its proof: three plans, and bounds of each."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pushforward.transport._costs import Cost, SquaredDistance
from pushforward.transport.entropic._entropic import entropic_plan, unbalanced_plan
from pushforward.transport.entropic._entropic_plan import EntropicPlan


@dataclass(frozen=True, eq=False, repr=False)
class EntropicDivergence:
    """S = OT(mu, nu) - (OT(mu, mu) + OT(nu, nu) - eps (mass of mu less nu)^2) / 2.

    `plan` is that of mu and nu; `first` and `second` are those of each with itself.
    S lies between `lower` and `upper`, which is proved; `value` is never negative.
    """

    plan: EntropicPlan
    first: EntropicPlan
    second: EntropicPlan

    def __repr__(self) -> str:
        return f"EntropicDivergence(value={self.value:.6g}, gap={self.gap:.1e})"

    @property
    def lower(self) -> float:
        """The plan's lower bound less the upper bounds of the others."""
        return self.plan.dual - (self.first.value + self.second.value) / 2 + self._made

    @property
    def upper(self) -> float:
        """The other way round."""
        return self.plan.value - (self.first.dual + self.second.dual) / 2 + self._made

    @property
    def value(self) -> float:
        """From the three dual values, whose errors are all of second order."""
        own = (self.first.dual + self.second.dual) / 2
        return max(self.plan.dual - own + self._made, 0.0)

    @property
    def gap(self) -> float:
        """`upper` minus `lower`."""
        return self.upper - self.lower

    @property
    def marginal_errors(self) -> tuple[float, float]:
        """Those of the plan of mu and nu."""
        return self.plan.marginal_errors

    @property
    def variations(self) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "m"]]:
        """The gradients in the two vectors of weights, balanced: f - f_mu, g - g_nu."""
        (f, g), own = self.plan.potentials, (self.first, self.second)
        f_own, g_own = (sum(plan.potentials) / 2 for plan in own)
        return f - f_own, g - g_own

    def gradient(self) -> Float[np.ndarray, "n d"]:
        """dS / dx_i, in the points of mu; squared distances and inner products."""
        return self.plan.gradient() - self.first.gradient()

    @property
    def _made(self) -> float:
        p = self.plan.problem
        return float(p.eps) * float(jnp.sum(p.a) - jnp.sum(p.b)) ** 2 / 2


def entropic_divergence(
    mu: object,
    nu: object,
    eps: float,
    *,
    rho: float | None = None,
    cost: Cost = SquaredDistance(),
    tol: float = 1e-10,
    iterations: int = 20_000,
) -> EntropicDivergence:
    """The debiased divergence with everything about it: plan, bounds, gradients.

    `rho` is the price of mass as in `unbalanced_plan`, for measures of any mass. For
    `jit`, `vmap` and second derivatives there is `sinkhorn_divergence`.

    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0]])
    >>> S = entropic_divergence(x, x + 3.0, 0.5)
    >>> round(S.value, 6), bool(0 <= S.gap < 1e-9), S.gradient().sum().round(6).item()
    (9.0, True, -6.0)

    [feydy2019interpolating] [sejourne2022faster]
    """

    def plan(first: object, second: object) -> EntropicPlan:
        options = {"cost": cost, "tol": tol, "iterations": iterations}
        if rho is None:
            return entropic_plan(first, second, eps, **options)  # type: ignore[arg-type]
        return unbalanced_plan(first, second, eps, rho, **options)  # type: ignore[arg-type]

    return EntropicDivergence(plan(mu, nu), plan(mu, mu), plan(nu, nu))
