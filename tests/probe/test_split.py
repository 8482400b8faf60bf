"""The motion of a layer is the sum of its parts, vector by vector."""

import numpy as np
import pytest
import tiny_folders

from pushforward import probe
from pushforward.errors import InputError

IDS = np.array([7, 1, 3, 3, 44, 9, 20, 31, 2, 5])


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_the_parts_sum_to_the_motion(tmp_path, family):
    tiny_folders.folder(tmp_path, family)
    model = probe.load_model(tmp_path)
    recording = probe.run(model, IDS)
    split = probe.split_motion(model, recording, 1)
    motion = recording.hidden[2] - recording.hidden[1]
    scale = np.abs(motion).max()
    assert np.abs(split.motion - motion).max() < 1e-5 * scale
    assert np.abs(split.total - motion).max() < 1e-5 * scale
    if family == "llama":  # what is added is what was recorded, and nothing else
        assert np.abs(split.heads.sum(axis=0) - recording.update[1]).max() < 1e-5
        assert np.abs(split.perceptron - recording.perceptron[1]).max() < 1e-5
        assert not split.residual.any() and not split.norm.any()
    parts = ("attention", "perceptron", "residual", "norm")
    assert sum(split.share(part) for part in parts) == pytest.approx(1.0, abs=1e-4)
    pulls = split.pulls(4)
    assert np.abs(pulls.sum(axis=1) - split.heads[:, 4]).max() < 1e-5 * scale
    along = pulls @ split.motion[4] / (split.motion[4] @ split.motion[4])
    assert along == pytest.approx(split.shares[:, 4], abs=1e-5)
    assert repr(split) == "MotionSplit(layer 1, 10 tokens, 4 heads)"
    with pytest.raises(InputError, match=r"0 \.\.\. 9"):
        split.pulls(10)
    with pytest.raises(InputError, match="one of attention"):
        split.share("luck")


def test_a_trajectory_carries_who_pulled_each_token(tmp_path):
    tiny_folders.folder(tmp_path, "llama")
    found = probe.examine(tmp_path, IDS, most_fitted=1, probes=0)
    seen = found.trajectory().observed
    sources, shares = seen["pull_source"], seen["pull_share"]
    assert sources.shape == shares.shape == (4, 10, 5)
    split = probe.split_motion(tmp_path, found.recording, 2)
    total = split.shares.sum(axis=0)
    np.fill_diagonal(total, 0.0)
    for i in (0, 7):
        assert shares[2, i] == pytest.approx(total[i, sources[2, i].astype(int)])
        assert np.abs(shares[2, i, 0]) == pytest.approx(np.abs(total[i]).max())
    assert not shares[3].any()  # nothing leaves the last layer
    pull = split.pull(1, 7, 4)
    assert pull == pytest.approx(split.pulls(7)[1, 4], abs=1e-6)


def test_telling_moves_name_who_pulled(tmp_path):
    tiny_folders.folder(tmp_path, "llama")
    model = probe.load_model(tmp_path)
    recording = probe.run(model, IDS)
    moves = probe.telling_moves(model, recording, 4)
    assert len(moves) == 4
    for move in moves:
        split = probe.split_motion(model, recording, move.layer)
        assert move.source < move.token  # causal, and another token
        assert move.pull == split.shares[move.head, move.token, move.source]
        assert move.attention + move.perceptron + move.norms == pytest.approx(1.0)
        x, z = recording.hidden[move.layer : move.layer + 2, move.token]
        cosine = x @ z / np.linalg.norm(x) / np.linalg.norm(z)
        assert np.cos(np.radians(move.angle)) == pytest.approx(cosine, abs=1e-5)
