"""Minimizers: their atoms, masses, values and certificates."""

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import functionals as fn
from pushforward import theory
from pushforward.studies.landscape.runs import best, published, published_energy
from pushforward.studies.landscape.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)

OMEGAS = (5.0, 2.0, 1.0, 0.3, 0.1)
MINIMUM = paper("minimizer on the circle")


def three_atoms(p: Parameters):
    """beta = 1, omega = 5: value of the minimizer with three atoms."""
    found = best(1.0, 5.0)
    note = f"{found.count} atoms; gap {found.gap:.0e}, slope {found.slope:.0e}"
    claim = str(three_atoms.__doc__)
    return within(claim, MINIMUM, "identity", found.value, 0.7021869529303, 1e-9, note)


def mass_at_pi(p: Parameters):
    """beta = 1, omega = 5: mass of the atom opposite to the neuron."""
    found = best(1.0, 5.0)
    mass = found.masses[np.argmax(found.positions)]
    claim = str(mass_at_pi.__doc__)
    return within(claim, MINIMUM, "identity", mass, 0.252504051352, 1e-9)


def angle_of_the_pair(p: Parameters):
    """beta = 1, omega = 5: angle of the other two atoms."""
    angle = float(np.abs(best(1.0, 5.0).positions).min())
    claim = str(angle_of_the_pair.__doc__)
    return within(claim, MINIMUM, "identity", angle, 1.525061407083, 1e-9)


def four_atoms(p: Parameters):
    """beta = 1, omega = 1: value of the minimizer with four atoms."""
    found, claim = best(1.0, 1.0), str(four_atoms.__doc__)
    return within(claim, MINIMUM, "identity", found.value, 0.68902767059505, 1e-9)


def four_atoms_at_2(p: Parameters):
    """beta = 1, omega = 2: value of the minimizer with four atoms."""
    found, claim = best(1.0, 2.0), str(four_atoms_at_2.__doc__)
    return within(claim, MINIMUM, "identity", found.value, 0.69681654055753, 1e-9)


def counts(p: Parameters):
    """beta = 1, omega = 5, 2, 1, 0.3, 0.1: atoms off from 3, 4, 4, 5, 7."""
    seen = np.array([best(1.0, omega).count for omega in OMEGAS])
    off = np.abs(seen - [3, 4, 4, 5, 7]).sum()
    claim = str(counts.__doc__)
    return within(claim, MINIMUM, "identity", off, 0, 0, f"seen {seen.tolist()}")


def counts_at_beta_5(p: Parameters):
    """beta = 5, omega = 20 and 1: atoms off from 9 and 13."""
    seen = np.array([best(5.0, omega).count for omega in (20.0, 1.0)])
    claim, off = str(counts_at_beta_5.__doc__), np.abs(seen - [9, 13]).sum()
    return within(claim, MINIMUM, "identity", off, 0, 0, f"seen {seen.tolist()}")


def values_at_beta_5(p: Parameters):
    """beta = 5, omega = 20 and 1: largest error of the two values."""
    seen = np.array([best(5.0, omega).value for omega in (20.0, 1.0)])
    off = np.abs(seen - [3.852462544994, 2.844904583401]).max()
    claim = str(values_at_beta_5.__doc__)
    return within(claim, MINIMUM, "identity", off, 0.0, 1e-9)


def below_uniform(p: Parameters):
    """beta = 1, omega = 0.1: value, below that of the uniform measure."""
    uniform = float(theory.landscape.uniform_energy(1.0, 0.1))
    value, claim = best(1.0, 0.1).value, str(below_uniform.__doc__)
    note = f"uniform: {uniform:.12f}, higher by {uniform - value:.1e}"
    return within(claim, MINIMUM, "identity", value, 0.644472863717, 1e-9, note)


def certificates(p: Parameters):
    """Largest duality gap of the seven minimizers, over their scale."""
    cases = [(1.0, omega) for omega in OMEGAS] + [(5.0, 20.0), (5.0, 1.0)]
    gap = max(best(*case).gap / best(*case).multiplier for case in cases)
    return at_most(str(certificates.__doc__), MINIMUM, "identity", gap, 1e-11)


def touching(p: Parameters):
    """omega = 5 to 0.1: least F - lambda farther than 0.05 from every atom."""
    away = [fn.contact(best(1.0, omega), 0.05).away for omega in OMEGAS]
    note = "the first variation touches its minimum only at the atoms"
    claim, where = str(touching.__doc__), paper("atomicity, ReLU on the circle")
    return at_least(claim, where, "theorem", min(away), 1e-9, note)


def curvatures(p: Parameters):
    """omega = 5 to 0.1: least second derivative of F at an atom, positive."""
    least = min(best(1.0, omega).curvature.min() for omega in OMEGAS)
    claim, where = str(curvatures.__doc__), paper("atomicity, ReLU on the circle")
    return at_least(claim, where, "theorem", least, 1e-6)


def analytic_minimizer(p: Parameters):
    """tanh in place of ReLU, beta = 1, omega = 1: least eigenvalue of the Hessian."""
    P = pf.PerceptronPotential([1.0], [[1.0, 0.0]], None, jnp.tanh)
    F = fn.paper_energy(1.0) + P
    found = fn.minimize(F)
    test = fn.second_order(F, found.measure)
    note = f"{found.count} atoms, gap {found.gap:.0e}: a strict point, finitely atomic"
    claim, where = str(analytic_minimizer.__doc__), paper("atomicity, analytic")
    return at_least(claim, where, "theorem", test.kappa, 1e-6, note)


def symmetric(p: Parameters):
    """omega = 1: the minimizer is invariant under the reflection that fixes a."""
    found = best(1.0, 1.0)
    off = np.abs(found.positions + found.positions[::-1]).max()
    off = max(off, np.abs(found.masses - found.masses[::-1]).max())
    claim, where = str(symmetric.__doc__), paper("uniqueness of the minimizer")
    return within(claim, where, "theorem", off, 0.0, 1e-8)


def two_scalings(p: Parameters):
    """beta = 5, omega = 20: E_paper(omega) e^-beta minus E_code(omega e^-beta)."""
    P = np.exp(-5.0) * pf.PerceptronPotential([20.0], [[1.0, 0.0]])
    code = fn.minimize(fn.code_energy(5.0) + P).value
    off = best(5.0, 20.0).value * np.exp(-5.0) - code
    claim, where = str(two_scalings.__doc__), paper("published code")
    return within(claim, where, "identity", off, 0.0, 1e-13)


def published_minimizer(p: Parameters):
    """Published weights (seed 777), code scaling, beta = 1: value of the minimizer."""
    found = fn.minimize(published_energy())
    degrees = np.round(np.sort(np.degrees(found.positions) % 360), 3)
    note = f"atoms at {degrees.tolist()} degrees, gap {found.gap:.0e}"
    claim, where = str(published_minimizer.__doc__), paper("published code")
    return within(claim, where, "identity", found.value, 0.1647873461, 1e-10, note)


def published_masses(p: Parameters):
    """Published weights: largest error of the three masses."""
    found = fn.minimize(published_energy())
    masses = found.masses[np.argsort(np.degrees(found.positions) % 360)]
    off = np.abs(masses - [0.193476, 0.271074, 0.535450]).max()
    claim, where = str(published_masses.__doc__), paper("published code")
    return within(claim, where, "identity", off, 0.0, 1e-6)


def highest_potential(p: Parameters):
    """Published weights: the angle in degrees where v is largest."""
    from scipy.optimize import minimize_scalar

    P = published()
    minus = lambda a: -float(P.potential(pf.Circle().points(jnp.asarray([a])))[0])  # noqa: E731
    top = minimize_scalar(minus, bounds=(2.5, 3.1), method="bounded").x
    claim, where = str(highest_potential.__doc__), paper("published code")
    return within(claim, where, "experiment", np.degrees(top), 161.3466, 1e-3)


def parallels(p: Parameters):
    """S^2, one neuron, beta = omega = 1: value of the minimizer on two parallels."""
    F = fn.paper_energy(1.0) + pf.PerceptronPotential([1.0], [[0.0, 0.0, 1.0]])
    found = fn.minimize(F, pf.Sphere(3))
    z = np.round(found.positions, 6).tolist()
    note = f"heights {z}, lighter mass {found.masses.min():.6f}, gap {found.gap:.0e}"
    claim, where = str(parallels.__doc__), paper("rotations that fix the neurons")
    return within(claim, where, "identity", found.value, 0.609585740938, 1e-8, note)


def sphere_without_axis(p: Parameters):
    """A certificate for generic neurons on S^2."""
    return open_claim(
        "minimizers for several generic neurons on S^2 are sums of atoms",
        paper("genericity in dimension three and above"),
        "theorem",
        "the reduction to heights needs one axis; in general only particles run",
    )


def genericity(p: Parameters):
    """Open dense sets of parameters."""
    return open_claim(
        "an open dense set of (beta, theta) forces stationary measures to be atomic",
        paper("genericity in dimension three and above"),
        "theorem",
        "a statement on all parameters; a run tests single ones",
    )


CLAIMS = (
    three_atoms,
    mass_at_pi,
    angle_of_the_pair,
    four_atoms,
    four_atoms_at_2,
    counts,
    counts_at_beta_5,
    values_at_beta_5,
    below_uniform,
    certificates,
    touching,
    curvatures,
    analytic_minimizer,
    symmetric,
    two_scalings,
    published_minimizer,
    published_masses,
    highest_potential,
    parallels,
    sphere_without_axis,
    genericity,
)
