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
    field = (-1.0) * pf.Attention(beta)
    measures = starts(3, n, STARTS, pf.key_for(p.seed, name))

    # Only the limit matters: a fixed step compiles faster and goes to the same place.
    numerics: dict = {"save": pf.OnlyObservables(2), "solver": pf.Heun(0.2)}

    @jax.jit
    def ends(measures):
        final = jax.vmap(lambda mu: pf.flow(field, mu, 400.0, **numerics).final)(
            measures
        )
        return final.points, jax.vmap(pf.InteractionEnergy(beta).plain)(final)

    points, energies = ends(measures)
    return np.asarray(points[jnp.argmin(energies)])


def _code(name: str) -> Callable[[Parameters], Claim]:
    n, beta, cosines = SOLIDS[name]

    def claim(p: Parameters) -> Claim:
        mu = pf.Particles(pf.Sphere(3), spread_out(p, name))
        measured = float(pf.InteractionEnergy(beta).plain(mu))
        others = sum(m * np.exp(beta * c) for c, m in cosines.items())
        predicted = (np.exp(beta) + others) / (2 * beta * n)
        note = f"lowest of {STARTS} random starts, t = 400"
        where = paper("section 3.2")
        return within(words, where, "theorem", measured, predicted, 1e-10, note)

    words = f"Repulsion of {n} tokens on S^2 at beta = {beta:g} ends in the {name}."
    claim.__doc__ = words
    return claim


CLAIMS = tuple(_code(name) for name in SOLIDS)
