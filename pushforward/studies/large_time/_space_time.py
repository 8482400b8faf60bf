"""Claims on networks of variable width."""

import numpy as np

from pushforward.control.neural.targets import moons
from pushforward.control.space_time import (
    SpaceTimeProblem,
    cosine_lift,
    march,
    train_space_time,
    width_profile,
)
from pushforward.studies._claims import Claim, place, rate, within
from pushforward.studies.large_time.study import KEY, NAME, PAPER, Parameters
from pushforward.theory import depth as theory

SPACE_TIME = place(PAPER, "variable width")


def _march_error(n: int) -> float:
    nodes = np.linspace(0, 1, n)
    x = march(
        lambda z, s: (1 + 0.5 * np.sin(2 * np.pi * z)) * np.exp(-s),
        lambda z: 1.5 + np.cos(3 * z),
        [nodes] * 400,
        1.0,
        activation=lambda s: np.maximum(s, 0.0),
    )
    return float(np.max(np.abs(x - theory.rank_one_network(1.0, nodes))))


def rank_one_kernel(p: Parameters) -> Claim:
    """The network of a rank-one kernel tends to its exact solution as nodes grow."""
    errors = [_march_error(n) for n in (21, 41)]
    return rate(
        NAME,
        "rank-one kernel: order in the spacing of the nodes, against the solution",
        SPACE_TIME,
        "identity",
        np.log2(errors[0] / errors[1]),
        2.0,
        0.1,
        note=f"trapezoid rule, 21 and 41 nodes: {errors[0]:.2e}, {errors[1]:.2e}",
    )


def width_independence(p: Parameters) -> Claim:
    """With scaled unknowns the optimal cost hardly depends on the width."""
    points, labels = moons(1, 20)
    values = []
    for widths in ([9] * 17, [*range(6, 14), 13, *range(13, 5, -1)]):
        problem = SpaceTimeProblem(
            cosine_lift(points), labels, width_profile(widths), lam=0.01, horizon=4.0
        )
        values.append(train_space_time(problem, steps=p.width_steps, key=KEY)[1])
    note = f"constant width {values[0]:.4f}, diamond {values[1]:.4f}"
    return within(
        NAME,
        "cost of a diamond over constant width",
        SPACE_TIME,
        "experiment",
        values[1] / values[0],
        1.0,
        0.05,
        note,
    )
