"""The verb `flow`, its solvers, noise and trajectories."""

from pushforward.flows._adaptive import Adaptive as Adaptive
from pushforward.flows._advance import Carry as Carry
from pushforward.flows._density_outcome import at_rest as at_rest
from pushforward.flows._ensemble import ensemble as ensemble
from pushforward.flows._fixed import Heun as Heun
from pushforward.flows._fixed import Layers as Layers
from pushforward.flows._fixed import LieTrotter as LieTrotter
from pushforward.flows._flow import flow as flow
from pushforward.flows._merging import Merge as Merge
from pushforward.flows._noise import AbstractNoise as AbstractNoise
from pushforward.flows._noise import Brownian as Brownian
from pushforward.flows._noise import CommonNoise as CommonNoise
from pushforward.flows._noise import NoiseSum as NoiseSum
from pushforward.flows._outcome import Outcome as Outcome
from pushforward.flows._random_weights import AbstractLayerNoise as AbstractLayerNoise
from pushforward.flows._random_weights import GramNoise as GramNoise
from pushforward.flows._random_weights import RandomWeights as RandomWeights
from pushforward.flows._solver import AbstractSolver as AbstractSolver
from pushforward.flows._times import ArcLength as ArcLength
from pushforward.flows._times import LogTimes as LogTimes
from pushforward.flows._times import OnlyObservables as OnlyObservables
from pushforward.flows._trajectory import Merges as Merges
from pushforward.flows._trajectory import Trajectory as Trajectory
