"""Every claim of the study."""

import functools

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.studies.sinkhorn_attention import runs
from pushforward.studies.sinkhorn_attention.study import (
    BETA,
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)

DERIVED = paper("derived here")
GRADIENT, HEAT = paper("gradient flow"), paper("heat limit")


@functools.cache
def energies(doubly: bool) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the energy of which Sinkhorn attention is the gradient flow."""
    run = runs.sine(doubly).run()
    return np.asarray(run.times), run.observe(pf.SinkhornEnergy(BETA))


def velocity(p: Parameters):
    """The library against a scaling written on its own."""
    mu = runs.sine(True).start(0)
    found = float(pf.SinkhornAttention(BETA)(0.0, mu).v[0, 2])
    claim = "8 tokens on S^2, beta = 4: third coordinate of the first velocity"
    where = paper("definition")
    return within(claim, where, "identity", found, 0.149149301800, 1e-10)


def energy_rises(p: Parameters):
    """The energy along the flow."""
    times, energy = energies(True)
    found = energy[int(np.argmin(np.abs(times - 5.0)))]
    claim = "the same flow: energy at t = 5, from 0.302793569 at the start"
    return within(claim, GRADIENT, "theorem", found, 0.378471971, 1e-8)


def rate_of_the_energy(p: Parameters):
    """dE/dt = mean |v|^2: the flow is the gradient of its energy."""
    mu = runs.sine(True).start(0)
    v = np.asarray(pf.SinkhornAttention(BETA)(0.0, mu).v)
    energy = pf.SinkhornEnergy(BETA)
    h = 1e-4
    moved = [mu.moved(pf.Sphere(3).project(mu.points + s * h * v)) for s in (1, -1)]
    slope = float(energy(moved[0]) - energy(moved[1])) / (2 * h)
    claim = "dE/dt by a difference of energies, against mean |v|^2"
    known = np.mean(np.sum(v**2, axis=1))
    return within(claim, GRADIENT, "theorem", slope, known, 1e-8)


def weights_of_two_tokens(p: Parameters):
    """Masses 0.8 and 0.2 at a right angle: x solves (R - 1) x^2 + x - pq = 0."""
    mu = pf.Particles(pf.Circle(), np.eye(2), np.array([0.8, 0.2]))
    v = np.asarray(pf.SinkhornAttention(2.0)(0.0, mu).v)
    claim = "masses 0.8 and 0.2 at a right angle, beta = 2: weight of the light token"
    return within(claim, DERIVED, "identity", v[0, 1], 0.0576234591, 1e-9)


def mean_angle_is_kept(p: Parameters):
    """On the circle the mean angle does not move; under softmax it does."""
    x = np.asarray(runs.circle().run().points)
    mean = np.arctan2(x[..., 1], x[..., 0]).mean(axis=1)
    claim = "5 tokens on the circle: largest change of the mean angle"
    return at_most(claim, DERIVED, "identity", np.ptp(mean), 1e-8)


@functools.cache
def heat(doubly: bool, beta: float, nodes: int) -> float:
    """beta v / (log rho)' at a right angle, density 1 + cos(theta)/2 on nodes."""
    theta = 2 * np.pi * np.arange(nodes) / nodes
    x = jnp.stack([jnp.cos(theta), jnp.sin(theta)], axis=1)
    mu = pf.Particles(pf.Circle(), x, (1 + np.cos(theta) / 2) / nodes)
    field = pf.SinkhornAttention(beta) if doubly else pf.Attention(beta)
    v = np.asarray(field(0.0, mu).v)[nodes // 4]
    return float(beta * -v[0] / -0.5)  # the tangent at pi/2 is (-1, 0)


def approach_to_the_heat_limit(p: Parameters):
    """Both attentions at beta = 50, 200, 800, by densities and another program."""
    known = {True: (0.49812, 0.49954, 0.49988), False: (0.98999, 0.99751, 0.99938)}
    gap = max(
        abs(heat(doubly, beta, p.nodes) - value)
        for doubly, values in known.items()
        for beta, value in zip((50.0, 200.0, 800.0), values, strict=True)
    )
    claim = "beta v over (log rho)', both attentions, beta = 50, 200, 800: off known"
    return at_most(claim, HEAT, "identity", gap, 1e-4)


def half_of_the_heat(p: Parameters):
    """Large beta: velocity (1/(2 beta)) grad log rho."""
    found = heat(True, p.betas[-1], p.nodes)
    claim = f"circle, density 1 + cos/2, beta = {p.betas[-1]:g}: beta v over (log rho)'"
    return within(claim, HEAT, "theorem", found, 0.5, 2e-3)


def softmax_has_all_of_it(p: Parameters):
    """The same without columns: (1/beta) grad log rho."""
    found = heat(False, p.betas[-1], p.nodes)
    claim = "the same for softmax attention"
    return within(claim, DERIVED, "identity", found, 1.0, 5e-3)


def softmax_is_another_flow(p: Parameters):
    """The same tokens under softmax: the energy also rises, by another path."""
    gap = np.abs(energies(True)[1] - energies(False)[1]).max()
    claim = "8 tokens on S^2: largest gap of the energy between both attentions"
    return at_least(claim, DERIVED, "experiment", gap, 1e-3)


def training(p: Parameters):
    """The paper's experiments train models."""
    claim = "trained attention matrices become doubly stochastic"
    why = "needs the training of models"
    return open_claim(claim, paper("experiments"), "experiment", why)


CLAIMS = (
    velocity,
    energy_rises,
    rate_of_the_energy,
    weights_of_two_tokens,
    mean_angle_is_kept,
    approach_to_the_heat_limit,
    half_of_the_heat,
    softmax_has_all_of_it,
    softmax_is_another_flow,
    training,
)
