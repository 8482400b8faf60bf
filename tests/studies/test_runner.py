"""Studies are found, verified and drawn; a failing claim says so."""

import json
import sys

import pytest

from pushforward import studies
from pushforward.cli import main
from pushforward.errors import InputError
from pushforward.studies import (
    Claim,
    _runner,
    at_least,
    at_most,
    open_claim,
    rate,
    refuted,
    within,
)


def test_every_study_has_its_parts():
    for name in studies.names():
        study = _runner.part(name, "study")
        assert study.TITLE and study.PAPER
        assert _runner.part(name, "claims").CLAIMS
        assert _runner.part(name, "figures").FIGURES
        assert studies.parameters(name) != studies.parameters(name, full=True)


def test_claims_compare_as_they_say():
    row = ("s", "c", "r", "theorem")
    assert within(*row, 1.0, 1.05, 0.1).holds
    assert not within(*row, 1.0, 1.2, 0.1).holds
    assert not within(*row, float("nan"), 1.0, 0.1).holds
    assert at_least(*row, 2.0, 1.0).holds and not at_least(*row, 0.0, 1.0).holds
    assert at_most(*row, 0.0, 1.0).holds and not at_most(*row, 2.0, 1.0).holds
    assert open_claim(*row, "needs weights").holds is None
    assert rate(*row, -0.49, -0.5, 0.02).holds
    assert refuted(*row[:3], 1.0, 2.0, 0.5).holds
    assert not refuted(*row[:3], 1.0, 1.2, 0.5).holds


def test_a_claim_says_its_status_and_its_slack():
    row = ("s", "c", "r")
    assert within(*row, "theorem", 1.0, 1.05, 0.1).status == "holds"
    assert within(*row, "erratum", 1.0, 1.05, 0.1).status == "corrected"
    assert refuted(*row, 1.0, 2.0, 0.5).status == "refuted"
    assert refuted(*row, 1.0, 2.0, 1.5).status == "fails"
    assert open_claim(*row, "theorem", "why").status == "open"
    assert at_least(*row, "theorem", 3.0, 1.0).as_dict()["slack"] == 2.0
    assert at_most(*row, "theorem", 3.0, 1.0).as_dict()["slack"] == -2.0
    assert refuted(*row, 1.0, 2.0, 0.25).as_dict()["slack"] == 0.75
    assert within(*row, "theorem", 1.0, 1.0, 0.1).as_dict()["slack"] is None
    for wrong in ({"kind": "rumour"}, {"kind": "theorem", "relation": "~"}):
        with pytest.raises(InputError, match="must be one of"):
            Claim(*row, measured=1.0, predicted=1.0, tolerance=0.0, holds=True, **wrong)


def test_a_claim_that_raises_does_not_hold():
    def broken(parameters):
        """The claim."""
        raise ZeroDivisionError("oh")

    claim = _runner._run("s", broken, None)
    assert claim.holds is False
    assert (claim.claim, claim.note) == ("The claim.", "ZeroDivisionError: oh")


@pytest.mark.parametrize("holds, code", [(True, 0), (None, 0), (False, 1)])
def test_verify_exits_nonzero_if_a_claim_fails(monkeypatch, capsys, holds, code):
    relation = {True: "=", False: "error", None: "open"}[holds]
    claim = Claim("s", "c", "r", "theorem", 1.0, 1.0, 0.0, holds, relation=relation)
    monkeypatch.setattr(studies, "verify", lambda name, full: iter([(claim, 0.1)]))
    argv = ["pushforward", "study", "verify", "perspective", "--json"]
    monkeypatch.setattr(sys, "argv", argv)
    with pytest.raises(SystemExit) as stop:
        main()
    assert int(stop.value.code or 0) == code
    printed = json.loads(capsys.readouterr().out)
    expected = "study claim reference kind measured predicted tolerance holds note"
    more = "experiment relation function slack"
    assert set(printed[0]) == {*expected.split(), *more.split()}
