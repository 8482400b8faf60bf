"""One or more instances of every exported class; contracts run over all of them."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.fields import AbstractField
from pushforward.flows import AbstractNoise, AbstractSolver
from pushforward.functionals import AbstractFunctional, AbstractMetric
from pushforward.spaces import AbstractSpace
from pushforward.sums import AbstractSum

INTERFACES = {
    "space": AbstractSpace,
    "field": AbstractField,
    "functional": AbstractFunctional,
    "metric": AbstractMetric,
    "solver": AbstractSolver,
    "noise": AbstractNoise,
    "sum": AbstractSum,
}

_a, _b = np.arange(3)[:, None], np.arange(3)[None, :]
Q, K, V = np.cos(_a + 2 * _b), np.sin(2 * _a + _b + 1), np.cos(_a * _b + 1)
W = np.sin(np.arange(12.0).reshape(3, 4))
A = np.cos(np.arange(12.0).reshape(4, 3))
b = np.linspace(-0.5, 0.5, 4)
E = pf.InteractionEnergy(2.0)

# Fields on Sphere(3), unless listed in FLAT, where they live on Euclidean(3).
FIELDS = {
    "Attention": [pf.Attention(4.0), pf.Attention(4.0, Q, K, V), pf.Attention(-2.0)],
    "UnnormalizedAttention": [
        pf.UnnormalizedAttention(2.0),
        pf.UnnormalizedAttention(2.0, Q, K, V, log_scale=-2.0),
    ],
    "CausalAttention": [pf.CausalAttention(4.0), pf.CausalAttention(4.0, Q, K, V)],
    "DecayingAttention": [
        pf.DecayingAttention(2.0, 1.0),
        pf.DecayingAttention(2.0, 0.0, log_scale=-2.0),
    ],
    "HardAttention": [pf.HardAttention(Q=Q, V=V)],
    "HardRelaxation": [pf.HardRelaxation(), pf.HardRelaxation(Q, K, V)],
    "Heads": [
        pf.Heads([pf.Attention(1.0), pf.Attention(4.0)]),
        pf.Heads([pf.Attention(1.0), pf.Attention(4.0, V=V)]),
    ],
    "Perceptron": [pf.Perceptron(W, A, b), pf.Perceptron(W, A, b, jnp.tanh)],
    "Switched": [
        pf.Switched([pf.Attention(1.0), pf.Attention(9.0)], [0.0, 1.0, 2.0]),
        pf.Switched([pf.Attention(1.0), pf.Perceptron(W, A, b)], [0.0, 1.0, 2.0]),
    ],
    "Sum": [pf.Attention(4.0) + pf.Perceptron(W, A, b)],
    "Multiple": [2.0 * pf.Attention(4.0), -pf.UnnormalizedAttention(1.0)],
    "GradientFlow": [
        pf.GradientFlow(E),
        pf.GradientFlow(-E, pf.SoftmaxWeighted(2.0)),
        pf.GradientFlow(E, pf.FisherRao()),
        pf.GradientFlow(-E + 0.5 * E, pf.WassersteinFisherRao(0.7, 2.0)),
    ],
    "PositionAttention": [
        pf.PositionAttention(4.0, pf.Alibi(0.5)),
        pf.PositionAttention(4.0, pf.ByLag([0.0, 1.0, -1.0]), Q, K, V),
        pf.PositionAttention(4.0, pf.Window(3)),
    ],
    "PreNorm": [pf.PreNorm(pf.Attention(4.0))],
    "MixNorm": [pf.MixNorm(pf.Attention(4.0), 1.0)],
    "PeriNorm": [pf.PeriNorm(pf.Attention(4.0, V=V))],
    "DepthScaledNorm": [pf.DepthScaledNorm(pf.Attention(4.0))],
    "UnitNorm": [pf.UnitNorm(pf.Attention(4.0), 0.5)],
    "RescaledAttention": [pf.RescaledAttention(), pf.RescaledAttention(Q, K, V)],
    "RescaledPerceptron": [pf.RescaledPerceptron(pf.RescaledAttention(V=V), V)],
}
FLAT = {
    "RescaledAttention",
    "RescaledPerceptron",
    "HardRelaxation",
    "PreNorm",
    "MixNorm",
    "PeriNorm",
    "DepthScaledNorm",
}
ORDERED = {"CausalAttention", "DecayingAttention", "PositionAttention"}
BY_POSITION = {"DecayingAttention", "PositionAttention"}  # the past has an order too

SPACES = {
    "Sphere": [pf.Sphere(2), pf.Sphere(3), pf.Sphere(7)],
    "Circle": [pf.Circle()],
    "Euclidean": [pf.Euclidean(1), pf.Euclidean(4)],
    "Product": [pf.Product([pf.Sphere(3), pf.Euclidean(2), pf.Circle()])],
}
FUNCTIONALS = {
    "InteractionEnergy": [pf.InteractionEnergy(4.0), pf.InteractionEnergy(-3.0)],
    "PerceptronPotential": [
        pf.PerceptronPotential(b, A),
        pf.PerceptronPotential(b, A, b, jnp.tanh),
        pf.PerceptronPotential(b, A, b, jax.nn.silu),
    ],
    "FunctionalSum": [pf.InteractionEnergy(1.0) + pf.InteractionEnergy(5.0)],
    "FunctionalMultiple": [-pf.InteractionEnergy(3.0), 2.5 * pf.InteractionEnergy(1.0)],
}
METRICS = {
    "Wasserstein": [pf.Wasserstein()],
    "FisherRao": [pf.FisherRao()],
    "WassersteinFisherRao": [pf.WassersteinFisherRao(0.7, 2.0)],
    "SoftmaxWeighted": [pf.SoftmaxWeighted(2.0)],
}
SOLVERS = {
    "Adaptive": [pf.Adaptive()],
    "Heun": [pf.Heun(0.05)],
    "Layers": [pf.Layers(0.05)],
    "LieTrotter": [pf.LieTrotter(0.05)],
}
NOISES = {
    "Brownian": [pf.Brownian(0.3)],
    "CommonNoise": [pf.CommonNoise(0.3)],
    "NoiseSum": [pf.Brownian(0.3) + pf.CommonNoise(0.2)],
    "GramNoise": [pf.GramNoise(2.0, 0.5), pf.GramNoise(2.0, 0.5, draws=3)],
    "RandomWeights": [
        pf.RandomWeights(2.0, 0.5),
        pf.RandomWeights(2.0, 0.5, heads=3, head_dimension=2),
    ],
}
SUMS = {
    "Auto": [pf.Auto(), pf.Auto(1e-6)],
    "Exact": [pf.Exact(), pf.Exact(chunk=3)],
    "FusedGPU": [pf.FusedGPU(), pf.FusedGPU(16, 32, 1)],
    "HalfGPU": [pf.HalfGPU()],
    "Nystrom": [pf.Nystrom(), pf.Nystrom(40, tol=1e-6, check=9, seed=1)],
    "Ring": [pf.Ring(), pf.Ring(1)],
    "Spectral": [pf.Spectral(), pf.Spectral(1e-8)],
}
OTHERS = {
    "Alibi": [pf.Alibi(0.5)],
    "ByLag": [pf.ByLag([0.0, 1.0, -1.0])],
    "Window": [pf.Window(3)],
    "ArcLength": [pf.ArcLength(0.01)],
    "Merge": [pf.Merge(1e-5)],
    "Density": [pf.Density(pf.Fourier(3)), pf.Density(pf.Zonal(5, 2))],
    "Fourier": [pf.Fourier(8)],
    "Harmonics": [pf.Harmonics(4)],
    "Zonal": [pf.Zonal(5, 6)],
    "LogTimes": [pf.LogTimes(0.1, 5)],
    "NormalizingFlow": [
        pf.NormalizingFlow(W.T, A, b, np.abs(b)),
        pf.NormalizingFlow(W.T * [0, 1, 1], A, b, b * b, pf.UnitCube(), (0,)),
    ],
    "OnlyObservables": [pf.OnlyObservables(11)],
    "Outcome": [pf.Outcome("until", "met.")],
    "Particles": [pf.Particles.orthonormal(pf.Sphere(3), 3)],
    "StandardNormal": [pf.StandardNormal()],
    "UnitCube": [pf.UnitCube()],
}
TABLES = {
    "space": SPACES,
    "field": FIELDS,
    "functional": FUNCTIONALS,
    "metric": METRICS,
    "solver": SOLVERS,
    "noise": NOISES,
    "sum": SUMS,
}
NOT_VALUES = {"Trajectory"}  # results, made by `flow` and tested there


def exported_classes():
    values = {name: getattr(pf, name) for name in sorted(pf.public_names())}
    return {name: value for name, value in values.items() if inspect.isclass(value)}


def exported(kind):
    """Names of the exported classes that implement an interface."""
    interface = INTERFACES[kind]
    return [n for n, cls in exported_classes().items() if issubclass(cls, interface)]


def examples(table):
    """(name, instance, id) for parametrize."""
    return [
        (name, instance, f"{name}-{k}")
        for name, instances in table.items()
        for k, instance in enumerate(instances)
    ]


def tokens(name, n=6, seed=0):
    """Weighted points on the space where the field of this name lives."""
    space = pf.Euclidean(3) if name in FLAT else pf.Sphere(3)
    keys = jax.random.split(jax.random.key(seed), 2)
    points = pf.Particles.gaussian(space, n, key=keys[0]).points
    weights = jax.nn.softmax(0.5 * jax.random.normal(keys[1], (n,)))
    return pf.Particles(space, points, weights)
