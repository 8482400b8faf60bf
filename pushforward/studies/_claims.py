"""Claims: published statements, measured."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

KINDS = ("theorem", "conjecture", "experiment", "identity")


@dataclasses.dataclass(frozen=True)
class Claim:
    """One published statement: what was measured against what was predicted.

    `holds` is None for a claim that the program cannot reach; `note` then says why.
    """

    study: str
    claim: str
    reference: str
    kind: str
    measured: float | None
    predicted: float | None
    tolerance: float | None
    holds: bool | None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The form that `pushforward study verify --json` prints."""
        return dataclasses.asdict(self)


def within(
    study: str,
    claim: str,
    reference: str,
    kind: str,
    measured: float,
    predicted: float,
    tolerance: float,
    note: str = "",
) -> Claim:
    """A claim that holds when |measured - predicted| <= tolerance."""
    measured, predicted = float(measured), float(predicted)
    holds = math.isfinite(measured) and abs(measured - predicted) <= tolerance
    return Claim(
        study, claim, reference, kind, measured, predicted, tolerance, holds, note
    )


def at_least(
    study: str,
    claim: str,
    reference: str,
    kind: str,
    measured: float,
    bound: float,
    note: str = "",
) -> Claim:
    """A claim that holds when measured >= bound; the tolerance is zero."""
    holds = float(measured) >= float(bound)
    return Claim(
        study, claim, reference, kind, float(measured), float(bound), 0.0, holds, note
    )


def at_most(
    study: str,
    claim: str,
    reference: str,
    kind: str,
    measured: float,
    bound: float,
    note: str = "",
) -> Claim:
    """A claim that holds when measured <= bound; the tolerance is zero."""
    holds = float(measured) <= float(bound)
    return Claim(
        study, claim, reference, kind, float(measured), float(bound), 0.0, holds, note
    )


def open_claim(study: str, claim: str, reference: str, kind: str, why: str) -> Claim:
    """A claim listed as open, with the reason."""
    return Claim(study, claim, reference, kind, None, None, None, None, why)


ClaimFunction = Callable[[Any], Claim]
"""A claim as studies list it: a function of the study's parameters."""
