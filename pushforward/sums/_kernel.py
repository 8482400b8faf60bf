"""The one sum of this library, as an object, and the form of its value."""

import abc
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._printing import shown


class Kernel(eqx.Module):
    """sum_j w_j e^{beta <q_i, k_j>} (1, f_j) for every query i: what is to be summed.

    How it is summed is the business of an `AbstractSum`.

    - `own`: query i and key i are the same particle. The moment then leaves out j = i
      and the self term is returned apart, so that tangent drifts of size 1e-130 are not
      lost in the rounding of the particle's own, radial, contribution.
    - `causal`: only j <= i.
    - `unit`: queries and keys are unit vectors, so that logits lie in [-beta, beta].
      With `own`, they are the same vectors, and the self term is w_i e^{beta}.
    """

    queries: Float[Array, "m d"]
    keys: Float[Array, "n d"]
    values: Float[Array, "n k"]
    log_weights: Float[Array, "n"]
    beta: Float[Array, ""]
    own: bool = eqx.field(static=True, default=False)
    causal: bool = eqx.field(static=True, default=False)
    unit: bool = eqx.field(static=True, default=False)


class KernelSum(NamedTuple):
    """Totals and moments, each with its logarithmic scale so that nothing overflows.

    sum_j w_j e^{...}      = e^{log_total_i}
    sum_j w_j e^{...} f_j  = e^{log_scale_i} moment_i        (without j = i when `own`)
    w_i e^{beta <q_i,k_i>} = e^{log_own_i}                   (only when `own`)
    """

    log_total: Float[Array, "m"]
    log_scale: Float[Array, "m"]
    moment: Float[Array, "m k"]
    log_own: Float[Array, "m"] | None

    def share(self) -> Float[Array, "m"]:
        """The share of the total that every particle keeps for itself (when `own`)."""
        assert self.log_own is not None
        return jnp.exp(self.log_own - self.log_total)

    def average(self) -> Float[Array, "m k"]:
        """The moment over the total: the softmax average (without j = i when `own`)."""
        return jnp.exp(self.log_scale - self.log_total)[:, None] * self.moment


class AbstractSum(eqx.Module):
    """A way to evaluate a `Kernel`."""

    __repr__ = shown

    @abc.abstractmethod
    def __call__(self, kernel: Kernel) -> KernelSum:
        """The totals and moments of every query."""
