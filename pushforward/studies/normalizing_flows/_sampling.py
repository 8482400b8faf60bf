"""Theorem (ii): random neurons; Knothe-Rosenblatt maps; a conditional sampler."""

import jax
import numpy as np
from scipy.stats import kstest

import pushforward as pf
from pushforward.control import normalizing
from pushforward.studies import Claim
from pushforward.studies.normalizing_flows._runs import (
    DIMENSIONS,
    SWITCHES,
    conditional_flow,
    maurey_errors,
    patients,
    turn_error,
)
from pushforward.studies.normalizing_flows.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)

WHERE = paper("theorem (ii)")


def maurey_slope(d: int):
    """The error of random switching falls like N^{-1/2} in dimension d."""

    def claim(p: Parameters) -> Claim:
        errors = maurey_errors(d, p.repetitions)
        slope = np.polyfit(np.log(SWITCHES), np.log(errors), 1)[0]
        text = f"random neurons, d = {d}: slope of log error, N = 64 to 4096"
        return within(text, WHERE, "theorem", slope, -0.5, 0.07)

    return claim


def in_turn(p: Parameters):
    """All neurons in turn, every second round backward: second order."""
    rounds = np.array([4, 8, 16, 32])
    errors = [turn_error(10, int(r)) for r in rounds]
    slope = np.polyfit(np.log(rounds), np.log(errors), 1)[0]
    note = (
        "in one fixed order the error is O(1/rounds); turning around "
        f"gains an order. Error {errors[-1]:.1e} with 1,280 pieces"
    )
    claim = "40 neurons in turn, forth and back: slope of log error against rounds"
    return within(claim, WHERE, "experiment", slope, -2.0, 0.2, note)


def curved_law(p: Parameters):
    """A Knothe-Rosenblatt map learned from samples of a known law."""
    rng = np.random.default_rng(p.seed)

    def draw(n):
        x = rng.standard_normal(n)
        return np.column_stack([x, x**2 + np.exp(0.4 * x) * rng.standard_normal(n)])

    learn, test = draw(500), draw(2000)
    flow = normalizing.knothe_rosenblatt(learn, key=jax.random.key(p.seed))
    found = float(np.asarray(flow.log_density(test)).mean())
    z = test.copy()
    z[:, 1] = (test[:, 1] - test[:, 0] ** 2) * np.exp(-0.4 * test[:, 0])
    law = pf.StandardNormal().log_density(z) - 0.4 * test[:, 0]
    gap = float(np.asarray(law).mean()) - found
    claim = "500 samples of a bent law: held-out log-likelihood below the truth by"
    note = f"{flow.pieces} pieces; Knothe-Rosenblatt from samples"
    return at_most(claim, WHERE, "experiment", gap, 0.2, note)


def patients_likelihood(p: Parameters):
    """The conditional sampler against a linear Gaussian model, on held-out patients."""
    learn, test = patients()
    flow = conditional_flow(p.seed)
    found = float(np.asarray(flow.log_density(test)).mean())
    design = [np.column_stack([np.ones(len(x)), x[:, :2]]) for x in (learn, test)]
    fit, residual, *_ = np.linalg.lstsq(design[0], learn[:, 2], rcond=None)
    s = np.sqrt(residual[0] / len(learn))
    gap = (test[:, 2] - design[1] @ fit) / s
    linear = float((-0.5 * gap**2 - np.log(s) - 0.5 * np.log(2 * np.pi)).mean())
    claim = "diabetes given body mass and triglycerides: log-likelihood, held out"
    note = f"{flow.pieces} pieces; the bound is linear regression with Gaussian noise"
    return at_least(
        claim, paper("conditional flows"), "experiment", found, linear, note
    )


def patients_calibration(p: Parameters):
    """Held-out patients, carried back, are Gaussian."""
    _, test = patients()
    z = np.asarray(conditional_flow(p.seed).inverse(test))[:, 2]
    claim = "held-out patients carried back: Kolmogorov distance to the Gaussian"
    bound, gap = 1.36 / np.sqrt(len(z)), float(kstest(z, "norm").statistic)
    note = "the bound is the 95 % quantile for perfectly calibrated draws"
    where = paper("conditional flows")
    return at_most(claim, where, "experiment", gap, bound, note)


def untouched(p: Parameters):
    """Conditioned coordinates come out as they went in, bit for bit."""
    _, test = patients()
    flow = conditional_flow(p.seed)
    drawn = flow.sample(jax.random.key(p.seed), len(test), given=test[:, :2])
    moved = np.abs(np.asarray(drawn)[:, :2] - test[:, :2]).max()
    claim = "conditional sampler: how far the conditioned coordinates move"
    return within(claim, paper("conditional flows"), "identity", moved, 0.0, 0.0)


def barron_norms(p: Parameters):
    """Which laws have Knothe-Rosenblatt maps with Barron velocities."""
    claim = "Knothe-Rosenblatt maps of smooth laws are flows of Barron velocities"
    why = "the norm and its bound are not available; only the rate is measured"
    return open_claim(claim, WHERE, "theorem", why)


CLAIMS = (
    *(maurey_slope(d) for d in DIMENSIONS),
    in_turn,
    curved_law,
    patients_likelihood,
    patients_calibration,
    untouched,
    barron_norms,
)
