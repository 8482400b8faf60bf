"""Every claim of the study."""

import numpy as np

from pushforward.studies.frank_wolfe import runs
from pushforward.studies.frank_wolfe.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import frank_wolfe as theory

DERIVED = paper("derived here")
LINE, DESCENT = [[3.0], [-1.0]], [[-1.0]]
STEPS = [2 / (t + 2) for t in range(600)]


def tokens_find_their_vertex(p: Parameters):
    """B > 0: x(t) = a x(0) + (1 - a) v, a = prod (1 - gamma), layers of the library."""
    experiment = runs.layers(runs.INSIDE, 0.5, 8)
    x = np.asarray(experiment.start(0).points)
    known = theory.hull_limit(x, [0.5] * 8, runs.B)
    gap = np.abs(np.asarray(experiment.run().final.points) - known).max()
    claim = "five vertices and four tokens, eight layers of 1/2: off the theorem"
    return at_most(claim, paper("exponential convergence"), "theorem", gap, 1e-12)


def cells_of_the_metric(p: Parameters):
    """B decides the cells: with B = diag(1, 2) the second token changes its vertex."""
    x = np.concatenate([runs.VERTICES, runs.INSIDE])
    mine = [theory.hardmax_layers(x, [1.0], b)[6] for b in (runs.B, None)]
    found = [int(np.abs(runs.VERTICES - v).sum(axis=1).argmin()) for v in mine]
    claim = "token (-0.2, 0.3): its vertex under B = diag(1, 2), and under I as tenths"
    where = paper("exponential convergence")
    return within(claim, where, "theorem", found[0] + found[1] / 10, 1.2, 1e-9)


def small_steps_do_not_arrive(p: Parameters):
    """gamma_t = 2^{-t-1} is not bounded below, and tokens stop on their way."""
    steps = [2.0 ** -(t + 1) for t in range(200)]
    a = float(np.prod(1 - np.array(steps)))
    claim = "gamma = 2^(-t-1): share of the start that is left after 200 layers"
    note = "`exponentially fast` needs steps bounded below"
    return within(
        claim, paper("exponential convergence"), "erratum", a, 0.2887880951, 1e-9, note
    )


def rate_needs_the_origin(p: Parameters):
    """Tokens 3 and -1, B = -1: the origin leaves the hull, and J stops at 1/18."""
    J = theory.hardmax_layers(LINE, STEPS[:576], DESCENT)[1, 0] ** 2 / 2
    claim = "B < 0, tokens 3 and -1, t = 576: J over the printed bound 32/(t + 1)"
    note = "false as stated: the origin must lie in the hull at all times"
    return at_least(claim, paper("clustering rate"), "erratum", J * 577 / 32, 1.0, note)


def pair_at_finite_temperature(p: Parameters):
    """Two tokens stay apart for about e^{2 beta} / (8 beta gamma) layers."""
    layers = theory.pair_layers(8.0, 0.5)
    claim = (
        "beta = 8, gamma = 1/2: layers until u = 0.1, over e^{2 beta}/(8 beta gamma)"
    )
    ratio = layers / theory.pair_lifetime(8.0, 0.5)
    return within(claim, DERIVED, "identity", ratio, 1.0, 0.08, f"{layers} layers")


def first_jump_of_a_chain(p: Parameters):
    """Gumbel noise: a token of a pair jumps with probability 1 / (1 + e^{2 beta})."""
    rng = np.random.default_rng(p.seed)
    chance = 1 / (1 + np.exp(4.0))
    waits = np.minimum(*rng.geometric(chance, (2, p.chains)))
    claim = f"beta = 2, {p.chains} pairs that are drawn: layers until the first jump"
    known, error = theory.expected_first_jump(2.0), waits.std() / np.sqrt(p.chains)
    return within(claim, DERIVED, "identity", waits.mean(), known, 4 * error)


def first_phase(p: Parameters):
    """How long the metastable phase lasts for the Markov chain."""
    return open_claim(
        "P(T_2 >= t) >= 1 - exp(M (1 + log(t n^2 / M) - beta c_0 / 2))",
        paper("metastability"),
        "theorem",
        "the printed exponent is not scale invariant; constants of the first phase "
        "are not explicit",
    )


CLAIMS = (
    tokens_find_their_vertex,
    cells_of_the_metric,
    small_steps_do_not_arrive,
    rate_needs_the_origin,
    pair_at_finite_temperature,
    first_jump_of_a_chain,
    first_phase,
)
