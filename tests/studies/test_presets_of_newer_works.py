"""The words of presets without controls are true of their runs."""

import numpy as np

import pushforward as pf
from pushforward import studies
from pushforward.studies.density_modes import study as density_modes
from pushforward.studies.empirical_bayes import runs as empirical_bayes
from pushforward.studies.frank_wolfe import runs as frank_wolfe
from pushforward.studies.frank_wolfe.runs import VERTICES
from pushforward.studies.gaussian_tokens import runs as gaussian_tokens
from pushforward.studies.momentum import runs as momentum
from pushforward.studies.normalization import runs as normalization
from pushforward.studies.sinkhorn_attention import runs as sinkhorn_attention


def one_minus_cosine(x: np.ndarray) -> float:
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    n = len(x)
    return 1 - (x.sum(0) @ x.sum(0) - n) / (n * (n - 1))


def groups(x: np.ndarray, radius: float) -> int:
    return 1 + int((np.diff(np.sort(x)) > radius).sum())


def test_every_newer_work_has_a_preset():
    for study in (
        "context_length density_modes empirical_bayes frank_wolfe gaussian_tokens "
        "momentum negative_beta noise_transition normalization sinkhorn_attention"
    ).split():
        assert studies.presets(study), study


def test_norms_with_a_radius():
    runs = {name: e.run() for name, e in normalization.in_the_explorer().items()}
    lengths = {
        k: np.linalg.norm(r.points, axis=2).mean(axis=1) for k, r in runs.items()
    }
    assert round(lengths["pre"][-1]) == 36
    assert round(one_minus_cosine(np.asarray(runs["pre"].points[-1])), 3) == 0.012
    assert np.allclose(lengths["peri"], 1 + np.asarray(runs["peri"].times), rtol=0.2)
    before = np.asarray(runs["mix"].times) <= 2
    assert np.allclose(lengths["mix"][before], 1, atol=1e-3)
    assert lengths["mix"][-1] > 30
    post = normalization.in_the_explorer()["pre"]
    x = np.asarray(post.measure.points)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    post = pf.Experiment(pf.Given(pf.Sphere(3), x), post.field.field, 10.0, save=2)
    assert one_minus_cosine(np.asarray(post.run().final.points)) < 1e-5


def test_sinkhorn_attention_keeps_the_mean_angle_and_the_softmax_does_not():
    ends = {}
    for name, experiment in sinkhorn_attention.in_the_explorer().items():
        x = np.asarray(experiment.run().points)
        angles = np.arctan2(x[..., 1], x[..., 0])
        assert np.ptp(angles[-1]) < 1e-5
        ends[name] = angles[[0, -1]].mean(axis=1)
    assert np.allclose(ends["doubly"], 0.92, atol=1e-6)
    assert np.allclose(ends["softmax"], [0.92, 0.816], atol=1e-3)


def test_momentum_is_ahead():
    count = pf.observables.ClusterCount(0.05)
    runs = {kind: e.run() for kind, e in momentum.in_the_explorer().items()}
    counts = {
        kind: [int(count(pf.positions(run[k]))) for k in (79, 120)]
        for kind, run in runs.items()
    }
    assert counts["Nesterov"] == [1, 1]
    assert min(counts["gradient"]) > 1
    assert int(count(pf.positions(runs["Nesterov"][78]))) > 1


def test_a_gaussian_and_its_tokens():
    runs = {name: e.run() for name, e in gaussian_tokens.in_the_explorer().items()}
    law, drawn = runs["gaussian"].final, np.asarray(runs["drawn"].final.points)
    assert np.linalg.norm(law.center) < 0.02
    assert np.allclose(drawn.mean(axis=0), law.center, atol=0.03)
    assert np.allclose(np.cov(drawn.T), law.covariance, atol=0.02)


def test_tokens_find_vertices():
    p = studies.parameters("frank_wolfe")
    x = np.asarray(frank_wolfe.in_the_explorer(p)["polygon"].run().points)
    assert x.shape[1] == 65 and np.array_equal(x[-1, :5], VERTICES)
    apart = np.linalg.norm(x[-1, :, None] - VERTICES, axis=2).min(axis=1)
    assert apart.max() < 1e-3


def test_two_points_come_out():
    x = np.asarray(empirical_bayes.in_the_explorer()["two-points"].run().points)[..., 0]
    assert np.abs(np.abs(x[0]) - 2).mean() > 0.5
    assert np.abs(np.abs(x[-1]) - 2).max() < 0.02


def test_as_many_groups_as_modes():
    x = np.asarray(density_modes.in_the_explorer()["mean-shift"].run().points)[..., 0]
    at = np.linspace(-6, 6, 20_001)[:, None]
    estimate = np.exp(-density_modes.BETA / 2 * (at - x[0]) ** 2).sum(axis=1)
    peaks = (estimate[1:-1] > estimate[:-2]) & (estimate[1:-1] > estimate[2:])
    assert peaks.sum() == groups(x[-1], 0.05) == 6
