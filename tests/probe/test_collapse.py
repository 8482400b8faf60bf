"""Measures of collapse against loops over pairs, and what the theory says or not."""

import numpy as np
import pytest

from pushforward import probe
from pushforward.errors import InputError
from pushforward.probe.measured._verdicts import verdicts


def test_measures_of_collapse_equal_loops_over_pairs():
    x = np.random.default_rng(0).normal(size=(2, 6, 4)) + 1.0
    recording = probe.recording_of(x, "x")
    mask = np.array([True, True, False, True, False, True])
    found = probe.collapse(recording, {"some": mask})
    assert found.classes == ("all", "some")
    for row, chosen in enumerate((np.ones(6, bool), mask)):
        for k, tokens in enumerate(x[:, chosen]):
            n = len(tokens)
            pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
            unit = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
            cosine = np.mean([unit[i] @ unit[j] for i, j in pairs])
            squares = [((tokens[i] - tokens[j]) ** 2).sum() for i, j in pairs]
            energy = np.mean(squares) / 2 / (tokens**2).sum(axis=1).mean()
            assert found.mean_cosine[row, k] == pytest.approx(cosine)
            assert found.dirichlet[row, k] == pytest.approx(energy)
            around = tokens - tokens.mean(axis=0)
            p = np.linalg.eigvalsh(around @ around.T)
            p = p[p > 1e-12] / p.sum()
            rank = np.exp(-(p * np.log(p)).sum())
            assert found.centered_rank[row, k] == pytest.approx(rank)
    with pytest.raises(InputError, match="at least 2"):
        probe.collapse(recording, {"one": np.arange(6) == 0})


def test_tokens_have_classes():
    text = "The river, slow."
    spans = ((0, 3), (4, 7), (7, 9), (9, 10), (11, 15), (15, 16))
    strings = ("The", "riv", "er", ",", "slow", ".")
    tokens = probe.Tokens(np.arange(6), strings, spans, text)
    hidden = np.random.default_rng(0).normal(size=(2, 6, 4))
    found = probe.token_classes(probe.Recording("x", tokens, hidden))
    assert found["words"].tolist() == [True, True, False, False, True, False]
    assert found["marks"].tolist() == [False, False, False, True, False, True]
    assert "pieces" not in found  # only one of them


def test_the_pull_of_v_is_a_number_of_standard_deviations():
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(2, 5, 5))
    assert probe.spectra(Q, K, np.eye(5), np.eye(5)).pull == pytest.approx(5.0)
    assert probe.spectra(Q, K, -np.eye(5), np.eye(5)).pull == pytest.approx(-5.0)
    V = rng.normal(size=(5, 5))
    turned = [np.linalg.qr(rng.normal(size=(5, 5)))[0] for _ in range(400)]
    signs = rng.choice([-1.0, 1.0], size=400)
    pulls = [
        probe.spectra(Q, K, V, s * O).pull for s, O in zip(signs, turned, strict=True)
    ]
    assert abs(np.mean(pulls)) < 0.2 and np.std(pulls) == pytest.approx(1.0, abs=0.15)


def examined(recording, **parts):
    table = probe.layer_table(recording.trajectory())
    return probe.Examination(recording, probe.Rms(), table, table, **parts)


def test_few_keys_are_told_in_few_dimensions():
    """On the circle 40 random keys are near, and beta = 40^2 is critical."""
    x = np.random.default_rng(3).normal(size=(2, 40, 2))
    unit = x / np.linalg.norm(x, axis=2, keepdims=True)
    logits = np.stack([beta * unit[0] @ unit[0].T for beta in (20.0, 2500.0)])
    A = np.exp(logits - logits.max(axis=-1, keepdims=True))
    attention = (A / A.sum(axis=-1, keepdims=True))[None]
    recording = probe.recording_of(x, "x", attention=attention)
    said = verdicts(examined(recording, seen_beta=np.array([[20.0, 2500.0]])))[9]
    assert said.found == 0.5 and said.word.endswith("the critical one 1600.0")


def test_the_theory_is_silent_where_it_does_not_apply():
    x = np.random.default_rng(1).normal(size=(3, 9, 4))
    said = verdicts(examined(probe.recording_of(x, "x")))
    assert len(said) == 10
    assert all(one.word.startswith("does not apply: ") for one in said)
    assert not any(one.applies for one in said)


def test_scaling_and_sinks_are_told_from_attention():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(3, 12, 6))
    unit = x / np.linalg.norm(x, axis=2, keepdims=True)
    seen = np.tri(12, dtype=bool)
    heads = []
    for layer in unit[:2]:
        logits = np.stack([beta * layer @ layer.T for beta in (0.5, 40.0)])
        logits = np.where(seen, logits, -np.inf)
        A = np.exp(logits - logits.max(axis=-1, keepdims=True))
        heads.append(A / A.sum(axis=-1, keepdims=True))
    recording = probe.recording_of(x, "x", attention=np.stack(heads))
    beta = probe.seen_beta(recording)
    assert beta == pytest.approx(np.array([[0.5, 40.0]] * 2), rel=0.05)
    one = examined(recording, heads=probe.head_table(recording), seen_beta=beta)
    said = verdicts(one, "pre-norm")
    assert said[0].found == 0.5 and said[0].error == 0.0  # one head of two averages
    assert one.averages.tolist() == [[True, False]] * 2
    assert said[6].baseline == pytest.approx(np.mean(1 / np.arange(2, 13)))
    assert said[6].applies and not said[8].applies
    assert "does not apply: in d = 6" in said[9].word  # random keys are not near there
