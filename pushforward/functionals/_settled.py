"""Critical points of the flow: clusters of particles, polished at their masses."""

import jax.numpy as jnp
import numpy as np

from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._polish import settle
from pushforward.functionals._reduced import Angles
from pushforward.functionals._terms import Terms
from pushforward.measures import Particles
from pushforward.spaces import Circle


def settled(F: AbstractFunctional, mu: Particles) -> Particles:
    """The critical point near mu with the same masses: Newton on F_mu'(theta_i) = 0.

    Transport keeps the mass of every atom, so this is where the flow of F is going (in
    either direction). Merge clusters first: `settled(F, mu.merge(0.1))`.
    """
    if not isinstance(mu.space, Circle):
        raise InputError(f"`mu` must live on Circle(), got {mu.space!r}.")
    terms = Terms.of(F)
    problem = Angles(terms.over(terms.scale))
    s = np.asarray(mu.space.angles(mu.points), dtype=float)
    s = settle(problem, s, np.asarray(mu.weights, dtype=float))
    return Particles(mu.space, mu.space.points(jnp.asarray(s)), mu.weights)
