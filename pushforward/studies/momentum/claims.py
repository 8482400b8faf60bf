"""Every claim of the study."""

import numpy as np

from pushforward.studies.momentum import runs
from pushforward.studies.momentum.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import momentum as theory

DERIVED = paper("its layer on the sphere, derived here")


def layers_by_kind(p: Parameters):
    """Layers that two orthogonal tokens take, gamma = 0.1: nine exact numbers."""
    known = {"gradient": (42, 195, 1970), "heavy ball": (28, 49, 239)}
    known["Nesterov"] = (8, 37, 235)
    wrong = sum(
        runs.layers_needed(kind, beta) != count
        for kind, counts in known.items()
        for beta, count in zip((1.0, 5.0, 8.0), counts, strict=True)
    )
    claim = (
        "gradient, heavy ball, Nesterov at beta = 1, 5, 8: counts that differ, of nine"
    )
    return at_most(claim, DERIVED, "experiment", wrong, 0)


def time_without_friction(p: Parameters):
    """The energy quadrature against the equation of motion."""
    found = theory.damped_time(5.0, 0.0)
    claim = (
        "two orthogonal tokens, beta = 5, no friction: time by the equation of motion"
    )
    known = theory.undamped_time(5.0)
    return within(claim, DERIVED, "identity", found, known, 1e-7)


def lifetimes_are_square_roots(p: Parameters):
    """First order waits e^beta, momentum e^{beta/2}."""
    betas = np.array([8.0, 16.0])
    first, second = (
        np.diff(np.log([time(b) * b**power for b in betas]))[0] / 8.0
        for time, power in ((theory.first_order_time, 1), (theory.nesterov_time, 0.5))
    )
    claim = "beta = 8 to 16: exponent of the first-order time over that of Nesterov"
    note = f"{first:.4f} and {second:.4f} per unit of beta"
    return within(claim, DERIVED, "identity", first / second, 2.0, 0.02, note)


def asymptote_of_nesterov(p: Parameters):
    """tau* e^{beta/2} / sqrt(2 beta), tau* the blow-up time of y'' + (3/t) y' = e^y."""
    known = theory.plateau_constant() * np.exp(8.0) / np.sqrt(32.0)
    claim = "beta = 16, friction 3/t: time over its asymptote"
    ratio = theory.nesterov_time(16.0) / known
    return within(claim, DERIVED, "identity", ratio, 1.0, 0.009)


def pendulum(p: Parameters):
    """beta = 0: the quarter period is an elliptic integral."""
    claim = "beta = 0, no friction, from angle 2: time to meet"
    found = theory.pendulum_time(2.0)
    return within(claim, DERIVED, "identity", found, 2.0874382317, 1e-9)


def radius_of_a_layer(p: Parameters):
    """Near one cluster: Nesterov with b = 1/2 contracts by 3/4 per layer."""
    found = runs.measured_radius(p)
    claim = "six tokens near one point, gamma = 0.1, b = mu = 1/2: factor per layer"
    known = theory.layer_radius(0.1, 0.5, 0.5)
    return within(claim, DERIVED, "identity", found, known, 2e-3)


def no_gain_near_one_cluster(p: Parameters):
    """Every deviation has one rate, so that friction 2 is best and gains nothing."""
    critical, plain = theory.damped_time(1.0, 2.0), theory.first_order_time(1.0)
    claim = "beta = 1, critical friction: time over that of first order"
    note = "the gain is on plateaus"
    return at_least(claim, DERIVED, "identity", critical / plain, 1.0, note)


def best_radius(p: Parameters):
    """Heavy ball and Nesterov at their best: 1 - sqrt(gamma), against 1 - gamma."""
    root = np.sqrt(0.1)
    b = (1 - root) / (1 + root)
    gap = max(
        abs(theory.layer_radius(0.1, b, b) - (1 - root)),
        abs(theory.layer_radius(0.1, (1 - root) ** 2) - (1 - root)),
    )
    claim = "gamma = 0.1: best radius of both off 1 - sqrt(gamma)"
    return at_most(claim, DERIVED, "identity", gap, 1e-7)


def training(p: Parameters):
    """The paper's own result is about trained models."""
    claim = "a Transformer with Nesterov layers trains to a lower loss"
    where, why = paper("experiments"), "needs pretraining of language models"
    return open_claim(claim, where, "experiment", why)


CLAIMS = (
    layers_by_kind,
    time_without_friction,
    lifetimes_are_square_roots,
    asymptote_of_nesterov,
    pendulum,
    radius_of_a_layer,
    no_gain_near_one_cluster,
    best_radius,
    training,
)
