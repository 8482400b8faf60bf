"""What the study is called, which papers it follows, and its two sizes."""

import dataclasses
import math

from pushforward.studies import AbstractParameters, Preset, place, statements

TITLE = "Context length: how beta must grow for attention to choose"
PAPER = "chen2025longcontext"
NO_RUNS = "No runs: one layer at a time, which is a value of a field and not a flow."
KEYS = place("bruno2026scaling", "scaling limits")

within, at_least, at_most, open_claim, paper = statements("context_length", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `keys`, `draws`: of the Monte Carlo of random keys.
    """

    seed: int = 0
    keys: int = 10_000
    draws: int = 600

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the notes."""
        return cls(0, 20_000, 3000)


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
