"""Claims: published statements, measured, with the relation that decides them."""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pushforward.errors import InputError

KINDS = ("theorem", "conjecture", "experiment", "identity", "erratum")
"""`erratum`: a printed statement is refuted, or what corrects it is measured."""

RELATIONS = {
    "=": "|measured - predicted| <= tolerance",
    "rate": "|measured - predicted| <= tolerance, for an exponent or a rate",
    ">=": "measured >= predicted - tolerance",
    "<=": "measured <= predicted + tolerance",
    "refuted": "|measured - predicted| > tolerance: the printed value is not the one",
    "open": "nothing is measured; the note says why",
    "error": "the program raised; the note says what",
}


@dataclasses.dataclass(frozen=True)
class Claim:
    """One published statement: what was measured against what was predicted.

    `relation`, one of `RELATIONS`, says how the two are compared, so that `holds` can
    be computed again from the numbers. It is None for a claim that the program cannot
    reach; `note` then says why. `experiment` names the run of the study that was
    measured, where there is one, and `function` who measured it.
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
    experiment: str = ""
    relation: str = "="
    function: str = ""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise InputError(f"`kind` must be one of {KINDS}, got {self.kind!r}.")
        if self.relation not in RELATIONS:
            raise InputError(
                f"`relation` must be one of {tuple(RELATIONS)}, got {self.relation!r}."
            )

    def as_dict(self) -> dict[str, Any]:
        """The form that `pushforward study verify --json` prints."""
        return dataclasses.asdict(self) | {"slack": slack(dataclasses.asdict(self))}

    @property
    def status(self) -> str:
        """holds, fails, refuted, corrected or open: what a reader wants to know first.

        A refutation that holds makes the printed statement `refuted`.
        """
        if self.holds is None:
            return "open"
        if not self.holds:
            return "fails"
        if self.kind == "erratum":
            return "refuted" if self.relation == "refuted" else "corrected"
        return "holds"


def slack(row: Mapping[str, Any]) -> float | None:
    """How much further an inequality could be moved; None for equalities.

    >>> slack({"relation": "<=", "measured": 1.0, "predicted": 3.0, "tolerance": 0.5})
    2.5
    """
    measured, predicted, tolerance = (
        row[key] for key in ("measured", "predicted", "tolerance")
    )
    if row["relation"] == ">=":
        return measured - predicted + tolerance
    if row["relation"] == "<=":
        return predicted - measured + tolerance
    if row["relation"] == "refuted":
        return abs(measured - predicted) - tolerance
    return None


def decide(row: Mapping[str, Any]) -> bool | None:
    """`holds` from the printed numbers of a claim alone.

    >>> decide({"relation": "=", "measured": 1.0, "predicted": 1.5, "tolerance": 0.1})
    False
    """
    if row["relation"] in ("open", "error"):
        return None if row["relation"] == "open" else False
    measured, predicted, tolerance = (
        row[key] for key in ("measured", "predicted", "tolerance")
    )
    if not math.isfinite(measured):
        return False
    if row["relation"] == ">=":
        return measured >= predicted - tolerance
    if row["relation"] == "<=":
        return measured <= predicted + tolerance
    near = abs(measured - predicted) <= tolerance
    return not near if row["relation"] == "refuted" else near


def _stated(
    relation: str,
    study: str,
    claim: str,
    reference: str,
    kind: str,
    measured: float,
    predicted: float,
    tolerance: float,
    note: str = "",
) -> Claim:
    # plain floats: a numpy number would make `holds` unfit for JSON
    numbers = (float(measured), float(predicted), float(tolerance))
    row = dict(
        zip(("measured", "predicted", "tolerance"), numbers, strict=True),
        relation=relation,
    )
    return Claim(
        study, claim, reference, kind, *numbers, decide(row), note, relation=relation
    )


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
    """A claim that holds when |measured - predicted| <= tolerance.

    That something vanishes is an inequality: |measured| <= tolerance, with its slack.
    """
    if predicted == 0:
        bound = (abs(measured), tolerance, 0.0)
        return _stated("<=", study, claim, reference, kind, *bound, note)
    return _stated(
        "=", study, claim, reference, kind, measured, predicted, tolerance, note
    )


def rate(*stated: Any, note: str = "") -> Claim:
    """The same as `within` for a fitted exponent or rate of decay."""
    return dataclasses.replace(within(*stated), relation="rate", note=note)


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
    return _stated(">=", study, claim, reference, kind, measured, bound, 0.0, note)


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
    return _stated("<=", study, claim, reference, kind, measured, bound, 0.0, note)


def refuted(
    study: str,
    claim: str,
    reference: str,
    measured: float,
    printed: float,
    tolerance: float,
    note: str = "",
) -> Claim:
    """An erratum: what is measured is farther than `tolerance` from what is printed."""
    return _stated(
        "refuted",
        study,
        claim,
        reference,
        "erratum",
        measured,
        printed,
        tolerance,
        note,
    )


def open_claim(study: str, claim: str, reference: str, kind: str, why: str) -> Claim:
    """A claim listed as open, with the reason."""
    return Claim(
        study, claim, reference, kind, None, None, None, None, why, relation="open"
    )


class Statements(NamedTuple):
    """The functions above with a study's name filled in, and the key of its paper."""

    within: Callable[..., Claim]
    at_least: Callable[..., Claim]
    at_most: Callable[..., Claim]
    open_claim: Callable[..., Claim]
    paper: Callable[[str], str]


def statements(study: str, paper: str) -> Statements:
    """How a study states its claims; `paper("Theorem 2")` is the key and the place."""
    return Statements(
        functools.partial(within, study),
        functools.partial(at_least, study),
        functools.partial(at_most, study),
        functools.partial(open_claim, study),
        functools.partial(place, paper),
    )


def place(key: str, where: str) -> str:
    """A bibliography key with the place in the paper."""
    return f"{key}, {where}"


ClaimFunction = Callable[[Any], Claim]
"""A claim as studies list it: a function of the study's parameters."""
