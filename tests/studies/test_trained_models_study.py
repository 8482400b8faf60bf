"""The study of trained models: open without the models, and measured with them."""

import pytest

from pushforward import probe, studies
from pushforward.studies.trained_models import claims, study


def test_without_the_models_claims_are_open_and_say_how(tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHFORWARD_CACHE", str(tmp_path))
    study.model.cache_clear()
    study.examination.cache_clear()
    found = claims.CLAIMS[0](study.Parameters.quick())
    assert found.holds is None
    assert "pushforward models get minilm" in found.note
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_every_claim_holds_or_is_open():
    assert all(entry.present for entry in probe.models()), "make models"
    found = [claim for claim, _ in studies.verify("trained_models")]
    assert [c.claim for c in found if c.holds is False] == []
    assert sum(c.holds is True for c in found) >= 16
