"""The study in the explorer: a Gaussian, and tokens that are drawn from it."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.gaussian_tokens.runs import FIELD
from pushforward.studies.gaussian_tokens.study import Parameters

MEAN, SPREAD = [0.6, -0.3], 0.4


def experiments() -> dict[str, pf.Experiment]:
    """Attention on N(MEAN, SPREAD^2), and on 300 tokens of it."""
    law = pf.GivenGaussian(MEAN, SPREAD**2 * np.eye(2))
    drawn = pf.Normal(300, 2, "euclidean", MEAN, SPREAD)
    return {
        "gaussian": pf.Experiment(law, FIELD, 3.0, save=121),
        "drawn": pf.Experiment(drawn, FIELD, 3.0, save=121),
    }


def states(p: Parameters) -> tuple[Preset, ...]:
    """The law itself, and a sample."""
    runs = experiments()
    return (
        Preset(
            "gaussian",
            "A Gaussian under attention stays one",
            "Attention is affine on it: 400 points that stand for it are at any time "
            "the image of the first ones under one affine map. Its mean goes to zero.",
            shown(runs["gaussian"], color="start"),
        ),
        Preset(
            "drawn",
            "300 tokens of the same Gaussian",
            "Mean and covariance follow those of the law, up to the error of a sample.",
            shown(runs["drawn"], color="start"),
        ),
    )
