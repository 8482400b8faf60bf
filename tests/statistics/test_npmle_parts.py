"""What large samples rest on: derivatives by parts, and coarser samples."""

import numpy as np
import pytest

from pushforward.statistics import BinomialCounts, GaussianErrors, PoissonCounts, npmle
from pushforward.statistics.mixtures import _likelihood
from pushforward.statistics.mixtures._heteroscedastic import HeteroscedasticSample
from pushforward.statistics.mixtures._likelihood import Sample
from pushforward.statistics.mixtures._polish import _derivatives, _Mixture

RNG = np.random.default_rng(3)


def covariances(n):
    """Five of them."""
    roots = np.eye(2) + 0.5 * RNG.normal(size=(5, 2, 2))
    every = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(2)
    return every[RNG.integers(0, 5, n)]


def samples(n):
    """One of each kind: equal errors, errors that differ, correlated, counts."""
    x, p = 2 * RNG.normal(size=(n, 2)), np.full(n, 1 / n)
    sd = RNG.uniform(0.5, 1.5, (n, 2))
    sd[: n // 10, 0] = np.inf  # not observed
    k, e = RNG.poisson(RNG.uniform(0, 9, n)), RNG.uniform(0.5, 2, n)
    trials = RNG.integers(5, 20, n)
    noise = {
        "differ": (x, GaussianErrors(sd)),
        "correlated": (x, GaussianErrors(covariances(n))),
        "rates": (k, PoissonCounts(e)),
        "shares": (RNG.binomial(trials, 0.4), BinomialCounts(trials)),
    }
    made = {name: model.observe(data, None) for name, (data, model) in noise.items()}
    return {"equal": Sample(x, p)} | {name: seen.sample for name, seen in made.items()}


@pytest.mark.parametrize("kind", ["equal", "differ", "correlated", "rates", "shares"])
def test_derivatives_are_those_of_the_loss(kind, monkeypatch):
    monkeypatch.setattr(_likelihood, "PART", 64)
    sample = samples(150)[kind]
    d = sample.places.shape[1]
    rng = np.random.default_rng(0)
    atoms = sample.places[rng.choice(len(sample.places), 3)] + 0.3
    weights = np.array([0.5, 0.3, 0.4])
    root = np.sqrt(weights)

    def value(step):
        change, shift = root * step[0], (step[1:] / root).T
        return _Mixture.of(sample, atoms + shift, weights + change).value

    slope, bend = _derivatives(sample, _Mixture.of(sample, atoms, weights))
    h, size = 1e-4, 3 * (1 + d)
    units = h * np.eye(size).reshape(size, 1 + d, 3)
    up, down = (np.array([value(s * u) for u in units]) for s in (1, -1))
    assert np.abs((up - down) / (2 * h) - slope.ravel()).max() < 1e-6
    for i, u in enumerate(units):
        rows = [
            (value(u + v) - value(u - v) - value(v - u) + value(-u - v)) / (4 * h**2)
            for v in units
        ]
        assert np.abs(np.array(rows) - bend[i]).max() < 1e-5


@pytest.mark.parametrize("kind", ["equal", "differ", "correlated"])
def test_a_coarser_sample_says_nearly_the_same(kind):
    sample = samples(9_000)[kind]
    coarse = sample.coarse()
    assert len(coarse.weights) < len(sample.weights) / 2
    assert coarse.weights.sum() == pytest.approx(1)
    # the mean log-likelihood of any location is kept, but for a constant
    x = np.array([[-2.0, 1.0], [0.0, 0.0], [0.7, 3.0]])
    mean = [s.log_kernel(x) @ s.weights for s in (sample, coarse)]
    assert np.ptp(mean[0] - mean[1]) < 1e-9
    atoms, weights = x, np.array([0.2, 0.5, 0.3])
    losses = [-s.weights @ s.log_mixture(atoms, weights) for s in (sample, coarse)]
    others = [
        -s.weights @ s.log_mixture(atoms + 0.5, weights) for s in (sample, coarse)
    ]
    gain = [b - a for a, b in zip(losses, others, strict=True)]
    assert gain[1] == pytest.approx(gain[0], rel=0.1)


def test_what_was_not_observed_stays_unknown_in_a_coarser_sample():
    sample = samples(9_000)["differ"]
    coarse = sample.coarse()
    assert isinstance(coarse, HeteroscedasticSample)
    lost = coarse.precisions[:, 0, 0] == 0
    share = coarse.weights[lost].sum()
    assert share == pytest.approx(0.1) and (coarse.roots[lost, 0] == 0).all()


def test_few_data_are_not_made_coarser():
    assert all(s.coarse() is None for s in samples(150).values())
    spread = Sample(np.arange(3000.0)[:, None], np.full(3000, 1 / 3000))
    assert spread.coarse() is None


def test_a_coarser_start_leads_to_the_same_mixture(monkeypatch):
    x = RNG.choice([-3.0, 0.0, 3.0], (4_000, 2)) + RNG.normal(size=(4_000, 2))
    fit = npmle(x)
    monkeypatch.setattr(_likelihood, "FEW", 10**9)
    other = npmle(x)
    assert fit.proven and other.proven
    assert fit.loss == pytest.approx(other.loss, abs=1e-10)
    assert np.abs(fit.density(x[:200]) - other.density(x[:200])).max() < 1e-6
