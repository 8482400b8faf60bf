"""The runs behind figures and claims, as experiments; critical points of descent."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import functionals as fn
from pushforward.functionals import Minimizer, PerceptronPotential
from pushforward.studies import Preset
from pushforward.studies.landscape.study import Parameters

LOOSE = pf.Adaptive(1e-6, 1e-8)
CIRCLE = pf.Circle()
BETAS = np.array([0.01, 0.05, 0.1, 0.5, 1, 3, 5, 7, 10, 15, 25, 35, 50])
SHOWN = {
    "descent": ("histograms", "trajectories", "energies", "monotone"),
    "sphere": ("clusters", "sphere"),
    "one-neuron-ascent": ("ascent_value",),
    "one-neuron-descent": ("descent_masses", "descent_value", "descent_stays_above"),
    "ascent": ("ascent_with",),
    "ascent-attention-alone": ("ascent_without",),
    "descent-attention-alone": ("descent_without",),
    "normalized": ("normalized_groups", "normalized_stationarity"),
    "critical-point": ("arcs_of_critical_points",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Up and down the energy, with and without a perceptron."""
    return {
        "one-neuron-ascent": ascending(p),
        "one-neuron-descent": freezing(),
        "ascent": official(p.seed, p.tokens, True, True),
        "ascent-attention-alone": official(p.seed, p.tokens, True, False),
        "descent": official(p.seed, p.tokens, False, True),
        "descent-attention-alone": official(p.seed, p.tokens, False, False),
        "euler": euler(p.tokens),
        "normalized": normalized(p.seed, p.tokens),
        "sphere": on_the_sphere(p.seed, p.crowd, 1.0),
        "critical-point": random_masses(p.seed, 0, 4.0),
    }


@functools.cache
def energy(beta: float, omega: float):
    """One ReLU neuron along e_1, in the paper's scaling."""
    return fn.paper_energy(beta) + PerceptronPotential([omega], [[1.0, 0.0]])


@functools.cache
def published(strength: float = 1.0) -> PerceptronPotential:
    """The circle's weights of the published code: its seed 777, its order of draws."""
    P = weights(2, 777)
    return PerceptronPotential(strength * P.omega, P.A)


def published_energy(strength: float = 1.0):
    """The published weights at beta = 1, in the scaling of the code."""
    return fn.code_energy(1.0) + published(strength)


def weights(d: int, seed: int) -> pf.PerceptronPotential:
    """d neurons drawn as the published code draws them."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return pf.PerceptronPotential(rng.normal(size=d), A)


def ascending(p: Parameters) -> pf.Experiment:
    """Ascent, beta = 1, omega = 5, from a random start."""
    field = pf.GradientFlow(-1.0 * energy(1.0, 5.0))
    return pf.Experiment(pf.Uniform(40, 2), field, 20.0, save=2, seed=p.seed)


def freezing() -> pf.Experiment:
    """Equal masses from a uniform start under descent, beta = 1, omega = 5."""
    field = pf.GradientFlow(energy(1.0, 5.0))
    return pf.Experiment(pf.Equispaced(400), field, 60.0, save=2, solver=LOOSE)


def official(seed: int, n: int, ascent: bool, perceptron: bool) -> pf.Experiment:
    """Particles under the published weights, or under attention alone.

    Without perceptron omega is zero, so that all four runs share one compilation.
    """
    E = published_energy(1.0 if perceptron else 0.0)
    t1 = 100.0 if ascent else 300.0
    return pf.Experiment(
        pf.Uniform(n, 2),
        pf.GradientFlow((-1.0 if ascent else 1.0) * E),
        t1,
        save=np.concatenate([np.linspace(0.5, 20, 40), np.linspace(25, t1, 30)]),
        solver=LOOSE,
        seed=seed,
    )


def euler(n: int) -> pf.Experiment:
    """The published step: Euler with dt = 0.1 on equispaced particles, to t = 300."""
    field, step = pf.GradientFlow(published_energy()), pf.Layers(0.1)
    return pf.Experiment(pf.Equispaced(n), field, 300.0, save=2, solver=step)


def normalized(seed: int, n: int) -> pf.Experiment:
    """Descent of normalized attention with the published weights and GELU, t = 420."""
    P = published()
    push = pf.Attention(1.0) + pf.Perceptron(
        P.A.T * P.omega[None, :], P.A, None, fn.exact_gelu
    )
    start = pf.Uniform(n, 2)
    return pf.Experiment(start, -1.0 * push, 420.0, save=8, solver=LOOSE, seed=seed)


def on_the_sphere(
    seed: int, n: int, beta: float, strength: float = 1.0
) -> pf.Experiment:
    """Descent on S^2 with the weights of seed 111, as in the shipped configuration."""
    return pf.Experiment(
        pf.Uniform(n, 3),
        pf.GradientFlow(fn.code_energy(beta) + strength * weights(3, 111)),
        300.0,
        save=[1.0, 3.0, 10.0, 30.0, 100.0, 300.0],
        solver=LOOSE,
        seed=seed,
    )


def random_masses(seed: int, k: int, beta: float) -> pf.Experiment:
    """Descent with random masses, one small neuron, in draw number k.

    In the code's scaling with omega e^{-beta}: the flow of the paper on a slower clock.
    """
    E = fn.code_energy(beta) + np.exp(-beta) * PerceptronPotential([1.0], [[1.0, 0.0]])
    keys = jax.random.split(jax.random.key(1000 * seed + k))
    theta = jax.random.uniform(keys[0], (8,), minval=-np.pi, maxval=np.pi)
    w = jax.random.dirichlet(keys[1], jnp.full(8, 0.5))
    mu = pf.Particles.normalized(CIRCLE, CIRCLE.points(theta), w)
    start = pf.Given(CIRCLE, mu.points, mu.weights)
    return pf.Experiment(start, pf.GradientFlow(E), 1000.0, save=2, solver=LOOSE)


@functools.cache
def best(beta: float, omega: float) -> Minimizer:
    """Its minimizer."""
    return fn.minimize(energy(beta, omega))


@functools.cache
def official_run(seed: int, n: int, ascent: bool, perceptron: bool):
    """Particles under the published weights, or under attention alone."""
    return official(seed, n, ascent, perceptron).run()


@functools.cache
def euler_run(n: int):
    """The published step: Euler with dt = 0.1, to t = 300."""
    return euler(n).run().final


@functools.cache
def frozen():
    """Equal masses from a uniform start under descent, beta = 1, omega = 5."""
    return freezing().run().final


@functools.cache
def normalized_run(seed: int, n: int):
    """Descent of normalized attention with the published weights and GELU, t = 420."""
    return normalized(seed, n).run()


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
        experiment = random_masses(seed, k, beta)
        E = experiment.read("field.F")
        mu = fn.settled(E, experiment.run().final)
        if fn.second_order(E, mu).holds(1e-9):
            found.append(mu)
    return found


def states(p: Parameters) -> tuple[Preset, ...]:
    """Up and down the energy at beta = 1; with a perceptron there is no such model."""
    base = {"model": "usa", "d": 2, "n": p.tokens, "beta": 1.0, "seed": p.seed}
    return (
        Preset(
            "ascent",
            "Trajectories: ascent, attention alone, β = 1",
            "Uphill all tokens meet in one point, the maximizer.",
            {**base, "t1": 100.0, "clock": "log"},
        ),
        Preset(
            "descent",
            "Trajectories: descent, attention alone, β = 1",
            "Downhill the mean goes to zero: the uniform measure is the minimizer. "
            "Short waves are hardly felt at β = 1, so tokens stay uneven.",
            {**base, "t1": 300.0, "clock": "log", "V": "minus"},
        ),
    )
