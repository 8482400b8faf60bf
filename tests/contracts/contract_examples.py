"""One or more instances of every exported class; contracts run over all of them."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.experiments._random_heads import AbstractDrawn
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
    "Background": [
        pf.Background(
            pf.Attention(4.0), pf.Sphere(3).project(jnp.asarray(V)), [0.1, 0.2, 0.3]
        ),
        pf.Background(
            pf.Attention(4.0, Q, K, V), pf.Sphere(3).project(jnp.asarray(K)), b[1:] + 1
        ),
    ],
    "DecayingAttention": [
        pf.DecayingAttention(2.0, 1.0),
        pf.DecayingAttention(2.0, 0.0, log_scale=-2.0),
    ],
    "DistanceAttention": [
        pf.DistanceAttention(4.0),
        pf.DistanceAttention(2.0, Q, K, V),
    ],
    "Linear": [pf.Linear(V, b[1:])],
    "LinearAttention": [pf.LinearAttention(2.0), pf.LinearAttention(2.0, Q, K, V)],
    "HardAttention": [pf.HardAttention(Q=Q, V=V)],
    "HardRelaxation": [pf.HardRelaxation(), pf.HardRelaxation(Q, K, V)],
    "Heads": [
        pf.Heads([pf.Attention(1.0), pf.Attention(4.0)]),
        pf.Heads([pf.Attention(1.0), pf.Attention(4.0, V=V)]),
    ],
    "Perceptron": [pf.Perceptron(W, A, b), pf.Perceptron(W, A, b, jnp.tanh, c=b[:3])],
    "Switched": [
        # At t = 0 nothing begins: there the time of a switch has two derivatives.
        pf.Switched([pf.Attention(9.0), pf.Attention(1.0)], [-1.0, 0.3, 2.0]),
        pf.Switched([pf.Perceptron(W, A, b), pf.Attention(1.0)], [-1.0, 0.3, 2.0]),
    ],
    "SinkhornAttention": [
        pf.SinkhornAttention(4.0),
        pf.SinkhornAttention(1.0, Q, K, V),
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
    "Momentum": [  # friction r / t stops what moves at t = 0: constant friction here
        pf.Momentum(pf.Attention(4.0), pf.Friction(0.3)),
        pf.Momentum(pf.UnnormalizedAttention(1.0), pf.Friction(0.5)),
    ],
    "MixNorm": [pf.MixNorm(pf.Attention(4.0), 1.0)],
    "PeriNorm": [pf.PeriNorm(pf.Attention(4.0, V=V))],
    "DepthNorm": [pf.DepthNorm(pf.Attention(4.0))],
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
ON_DENSITIES = {"Entropy", "FreeEnergy"}  # functionals that atoms do not have
WITH_VELOCITIES = {"Momentum"}  # on the tangent bundle of the sphere
ORDERED = {"CausalAttention", "DecayingAttention", "PositionAttention"}
BY_POSITION = {"DecayingAttention", "PositionAttention"}  # the past has an order too

SPACES = {
    "Sphere": [pf.Sphere(2), pf.Sphere(3), pf.Sphere(7)],
    "Circle": [pf.Circle()],
    "Euclidean": [pf.Euclidean(1), pf.Euclidean(4)],
    "TangentBundle": [pf.TangentBundle(pf.Sphere(3))],
    "Product": [pf.Product([pf.Sphere(3), pf.Euclidean(2), pf.Circle()])],
}
FUNCTIONALS = {
    "InteractionEnergy": [pf.InteractionEnergy(4.0), pf.InteractionEnergy(-3.0)],
    "PerceptronPotential": [
        pf.PerceptronPotential(b, A),
        pf.PerceptronPotential(b, A, b, jnp.tanh),
        pf.PerceptronPotential(b, A, b, jax.nn.silu),
    ],
    "Entropy": [pf.Entropy()],
    "FreeEnergy": [pf.FreeEnergy(2.0, 1.5)],
    "SinkhornEnergy": [pf.SinkhornEnergy(4.0), pf.SinkhornEnergy(0.5)],
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
    "MomentumLayers": [pf.MomentumLayers(0.1, 0.5, 0.2)],
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
    "AtRest": [pf.AtRest(pf.Uniform(5, 3))],
    "Friction": [pf.Friction(0.5)],
    "Nesterov": [pf.Nesterov(), pf.Nesterov(2.0)],
    "ByLag": [pf.ByLag([0.0, 1.0, -1.0])],
    "Window": [pf.Window(3)],
    "ArcLength": [pf.ArcLength(0.01)],
    "Merge": [pf.Merge(1e-5)],
    "Density": [pf.Density(pf.Fourier(3)), pf.Density(pf.Zonal(5, 2))],
    "Fourier": [pf.Fourier(8)],
    "Gaussian": [
        pf.Gaussian([0.5], [[0.8]]),
        pf.Gaussian(b[1:], V @ V.T),
        pf.Gaussian([1.0, 2.0], [[1.0, 1.0], [1.0, 1.0]]),
    ],
    "GivenGaussian": [pf.GivenGaussian([0.5, 0.1], [[0.8, 0.1], [0.1, 0.4]])],
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
    "Uniform": [pf.Uniform(5, 2), pf.Uniform(5, 3, "euclidean", side=5.0)],
    "Normal": [pf.Normal(5, 3), pf.Normal(5, 2, mean=[0.0, 1.0], scale=0.3)],
    "Clustered": [pf.Clustered(5, 3), pf.Clustered(5, 3, centers=V)],
    "VonMisesFisher": [pf.VonMisesFisher(5, 3, kappa=7.0)],
    "Equispaced": [pf.Equispaced(5)],
    "Orthonormal": [pf.Orthonormal(2, 3)],
    "Given": [pf.Given(pf.Circle(), [[1.0, 0.0], [0.0, 1.0]], [0.25, 0.75])],
    "GivenDensity": [pf.GivenDensity(pf.Fourier(2), [1.0, 0.1, 0.0, 0.2, 0.0])],
    "FromFile": [pf.FromFile("tokens.npy")],
    "Moved": [pf.Moved(pf.Uniform(5, 3), [1], V[:1])],
    "UnequalWeights": [pf.UnequalWeights(pf.Uniform(5, 3))],
    "Scaled": [pf.Scaled(pf.Uniform(5, 3, "euclidean"), 5.0)],
    "UniformDensity": [pf.UniformDensity(2, 8, amplitude=0.1)],
    "RandomHeads": [pf.RandomHeads(pf.Attention(4.0), 3)],
    "WeightsFromFile": [pf.WeightsFromFile(pf.Attention(4.0), "weights.safetensors")],
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
# Results of `flow`, and experiments, which have texts of their own: tested there.
NOT_VALUES = {"Trajectory", "Experiment"}


def exported_classes():
    values = {name: getattr(pf, name) for name in sorted(pf.public_names())}
    return {name: value for name, value in values.items() if inspect.isclass(value)}


def exported(kind):
    """Names of the exported classes that implement an interface."""
    interface = INTERFACES[kind]
    found = exported_classes().items()
    # a field without its weights drives nothing: tested with experiments
    waits = AbstractDrawn if kind == "field" else ()
    return [
        n for n, c in found if issubclass(c, interface) and not issubclass(c, waits)
    ]


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
    if name in WITH_VELOCITIES:
        space, turned = pf.TangentBundle(space), jnp.flip(points, axis=1)
        points = space.project(jnp.concatenate([points, turned], axis=1))
    return pf.Particles(space, points, weights)
