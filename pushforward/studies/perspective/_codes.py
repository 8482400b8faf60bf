"""Repulsion, V = -I: tokens spread out and form optimal codes."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.studies import Claim
from pushforward.studies.perspective._ensemble import starts
from pushforward.studies.perspective._statement import paper, within
from pushforward.studies.perspective.study import Parameters

STARTS = 8
# name: (n, beta, the cosines between different vertices with their multiplicities)
SOLIDS: dict[str, tuple[int, float, dict[float, int]]] = {
    "tetrahedron": (4, 2.0, {-1 / 3: 3}),
    "octahedron": (6, 2.0, {0.0: 4, -1.0: 1}),
    "icosahedron": (12, 5.0, {5**-0.5: 5, -(5**-0.5): 5, -1.0: 1}),
}


@functools.lru_cache
def spread_out(p: Parameters, name: str) -> np.ndarray:
    """The tokens of the lowest energy among a few random starts, after repulsion."""
    n, beta, _ = SOLIDS[name]
    measures = starts(3, n, STARTS, pf.key_for(p.seed, name))
    points, energies = _repelled(pf.Attention(beta), measures)
    return np.asarray(points[jnp.argmin(energies)])


@jax.jit
def _repelled(field: pf.Attention, measures: pf.Particles):
    """Last points and energies. Only the limit matters: a fixed step will do."""

    def one(mu: pf.Particles):
        save, solver = pf.OnlyObservables(2), pf.Heun(0.2)
        final = pf.flow((-1.0) * field, mu, 400.0, save=save, solver=solver).final
        return final.points, pf.InteractionEnergy(field.beta).plain(final)

    return jax.vmap(one)(measures)


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
