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
    problem = TrainingProblem(
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
    if not slow_allowed:
        require_reachable(problem)
    return problem


def require_reachable(problem: TrainingProblem) -> None:
    """Refuse tracking of fixed targets that one control cannot reach exponentially.

    Only of the form `Out`, and of targets that fix the whole state: squared loss,
    and a readout that forgets nothing.
    """
    family, P = problem.family, np.asarray(problem.readout.P)
    d, n = family.d, len(problem.inputs)
    fixed = isinstance(problem.loss, Squared) and np.linalg.matrix_rank(P) == d
    if not fixed or not isinstance(family, Out) or float(problem.tracking) == 0:
        return
    goals = (np.asarray(problem.labels) - np.asarray(problem.readout.c)).T
    goals = np.linalg.lstsq(P, goals, rcond=None)[0].T
    seen = np.asarray(family.activation(jnp.asarray(goals)))
    rank = int(np.linalg.matrix_rank(np.hstack([seen, np.ones((n, 1))])))
    if rank < n and problem.readout.clip is None:
        raise InputError(
            f"{n} samples cannot be tracked to fixed targets in dimension {d}: one "
            f"control (w, b) gives rank {rank} of {n} near the targets, so the decay "
            f"is not exponential (it needs N <= d + 1 = {d + 1} and distinct targets). "
            "Track the loss instead, with one whose zero set has interior "
            "(SquaredHinge(), or Readout(..., clip=1.0)), raise d by adding "
            "coordinates, or ask for slow decay: "
            "optimize(target_problem(..., slow_allowed=True), key=key)."
        )
