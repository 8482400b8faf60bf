"""Every claim of the study."""

import numpy as np

from pushforward.studies.empirical_bayes import runs
from pushforward.studies.empirical_bayes.study import (
    A,
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import empirical_bayes as theory

DERIVED = paper("derived here")
# regret over Bayes and its standard error, by a program and draws of another kind
KNOWN = {
    "two points": {
        "NPMLE": (0.0075, 0.0017),
        "two stages, T = 0.55": (0.049, 0.004),
        "two stages, T = 1.3": (0.0067, 0.0017),
        "Tweedie, beta = 5": (0.056, 0.004),
        "Tweedie, beta = 16": (0.174, 0.008),
        "one step, beta = 0.66": (0.212, 0.008),
        "one step, beta = 1": (0.232, 0.009),
        "none": (0.694, 0.009),
    },
    "uniform": {
        "NPMLE": (0.035, 0.006),
        "two stages, T = 0.55": (0.030, 0.005),
        "two stages, T = 1.0": (0.054, 0.009),
        "two stages, T = 1.3": (0.098, 0.017),
        "two stages, T = 2.0": (0.177, 0.029),
        "Tweedie, beta = 5": (0.056, 0.007),
    },
}


def _regret(p: Parameters, name: str, prior: str = "two points") -> np.ndarray:
    return runs.regret(name, prior, p.tokens, p.draws, p.seed)


def best_risk(p: Parameters):
    """Two-point prior: the risk of a tanh(a y), against the rule on drawn data."""
    rng = np.random.default_rng(p.seed)
    theta = rng.choice([-A, A], 400_000)
    y = theta + rng.normal(size=len(theta))
    loss = (runs.bayes(y, "two points") - theta) ** 2
    error = 4 * loss.std() / np.sqrt(len(loss))
    claim = "theta = 2 or -2, sigma = 1: Bayes risk on 400,000 draws"
    known = theory.bayes_risk(A)
    return within(claim, paper("setting"), "identity", loss.mean(), known, error)


def one_step_undersmooths(p: Parameters):
    """One step at beta = 1 takes the noisy context for the prior."""
    known = theory.one_step_risk(1.0, A)
    found = runs.mean_field_risk(1.0, 0.0)
    claim = "one step at beta = 1, many tokens: risk (Bayes 0.2744)"
    return within(claim, paper("one step"), "identity", found, known, 1e-3)


def residual_step_is_tweedie(p: Parameters):
    """beta -> infinity with many tokens: the risk of Bayes."""
    gaps = [theory.tweedie_risk(beta, A) - theory.bayes_risk(A) for beta in (4, 16, 64)]
    claim = "residual attention, n infinite: excess risk at beta = 64 over that at 16"
    return at_most(claim, DERIVED, "identity", gaps[2] / gaps[1], 0.1, f"{gaps}")


def two_stages_in_the_limit(p: Parameters):
    """Depth refines the prior: 1200 quantile tokens."""
    known = {
        (4.0, 0.0): 0.5207,
        (4.0, 0.5): 0.3328,
        (4.0, 0.7): 0.2889,
        (16.0, 0.5): 0.2899,
        (16.0, 0.7): 0.2759,
    }
    gap = max(abs(runs.mean_field_risk(*k) - v) for k, v in known.items())
    claim = "two stages, beta = 4 and 16, depth to 0.7: risks off another solver"
    return at_most(claim, paper("two stages"), "experiment", gap, 1e-3)


def noise_is_removed(p: Parameters):
    """Stage one stops when the second moment has fallen from a^2 + 1 to a^2."""
    x = runs.refined(runs.quantiles(1200), 16.0, 0.7)
    claim = "beta = 16, depth 0.7, 1200 quantile tokens: second moment of the context"
    note = "4 without noise; 3.991 by steps of 0.025, for it grows from small errors"
    found, where = np.mean(x**2), paper("two stages")
    return within(claim, where, "experiment", found, 3.9959248, 1e-5, note)


def _off_the_known(p: Parameters, prior: str) -> tuple[float, str]:
    """The largest distance in standard errors of both, and where it is."""
    far = {
        name: abs(found - known) / np.hypot(error, other)
        for name, (known, other) in KNOWN[prior].items()
        for found, error in [_regret(p, name, prior)]
    }
    name = max(far, key=far.__getitem__)
    return far[name], f"{name}: {_regret(p, name, prior)[0]:.4f}"


def regrets_for_two_points(p: Parameters):
    """Eight denoisers of the two-point prior, the NPMLE among them."""
    gap, note = _off_the_known(p, "two points")
    claim = "two points, eight denoisers: regrets off another program, standard errors"
    return at_most(claim, paper("experiments"), "experiment", gap, 3.0, note)


def regrets_for_a_uniform_prior(p: Parameters):
    """Six denoisers of the uniform prior on [-3, 3]."""
    gap, note = _off_the_known(p, "uniform")
    claim = "uniform prior, six denoisers: regrets off another program, standard errors"
    return at_most(claim, paper("experiments"), "experiment", gap, 3.0, note)


def tuned_depth_ties(p: Parameters):
    """Two-point prior: at its own depth, two stages tie with the NPMLE."""
    mine, errors = _regret(p, "two stages, T = 1.3")
    other, more = _regret(p, "NPMLE")
    claim = "two points: regret of two stages, T = 1.3, off that of the NPMLE"
    note = f"{mine:.4f} and {other:.4f}; T was tuned on other draws"
    where, band = paper("experiments"), 3 * np.hypot(errors, more) + 1e-3
    return at_most(claim, where, "experiment", abs(mine - other), band, note)


def another_prior_another_depth(p: Parameters):
    """Uniform prior: the depth that is right for atoms is wrong here."""
    deep = _regret(p, "two stages, T = 1.3", "uniform")[0]
    right = _regret(p, "two stages, T = 0.55", "uniform")[0]
    claim = "uniform prior on [-3, 3]: regret at T = 1.3 over that at T = 0.55"
    note = f"{deep:.3f} and {right:.3f}; the NPMLE has nothing to choose"
    return at_least(claim, paper("experiments"), "experiment", deep / right, 1.5, note)


def too_shallow_for_atoms(p: Parameters):
    """Two-point prior: the depth that is right for a spread prior is too short."""
    short = _regret(p, "two stages, T = 0.55")[0]
    deep = _regret(p, "two stages, T = 1.3")[0]
    claim = "two points: regret at T = 0.55 over that at T = 1.3"
    note = f"{short:.3f} and {deep:.3f}"
    return at_least(claim, paper("experiments"), "experiment", short / deep, 2.0, note)


def gaussian_prior(p: Parameters):
    """tau^2 = 1.5: one step reaches Bayes at one beta."""
    beta = theory.gaussian_beta(np.sqrt(1.5))
    found = theory.gaussian_one_step_risk(beta, np.sqrt(1.5))
    claim = "Gaussian prior, tau^2 = 1.5: risk of one step at beta = 0.6 (Bayes 0.6)"
    return within(claim, DERIVED, "identity", found, 0.6, 1e-12)


def recovery(p: Parameters):
    """The authors' theorem on recovery."""
    return open_claim(
        "two stages recover the prior as tokens and depth grow",
        paper("recovery theorem"),
        "theorem",
        "its statement and its schedule of the noise were not available",
    )


CLAIMS = (
    best_risk,
    one_step_undersmooths,
    residual_step_is_tweedie,
    two_stages_in_the_limit,
    noise_is_removed,
    regrets_for_two_points,
    regrets_for_a_uniform_prior,
    tuned_depth_ties,
    another_prior_another_depth,
    too_shallow_for_atoms,
    gaussian_prior,
    recovery,
)
