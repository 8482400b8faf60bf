"""How far a flow is from the map that it should be."""

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from pushforward.control._checks import finite
from pushforward.control.normalizing.normalizing_flow import NormalizingFlow
from pushforward.control.normalizing.rearrangements import Map
from pushforward.errors import InputError
from pushforward.transport import wasserstein_distance


class Distance(NamedTuple):
    """Errors of a flow, from points of its base law.

    - `l2`, `lp`: (mean |Phi(x) - phi(x)|^p)^{1/p} for p = 2 and for the p asked for.
    - `median`: of |Phi(x) - phi(x)|.
    - `total_variation`: between the image laws, from exact determinants; None when
      the density of the wanted image is not given.
    """

    l2: float
    lp: float
    median: float
    total_variation: float | None


def distance_to_map(
    flow: NormalizingFlow, phi: Map, points, *, p: float = 2.0, log_density=None
) -> Distance:
    """Errors of the flow as an approximation of phi, over the given points.

    `points` follow the base law of the flow. `log_density(y)` is that of the wanted
    image phi_# base; with it the total variation int (q - r)_+ between the density q
    of the flow and the wanted r is the mean of (1 - r/q)_+ at images of the points.
    """
    x = finite("points", points, (None, flow.d))
    if not p >= 1 or math.isinf(p):
        raise InputError(
            f"`p` must be at least 1 and finite, got {p}. Permutations of cells are "
            "discontinuous: the largest error is not small."
        )
    y, log_det = flow.with_log_det(x)
    gap = np.linalg.norm(np.asarray(y) - np.asarray(phi(x)), axis=1)
    tv = None
    if log_density is not None:
        own = flow.base.log_density(jnp.asarray(x)) - log_det
        ratio = np.exp(np.asarray(log_density(np.asarray(y))) - np.asarray(own))
        tv = float(np.maximum(1 - ratio, 0.0).mean())
    l2 = float(np.sqrt((gap**2).mean()))
    return Distance(l2, float((gap**p).mean() ** (1 / p)), float(np.median(gap)), tv)


def sample_distance(flow: NormalizingFlow, samples, *, key: PRNGKeyArray) -> float:
    """W_2 between the samples and as many draws of the flow, exactly.

    A conditional flow draws once for the condition of every sample.
    """
    x = finite("samples", samples, (None, flow.d))
    given = x[:, list(flow.given)] if flow.given else None
    drawn = flow.sample(key, len(x), given=given)
    return wasserstein_distance(np.asarray(drawn), x)
