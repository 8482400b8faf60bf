"""Choose the field: optimal control of neural ODEs, and of what moves no measure.

Open `neural/problem.py` first. `steering` sends inputs to targets, `normalizing` builds
maps neuron by neuron; `classical` has PDEs and linear systems,
which move no measure; `estimators.py` has the interface of scikit-learn.
"""

from typing import Any

from pushforward.control.classical import LinearQuadratic as LinearQuadratic
from pushforward.control.classical import semi_lagrangian_value as semi_lagrangian_value
from pushforward.control.neural.families import Bottleneck as Bottleneck
from pushforward.control.neural.families import Readout as Readout
from pushforward.control.neural.families import WeightsInside as WeightsInside
from pushforward.control.neural.families import WeightsOutside as WeightsOutside
from pushforward.control.neural.first_order import LBFGS as LBFGS
from pushforward.control.neural.first_order import Adam as Adam
from pushforward.control.neural.first_order import AdamThenLBFGS as AdamThenLBFGS
from pushforward.control.neural.gauss_newton import ILQR as ILQR
from pushforward.control.neural.losses import H1 as H1
from pushforward.control.neural.losses import L1 as L1
from pushforward.control.neural.losses import L2 as L2
from pushforward.control.neural.losses import CrossEntropy as CrossEntropy
from pushforward.control.neural.losses import Distance as Distance
from pushforward.control.neural.losses import Hinge as Hinge
from pushforward.control.neural.losses import Logistic as Logistic
from pushforward.control.neural.losses import Squared as Squared
from pushforward.control.neural.losses import SquaredHinge as SquaredHinge
from pushforward.control.neural.marquardt import (
    LevenbergMarquardt as LevenbergMarquardt,
)
from pushforward.control.neural.problem import Euler as Euler
from pushforward.control.neural.problem import Midpoint as Midpoint
from pushforward.control.neural.problem import Parameters as Parameters
from pushforward.control.neural.problem import RungeKutta as RungeKutta
from pushforward.control.neural.problem import TrainingProblem as TrainingProblem
from pushforward.control.neural.proximal import Fista as Fista
from pushforward.control.neural.proximal import Lumped as Lumped
from pushforward.control.neural.sparse_training import SparseTrained as SparseTrained
from pushforward.control.neural.sparse_training import finish_sparse as finish_sparse
from pushforward.control.neural.sparse_training import sparsify as sparsify
from pushforward.control.neural.sparse_training import train_sparse as train_sparse
from pushforward.control.neural.targets import target_problem as target_problem
from pushforward.control.neural.trained import Trained as Trained
from pushforward.control.neural.trained import as_field as as_field
from pushforward.control.neural.training import (
    minimal_norm_interpolator as minimal_norm_interpolator,
)
from pushforward.control.neural.training import optimize as optimize
from pushforward.control.neural.training import sweep_horizons as sweep_horizons
from pushforward.control.neural.training import train as train
from pushforward.control.normalizing import NormalizingFlow as NormalizingFlow
from pushforward.control.normalizing import StandardNormal as StandardNormal
from pushforward.control.normalizing import UnitCube as UnitCube
from pushforward.control.space_time import SpaceTimeProblem as SpaceTimeProblem
from pushforward.control.space_time import train_space_time as train_space_time
from pushforward.control.steering.planner import steer as steer
from pushforward.control.steering.refining import Refined as Refined
from pushforward.control.steering.refining import learn as learn
from pushforward.control.steering.refining import refine as refine
from pushforward.control.steering.steered import Steered as Steered
from pushforward.control.steering.targets import Sampled as Sampled


def __getattr__(name: str) -> Any:
    # scikit-learn is an extra: its estimators load when they are touched
    if name in ("NeuralODEClassifier", "NeuralODERegressor"):
        from pushforward.control import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'pushforward.control' has no attribute {name!r}")
