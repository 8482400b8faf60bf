"""The retrieval profile in closed form, and tokens against it; every claim."""

import functools

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from pushforward.studies.lost_in_the_middle import _retrieval, runs
from pushforward.studies.lost_in_the_middle._retrieval import BETA, DECAY
from pushforward.studies.lost_in_the_middle.study import (
    Parameters,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import kinetic, kinetic_lattice, kinetic_mean_field


@functools.cache
def groups_run():
    """beta = lambda = 1 to t = 10, a frame every 0.2."""
    return runs.groups().run()


def farthest(points: np.ndarray) -> float:
    """The largest distance to the first token."""
    angle = np.arctan2(points[:, 1], points[:, 0])
    return float(np.abs(np.angle(np.exp(1j * (angle - angle[0])))).max())


def groups_at_4(p: Parameters):
    """t = 4: the last group is still far."""
    found = farthest(np.asarray(groups_run().at(4.0).points))
    claim = "four groups of 16, beta = lambda = 1: farthest from the first at t = 4"
    return within(claim, paper("figure, circle"), "experiment", found, 2.4182069, 1e-6)


def groups_at_10(p: Parameters):
    """t = 10: all have joined the first token."""
    found = farthest(np.asarray(groups_run().final.points))
    claim = "the same at t = 10"
    return within(
        claim, paper("figure, circle"), "experiment", found, 7.852042e-4, 1e-8
    )


@functools.cache
def crowd(n: int, seed: int) -> np.ndarray:
    """Cosines at t = 1 from density 1 + 0.2 cos theta."""
    return np.asarray(runs.crowd(n, seed).run().final.points[:, 0])


def mean_field_mode(p: Parameters):
    """The first mode of a crowd follows the density."""
    predicted = kinetic_mean_field.density_modes(1.0, 0.1, 1.0)[1]
    return within(
        f"{p.crowd} tokens from 1 + 0.2 cos: mean cosine at t = 1, lambda = 1",
        paper("theorem, mean field"),
        "theorem",
        crowd(p.crowd, p.seed).mean(),
        predicted,
        # what a token sees of its past is off by (j N)^{-1/2} on average over j
        2 / np.sqrt(p.crowd) * 0.7,
        "against f_n' = n sum k I_k f_k f_{n-k}, which knows no order",
    )


def mean_field_sees_no_order(p: Parameters):
    """The mean is the same for early and late tokens."""
    end = crowd(p.crowd, p.seed)
    thirds = np.array([part.mean() for part in np.array_split(end, 3)])
    error = end.std() / np.sqrt(p.crowd / 3) * np.sqrt(2)
    claim = "the same by thirds of the order: largest difference in standard errors"
    gap = (thirds.max() - thirds.min()) / error
    return at_most(claim, paper("mean field"), "identity", gap, 4.0)


CODEWORDS = 8
TWO_WELLS = (
    kinetic.Head(1.0, 0.2, 3.0),
    kinetic.Head(-27.5193144536, 0.2, 0.25),
    kinetic.Head(-1.5515192155, 0.5, 0.25),
    kinetic.Head(3.9262326774e-6, 3.0, 2.0),
)
WELLS_TIME = 1.5


def two_wells(source):
    """The signed combination of four heads at its time."""
    return kinetic.retrieval_of_heads(source, WELLS_TIME, TWO_WELLS)


def published_panel(p: Parameters):
    """t = 1.2: the minimum of the published panel."""
    well = kinetic.minimum(1.2, BETA, DECAY)
    assert well is not None
    claim = "t = 1.2, beta = lambda = 1, M = 8: retrieval is worst at position"
    return within(
        claim, paper("figure, profiles"), "experiment", well.source, 0.32, 5e-3
    )


def published_left_end(p: Parameters):
    """The same panel at sigma_0 = 0.02."""
    well = kinetic.minimum(1.2, BETA, DECAY)
    assert well is not None
    rise = float(kinetic.retrieval(0.02, 1.2, BETA, DECAY)) - well.value
    claim = "the same: S(0.02) above the minimum"
    return within(claim, paper("figure, profiles"), "experiment", rise, 0.83, 5e-3)


def published_right_end(p: Parameters):
    """The same panel at sigma_0 = 0.98."""
    well = kinetic.minimum(1.2, BETA, DECAY)
    assert well is not None
    rise = float(kinetic.retrieval(0.98, 1.2, BETA, DECAY)) - well.value
    claim = "the same: S(0.98) above the minimum"
    return within(claim, paper("figure, profiles"), "experiment", rise, 0.40, 5e-3)


def u_shape(p: Parameters):
    """Under the smallness condition there is one minimum and S'(1-) > 0."""
    grid, most = np.linspace(0.002, 1.0, 500), 0
    for beta in (0.1, 0.5, 1.0, 2.0, 3.0):
        for decay in (0.1, 1.0, 4.0):
            t = kinetic.smallness_time(beta, decay)
            slope = np.asarray(kinetic.retrieval_slope(grid, t, beta, decay))
            turns = int((np.diff(np.sign(slope)) != 0).sum())
            most = max(most, abs(turns - 1) + int(slope[-1] <= 0))
    claim = "U shape at the smallness time, 15 (beta, lambda): minima beside the one"
    return at_most(claim, paper("theorem, U shape"), "theorem", most, 0)


def recency_ends(p: Parameters):
    """S'(1-) = 0 at t_crit."""
    t = brentq(lambda t: float(kinetic.retrieval_slope(1.0, t, BETA, DECAY)), 0.5, 5.0)
    predicted = kinetic.critical_time(BETA, DECAY)
    claim = "beta = lambda = 1, M = 8: time at which S'(1-) changes sign"
    return within(
        claim,
        paper("recency threshold"),
        "identity",
        t,
        predicted,
        1e-9,
        "t_crit = 2.457489; at beta = 2 it is 0.600716, at beta = 3 0.174018",
    )


def no_minimum_later(p: Parameters):
    """t = 5 is beyond t_crit: the profile falls to the end."""
    grid = np.linspace(0.02, 0.98, 800)
    steepest = np.diff(np.asarray(kinetic.retrieval(grid, 5.0, BETA, DECAY))).max()
    claim = "t = 5 > t_crit: largest rise of S between neighbors on 800 points"
    return at_most(claim, paper("figure, profiles"), "experiment", steepest, 0.0)


def no_recency_without_decay(p: Parameters):
    """lambda = 0: S decreases at every time."""
    grid = np.linspace(0.02, 1.0, 400)
    slopes = np.array(
        [kinetic.retrieval_slope(grid, t, BETA, 0.0) for t in (0.1, 0.5, 1.0, 2.0)]
    )
    claim = "lambda = 0: largest slope of S for t = 0.1 to 2"
    return at_most(claim, paper("U shape"), "identity", slopes.max(), 0.0)


def heads_make_two_wells(p: Parameters):
    """A signed combination of four heads has two wells."""
    low = kinetic.wells(two_wells)
    claim = "signed combination of four heads, t = 1.5: number of wells"
    places = ", ".join(f"{w.source:.4f}" for w in low)
    return within(
        claim, paper("figure, heads"), "experiment", len(low), 2, 0, f"at {places}"
    )


def solves_volterra(p: Parameters):
    """dg/dt = a (k + int k g), by quadrature and a centered difference."""
    a, t, source, h = 0.9, 1.3, 0.2, 1e-5

    def residual(decay: float) -> float:
        g = lambda t, s: float(kinetic.correlation(a, t, source, s, decay=decay))  # noqa: E731
        k = lambda s: float(kinetic.position_kernel(0.9, s, decay))  # noqa: E731
        seen, _ = quad(lambda s: k(s) * g(t, s), source, 0.9, epsabs=1e-12)
        rate = (g(t + h, 0.9) - g(t - h, 0.9)) / (2 * h)
        return abs(rate - a * (k(source) + seen))

    worst = max(map(residual, (0.0, 1.0, 5.0)))
    claim = "closed form of g in the Volterra equation, lambda = 0, 1, 5: residual"
    return at_most(claim, paper("correlations"), "identity", worst, 1e-8)


def lattice_rate(p: Parameters):
    """N exp(atW) tends to g like 1/N."""
    a = kinetic.mode_rates(BETA)[0]
    exact = kinetic.correlation(a, 1.0, 0.5, decay=DECAY)
    sizes = np.array([64, 128, 256, 512, 1024])
    rows = [kinetic_lattice.lattice_correlations(a, 1.0, n, DECAY)[0] for n in sizes]
    errors = [row[n // 2 - 1] - exact for row, n in zip(rows, sizes, strict=True)]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    claim = "N exp(atW) against its limit at sigma_0 = 1/2: exponent of N in the error"
    return within(claim, paper("correlations"), "theorem", slope, -1.0, 0.02)


def language_model(p: Parameters):
    """The motivating measurement."""
    return open_claim(
        "a language model on 20 documents: 76 % first, 53.8 % at the 10th, 63 % last",
        paper("figure, motivation"),
        "experiment",
        "needs the model and the questions of the published experiment",
    )


def cumulants(p: Parameters):
    """Bounds with constants that are not explicit."""
    return open_claim(
        "|Cov| <= C i^{-1} e^{sqrt(C T log(i/j))} e^{CT}; third cumulants C/(ij)",
        paper("theorem, correlations"),
        "theorem",
        "C is not explicit, so there is no number to compare with",
    )


CLAIMS = (
    published_panel,
    published_left_end,
    published_right_end,
    u_shape,
    recency_ends,
    no_minimum_later,
    no_recency_without_decay,
    heads_make_two_wells,
    solves_volterra,
    lattice_rate,
    language_model,
    cumulants,
    *_retrieval.CLAIMS,
    groups_at_4,
    groups_at_10,
    mean_field_mode,
    mean_field_sees_no_order,
)
