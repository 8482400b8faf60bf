"""The 82 galaxy velocities of the Corona Borealis region, in km/s.

Published measurements (Postman, Huchra and Geller 1986; Roeder 1990). The 78th
value is 26690 as in the widely used copy of the table; the paper has 26960.
[roeder1990]
"""

import numpy as np
from jaxtyping import Float

_VELOCITIES = (
    "9172 9350 9483 9558 9775 10227 10406 16084 16170 18419 18552 18600 18927 19052 "
    "19070 19330 19343 19349 19440 19473 19529 19541 19547 19663 19846 19856 19863 "
    "19914 19918 19973 19989 20166 20175 20179 20196 20215 20221 20415 20629 20795 "
    "20821 20846 20875 20986 21137 21492 21701 21814 21921 21960 22185 22209 22242 "
    "22249 22314 22374 22495 22746 22747 22888 22914 23206 23241 23263 23484 23538 "
    "23542 23666 23706 23711 24129 24285 24289 24366 24717 24990 25633 26690 26995 "
    "32065 32789 34279"
)


def galaxy_velocities() -> Float[np.ndarray, "82"]:
    """Velocities in km/s, increasing; divide by 1000 for the unit-kernel NPMLE.

    >>> galaxy_velocities()[:2]
    array([9172., 9350.])
    """
    return np.array(_VELOCITIES.split(), dtype=float)
