"""Transformers as flow maps on probability measures.

Five nouns and one verb: a space, a measure on it, a field that moves measures, a
functional of measures, a trajectory, and `flow(field, mu, t1)`.

>>> import jax, pushforward as pf
>>> mu = pf.Particles.uniform(pf.Sphere(3), 64, key=jax.random.key(0))
>>> trajectory = pf.flow(pf.Attention(beta=9.0), mu, 20.0)
"""

import importlib
from typing import TYPE_CHECKING, Any

import jax

__version__ = "0.1.0"

jax.config.update("jax_enable_x64", True)  # float64 unless asked otherwise, by name

if TYPE_CHECKING:
    from pushforward._references import cite as cite
    from pushforward._seeds import key_for as key_for
    from pushforward.control.normalizing import NormalizingFlow as NormalizingFlow
    from pushforward.control.normalizing import StandardNormal as StandardNormal
    from pushforward.control.normalizing import UnitCube as UnitCube
    from pushforward.fields import Alibi as Alibi
    from pushforward.fields import Attention as Attention
    from pushforward.fields import ByLag as ByLag
    from pushforward.fields import CausalAttention as CausalAttention
    from pushforward.fields import DecayingAttention as DecayingAttention
    from pushforward.fields import DepthScaledNorm as DepthScaledNorm
    from pushforward.fields import GradientFlow as GradientFlow
    from pushforward.fields import HardAttention as HardAttention
    from pushforward.fields import HardRelaxation as HardRelaxation
    from pushforward.fields import Heads as Heads
    from pushforward.fields import MixNorm as MixNorm
    from pushforward.fields import Multiple as Multiple
    from pushforward.fields import Perceptron as Perceptron
    from pushforward.fields import PeriNorm as PeriNorm
    from pushforward.fields import PositionAttention as PositionAttention
    from pushforward.fields import PreNorm as PreNorm
    from pushforward.fields import RescaledAttention as RescaledAttention
    from pushforward.fields import RescaledPerceptron as RescaledPerceptron
    from pushforward.fields import Sum as Sum
    from pushforward.fields import Switched as Switched
    from pushforward.fields import UnitNorm as UnitNorm
    from pushforward.fields import UnnormalizedAttention as UnnormalizedAttention
    from pushforward.fields import Window as Window
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
    from pushforward.flows import NoiseSum as NoiseSum
    from pushforward.flows import OnlyObservables as OnlyObservables
    from pushforward.flows import Outcome as Outcome
    from pushforward.flows import RandomWeights as RandomWeights
    from pushforward.flows import Trajectory as Trajectory
    from pushforward.flows import ensemble as ensemble
    from pushforward.flows import flow as flow
    from pushforward.functionals import FisherRao as FisherRao
    from pushforward.functionals import FunctionalMultiple as FunctionalMultiple
    from pushforward.functionals import FunctionalSum as FunctionalSum
    from pushforward.functionals import InteractionEnergy as InteractionEnergy
    from pushforward.functionals import PerceptronPotential as PerceptronPotential
    from pushforward.functionals import SoftmaxWeighted as SoftmaxWeighted
    from pushforward.functionals import Wasserstein as Wasserstein
    from pushforward.functionals import WassersteinFisherRao as WassersteinFisherRao
    from pushforward.io import load as load
    from pushforward.measures import Density as Density
    from pushforward.measures import Fourier as Fourier
    from pushforward.measures import Harmonics as Harmonics
    from pushforward.measures import Particles as Particles
    from pushforward.measures import Zonal as Zonal
    from pushforward.spaces import Circle as Circle
    from pushforward.spaces import Euclidean as Euclidean
    from pushforward.spaces import Product as Product
    from pushforward.spaces import Sphere as Sphere
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
    "control statistics probe plot io studies sweeps errors"
).split()

# Where each public name lives; folders load when a name of theirs is first touched.
_HOMES = {
    "spaces": """
        Circle
        Euclidean
        Product
        Sphere
    """,
    "measures": """
        Density
        Fourier
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
        FisherRao
        FunctionalMultiple
        FunctionalSum
        InteractionEnergy
        PerceptronPotential
        SoftmaxWeighted
        Wasserstein
        WassersteinFisherRao
    """,
    "fields": """
        Alibi
        Attention
        ByLag
        CausalAttention
        DecayingAttention
        DepthScaledNorm
        GradientFlow
        HardAttention
        HardRelaxation
        Heads
        MixNorm
        Multiple
        Perceptron
        PeriNorm
        PositionAttention
        PreNorm
        RescaledAttention
        RescaledPerceptron
        Sum
        Switched
        UnitNorm
        UnnormalizedAttention
        Window
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
