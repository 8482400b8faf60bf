"""Every claim of the study."""

import numpy as np

from pushforward.studies.noise_transition import runs
from pushforward.studies.noise_transition.study import (
    THEOREM,
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import stability, transition

DERIVED = paper("derived here")


def critical_temperature(p: Parameters):
    """beta* solves I_{d/2+1}/I_{d/2} = 1/d."""
    claim = "beta* of S^2: up to it the transition is continuous"
    found = transition.beta_star(3)
    return within(claim, paper(THEOREM), "theorem", found, 1.8161545254, 1e-9)


def three_lines_in_order(p: Parameters):
    """kappa_fold < kappa_c < kappa_# above beta*, in every dimension tried."""
    gaps = []
    for d in (2, 3, 4, 8, 16):
        for beta in np.array([1.1, 1.5, 2.5]) * transition.beta_star(d):
            fold, jump = transition.kappa_fold(beta, d), transition.kappa_c(beta, d)
            threshold = stability.noise_threshold(beta, d)
            gaps += [np.log(jump / fold), np.log(threshold / jump)]
    claim = "d = 2 to 16, beta to 2.5 beta*: kappa_fold < kappa_c < kappa_#, least gap"
    note = "as logarithms; the fold and its order are derived, not printed"
    return at_least(claim, paper(THEOREM), "theorem", min(gaps), 1e-6, note)


def jump_on_the_sphere(p: Parameters):
    """S^2, beta = 4: the height of the jump at kappa_c."""
    found = transition.transition(4.0, 3)
    claim = "S^2, beta = 4: order parameter right above kappa_c = 0.64535"
    note = "fixed point on a grid, independent of the modes used here"
    return within(claim, paper(THEOREM), "identity", found.r, 0.8585805598, 1e-8, note)


RESTS = {0.38: 0.0, 0.388: 0.6063904596, 0.40: 0.7399203240, 0.42: 0.8207937213}


def rest_on_the_upper_branch(p: Parameters):
    """From kappa_fold on a density that starts ordered stays so, below kappa_# too."""
    gaps = [runs.order_at_rest(runs.circle(k, True)) - r for k, r in RESTS.items()]
    claim = (
        "circle, beta = 4, kappa = 0.38, 0.388, 0.40, 0.42 from an ordered start: at "
        "rest against the branch"
    )
    note = "kappa_# = 0.4099, kappa_fold = 0.3871"
    gap, where = np.abs(gaps).max(), paper(THEOREM)
    return at_most(claim, where, "identity", gap, 1e-8, note)


def rest_of_a_spread_start(p: Parameters):
    """A density that starts nearly uniform becomes so, up to kappa_# and not above."""
    known = {k: r if k > 0.41 else 0.0 for k, r in RESTS.items()}
    gaps = [runs.order_at_rest(runs.circle(k, False)) - r for k, r in known.items()]
    claim = "the same from r = 0.05: at rest off 0, and off the branch at kappa = 0.42"
    return at_most(claim, paper(THEOREM), "theorem", np.abs(gaps).max(), 1e-8)


def loop_of_tokens(p: Parameters):
    """Less noise and more again: tokens jump up and down at different kappa."""
    loop = runs.loop(p)
    middle = len(runs.LOOP) - 1
    up = loop.ratios[: middle + 1][loop.order[: middle + 1] > 0.5].min()
    down = loop.ratios[middle:][loop.order[middle:] > 0.5].min()
    claim = f"S^2, beta = 4, {p.tokens} tokens: width of the loop in kappa / kappa_#"
    note = f"up at {up:.2f}, down below {down:.2f}; the window is 0.792 to 1"
    return at_least(claim, paper(THEOREM), "experiment", up - down, 0.08, note)


def thresholds_of_both_models(p: Parameters):
    """The noise that keeps tokens spread differs by model: a factor 2.6 at beta = 4."""
    usa = stability.critical_noise_unnormalized(4.0, 3, log_scale=0.0)
    claim = "S^2, beta = 4: critical sigma of USA over that of SA"
    note = "0.6126 under SA, 1.6002 under USA"
    ratio = usa / stability.critical_noise(4.0, 3)
    return within(claim, paper(THEOREM), "identity", ratio, 2.6123, 1e-3, note)


def softmax_is_continuous(p: Parameters):
    """Conjecture: with the softmax denominator kappa(r) increases, for all beta, d."""
    betas, dimensions = p.grid
    return at_least(
        f"SA with noise, beta = {betas[0]:g} to {betas[-1]:g}, d = {dimensions[0]} to "
        f"{dimensions[-1]}: least slope of log kappa in r^2 along the branch",
        DERIVED,
        "conjecture",
        runs.rises(p.grid, True).min(),
        1e-3,
        "48 values of r to 0.95 for every pair; a scan, not a proof",
    )


def softmax_slope_at_zero(p: Parameters):
    """The branch leaves the uniform measure forward."""
    slopes = [
        transition.initial_slope(float(beta), d, softmax=True)
        for d in (2, 3, 4, 6, 8, 16, 32, 64, 128, 256, 512)
        for beta in np.geomspace(0.01, 60, 40)
    ]
    claim = "SA with noise, beta to 60, d to 512: least slope of kappa / kappa_# in r^2"
    why = "the expansion is explicit; its sign is scanned, not proved"
    return at_least(claim, DERIVED, "conjecture", min(slopes), 0.0, why)


def softmax_has_no_loop(p: Parameters):
    """Circle, beta = 9, far above beta*: both starts come to the same state."""
    threshold = transition.critical_kappa_softmax(9.0, 2)
    gaps = [
        runs.order_at_rest(runs.softmax_circle(9.0, ratio * threshold, ordered)) - r
        for ratio, r in ((0.9, 0.0), (1.5, 0.9060433189))
        for ordered in (True, False)
    ]
    claim = (
        "SA, circle, beta = 9, 0.9 and 1.5 of the threshold: densities at rest from "
        "both starts, off 0 and off the branch"
    )
    return at_most(claim, DERIVED, "conjecture", np.abs(gaps).max(), 1e-8)


def usa_turns_back(p: Parameters):
    """The same scan sees the folds of USA: its sign is that of beta* - beta."""
    betas, dimensions = p.grid
    expected = [[b > transition.beta_star(d) for d in dimensions] for b in betas]
    found = runs.rises(p.grid, False)
    wrong = np.sum(np.isfinite(found) & ((found < 0) != np.array(expected)))
    claim = "USA on the same grid: pairs where the scan and beta* disagree"
    note = f"{np.isnan(found).sum()} of {found.size} pairs are too sharp to be followed"
    return at_most(claim, paper(THEOREM), "theorem", wrong, 0.0, note)


def other_symmetries(p: Parameters):
    """Minimizers that are not symmetric about an axis are not excluded here."""
    return open_claim(
        "above kappa_c every minimizer is an ordered state about an axis",
        paper(THEOREM),
        "theorem",
        "only states that branch from degree 1 are computed",
    )


CLAIMS = (
    critical_temperature,
    three_lines_in_order,
    jump_on_the_sphere,
    rest_on_the_upper_branch,
    rest_of_a_spread_start,
    loop_of_tokens,
    thresholds_of_both_models,
    softmax_is_continuous,
    softmax_slope_at_zero,
    softmax_has_no_loop,
    usa_turns_back,
    other_symmetries,
)
