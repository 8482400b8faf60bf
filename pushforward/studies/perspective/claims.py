"""Every claim, theorem by theorem; here: optimal codes, and beyond the paper."""

import dataclasses
import functools
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq
from scipy.special import ive

import pushforward as pf
from pushforward import theory
from pushforward.studies import Claim
from pushforward.studies.perspective import (
    _circle,
    _collapse,
    _concentration,
    _energy,
    _plateaus,
    runs,
)
from pushforward.studies.perspective._ensemble import seen
from pushforward.studies.perspective.runs import NOISY, SOLIDS, repelled
from pushforward.studies.perspective.study import (
    Parameters,
    open_claim,
    paper,
    survey,
    within,
)

STARTS = 8


@functools.lru_cache
def spread_out(p: Parameters, name: str) -> np.ndarray:
    """The tokens of the lowest energy among a few random starts, after repulsion."""
    one = repelled(p, name)
    ends = seen([dataclasses.replace(one, seed=one.seed + r) for r in range(STARTS)])
    energy = pf.InteractionEnergy(SOLIDS[name][1])
    found = [pf.Particles(pf.Sphere(3), x) for x in ends[:, -1]]
    return np.asarray(min(found, key=lambda mu: float(energy.plain(mu))).points)


def _code(name: str) -> Callable[[Parameters], Claim]:
    n, beta, cosines = SOLIDS[name]

    def claim(p: Parameters) -> Claim:
        mu = pf.Particles(pf.Sphere(3), spread_out(p, name))
        measured = float(pf.InteractionEnergy(beta).plain(mu))
        others = sum(m * np.exp(beta * c) for c, m in cosines.items())
        predicted = (np.exp(beta) + others) / (2 * beta * n)
        note = f"lowest of {STARTS} random starts, t = 400"
        where = paper("repulsive case, optimal codes")
        return within(words, where, "theorem", measured, predicted, 1e-10, note)

    words = f"Repulsion of {n} tokens on S^2 at beta = {beta:g} ends in the {name}."
    claim.__doc__ = words
    return claim


CONTEXT = 600
RHO = 0.3


@functools.lru_cache
def pre_norm_run(p: Parameters) -> dict[str, np.ndarray]:
    """n = 16 orthonormal tokens, beta = 2: 1 - cosine over time with Pre-LN."""
    run = runs.pre_norm().run()
    return {"times": np.asarray(run.times), "gap": run.observe(_first_gap)}


def _first_gap(mu: pf.Particles):
    """1 - <theta_1, theta_2> without cancellation."""
    theta = mu.points / jnp.linalg.norm(mu.points, axis=1, keepdims=True)
    return jnp.sum((theta[0] - theta[1]) ** 2) / 2


def pre_norm_law(p: Parameters) -> Claim:
    """Pre-LN: (1 - rho) t^2 at t = 100 (n = 16, beta = 2, orthonormal start)."""
    run = pre_norm_run(p)
    k = int(np.argmin(np.abs(run["times"] - 100.0)))
    predicted = float(theory.normalization.pre_norm(100.0, 2.0, 16).gap) * 1e4
    claim, where = str(pre_norm_law.__doc__), survey("layer normalization")
    measured, tolerance = run["gap"][k] * 1e4, 1e-5 * predicted
    return within(claim, where, "theorem", measured, predicted, tolerance)


def pre_norm_exponent(p: Parameters) -> Claim:
    """Pre-LN: 1 - rho decays like t^(-2), not exponentially."""
    run = pre_norm_run(p)
    slope = np.log(run["gap"][-1] / run["gap"][-8])
    slope /= np.log(run["times"][-1] / run["times"][-8])
    claim, where = str(pre_norm_exponent.__doc__), survey("layer normalization")
    note = f"slope between t = {run['times'][-8]:.0f} and 1000"
    return within(claim, where, "theorem", slope, -2.0, 0.02, note)


def layer_overlap(gamma: float, rho: float, n: int) -> float:
    """Cosine between two outputs of one attention layer on n equiangular tokens."""
    x = np.sqrt(rho) * np.eye(n + 1)[:1] + np.sqrt(1 - rho) * np.eye(n + 1)[1:]
    mu = pf.Particles(pf.Sphere(n + 1), x)
    y = pf.Attention(gamma * np.log(n)).at(0.0, mu.points[:2], mu)
    return float(y[0] @ y[1] / jnp.linalg.norm(y[0]) / jnp.linalg.norm(y[1]))


def _long_context(factor: float) -> Callable[[Parameters], Claim]:
    def claim(p: Parameters) -> Claim:
        gamma = factor * float(theory.long_context.critical_gamma(RHO))
        measured = layer_overlap(gamma, RHO, CONTEXT)
        predicted = float(theory.long_context.output_overlap(gamma, RHO, CONTEXT))
        limit = float(theory.long_context.output_overlap_limit(gamma, RHO))
        note = f"n = {CONTEXT}, rho = {RHO}; the limit of long contexts is {limit:.6f}"
        where = survey("long context")
        return within(words, where, "theorem", measured, predicted, 1e-10, note)

    words = (
        f"Long context: overlap after one layer at {factor:g} times the critical gamma."
    )
    claim.__doc__ = words
    return claim


def long_context_limit(p: Parameters) -> Claim:
    """Long context: at the critical gamma the overlap tends to 4 rho / (1 + 3 rho)."""
    gamma = float(theory.long_context.critical_gamma(RHO))
    measured = layer_overlap(gamma, RHO, CONTEXT)
    predicted = float(theory.long_context.output_overlap_limit(gamma, RHO))
    claim, where = str(long_context_limit.__doc__), survey("long context")
    note = f"n = {CONTEXT}; the tolerance is 1/n"
    return within(claim, where, "theorem", measured, predicted, 1 / CONTEXT, note)


@functools.lru_cache
def noisy_kuramoto(p: Parameters) -> dict[float, np.ndarray]:
    """r over time (runs, frames) of noisy tokens on the circle, beta = 0, per kappa."""
    count, kappas = 4, (1.0, 4.0)
    systems = [
        dataclasses.replace(one, seed=one.seed + r)
        for one in (runs.noisy(p, kappa) for kappa in kappas)
        for r in range(count)
    ]
    r = seen(systems, pf.observables.order_parameter).reshape(2, count, -1)
    return dict(zip(kappas, r, strict=True))


def noise_below(p: Parameters) -> Claim:
    """Noise below the threshold kappa = 2 (beta = 0, d = 2): no order at kappa = 1."""
    r = noisy_kuramoto(p)[1.0][:, 20:]
    threshold = theory.stability.noise_threshold(0.0, 2)
    # About the uniform state the first Fourier mode is an Ornstein-Uhlenbeck process
    # of variance 1 / (n (1 - kappa / threshold)).
    fluctuation = 1 / np.sqrt(NOISY * (1 - 1.0 / threshold))
    claim, where = str(noise_below.__doc__), survey("noisy attention")
    note = (
        f"rms of r for t >= 10, {len(r)} runs, n = {NOISY}; the tolerance is four "
        "standard errors of some 30 independent values"
    )
    rms, tolerance = np.sqrt(np.mean(r**2)), 4 * fluctuation / (2 * np.sqrt(30))
    return within(claim, where, "theorem", rms, fluctuation, tolerance, note)


def noise_above(p: Parameters) -> Claim:
    """Noise above the threshold kappa = 2 (beta = 0, d = 2): r at kappa = 4."""
    r = noisy_kuramoto(p)[4.0][:, 40:]
    # The stationary density e^{kappa r cos} has r = I_1(kappa r) / I_0(kappa r).
    balance = lambda r: ive(1, 4 * r) / ive(0, 4 * r) - r  # noqa: E731
    predicted = brentq(balance, 0.1, 1.0)
    claim, where = str(noise_above.__doc__), survey("noisy attention")
    note = f"mean for t >= 20 of {len(r)} runs with n = {NOISY}; tolerance 1/sqrt(n)"
    mean, tolerance = float(r.mean()), NOISY**-0.5
    return within(claim, where, "theorem", mean, predicted, tolerance, note)


def trained_model(p: Parameters) -> Claim:
    """Figure 1: cosines between tokens move to one through the layers of ALBERT."""
    why = (
        "needs the trained weights of albert-xlarge-v2 and a paragraph of text, which "
        "do not ship with the library"
    )
    return open_claim(str(trained_model.__doc__), paper("figure 1"), "experiment", why)


def concentration_constant(p: Parameters) -> Claim:
    """The dimension d*(n, beta) from which concentration holds."""
    why = "d* is not explicit, and the constant c^(nt) with c = e^10 is out of reach"
    claim = str(concentration_constant.__doc__)
    return open_claim(claim, paper("theorem 6.9"), "theorem", why)


CLAIMS = (
    *_energy.CLAIMS,
    *(_code(name) for name in SOLIDS),
    *_collapse.CLAIMS,
    *_concentration.CLAIMS,
    *_plateaus.CLAIMS,
    *_circle.CLAIMS,
    pre_norm_law,
    pre_norm_exponent,
    *(_long_context(factor) for factor in (0.8, 1.0, 1.2)),
    long_context_limit,
    noise_below,
    noise_above,
    concentration_constant,
    trained_model,
)
