"""The verb `flow`, its solvers, noise and trajectories.

Open `_flow.py` first: it picks the loop, `_hosted.py` or `_traced.py` under jit. One
step is `_advance.py`; `solvers` has the methods, `noise` what is random, `_store.py`
what a store must do. In `merging` coincident tokens become one.
"""

from pushforward.flows._advance import Carry as Carry
from pushforward.flows._flow import flow as flow
from pushforward.flows._outcome import Outcome as Outcome
from pushforward.flows._outcome import OutcomeKind as OutcomeKind
from pushforward.flows._store import CLOCKS as CLOCKS
from pushforward.flows._store import AbstractOpener as AbstractOpener
from pushforward.flows._store import AbstractStore as AbstractStore
from pushforward.flows._store import Arrays as Arrays
from pushforward.flows._store import Problem as Problem
from pushforward.flows._store import Resumed as Resumed
from pushforward.flows._store import check_observe as check_observe
from pushforward.flows._store import frame_of as frame_of
from pushforward.flows._store import reporter as reporter
from pushforward.flows._times import ArcLength as ArcLength
from pushforward.flows._times import LogTimes as LogTimes
from pushforward.flows._times import OnlyObservables as OnlyObservables
from pushforward.flows._times import bracket as bracket
from pushforward.flows._trajectory import Merges as Merges
from pushforward.flows._trajectory import Trajectory as Trajectory
from pushforward.flows.merging._merge import Merge as Merge
from pushforward.flows.noise._ensemble import ensemble as ensemble
from pushforward.flows.noise._noise import AbstractNoise as AbstractNoise
from pushforward.flows.noise._noise import Brownian as Brownian
from pushforward.flows.noise._noise import CommonNoise as CommonNoise
from pushforward.flows.noise._noise import NoiseSum as NoiseSum
from pushforward.flows.noise._random_weights import (
    AbstractLayerNoise as AbstractLayerNoise,
)
from pushforward.flows.noise._random_weights import GramNoise as GramNoise
from pushforward.flows.noise._random_weights import RandomWeights as RandomWeights
from pushforward.flows.solvers._adaptive import Adaptive as Adaptive
from pushforward.flows.solvers._fixed import Heun as Heun
from pushforward.flows.solvers._fixed import Layers as Layers
from pushforward.flows.solvers._fixed import LieTrotter as LieTrotter
from pushforward.flows.solvers._fixed import MomentumLayers as MomentumLayers
from pushforward.flows.solvers._solver import AbstractSolver as AbstractSolver
from pushforward.flows.solvers._solver import Attempt as Attempt
from pushforward.flows.solvers._solver import displaced as displaced
from pushforward.flows.solvers._solver import normalized as normalized
