"""What every measure offers to fields and observables."""

import abc

import equinox as eqx
from jaxtyping import Array, Float

from pushforward.spaces import AbstractSpace


class AbstractMeasure(eqx.Module):
    """A probability measure on a space, seen through its quadrature points.

    `points` and `weights` integrate functions: int f dmu = sum_i weights_i f(points_i).
    """

    space: eqx.AbstractVar[AbstractSpace]
    points: eqx.AbstractVar[Float[Array, "n d"]]
    log_weights: eqx.AbstractVar[Float[Array, "n"]]

    @property
    @abc.abstractmethod
    def weights(self) -> Float[Array, "n"]:
        """The mass of each quadrature point."""
