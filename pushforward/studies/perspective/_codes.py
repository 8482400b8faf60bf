"""Repulsion, V = -I: tokens spread out and form optimal codes."""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

import pushforward as pf
from pushforward.studies import Claim
from pushforward.studies.perspective._ensemble import seen
from pushforward.studies.perspective.runs import SOLIDS, repelled
from pushforward.studies.perspective.study import Parameters, paper, within

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


CLAIMS = tuple(_code(name) for name in SOLIDS)
