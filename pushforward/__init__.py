"""Transformers as flow maps on probability measures; two lines for a public name.

Five nouns and one verb: a space, a measure on it, a field that moves measures, a
functional of measures, a trajectory, and `flow(field, mu, t1)`.

>>> import jax, pushforward as pf
>>> mu = pf.Particles.uniform(pf.Sphere(3), 64, key=jax.random.key(0))
>>> trajectory = pf.flow(pf.Attention(beta=9.0), mu, 20.0)
"""

import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax

from pushforward._wiring import connect

__version__ = "0.1.0"

if "JAX_ENABLE_X64" not in os.environ:  # then the user has decided, either way
    jax.config.update("jax_enable_x64", True)
if jax.config.jax_default_matmul_precision is None:  # type: ignore[attr-defined]
    # float32 is float32: by default GPUs multiply it in nineteen bits.
    jax.config.update("jax_default_matmul_precision", "float32")

if TYPE_CHECKING:
    from pushforward._references import cite as cite
    from pushforward._seeds import key_for as key_for
    from pushforward.control.normalizing import NormalizingFlow as NormalizingFlow
    from pushforward.control.normalizing import StandardNormal as StandardNormal
    from pushforward.control.normalizing import UnitCube as UnitCube
    from pushforward.experiments import AtRest as AtRest
    from pushforward.experiments import Clustered as Clustered
    from pushforward.experiments import Equispaced as Equispaced
    from pushforward.experiments import Experiment as Experiment
    from pushforward.experiments import FromFile as FromFile
    from pushforward.experiments import Given as Given
    from pushforward.experiments import GivenDensity as GivenDensity
    from pushforward.experiments import GivenGaussian as GivenGaussian
    from pushforward.experiments import Moved as Moved
    from pushforward.experiments import Normal as Normal
    from pushforward.experiments import Orthonormal as Orthonormal
    from pushforward.experiments import RandomHeads as RandomHeads
    from pushforward.experiments import Scaled as Scaled
    from pushforward.experiments import UnequalWeights as UnequalWeights
    from pushforward.experiments import Uniform as Uniform
    from pushforward.experiments import UniformDensity as UniformDensity
    from pushforward.experiments import VonMisesFisher as VonMisesFisher
    from pushforward.experiments import WeightsFromFile as WeightsFromFile
    from pushforward.fields import Alibi as Alibi
    from pushforward.fields import Attention as Attention
    from pushforward.fields import Background as Background
    from pushforward.fields import ByLag as ByLag
    from pushforward.fields import CausalAttention as CausalAttention
    from pushforward.fields import DecayingAttention as DecayingAttention
    from pushforward.fields import DepthNorm as DepthNorm
    from pushforward.fields import DepthScaledNorm as DepthScaledNorm
    from pushforward.fields import DistanceAttention as DistanceAttention
    from pushforward.fields import Friction as Friction
    from pushforward.fields import GradientFlow as GradientFlow
    from pushforward.fields import HardAttention as HardAttention
    from pushforward.fields import HardRelaxation as HardRelaxation
    from pushforward.fields import Heads as Heads
    from pushforward.fields import Linear as Linear
    from pushforward.fields import LinearAttention as LinearAttention
    from pushforward.fields import MixNorm as MixNorm
    from pushforward.fields import Momentum as Momentum
    from pushforward.fields import Multiple as Multiple
    from pushforward.fields import Nesterov as Nesterov
    from pushforward.fields import Perceptron as Perceptron
    from pushforward.fields import PeriNorm as PeriNorm
    from pushforward.fields import PositionAttention as PositionAttention
    from pushforward.fields import PreNorm as PreNorm
    from pushforward.fields import RescaledAttention as RescaledAttention
    from pushforward.fields import RescaledPerceptron as RescaledPerceptron
    from pushforward.fields import SinkhornAttention as SinkhornAttention
    from pushforward.fields import Sum as Sum
    from pushforward.fields import Switched as Switched
    from pushforward.fields import UnitNorm as UnitNorm
    from pushforward.fields import UnnormalizedAttention as UnnormalizedAttention
    from pushforward.fields import Window as Window
    from pushforward.fields import at_rest as at_rest
    from pushforward.fields import linearize as linearize
    from pushforward.fields import positions as positions
    from pushforward.flows import Adaptive as Adaptive
    from pushforward.flows import ArcLength as ArcLength
    from pushforward.flows import Brownian as Brownian
    from pushforward.flows import CommonNoise as CommonNoise
    from pushforward.flows import GramNoise as GramNoise
    from pushforward.flows import Heun as Heun
    from pushforward.flows import Layers as Layers
    from pushforward.flows import LieTrotter as LieTrotter
    from pushforward.flows import LogTimes as LogTimes
    from pushforward.flows import Merge as Merge
    from pushforward.flows import MomentumLayers as MomentumLayers
    from pushforward.flows import NoiseSum as NoiseSum
    from pushforward.flows import OnlyObservables as OnlyObservables
    from pushforward.flows import Outcome as Outcome
    from pushforward.flows import RandomWeights as RandomWeights
    from pushforward.flows import Trajectory as Trajectory
    from pushforward.flows import ensemble as ensemble
    from pushforward.flows import flow as flow
    from pushforward.functionals import Entropy as Entropy
    from pushforward.functionals import FisherRao as FisherRao
    from pushforward.functionals import FreeEnergy as FreeEnergy
    from pushforward.functionals import FunctionalMultiple as FunctionalMultiple
    from pushforward.functionals import FunctionalSum as FunctionalSum
    from pushforward.functionals import InteractionEnergy as InteractionEnergy
    from pushforward.functionals import PerceptronPotential as PerceptronPotential
    from pushforward.functionals import SinkhornEnergy as SinkhornEnergy
    from pushforward.functionals import SoftmaxWeighted as SoftmaxWeighted
    from pushforward.functionals import Wasserstein as Wasserstein
    from pushforward.functionals import WassersteinFisherRao as WassersteinFisherRao
    from pushforward.functionals import hessian as hessian
    from pushforward.io import load as load
    from pushforward.measures import Density as Density
    from pushforward.measures import Fourier as Fourier
    from pushforward.measures import Gaussian as Gaussian
    from pushforward.measures import Harmonics as Harmonics
    from pushforward.measures import Particles as Particles
    from pushforward.measures import Zonal as Zonal
    from pushforward.spaces import Circle as Circle
    from pushforward.spaces import Euclidean as Euclidean
    from pushforward.spaces import Product as Product
    from pushforward.spaces import Sphere as Sphere
    from pushforward.spaces import TangentBundle as TangentBundle
    from pushforward.sums import Auto as Auto
    from pushforward.sums import Exact as Exact
    from pushforward.sums import FusedGPU as FusedGPU
    from pushforward.sums import HalfGPU as HalfGPU
    from pushforward.sums import Nystrom as Nystrom
    from pushforward.sums import Ring as Ring
    from pushforward.sums import Spectral as Spectral
    from pushforward.sweeps import sweep as sweep

_FOLDERS = (
    "spaces measures sums functionals fields flows observables theory transport "
    "control statistics probe plot io experiments studies sweeps errors"
).split()

# Where each public name lives; folders load when a name of theirs is first touched.
_HOMES = {
    "spaces": """
        Circle
        Euclidean
        Product
        Sphere
        TangentBundle
    """,
    "measures": """
        Density
        Fourier
        Gaussian
        Harmonics
        Particles
        Zonal
    """,
    "sums": """
        Auto
        Exact
        FusedGPU
        HalfGPU
        Nystrom
        Ring
        Spectral
    """,
    "functionals": """
        Entropy
        FisherRao
        FreeEnergy
        FunctionalMultiple
        FunctionalSum
        InteractionEnergy
        PerceptronPotential
        SinkhornEnergy
        SoftmaxWeighted
        Wasserstein
        WassersteinFisherRao
        hessian
    """,
    "fields": """
        Alibi
        Attention
        Background
        ByLag
        CausalAttention
        DecayingAttention
        DepthNorm
        DepthScaledNorm
        DistanceAttention
        Friction
        GradientFlow
        HardAttention
        HardRelaxation
        Heads
        Linear
        LinearAttention
        MixNorm
        Momentum
        Multiple
        Nesterov
        Perceptron
        PeriNorm
        PositionAttention
        PreNorm
        RescaledAttention
        RescaledPerceptron
        SinkhornAttention
        Sum
        Switched
        UnitNorm
        UnnormalizedAttention
        Window
        at_rest
        linearize
        positions
    """,
    "flows": """
        Adaptive
        ArcLength
        Brownian
        CommonNoise
        GramNoise
        Heun
        Layers
        LieTrotter
        LogTimes
        Merge
        MomentumLayers
        NoiseSum
        OnlyObservables
        Outcome
        RandomWeights
        Trajectory
        ensemble
        flow
    """,
    "control.normalizing": """
        NormalizingFlow
        StandardNormal
        UnitCube
    """,
    "experiments": """
        AtRest
        Clustered
        Equispaced
        Experiment
        FromFile
        Given
        GivenDensity
        GivenGaussian
        Moved
        Normal
        Orthonormal
        RandomHeads
        Scaled
        UnequalWeights
        Uniform
        UniformDensity
        VonMisesFisher
        WeightsFromFile
    """,
    "io": """
        load
    """,
    "sweeps": """
        sweep
    """,
    "_references": """
        cite
    """,
    "_seeds": """
        key_for
    """,
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


# What lower folders ask of higher ones; a folder loads when it is first asked.
_ASKED = {
    "open_run": "io",
    "picture": "plot.runs._summary",
    "report_table": "plot.runs._summary",
    "save_trajectory": "io",
    "view": "web._widget",
}


def _answer(name: str, home: str) -> Callable[..., Any]:
    def answer(*arguments: Any, **options: Any) -> Any:
        module = importlib.import_module(f"pushforward.{home}")
        return getattr(module, name)(*arguments, **options)

    return answer


for _name, _home in _ASKED.items():
    connect(_name, _answer(_name, _home))


FOLDERS = tuple(_FOLDERS)


def public_names() -> frozenset[str]:
    """The names a specification may use."""
    return frozenset(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"pushforward.{_HOME[name]}"), name)
    elif name in _FOLDERS:
        value = importlib.import_module(f"pushforward.{name}")
    else:
        raise AttributeError(f"module 'pushforward' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, *_FOLDERS, "__version__"])
