"""The runs behind figures and claims, as experiments."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset
from pushforward.studies.negative_beta.study import Parameters

# tokens -> (angles near a state of three clusters, betas on both sides)
SIDES = {
    5: ((0.0, 1.9, 1.9, -1.9, -1.9), (-1.46, -1.42)),
    4: ((0.0, 0.0, 2.3, -2.3), (-2.23, -2.19)),
}
SHOWN = {"five-below": ("two-ends", "five_tokens"), "four-below": ("four_tokens",)}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Both sides of two thresholds, and one random start."""
    return {
        "five-below": beside(5, -1.46),
        "five-above": beside(5, -1.42),
        "four-below": beside(4, -2.23),
        "four-above": beside(4, -2.19),
        "random": random(p.seed),
    }


def angles(n: int) -> np.ndarray:
    """Near the state of three clusters: moved by 1e-3."""
    return np.array(SIDES[n][0]) + 1e-3 * np.sin(1.0 + 3 * np.arange(n))


def beside(n: int, beta: float) -> pf.Experiment:
    """n tokens near the state of three clusters."""
    theta = angles(n)
    points = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    field, start = pf.UnnormalizedAttention(beta), pf.Given(pf.Circle(), points)
    return pf.Experiment(start, field, 3000.0, save=pf.LogTimes(0.1, 60))


def random(seed: int) -> pf.Experiment:
    """Five tokens from a random start at beta = -0.16."""
    field = pf.UnnormalizedAttention(-0.16)
    return pf.Experiment(pf.Uniform(5, 2), field, 400.0, save=2, seed=seed)


WORDS = {
    -1.46: ("below", "Three clusters of 1, 2 and 2 tokens balance."),
    -1.42: ("above", "The same start synchronizes."),
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The same start, two values of beta."""
    theta = angles(5)
    points = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    common = {
        "model": "usa",
        "d": 2,
        "n": 5,
        "init": "equispaced",
        "moved": [[i, x] for i, x in enumerate(points.tolist())],
        "clock": "log",
        "t1": 1e4,
    }
    return tuple(
        Preset(
            f"five-{side}",
            f"Five tokens at β = {beta:g}",
            claim,
            {**common, "beta": beta},
        )
        for beta, (side, claim) in WORDS.items()
    )
