"""How a flow ended: a kind, and a sentence that says what to do next."""

import dataclasses
import enum

import numpy as np

from pushforward.errors import InputError
from pushforward.measures import Particles


class OutcomeKind(enum.StrEnum):
    """Why a flow stopped. Each is a string, too: `outcome.kind == "one cluster"`."""

    REACHED_T1 = "reached t1"
    ONE_CLUSTER = "one cluster"
    STATIONARY = "stationary"
    FROZEN = "frozen"  # forces too small for the precision: not convergence
    UNTIL = "until"  # the rule of the caller was met
    DIVERGED = "diverged"
    UNRESOLVED = "unresolved"  # a density that its modes no longer hold
    BUDGET = "budget"  # out of steps
    INTERRUPTED = "interrupted"
    RECORDED = "recorded"  # not the result of a flow


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A kind and a sentence: why the flow stopped and what to do next.

    >>> Outcome("until", "the rule was met.").kind is OutcomeKind.UNTIL
    True
    """

    kind: OutcomeKind
    message: str

    def __init__(self, kind: OutcomeKind | str, message: str) -> None:
        known = [str(one) for one in OutcomeKind]
        if kind not in known:
            raise InputError(f"`kind` must be one of {', '.join(known)}, got {kind!r}.")
        object.__setattr__(self, "kind", OutcomeKind(kind))
        object.__setattr__(self, "message", message)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    def __repr__(self) -> str:
        return f"Outcome({str(self.kind)!r}, {self.message!r})"


def tokens(mu: Particles) -> int:
    """How many particles have mass: copies without it only keep a shape."""
    return int(np.isfinite(np.asarray(mu.log_weights)).sum())
