"""What a claim prints decides it: `holds` is computed again from the numbers alone.

A claim that stands when its prediction is multiplied by 1.5 does not test a constant:
only inequalities may, whose slack is printed.
"""

import json

import pytest

from pushforward import studies
from pushforward._references import PAPERS

QUICK = {  # claims of all relations that take a second together
    "statistical_transport": ("bures", "jko", "two_point_space", "barycenter_rate"),
    "metastability": (
        "crossing_as_printed",
        "crossing_of_the_scalar_lemma",
        "scalar_contraction",
        "mean_field_version",
    ),
    "turnpike": ("boundary_rate", "ceiling"),
    "gulp": ("canonical_limit", "hat_matrices", "saved_matrices"),
}


def printed(name, functions=None):
    """The rows of a study as a reader of the JSON finds them."""
    chosen = studies.parameters(name)
    listed = studies.part(name, "claims").CLAIMS
    found = [
        studies._runner._run(name, claim, chosen)
        for claim in listed
        if functions is None or claim.__name__ in functions
    ]
    return json.loads(json.dumps([claim.as_dict() for claim in found]))


def insensitive(rows):
    """Claims that hold, and still hold when what they predict grows by a half."""
    changed = [row | {"predicted": 1.5 * row["predicted"]} for row in measured(rows)]
    return [row for row in changed if studies.decide(row)]


def measured(rows):
    return [row for row in rows if row["holds"] and row["relation"] != "open"]


def check(rows):
    for row in rows:
        assert studies.decide(row) is row["holds"], row
        key = row["reference"].split(",")[0]
        assert row["relation"] == "error" or key in PAPERS, row
    loose = [row for row in insensitive(rows) if row["slack"] is None]
    assert not loose, [(row["claim"], row["predicted"]) for row in loose]


@pytest.mark.parametrize("name", QUICK)
def test_a_few_claims_follow_from_what_they_print(name):
    rows = printed(name, QUICK[name])
    assert len(rows) == len(QUICK[name])
    check(rows)


def test_a_loose_equality_is_found():
    row = ("s", "c", next(iter(PAPERS)), "theorem")
    with pytest.raises(AssertionError):
        check([studies.within(*row, 1.0, 1.0, 0.6).as_dict()])
    vanishing = studies.within(*row, -1e-9, 0.0, 1e-6).as_dict()
    assert (vanishing["relation"], vanishing["measured"]) == ("<=", 1e-9)
    assert not studies.within(*row, -1e-5, 0.0, 1e-6).holds
    check([vanishing])
    lies = studies.within(*row, 1.0, 1.0, 0.1).as_dict() | {"measured": 2.0}
    with pytest.raises(AssertionError):
        check([lies])
    check([studies.at_most(*row, 1.0, 2.0).as_dict()])


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.names())
def test_every_claim_follows_from_what_it_prints(name):
    check(printed(name))
