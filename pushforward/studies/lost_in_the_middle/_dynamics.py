"""Runs on the circle: four groups of tokens, and the mean-field limit."""

import functools

import numpy as np

from pushforward.studies.lost_in_the_middle import runs
from pushforward.studies.lost_in_the_middle.study import (
    Parameters,
    at_most,
    paper,
    within,
)
from pushforward.theory import kinetic_mean_field


@functools.cache
def groups_run():
    """beta = lambda = 1 to t = 10, a frame every 0.2."""
    return runs.groups().run()


def farthest(points: np.ndarray) -> float:
    """The largest distance to the first token."""
    angle = np.arctan2(points[:, 1], points[:, 0])
    return float(np.abs(np.angle(np.exp(1j * (angle - angle[0])))).max())


def groups_at_4(p: Parameters):
    """t = 4: the last group is still far."""
    found = farthest(np.asarray(groups_run().at(4.0).points))
    claim = "four groups of 16, beta = lambda = 1: farthest from the first at t = 4"
    return within(claim, paper("figure, circle"), "experiment", found, 2.4182069, 1e-6)


def groups_at_10(p: Parameters):
    """t = 10: all have joined the first token."""
    found = farthest(np.asarray(groups_run().final.points))
    claim = "the same at t = 10"
    return within(
        claim, paper("figure, circle"), "experiment", found, 7.852042e-4, 1e-8
    )


@functools.cache
def crowd(n: int, seed: int) -> np.ndarray:
    """Cosines at t = 1 from density 1 + 0.2 cos theta."""
    return np.asarray(runs.crowd(n, seed).run().final.points[:, 0])


def mean_field_mode(p: Parameters):
    """The first mode of a crowd follows the density."""
    predicted = kinetic_mean_field.density_modes(1.0, 0.1, 1.0)[1]
    return within(
        f"{p.crowd} tokens from 1 + 0.2 cos: mean cosine at t = 1, lambda = 1",
        paper("theorem, mean field"),
        "theorem",
        crowd(p.crowd, p.seed).mean(),
        predicted,
        # what a token sees of its past is off by (j N)^{-1/2} on average over j
        2 / np.sqrt(p.crowd) * 0.7,
        "against f_n' = n sum k I_k f_k f_{n-k}, which knows no order",
    )


def mean_field_sees_no_order(p: Parameters):
    """The mean is the same for early and late tokens."""
    end = crowd(p.crowd, p.seed)
    thirds = np.array([part.mean() for part in np.array_split(end, 3)])
    error = end.std() / np.sqrt(p.crowd / 3) * np.sqrt(2)
    claim = "the same by thirds of the order: largest difference in standard errors"
    gap = (thirds.max() - thirds.min()) / error
    return at_most(claim, paper("mean field"), "identity", gap, 4.0)


CLAIMS = (groups_at_4, groups_at_10, mean_field_mode, mean_field_sees_no_order)
