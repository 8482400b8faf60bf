"""Every claim of the study."""

import functools

import numpy as np

import pushforward as pf
from pushforward.studies.negative_beta import runs
from pushforward.studies.negative_beta.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import negative_beta as theory

DERIVED = paper("linear stability, derived here")


@functools.cache
def orders(n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Times, and |mean x| along the run."""
    run = runs.beside(n, beta).run()
    return np.asarray(run.times), run.observe(pf.observables.order_parameter)


def three_points(p: Parameters):
    """Three equispaced tokens are stable below -2/3."""
    claim = "three equispaced tokens are stable below beta ="
    found = theory.equispaced_threshold(3)
    return within(claim, paper("abstract"), "theorem", found, -2 / 3, 1e-9)


def odd_numbers(p: Parameters):
    """Thresholds of 5 to 11 equispaced tokens."""
    known = {5: -2.1099242318, 7: -4.4309083052, 9: -8.0240768366, 11: -11.8869260827}
    gap = max(abs(theory.equispaced_threshold(n) - b) for n, b in known.items())
    claim = "5, 7, 9, 11 equispaced tokens: thresholds, by bisection with 30 digits"
    return at_most(claim, DERIVED, "identity", gap, 1e-9)


def even_numbers(p: Parameters):
    """Equispaced tokens with opposite partners are not stable."""
    worst = [
        max(theory.equispaced_rate(n, k, beta) for k in range(1, n))
        for n in (4, 6, 8, 10, 12, 14)
        for beta in np.linspace(-60, -0.01, 300)
    ]
    claim = "even n to 14, beta from -60 to 0: least of the largest growth rates"
    return at_least(claim, DERIVED, "conjecture", min(worst), 0.0, "a scan")


def three_clusters(p: Parameters):
    """Other numbers of tokens balance in three clusters further down."""
    known = {(2, 1): -2.212427964, (1, 2): -1.442904602, (3, 2): -1.748619801}
    known |= {(2, 3): -1.222296783, (4, 3): -1.535480659}
    gap = max(abs(theory.three_clusters_threshold(*c)[0] - b) for c, b in known.items())
    claim = "clusters of p, q, q tokens, n = 4, 5, 7, 8, 10: thresholds, by a scan"
    return at_most(claim, DERIVED, "identity", gap, 1e-8)


def five_tokens(p: Parameters):
    """Five tokens on both sides of -1.4429."""
    below, above = (float(orders(5, beta)[1][-1]) for beta in (-1.46, -1.42))
    claim = "five tokens near three clusters: |mean| at the end, beta = -1.46"
    return within(
        claim, DERIVED, "experiment", below, 0.36709, 1e-4, f"-1.42: {above:g}"
    )


def four_tokens(p: Parameters):
    """Four tokens on both sides of -2.2124."""
    below, above = (float(orders(4, beta)[1][-1]) for beta in (-2.23, -2.19))
    claim = "four tokens near three clusters: |mean| at the end, beta = -2.23"
    return within(
        claim, DERIVED, "experiment", below, 0.36888, 1e-4, f"-2.19: {above:g}"
    )


def synchronize_above(p: Parameters):
    """The other side of both thresholds, and random starts at -0.16."""
    ends = [orders(5, -1.42)[1][-1], orders(4, -2.19)[1][-1]]
    for k in range(p.starts):
        final = runs.random(p.seed + k).run().final
        ends.append(float(pf.observables.order_parameter(final)))
    claim = f"above the thresholds, and {p.starts} random starts at -0.16: least |mean|"
    return at_least(claim, paper("abstract"), "theorem", min(ends), 1 - 1e-4)


def between(p: Parameters):
    """Nobody knows."""
    return open_claim(
        "almost every start synchronizes for -2/3 < beta < -0.16",
        paper("abstract"),
        "conjecture",
        "random starts say little: near -2/3 the basin of three clusters is tiny",
    )


CLAIMS = (
    three_points,
    odd_numbers,
    even_numbers,
    three_clusters,
    five_tokens,
    four_tokens,
    synchronize_above,
    between,
)
