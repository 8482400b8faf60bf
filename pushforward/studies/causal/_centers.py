"""Quasi-stationary centers, frozen centers, and how many centers there are."""

import numpy as np

from pushforward import theory
from pushforward.observables import Centers
from pushforward.studies.causal import runs
from pushforward.studies.causal._ensemble import followed, sequence
from pushforward.studies.causal.runs import APART, EPSILON, TIMES, C
from pushforward.studies.causal.runs import CIRCLE_BETA as BETA
from pushforward.studies.causal.study import Parameters, at_most, paper, within


def a_strong_center_hardly_moves(p: Parameters):
    """Two tokens 0.6 apart: the second stays within epsilon delta up to T."""
    end = np.asarray(runs.strong_center().run().final.points[1])
    gone = APART - np.arctan2(end[1], end[0])
    return at_most(
        "beta = 64, c = 4: displacement of a strong center up to T = 263.5",
        paper("lemma 5.1"),
        "theorem",
        gone,
        EPSILON * C / np.sqrt(BETA),
        "expected 0.002157",
    )


def strong_centers_keep_the_bound_in_a_crowd(p: Parameters):
    """Every strong center of random sequences that meets the hypothesis."""
    delta = C / np.sqrt(BETA)
    worst, tested = 0.0, 0
    for run in range(p.runs):
        points = followed(p, run, "causal", BETA)
        for s in Centers(APART)(sequence(p.seed, p.n, run)).strong[1:]:
            life = theory.causal.center_lifetime(BETA, C, EPSILON, int(s) + 1)
            until = TIMES <= life
            cosine = np.clip(points[until, s] @ points[0, s], -1, 1)
            worst = max(worst, float(np.arccos(cosine).max()) / delta)
            tested += int(until.sum() > 1)
    note = f"{tested} centers seen moving before their lifetime was over"
    claim = "n = 200: largest displacement of strong centers in their lifetime, / delta"
    return at_most(claim, paper("lemma 5.1"), "theorem", worst, EPSILON, note)


def frozen_centers_capture_free_tokens(p: Parameters):
    """7 frozen equispaced centers and 100 free causal tokens."""
    experiment = runs.frozen_centers(p)
    x = np.asarray(experiment.run().final.points)
    nearest = (x @ np.asarray(experiment.read("field.atoms")).T).max(axis=1)
    bounds = theory.causal.frozen_centers(BETA, 6.5, 0.099, 100)
    note = f"hypotheses hold: {bounds.holds}; expected below 1e-8 at t = 100"
    return at_most(
        "7 frozen centers, 100 free tokens: farthest from its center at t = 100",
        paper("theorem 5.2"),
        "theorem",
        float(np.arccos(np.clip(nearest, -1, 1)).max()),
        0.099 / np.sqrt(BETA),
        note,
    )


def _counts(p: Parameters, n: int, d: int, delta: float, strong: bool) -> np.ndarray:
    centers = Centers(delta)
    found = [centers(sequence(p.seed, n, run, d)) for run in range(p.draws)]
    return np.array([len(c.strong) if strong else c.count for c in found])


def _mean_claim(claim: str, where: str, kind: str, counts: np.ndarray, predicted):
    error = counts.std() / np.sqrt(len(counts))
    note = f"{len(counts)} sequences; the tolerance is five standard errors"
    mean = counts.mean()
    return within(claim, paper(where), kind, mean, float(predicted), 5 * error, note)


def strong_centers_on_the_circle(p: Parameters):
    """(1 - (1-s)^n) / s with s = delta / pi."""
    predicted = theory.parking.expected_strong_centers(0.5, 2, 200)
    claim = "mean number of strong centers, d = 2, delta = 0.5, n = 200"
    counts = _counts(p, 200, 2, 0.5, True)
    return _mean_claim(claim, "count laws", "theorem", counts, predicted)


def strong_centers_on_the_sphere(p: Parameters):
    """1/sin^2(delta/2) in the limit; a transcription with a factor 1/3 is refuted."""
    predicted = theory.parking.expected_strong_centers(0.6, 3, 400)
    claim = "mean number of strong centers, d = 3, delta = 0.6, n = 400"
    counts = _counts(p, 400, 3, 0.6, True)
    return _mean_claim(claim, "count laws", "theorem", counts, predicted)


def renyi_centers_on_the_circle(p: Parameters):
    """c_R 2 pi / delta once the sequence is long."""
    delta = float(theory.parking.center_scale(BETA))
    predicted = theory.parking.expected_centers_asymptotic(delta)
    claim = "mean number of Renyi centers at beta = 64, n = 20,000: c_R 2 pi / delta"
    counts = _counts(p, 20_000, 2, delta, False)
    return _mean_claim(claim, "count laws", "theorem", counts, predicted)


CLAIMS = (
    a_strong_center_hardly_moves,
    strong_centers_keep_the_bound_in_a_crowd,
    frozen_centers_capture_free_tokens,
    strong_centers_on_the_circle,
    strong_centers_on_the_sphere,
    renyi_centers_on_the_circle,
)
