"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses
import functools

from pushforward.studies import AbstractParameters, place, statements

TITLE = "A mathematical perspective on Transformers"
PAPER = "geshkovski2023perspective"
SURVEY = "rigollet2025meanfield"

within, at_least, at_most, open_claim, paper = statements("perspective", PAPER)
survey = functools.partial(place, SURVEY)  # the survey on mean-field dynamics


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes of the ensembles; everything else is fixed by the paper.

    - `replicas`: independent starts per temperature in the claims.
    - `draws`: Monte Carlo draws of claims about random points.
    - `phase_*`: the phase diagrams, one per dimension.
    - `weights_*`: the phase diagrams with random weights, in dimension `weights_d`.
    - `rate_betas`: temperatures at which clusters are counted from a uniform start.
    """

    seed: int = 0
    replicas: int = 64
    draws: int = 400
    phase_dimensions: tuple[int, ...] = (2, 8, 32, 1024)
    phase_betas: int = 30
    phase_replicas: int = 16
    phase_frames: int = 61
    weights_d: int = 32
    weights_betas: int = 12
    weights_replicas: int = 8
    rate_betas: tuple[float, ...] = (4.0, 9.0, 16.0, 25.0)

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the paper: 90 temperatures, 2^10 realizations, d to 1024."""
        return cls(
            seed=0,
            replicas=1024,
            draws=6000,
            phase_dimensions=(2, 8, 32, 128, 512, 1024),
            phase_betas=90,
            phase_replicas=1024,
            phase_frames=121,
            weights_d=128,
            weights_betas=45,
            weights_replicas=32,
            rate_betas=(4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0),
        )
