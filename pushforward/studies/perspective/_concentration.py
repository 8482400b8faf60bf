"""High dimension: equiangular tokens, concentration, the phase curve."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies import Claim
from pushforward.studies.perspective import runs
from pushforward.studies.perspective._ensemble import (
    attention,
    followed,
    replicas,
    seen,
    starts,
)
from pushforward.studies.perspective._plateaus import CLOSE
from pushforward.studies.perspective.study import Parameters, at_most, paper, within

TOKENS = 8
TIMES = (0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 8.0)
DIMENSIONS = (64, 256, 1024)
PER_DIMENSION = 16
FRAME = pf.Given(pf.Sphere(TOKENS), np.eye(TOKENS))
FRONT_BETAS = (1.0, 4.0, 5.0, 6.0)


def _cosines(x: np.ndarray) -> np.ndarray:
    """All <x_i, x_j>, i < j, of (..., n, d) points."""
    i, j = np.triu_indices(x.shape[-2], k=1)
    return np.sum(x[..., i, :] * x[..., j, :], axis=-1)


@functools.lru_cache
def _eight_tokens(p: Parameters) -> dict[Any, np.ndarray]:
    """Orthonormal starts at beta = 0, 1, 4; random ones in high d at beta = 1."""
    begun = [FRAME] * 3
    for d in DIMENSIONS:
        key = pf.key_for(p.seed, f"high {d}")
        begun += starts(d, TOKENS, PER_DIMENSION, key)
    betas = [0.0, 1.0, 4.0] + [1.0] * (len(begun) - 3)
    x = followed(attention(betas), begun, TIMES)
    ends = 3 + PER_DIMENSION * np.arange(len(DIMENSIONS))
    parts = np.split(x, ends)
    return dict(zip(("orthonormal", *DIMENSIONS), parts, strict=False))


def _equiangular(beta: float) -> Callable[[Parameters], Claim]:
    def claim(p: Parameters) -> Claim:
        x = _eight_tokens(p)["orthonormal"][(0.0, 1.0, 4.0).index(beta)]
        cosines = _cosines(x[1:5])
        times = np.array(TIMES[1:5])
        predicted = np.asarray(theory.equiangular.gamma(times, beta, TOKENS))
        k = int(np.argmax(np.abs(cosines - predicted[:, None]).max(axis=1)))
        ptp = np.ptp(cosines[k])
        note = f"worst of four times, t = {TIMES[k + 1]:g}; pairs differ by {ptp:.1g}"
        numbers = float(cosines[k].mean()), float(predicted[k]), 1e-8
        return within(words, paper("theorem 6.8"), "theorem", *numbers, note)

    words = f"Orthonormal tokens stay equiangular under SA, n = 8, beta = {beta:g}."
    claim.__doc__ = words
    return claim


def equiangular_unnormalized(p: Parameters) -> Claim:
    """Orthonormal tokens stay equiangular under USA, n = 8, beta = 1."""
    field = pf.UnnormalizedAttention(1.0)
    x = followed([field], [FRAME], (0.0, 0.5, 1.0, 2.0))
    cosines = _cosines(x[0, -1])
    predicted = float(theory.equiangular.gamma_unnormalized(2.0, 1.0, TOKENS))
    claim, where = str(equiangular_unnormalized.__doc__), paper("theorem 6.8")
    note = f"t = 2; pairs differ by {np.ptp(cosines):.1g}"
    return within(claim, where, "theorem", cosines.mean(), predicted, 1e-8, note)


def _deviation(p: Parameters, d: int, k: int) -> tuple[float, float]:
    """sqrt(d) times the rms distance of cosines from gamma, and its standard error."""
    cosines = _cosines(_eight_tokens(p)[d][:, k])
    gamma = theory.equiangular.gamma(TIMES[k], 1.0, TOKENS)
    squares = d * np.mean((cosines - gamma) ** 2, axis=1)
    rms = np.sqrt(squares.mean())
    return rms, squares.std(ddof=1) / np.sqrt(len(squares)) / (2 * rms)


def concentration(p: Parameters) -> Claim:
    """Rms of <x_i, x_j> - gamma is 1/sqrt(d) at t = 1 (n = 8, beta = 1)."""
    found = [_deviation(p, d, TIMES.index(1.0)) for d in DIMENSIONS]
    rms, error = (np.array(column) for column in zip(*found, strict=True))
    tolerance = 0.05 + 4 * error
    k = int(np.argmax(np.abs(rms - 1) / tolerance))
    claim, where = str(concentration.__doc__), paper("theorem 6.9")
    shown = ", ".join(
        f"{r:.3f} (d = {d})" for d, r in zip(DIMENSIONS, rms, strict=True)
    )
    note = f"sqrt(d) rms: {shown}; 5 % plus four standard errors"
    return within(claim, where, "theorem", rms[k], 1.0, tolerance[k], note)


def concentration_rate(p: Parameters) -> Claim:
    """The deviation from gamma falls like d^(-1/2) from d = 64 to 1024, t = 3."""
    found = [_deviation(p, d, TIMES.index(3.0)) for d in DIMENSIONS]
    rms, error = (np.array(column) for column in zip(*found, strict=True))
    slope = np.log(rms[-1] / rms[0]) / np.log(DIMENSIONS[-1] / DIMENSIONS[0]) - 0.5
    errors = 4 * np.hypot(error[0] / rms[0], error[-1] / rms[-1])
    tolerance = 0.05 + errors / np.log(DIMENSIONS[-1] / DIMENSIONS[0])
    claim, where = str(concentration_rate.__doc__), paper("theorem 6.9")
    note = f"the exponent is {slope:.3f}, off -1/2 by at most four errors + 0.05"
    return at_most(claim, where, "theorem", abs(slope + 0.5), tolerance, note)


def consensus_rate(p: Parameters) -> Claim:
    """Near consensus SA tokens approach each other like e^{-t}, any beta."""
    x = _eight_tokens(p)["orthonormal"][1:]
    before, after = x[:, -2, 0] - x[:, -2, 1], x[:, -1, 0] - x[:, -1, 1]
    rates = np.log(np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1))
    claim, where = str(consensus_rate.__doc__), paper("theorem 6.3")
    predicted = float(theory.stability.consensus_rate(1.0))
    note = "beta = 1, log of the ratio of distances at t = 7 and 8"
    return within(claim, where, "theorem", rates[0], predicted, 1e-3, note)


@functools.lru_cache
def _front(p: Parameters) -> np.ndarray:
    """Close pairs (beta, replica, time) in dimension 1024, finely in time."""
    count = min(p.replicas, 64)
    close = seen(replicas(runs.front(p), FRONT_BETAS, count), CLOSE)
    return close.reshape(len(FRONT_BETAS), count, -1)


def _phase_curve(beta: float) -> Callable[[Parameters], Claim]:
    def claim(p: Parameters) -> Claim:
        times, mean = runs.FRONT_TIMES, _front(p)[FRONT_BETAS.index(beta)].mean(axis=0)
        k = int(np.argmax(mean >= 0.5))
        s = (0.5 - mean[k - 1]) / (mean[k] - mean[k - 1])
        measured = times[k - 1] + s * (times[k] - times[k - 1])
        predicted = float(theory.equiangular.merging_time(beta, runs.N))
        note = (
            "time at which half of the pairs are close; 2 % for finite d and sampling"
        )
        numbers = measured, predicted, 0.02 * predicted
        return within(words, paper("figure 3"), "theorem", *numbers, note)

    words = f"Figure 3: the front of d = 1024 lies on the curve at beta = {beta:g}."
    claim.__doc__ = words
    return claim


CLAIMS = (
    *(_equiangular(beta) for beta in (0.0, 1.0, 4.0)),
    equiangular_unnormalized,
    concentration,
    concentration_rate,
    consensus_rate,
    *(_phase_curve(beta) for beta in FRONT_BETAS),
)
