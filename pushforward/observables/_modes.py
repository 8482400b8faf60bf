"""Modes of a measure: how much of each frequency it holds."""

import equinox as eqx
from jaxtyping import Array, Complex, Float

from pushforward._checks import whole
from pushforward.measures import Density, Particles


class Mode(eqx.Module):
    """Mode (k, m) of a density or of particles: for `observe=`.

    On the circle int e^{-ik theta} dmu, on S^2 sqrt(4 pi/(2k + 1)) int conj(Y_km) dmu,
    on other spheres int P_k dmu about the last axis; one at most.

    >>> Mode(1)(Particles.equispaced(Circle(), 1)).real.item()
    1.0
    """

    k: int = eqx.field(static=True)
    m: int = eqx.field(static=True)

    def __init__(self, k: int, m: int = 0):
        self.k, self.m = whole("k", k, 0), whole("m", m, 0)

    def __call__(
        self, mu: Particles | Density
    ) -> Complex[Array, ""] | Float[Array, ""]:
        """The mode, complex on the circle and on S^2."""
        if isinstance(mu, Particles):
            mu = Density.from_particles(mu, max(self.k, 1))
        return mu.mode(self.k, self.m)
