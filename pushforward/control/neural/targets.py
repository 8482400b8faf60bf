"""Fixed targets in state space, and the rates at which tracking reaches them."""

import jax.numpy as jnp
import numpy as np

from pushforward.control._checks import finite
from pushforward.control.neural.families import AbstractFamily, Out
from pushforward.control.neural.losses import Squared
from pushforward.control.neural.penalties import L2
from pushforward.control.neural.problem import TrainingProblem
from pushforward.control.neural.readouts import identity_readout
from pushforward.control.neural.schemes import AbstractScheme, Midpoint
from pushforward.errors import InputError


def target_problem(
    family: AbstractFamily,
    inputs: object,
    targets: object,
    *,
    lam: float,
    horizon: float,
    layers: int,
    final: float = 1.0,
    tracking: float = 1.0,
    scheme: AbstractScheme = Midpoint(),
    slow_allowed: bool = False,
) -> TrainingProblem:
    """Steer every sample to its own point: E = mean_i |x_i - target_i|^2.

    Near the targets the form `Out` is controlled by the N x (d + 1) matrix of
    rows (sigma(target_i), 1): decay is exponential only if its rank is N, which
    needs N <= d + 1. A set of targets without it is refused unless
    `slow_allowed`.
    """
    points = finite("inputs", inputs, (None, family.d))
    n = len(points)
    goals = finite("targets", targets, (n, family.d))
    if tracking > 0 and not slow_allowed and isinstance(family, Out):
        rows = np.hstack(
            [np.asarray(family.activation(jnp.asarray(goals))), np.ones((n, 1))]
        )
        rank = int(np.linalg.matrix_rank(rows))
        if rank < n:
            raise InputError(
                f"{n} samples cannot be tracked to fixed targets in dimension "
                f"{family.d}: one control (w, b) gives rank {rank} of {n} near the "
                f"targets, so the decay is not exponential (it needs N <= d + 1 = "
                f"{family.d + 1} and distinct targets). Track the loss instead, with "
                "one whose zero set has interior (SquaredHinge(), or "
                "Readout(..., clip=1.0)), "
                "raise d by adding coordinates, or pass slow_allowed=True."
            )
    return TrainingProblem(
        family,
        points,
        goals,
        readout=identity_readout(family.d),
        loss=Squared(),
        penalty=L2(lam),
        horizon=horizon,
        layers=layers,
        final=final,
        tracking=tracking,
        scheme=scheme,
    )
