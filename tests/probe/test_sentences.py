"""The words of the page say the numbers, found again here by plain loops."""

import re

import numpy as np
import pytest
import tiny_folders

from pushforward import probe
from pushforward.probe import reasons, sentences

IDS = np.random.default_rng(3).permutation(50)[:20]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    tiny_folders.folder(path, "llama")
    return path, probe.examine(path, IDS, most_fitted=1, probes=2)


def told(text):
    """All numbers of a text, without what it is marked up with."""
    plain = re.sub(r"<[^>]*>", " ", text).replace("−", "-")
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", plain)]


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def pairs(x):
    return [x[i] @ x[j] for i in range(len(x)) for j in range(i)]


def test_cosines_and_clusters(one):
    _, found = one
    layers = [unit(x.astype(float)) for x in found.recording.hidden]
    means = [np.mean(pairs(x)) for x in layers]
    around = [unit(x - x.mean(axis=0)) for x in found.recording.hidden.astype(float)]
    near = [np.percentile(pairs(x), 95) for x in around]
    _, s, _ = np.linalg.svd(layers[-1])
    share = 100 * s[0] ** 2 / (s**2).sum()
    top = int(np.argmax(means))
    ends = [means[0], *([means[top], top] if 0 < top < 3 else []), means[-1]]
    said = told(sentences.cosines(found))
    assert said == pytest.approx([*ends, share, near[0], near[-1]], abs=0.51)
    assert said[-2:] == pytest.approx([near[0], near[-1]], abs=0.0051)
    assert said[: len(ends)] == pytest.approx(ends, abs=0.0051)
    angles = [np.arccos(np.clip(x @ x.T, -1, 1)) < 0.6 for x in layers]
    reached = [np.linalg.matrix_power(close.astype(int), 20) > 0 for close in angles]
    counts = [len({tuple(row) for row in linked}) for linked in reached]
    said = told(sentences.clusters(found, found.recording.trajectory()))
    assert said[:4] == [0.6, 20, counts[0], counts[-1]]


def test_heads(one):
    _, found = one
    A, n = found.recording.attention.astype(float), 20
    read = [unit(x.astype(float)) for x in found.recording.inputs[:3]]
    sharp, first, betas, above = 0, [], [], 0
    low = [np.log(n) / (1 - np.mean(pairs(x))) for x in read]
    for k in range(3):
        for head in A[k]:
            rows = range(1, n)
            entropies = [
                -sum(a * np.log(a) for a in head[i, : i + 1]) / np.log(i + 1)
                for i in rows
            ]
            sharp += np.mean(entropies) < 0.3
            first.append(np.mean(head[1:, 0]))
            i, j = np.tril_indices(n)
            design = np.zeros((len(i), n + 1))  # one constant for each row
            design[np.arange(len(i)), i] = 1.0
            design[:, n] = (read[k] @ read[k].T)[i, j]
            logs = np.log(head[i, j])
            betas.append(np.linalg.lstsq(design, logs, rcond=None)[0][n])
            above += betas[-1] > low[k]
    said = told(sentences.heads(found))
    negative = sum(beta < 0 for beta in betas)
    assert said[:2] == [sharp, 12] and said[3] == round(100 * np.mean(first))
    assert said[4] == pytest.approx(np.median(betas), abs=0.051)
    assert said[5] == negative and 0 < negative < 12
    bounds = [1, min(low), max(low), above, 12]
    assert said[6:11] == pytest.approx(bounds, abs=0.051)


def test_motion_and_what_is_felt(one):
    path, found = one
    splits = [probe.split_motion(path, found.recording, k) for k in range(3)]
    medians = [
        np.median([np.median(split.share(part)) for split in splits])
        for part in ("attention", "perceptron")
    ]
    said = told(reasons.moves(found))
    assert said[0] == 100  # shares sum to it
    assert said[1:4] == [*(round(100 * m) for m in medians), 0]
    share = found.sensitivity.values / found.sensitivity.values.mean()
    thirds = [np.median(part) for part in (share[:7], share[7:14], share[14:])]
    assert told(sentences.sensitivity(found)) == pytest.approx(thirds, abs=0.0051)
    rows = sentences.rows(found)
    x, y = found.recording.hidden[:-1].astype(float), found.recording.hidden[1:]
    alone = x + found.recording.update
    gone, left = (
        [np.sum((unit(a) - unit(b)) ** 2) for a, b in zip(ends, y, strict=True)]
        for ends in (x, alone)
    )
    own = np.median([1 - b / a for a, b in zip(gone, left, strict=True)])
    label = "motion explained by the model's own attention"
    assert rows[label] == sentences.percent(own)
    assert rows["layers, tokens, dimension"] == "3, 20, 16"
    assert sentences.percent(-0.004) == "0%" and sentences.percent(-0.3) == "−30%"


def test_statements_are_typeset_and_those_that_do_not_apply_are_listed(one):
    _, found = one
    page = reasons.theory(found)
    assert "layer<sup>p</sup>" in page and "^" not in page
    missing = [v for v in found.verdicts if not v.applies]
    assert page.count("<li>") == len({v.reason for v in missing}) > 0
    assert all(v.word == f"does not apply: {v.reason}" for v in missing)
    assert page.count("<tr>") == 1 + len(found.verdicts) - len(missing)
