"""One instance of the main theorem: three orthonormal caps, beta = 30."""

import functools

import numpy as np

from pushforward.theory import metastability as meta

BETA, EPSILON, N = 30.0, 0.01, 6


def on_the_rim() -> np.ndarray:
    """Two tokens per cap S_q(epsilon), leaning to the two other centers."""
    tilt, eye = np.arccos(1 - EPSILON), np.eye(3)
    others = [(q, (q + k) % 3) for q in range(3) for k in (1, 2)]
    return np.array([np.cos(tilt) * eye[q] + np.sin(tilt) * eye[r] for q, r in others])


@functools.cache
def bounds() -> dict[str, float]:
    """alpha, lambda, T_1 and T_2 of the instance."""
    alpha = meta.configuration_overlap(np.eye(3), EPSILON)
    exponent = 0.95 * meta.contraction_exponent(BETA, alpha, EPSILON, N)
    entry = meta.entry_time(BETA, EPSILON, N, exponent)
    leave = meta.exit_time(BETA, alpha, EPSILON, N)
    return {"alpha": alpha, "exponent": exponent, "entry": entry, "leave": leave}
