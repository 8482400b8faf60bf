"""What callers may pass where the package wants one number, or an array."""

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from jaxtyping import Array, Real

# 2, 2.0, np.float32(2), an array without axes: all become arrays without axes, so that
# changing the number never recompiles.
Number = Real[Array, ""] | Real[np.ndarray, ""] | np.number | int | float

# Points and vectors that a space acts on: JAX's or numpy's.
if TYPE_CHECKING:
    AnyArray: TypeAlias = Array
else:
    AnyArray = Array | np.ndarray
