"""Every claim of the study; here: how much mass an arc may hold."""

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import functionals as fn
from pushforward import theory
from pushforward.studies.landscape import _minima, _motion
from pushforward.studies.landscape.runs import CIRCLE, critical_points, published
from pushforward.studies.landscape.study import (
    Parameters,
    at_least,
    at_most,
    paper,
    refuted,
    within,
)

BOUND = paper("mass of an arc at second-order points")


def limit_of_the_bound(p: Parameters):
    """The mass bound in the limit of large beta."""
    claim = str(limit_of_the_bound.__doc__)
    limit = float(theory.landscape.mass_bound(60.0, 1.0))
    return within(claim, BOUND, "theorem", limit, 0.5741922784, 1e-10)


def heaviest_arc(mu, width: float) -> float:
    """The most mass of two or more atoms within an arc of this width."""
    m = np.asarray(mu.weights)
    theta = np.asarray(CIRCLE.angles(mu.points))[m > 1e-12]
    m = m[m > 1e-12]
    ahead = (theta[None, :] - theta[:, None]) % (2 * np.pi) <= width
    return float(np.where(ahead.sum(axis=1) > 1, ahead @ m, 0.0).max())


def arcs_of_critical_points(p: Parameters):
    """beta = 4, critical points of descent: heaviest arc of atoms over its bound."""
    found = critical_points(p.seed, p.draws, 4.0)
    bound = float(theory.landscape.mass_bound(4.0, 2.0))
    width = float(theory.landscape.arc(4.0))
    worst = max((heaviest_arc(mu, width) for mu in found), default=np.nan)
    note = f"{len(found)} second-order points of {p.draws} draws, bound {bound:.3f}"
    claim = str(arcs_of_critical_points.__doc__)
    return at_most(claim, BOUND, "theorem", worst / bound, 1.0, note)


def antipodal_pair(p: Parameters):
    """Equal antipodal atoms, omega = 0, beta = 1/(4 pi^2): mass in the arc."""
    beta = theory.landscape.ANTIPODAL_BETA
    two = pf.Particles(CIRCLE, [[1.0, 0.0], [-1.0, 0.0]])
    holds = fn.second_order(fn.paper_energy(beta), two).holds()
    mass = heaviest_arc(two, float(theory.landscape.arc(beta)) + 1e-12) if holds else 0
    printed = float(theory.landscape.mass_bound(beta, 0.0))
    note = (
        f"second-order point: {holds}; the companion claim prints this bound for every "
        "beta > 0, the theorem only for large beta"
    )
    claim, where = str(antipodal_pair.__doc__), paper("companion of the mass bound")
    return refuted(claim, where, mass, printed, 0.1, note)


def antipodal_curvature(p: Parameters):
    """Equal antipodal atoms, beta = 0.02: largest eigenvalue over e^{-beta}."""
    two = pf.Particles(CIRCLE, [[1.0, 0.0], [-1.0, 0.0]])
    test = fn.second_order(fn.paper_energy(0.02), two)
    ratio = test.eigenvalues[-1] / theory.landscape.antipodal_curvature(0.02)
    claim = str(antipodal_curvature.__doc__)
    return within(claim, BOUND, "identity", ratio, 1.0, 1e-12)


def vacuous_in_the_code(p: Parameters):
    """Published weights, code scaling: the mass bound exceeds one."""
    C = theory.landscape.weight_size(published().omega, published().A)
    bound = float(theory.landscape.code_mass_bound(C))
    note = "the same omega is e^beta stronger there"
    claim = str(vacuous_in_the_code.__doc__)
    return at_least(claim, BOUND, "identity", bound, 1.0, note)


def strictness(p: Parameters):
    """Random atoms: least of kappa - (min v''/2 - e^beta), never negative."""
    beta, worst = 1.0, np.inf
    P = pf.PerceptronPotential([30.0, -20.0], [[1.0, 0.0], [0.6, 0.8]])
    E = fn.paper_energy(beta) + P
    for k in range(10 * p.draws):
        mu = pf.Particles.uniform(CIRCLE, 4, key=jax.random.key(k))
        # a vanishing energy leaves the eigenvalues of the potential alone: v''/2
        alone = fn.second_order(1e-12 * fn.paper_energy(beta) + P, mu).eigenvalues[0]
        worst = min(worst, fn.second_order(E, mu).kappa - (alone - np.exp(beta)))
    note = "so that v'' >= 2 e^beta + 2 kappa on the support is enough"
    claim, where = str(strictness.__doc__), paper("sufficient condition for strictness")
    return at_least(claim, where, "theorem", worst, 0.0, note)


def printed_gelu(p: Parameters):
    """The primitive of GELU in published code: largest error of its derivative."""
    s = jnp.linspace(-4, 4, 4001)
    off = np.abs(jax.vmap(jax.grad(printed_primitive))(s) - 2 * fn.exact_gelu(s)).max()
    note = "s^2 Phi + s p lacks -Phi"
    claim, where = str(printed_gelu.__doc__), paper("published code")
    return refuted(claim, where, float(off), 0.0, 1e-3, note)


def gelu_with_its_term(p: Parameters):
    """The primitive s^2 Phi + s p - Phi of GELU: largest error of its derivative."""
    s = jnp.linspace(-4, 4, 4001)
    right = jax.vmap(jax.grad(fn.primitive_of(fn.exact_gelu)))(s)
    off = float(np.abs(right - 2 * fn.exact_gelu(s)).max())
    claim = str(gelu_with_its_term.__doc__)
    return at_most(claim, paper("published code (corrected)"), "erratum", off, 1e-12)


def printed_primitive(s):
    """s^2 Phi(s) + s p(s)."""
    normal = jax.scipy.stats.norm
    return s * s * normal.cdf(s) + s * normal.pdf(s)


CLAIMS = (
    *_minima.CLAIMS,
    *_motion.CLAIMS,
    limit_of_the_bound,
    arcs_of_critical_points,
    antipodal_pair,
    antipodal_curvature,
    vacuous_in_the_code,
    strictness,
    printed_gelu,
    gelu_with_its_term,
)
