"""Every claim: the main theorem at one instance, and what it is built from."""

import functools

import numpy as np
from scipy.integrate import quad

import pushforward as pf
from pushforward import theory
from pushforward.studies.metastability import _times
from pushforward.studies.metastability.runs import (
    BETA,
    EPSILON,
    N,
    bounds,
    in_caps,
    in_one_cap,
)
from pushforward.studies.metastability.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    refuted,
    within,
)

CENTERS = np.repeat(np.eye(3), 2, axis=0)
LEAN = "refuted in Lean, too: github.com/fxeqxmulfx/transformer, Metastability/"
meta = theory.metastability


@functools.cache
def instance() -> tuple[np.ndarray, np.ndarray]:
    """Times to T_2 and points."""
    run = in_caps().run()
    return np.asarray(run.times), np.asarray(run.points)


def tokens_stay_in_their_caps(p: Parameters):
    """(1) of the theorem: S_q(2 epsilon) is not left before T_2."""
    own = np.einsum("tnd,nd->tn", instance()[1], CENTERS)
    return at_least(
        "3 orthonormal caps, beta = 30: tokens stay in S_q(2 epsilon) to T_2 = 1.5e5",
        paper("main theorem (1)"),
        "theorem",
        own.min(),
        1 - 2 * EPSILON,
        "min <x, w_q>",
    )


def caps_collapse(p: Parameters):
    """(2) of the theorem: squared distances below 2 e^{-lambda beta} after T_1."""
    times, x = instance()
    apart = ((x[:, ::2] - x[:, 1::2]) ** 2).sum(-1).max(1)
    b = bounds()
    return at_most(
        "the same run: squared distance inside caps on [T_1, T_2], T_1 = 317",
        paper("main theorem (2)"),
        "theorem",
        apart[times >= b["entry"]].max(),
        2 * np.exp(-b["exponent"] * BETA),
    )


def inner_products_grow(p: Parameters):
    """d rho/dt >= (2/n) rho (1-rho) e^{beta (rho-1)} - 2 n e^{-(1-alpha) beta}."""
    rng, field, slack = np.random.default_rng(p.seed), pf.Attention(BETA), []
    alpha = bounds()["alpha"]
    for _ in range(p.draws):
        tilt = np.arccos(1 - 2 * EPSILON) * np.sqrt(rng.uniform(size=(N, 1)))
        side = rng.standard_normal((N, 3))
        side -= (side * CENTERS).sum(1, keepdims=True) * CENTERS
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        x = np.cos(tilt) * CENTERS + np.sin(tilt) * side
        v = np.asarray(field(0.0, pf.Particles(pf.Sphere(3), x)).v)
        products = (x[::2] * x[1::2]).sum(1)
        q = int(products.argmin())
        i, j, rho = 2 * q, 2 * q + 1, products[q]
        rate = v[i] @ x[j] + x[i] @ v[j]
        grow = 2 / N * rho * (1 - rho) * np.exp(BETA * (rho - 1))
        slack.append(rate - (grow - 2 * N * np.exp(-(1 - alpha) * BETA)))
    claim = "the smallest product in a cap grows as fast as its bound: least excess"
    where = paper("building blocks")
    note = f"{p.draws} configurations in S_q(2 epsilon)"
    return at_least(claim, where, "theorem", min(slack), 0.0, note)


def scalar_contraction(p: Parameters):
    """u' = u (1-u) e^{beta (u-1)} reaches 1 - e^{-c beta} before its bound."""
    u_0, beta, c = 0.8, 20.0, 0.5
    slowness = lambda s: np.exp(beta * np.exp(s)) / (1 - np.exp(s))  # noqa: E731
    exact, _ = quad(slowness, -c * beta, np.log(1 - u_0), limit=200)
    bound = meta.contraction_time(u_0, beta, c)
    claim = "u' = u (1-u) e^{beta (u-1)}: time to 1 - u = e^{-c beta}, over its bound"
    return at_most(claim, paper("building blocks"), "theorem", exact / bound, 1.0)


def _crossing() -> float:
    """c times the time at which u' = -c log(beta) sin u is sqrt(log beta / beta)."""
    log_beta, u_0 = 1e6, 1.0
    # log tan(u/2) falls linearly; at the crossing u/2 is small and tan is its argument
    log_half = 0.5 * (np.log(log_beta) - log_beta) - np.log(2)
    return float((np.log(np.tan(u_0 / 2)) - log_half) / log_beta)


def crossing_as_printed(p: Parameters):
    """The scalar lemma prints the crossing time 2/c."""
    claim = "crossing time of u' = -c log(beta) sin u, times c, as printed"
    return refuted(claim, paper("section 6"), _crossing(), 2.0, 1e-4)


def crossing_of_the_scalar_lemma(p: Parameters):
    """u' = -c log(beta) sin u crosses sqrt(log beta / beta) at 1/(2c), not 2/c."""
    claim = "crossing time of u' = -c log(beta) sin u at log(beta) = 1e6, times c"
    note = "the paper prints 2/c; separation of variables gives 1/(2c)"
    return within(claim, paper("section 6"), "erratum", _crossing(), 0.5, 1e-4, note)


@functools.cache
def spent_energy() -> float:
    """E(v) - E(u) over c |u - v|^2: u gathers in v, with c of Polyak-Lojasiewicz.

    c is the least |grad E|^2 / (2 (E(v) - E)) on the way, everything in W_2.
    """
    run, field = in_one_cap().run(), pf.GradientFlow(-pf.InteractionEnergy(BETA))
    energy = np.asarray(run.observe(pf.InteractionEnergy(BETA)))
    squares = run.observe(lambda mu: np.mean(np.sum(field(0.0, mu).v ** 2, axis=1)))
    left = energy[-1] - energy
    seen = left > 1e-6 * left[0]
    c = (np.asarray(squares)[seen] / (2 * left[seen])).min()
    angles = [np.arctan2(x[:, 1], x[:, 0]) for x in np.asarray(run.points)[[0, -1]]]
    return float(left[0] / (c * np.mean((angles[0] - angles[1]) ** 2)))


def distance_by_energy_as_printed(p: Parameters):
    """The lemma that turns Polyak-Lojasiewicz into a distance prints 2c |u - v|^2."""
    claim = "four tokens of one cap gather: energy over c |u - v|^2, printed at least 2"
    note = f"{LEAN}ExponentialFlow; a factor 2 of (sqrt f)' = f'/(2 sqrt f) was dropped"
    return refuted(claim, paper("section 3.2, lemma"), spent_energy(), 2.0, 1.0, note)


def distance_by_energy(p: Parameters):
    """Its proof gives (c/2) |u - v|^2, which is what is used."""
    claim = "the same against the constant of its proof, 1/2"
    where = paper("section 3.2, lemma (corrected)")
    # quadratic energies attain it; c is the least of 40 frames
    return at_least(claim, where, "erratum", spent_energy(), 0.5 - 1e-3)


def slow_motion_as_printed(p: Parameters):
    """The theorem after Otto and Reznikoff at t = 0, where delta plays no part."""
    claim = "|u - v| + sqrt(E(u) - E(v)) over sqrt(E(u) - E(v)) at t = 0, printed 1"
    where = paper("section 3.1, theorem after Otto and Reznikoff")
    measured = 1 + spent_energy() ** -0.5  # with c = 1, as its hypothesis has it
    note = f"a factor 1 + sqrt(2) is missing; {LEAN}OttoReznikoff"
    return refuted(claim, where, measured, 1.0, 0.5, note)


def random_tokens_in_high_dimension(p: Parameters):
    """Uniform tokens are within sqrt(4 log d / d) of an orthonormal frame."""
    rng, n, d = np.random.default_rng(p.seed), 6, 2048
    inside = 0
    for _ in range(p.draws):
        x = rng.standard_normal((n, d))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        u, _, w = np.linalg.svd(x, full_matrices=False)
        inside += np.linalg.norm(x - u @ w, axis=1).max() <= np.sqrt(4 * np.log(d) / d)
    return at_least(
        "d = 2048, n = 6: share of draws close to an orthonormal frame",
        paper("initial data"),
        "experiment",
        inside / p.draws,
        0.99,
        "proved with probability 1 - 2 n^2 d^{-1/64}, void below d = (2 n^2)^64",
    )


def mean_field_version(p: Parameters):
    """The same for measures."""
    return open_claim(
        "mean-field version: caps of a density collapse before T_2",
        paper("mean-field section"),
        "theorem",
        "needs densities on the sphere at beta of order 30, which are not resolved yet",
    )


def separation_on_the_circle_is_rare(p: Parameters):
    """d = 2: the probability of being separated is at most c^n."""
    return open_claim(
        "uniform tokens on the circle are separated with probability at most c^n",
        paper("initial data"),
        "theorem",
        "c is not explicit in the paper, so there is no number to compare with",
    )


CLAIMS = (
    tokens_stay_in_their_caps,
    caps_collapse,
    inner_products_grow,
    scalar_contraction,
    crossing_as_printed,
    crossing_of_the_scalar_lemma,
    distance_by_energy_as_printed,
    distance_by_energy,
    slow_motion_as_printed,
    random_tokens_in_high_dimension,
    mean_field_version,
    separation_on_the_circle_is_rare,
    *_times.CLAIMS,
)
