"""What every measure offers to fields and observables."""

import equinox as eqx
from jaxtyping import Array, Float

from pushforward.spaces import AbstractSpace


class AbstractMeasure(eqx.Module):
    """A probability measure on a space, seen through its quadrature points.

    `points` and `weights` integrate functions: int f dmu = sum_i weights_i f(points_i).
    """

    space: eqx.AbstractVar[AbstractSpace]
    points: eqx.AbstractVar[Float[Array, "n d"]]
