"""Where causal tokens end: theorem 4.1, table 1, and centers that hardly move."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.observables import Centers
from pushforward.studies.causal import _counts, runs
from pushforward.studies.causal._counts import followed, sequence
from pushforward.studies.causal.runs import APART, EPSILON, TIMES, C
from pushforward.studies.causal.runs import CIRCLE_BETA as BETA
from pushforward.studies.causal.study import (
    Parameters,
    at_least,
    at_most,
    paper,
    within,
)


@functools.lru_cache(maxsize=32)
def panel(p: Parameters, name: str, beta: float = runs.BETA) -> np.ndarray:
    """Frames of one panel: (times, n, 3), times spaced by logarithm."""
    return np.asarray(runs.atlas(p, name, beta).run().points)


def everything_goes_to_the_first_token(p: Parameters):
    """V = I: all tokens end at the initial place of token 1, for any Q, K, beta."""
    before, x = np.asarray(runs.random_weights(p).run().points)
    apart = np.linalg.norm(x - x[0], axis=1).max()
    gone = np.linalg.norm(x[0] - before[0])
    return within(
        "V = I, random Q and K: every token ends at x_1(0)",
        paper("theorem 4.1"),
        "theorem",
        max(apart, gone),
        0.0,
        1e-6,
    )


def slowest_rate_is_one_half(p: Parameters):
    """The rate of consensus is that of token 2, exactly 1/2."""
    x = np.asarray(runs.consensus(p).run().points)
    apart = np.linalg.norm(x[1:, 1] - x[0, 0], axis=1)
    return within(
        "token 2, the slowest, approaches x_1 at rate 1/2, whatever beta is",
        paper("theorem 4.1"),
        "identity",
        np.log(apart[0] / apart[1]) / 12.0,
        theory.causal.consensus_rates(runs.N)[0],
        2e-3,
    )


def first_token_follows_oja(p: Parameters):
    """Token 1 obeys dx/dt = P_x V x, whose solution is e^{tV} x / |e^{tV} x|."""
    experiment = runs.oja(p)
    before, x = np.asarray(experiment.run().points)
    V = np.asarray(experiment.read("field.V"))
    exact = theory.causal.first_token(2.0, before[0], V)
    off = np.abs(x[0] - exact).max()
    where = paper("section 3")
    return within("token 1 follows Oja's flow", where, "identity", off, 0.0, 1e-7)


def double_top_gives_one_point(p: Parameters):
    """lambda_max > 0 of multiplicity 2: the projection of token 1 on the eigenspace."""
    frames = panel(p, "double top", 1.0)
    x, goal = frames[-1], frames[0, 0] * [1.0, 1.0, 0.0]
    off = np.linalg.norm(x - goal / np.linalg.norm(goal), axis=1).max()
    return within(
        "V = diag(1, 1, 0.3): all tokens at the normalized projection of token 1",
        paper("table 1, row 2"),
        "conjecture",
        off,
        0.0,
        1e-6,
    )


def simple_top_gives_two_points(p: Parameters):
    """lambda_max > 0 simple: two antipodal points."""
    x = panel(p, "simple top")[-1]
    signs = set(np.sign(x[:, 0]).tolist())
    off = (1 - np.abs(x[:, 0])).max()
    note = f"{len(signs)} of the two points are occupied"
    where = paper("table 1, row 3")
    claim = "V = diag(2, 1, 0.5): every token at plus or minus e_1"
    return within(claim, where, "conjecture", off, 0.0, 1e-7, note)


def negative_double_gives_a_cloud(p: Parameters):
    """lambda_max < 0 of multiplicity 2: a cloud around the eigenspace."""
    x = panel(p, "double, negative")[-1]
    count = pf.observables.Clusters(0.05)(pf.Particles(pf.Sphere(3), x)).count
    near = float(np.mean(np.abs(x[:, 2])))
    return within(
        "V = diag(-1, -1, -3): a cloud around the plane; mean |<x, e_3>|",
        paper("table 1, row 4"),
        "conjecture",
        near,
        0.0,
        0.35,
        f"{count} separate places; 0.5 for uniform tokens",
    )


def negative_simple_gives_two_clouds(p: Parameters):
    """lambda_max < 0 simple: two clouds."""
    x = panel(p, "simple, negative")[-1]
    both = len(set(np.sign(x[:, 0]).tolist())) == 2
    return at_least(
        "V = diag(-1, -2, -3): two clouds around plus and minus e_1; min |<x, e_1>|",
        paper("table 1, row 5"),
        "conjecture",
        float(np.abs(x[:, 0]).min()) if both else 0.0,
        0.5,
        "how wide the clouds are is not stated in the paper",
    )


def energy_is_no_lyapunov_function(p: Parameters):
    """dE/dt < 0 at beta = 3 for three tokens."""
    angles = jnp.array([1.71156119, -0.75141514, -2.65710567])
    mu = pf.Particles(pf.Circle(), pf.Circle().points(angles))
    energy, v = pf.InteractionEnergy(3.0).plain, pf.CausalAttention(3.0)(0.0, mu).v
    _, rate = jax.jvp(lambda x: energy(mu.moved(x)), (mu.points,), (v,))
    claim = "the interaction energy can fall along the causal flow: dE/dt"
    where = paper("section 3")
    return within(claim, where, "experiment", float(rate), -9.70e-5, 1e-7)


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


def _numbers(p: Parameters, n: int, d: int, delta: float, strong: bool) -> np.ndarray:
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
    counts = _numbers(p, 200, 2, 0.5, True)
    return _mean_claim(claim, "count laws", "theorem", counts, predicted)


def strong_centers_on_the_sphere(p: Parameters):
    """1/sin^2(delta/2) in the limit; a transcription with a factor 1/3 is refuted."""
    predicted = theory.parking.expected_strong_centers(0.6, 3, 400)
    claim = "mean number of strong centers, d = 3, delta = 0.6, n = 400"
    counts = _numbers(p, 400, 3, 0.6, True)
    return _mean_claim(claim, "count laws", "theorem", counts, predicted)


def renyi_centers_on_the_circle(p: Parameters):
    """c_R 2 pi / delta once the sequence is long."""
    delta = float(theory.parking.center_scale(BETA))
    predicted = theory.parking.expected_centers_asymptotic(delta)
    claim = "mean number of Renyi centers at beta = 64, n = 20,000: c_R 2 pi / delta"
    counts = _numbers(p, 20_000, 2, delta, False)
    return _mean_claim(claim, "count laws", "theorem", counts, predicted)


CLAIMS = (
    everything_goes_to_the_first_token,
    slowest_rate_is_one_half,
    first_token_follows_oja,
    energy_is_no_lyapunov_function,
    double_top_gives_one_point,
    simple_top_gives_two_points,
    negative_double_gives_a_cloud,
    negative_simple_gives_two_clouds,
    a_strong_center_hardly_moves,
    strong_centers_keep_the_bound_in_a_crowd,
    frozen_centers_capture_free_tokens,
    strong_centers_on_the_circle,
    strong_centers_on_the_sphere,
    renyi_centers_on_the_circle,
    *_counts.CLAIMS,
)
