"""What several claims and figures share: minimizers, and the ends of runs."""

import functools

import numpy as np

from pushforward import functionals as fn
from pushforward.functionals import Minimizer
from pushforward.studies.landscape import runs
from pushforward.studies.landscape.runs import CIRCLE, energy


@functools.cache
def best(beta: float, omega: float) -> Minimizer:
    """Its minimizer."""
    return fn.minimize(energy(beta, omega))


@functools.cache
def official_run(seed: int, n: int, ascent: bool, perceptron: bool):
    """Particles under the published weights, or under attention alone."""
    return runs.official(seed, n, ascent, perceptron).run()


@functools.cache
def euler_run(n: int):
    """The published step: Euler with dt = 0.1, to t = 300."""
    return runs.euler(n).run().final


@functools.cache
def frozen():
    """Equal masses from a uniform start under descent, beta = 1, omega = 5."""
    return runs.freezing().run().final


@functools.cache
def normalized_run(seed: int, n: int):
    """Descent of normalized attention with the published weights and GELU, t = 420."""
    return runs.normalized(seed, n).run()


def angles(mu) -> np.ndarray:
    """Degrees in [0, 360)."""
    return np.degrees(np.asarray(CIRCLE.angles(mu.points))) % 360


def groups(mu, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Angles in degrees and masses of clusters, by angle."""
    atoms = mu.merge(radius)
    order = np.argsort(angles(atoms))
    return angles(atoms)[order], np.asarray(atoms.weights)[order]


@functools.cache
def critical_points(seed: int, draws: int, beta: float):
    """Second-order critical points of descent with random masses, one small neuron."""
    found = []
    for k in range(draws):
        experiment = runs.random_masses(seed, k, beta)
        E = experiment.read("field.F")
        mu = fn.settled(E, experiment.run().final)
        if fn.second_order(E, mu).holds(1e-9):
            found.append(mu)
    return found
