"""Runs beside the study, which moves nothing: both sides of beta = log n."""

import math

from pushforward.studies import Preset
from pushforward.studies.context_length.study import Parameters

N = 64
SIDES = {3.0: ("below", "hears everybody"), 6.0: ("above", "chooses itself")}
CLAIM = (
    "The study looks at single layers and moves nothing. {} orthogonal tokens have "
    "log n = {:.2f}: at β = {:g} a token pays {:.0%} of its attention to itself."
)


def states(p: Parameters) -> tuple[Preset, ...]:
    """Orthogonal tokens with beta on either side of log n."""
    common = {"n": N, "d": N, "init": "orthonormal", "t1": 20.0}
    return tuple(
        Preset(
            f"{side}-log-n",
            f"β {'<' if side == 'below' else '>'} log n: a token {words}",
            CLAIM.format(N, math.log(N), beta, 1 / (1 + (N - 1) * math.exp(-beta))),
            {**common, "beta": beta},
        )
        for beta, (side, words) in SIDES.items()
    )
