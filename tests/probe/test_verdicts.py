"""What the theory says about a model, on states that were made to have the numbers."""

import dataclasses

import numpy as np
import pytest

from pushforward import probe
from pushforward.probe.measured import _verdicts


def head(size, beta=0.0, k=8):
    return probe.HeadSpectra(
        V=np.ones(k), B=np.zeros(k), beta=beta, aligned=0.0, regime="x", size=size
    )


@pytest.mark.parametrize(("after", "causal"), [(False, True), (True, False)])
def test_random_heads_follow_the_recursion_for_the_gram_matrix(after, causal):
    """In a high dimension one draw is the mean, up to 1 / sqrt(d)."""
    d = 256
    x = np.random.default_rng(0).normal(size=(5, 12, d)).astype(np.float32)
    base = probe.recording_of(x, "x")
    recording = dataclasses.replace(base, causal=causal)
    layers = [[head(300.0, 30.0, 32), head(150.0, 5.0, 32)]] * 4
    found = probe.random_heads(recording, layers, after=after)
    assert np.abs(found.found - found.predicted.mean()).max() < 0.08
    assert found.predicted.min() > 0.2  # they gather
    still = probe.random_heads(recording, [[head(0.0)]] * 4, after=after)
    assert still.found == pytest.approx(still.predicted, abs=1e-6)


def test_the_critical_beta_is_log_n_over_the_gap():
    x = np.stack([np.eye(8) + 0.5, np.eye(8) + 0.5])
    rho = (x[0, 0] @ x[0, 1]) / (x[0, 0] @ x[0, 0])
    found = probe.critical_beta(probe.recording_of(x, "equal angles"))
    assert found == pytest.approx(np.log(8) / (1 - rho))


def test_shuffled_tokens_see_no_beta():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 60, 6))
    unit = x / np.linalg.norm(x, axis=2, keepdims=True)
    A = np.exp(9 * unit[:1] @ unit[:1].transpose(0, 2, 1))[None]
    A = A / A.sum(axis=-1, keepdims=True)
    recording = probe.recording_of(x, "x", attention=A)
    assert probe.seen_beta(recording) == pytest.approx(9.0)
    order = rng.permutation(60)
    assert abs(probe.seen_beta(recording, order=order)[0, 0]) < 2.0


def examined(recording, **parts):
    """An examination of states alone, as `examine` makes it."""
    found = probe.examine(recording, most_fitted=1)
    return dataclasses.replace(found, **parts)


def test_the_speed_of_agreement_is_read_off_where_tokens_agree():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(30, 64))
    layers = np.arange(1.0, 14.0)[:, None, None]
    one = examined(probe.recording_of(np.eye(64)[0] + 0.2 * noise / layers, "x"))
    found = _verdicts._speed(one, "pre-norm")
    assert found.found == pytest.approx(2.0, abs=0.3) and found.baseline == 0
    for scheme, why in ((None, "norms sit"), ("post-norm", "no known t")):
        assert why in _verdicts._speed(one, scheme).word
    apart = examined(probe.recording_of(np.eye(64)[0] + 0.2 * noise * layers, "x"))
    assert "come no closer" in _verdicts._speed(apart, "pre-norm").word


def test_centers_that_are_looked_at_lead():
    rng = np.random.default_rng(3)
    n, d = 48, 6
    x = rng.normal(size=(n, d))
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    x[24:] = x[:24] + 0.05 * rng.normal(size=(24, d))  # near a token before: no center
    order = np.argsort(np.r_[np.arange(24), np.arange(24) + 0.5], kind="stable")
    x = x[order]
    center = order < 24
    A = np.tri(n) * np.where(center, 3.0, 1.0)[None]
    A = np.broadcast_to(A / A.sum(axis=1, keepdims=True), (9, 1, n, n))
    states = np.broadcast_to(x, (10, n, d)).copy()
    one = examined(probe.recording_of(states, "x", attention=A))
    found = _verdicts._centers(one)
    assert found.found == pytest.approx(3.0, rel=0.15)
    assert found.word == "centers lead" and found.baseline == 1.0
