"""Neural ODEs behind the interface of scikit-learn, for people who want to fit."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pushforward.control._checks import count
from pushforward.control.neural.families import (
    AbstractFamily,
    Bottleneck,
    WeightsOutside,
    coordinate_readout,
)
from pushforward.control.neural.first_order import LBFGS, Adam, AdamThenLBFGS
from pushforward.control.neural.losses import L2, AbstractLoss, CrossEntropy, Squared
from pushforward.control.neural.problem import Midpoint, TrainingProblem
from pushforward.control.neural.trained import Trained
from pushforward.control.neural.training import optimize
from pushforward.errors import InputError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise InputError(
        'the estimators need scikit-learn: pip install "pushforward[control]".'
    ) from error


class AbstractNeuralODE(BaseEstimator):
    """The arguments that both estimators share."""

    def __init__(
        self,
        hidden: int | None = 16,
        layers: int = 6,
        horizon: float = 2.0,
        lam: float = 1e-3,
        tracking: float = 0.1,
        batch: int | None = None,
        max_iter: int = 300,
        standardize: bool = True,
        random_state: Any = 0,
    ):
        self.hidden = hidden
        self.layers = layers
        self.horizon = horizon
        self.lam = lam
        self.tracking = tracking
        self.batch = batch
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state


class NeuralODEClassifier(ClassifierMixin, AbstractNeuralODE):
    """A neural ODE that moves points until added coordinates tell their class.

    The state is the input followed by one zero per class, which the flow fills with
    the logits. Cross-entropy, tracked along depth with weight `tracking` (so that
    layers that are not needed stay near zero), plus lam int |u|^2. `hidden` neurons
    per layer (None: `WeightsOutside`); Adam on minibatches of `batch`, then L-BFGS.

    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> NeuralODEClassifier(max_iter=200).fit(X, y).score(X, y)
    1.0
    """

    def fit(self, X, y):
        """Train on (n, d) inputs and n class labels of any type."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                "the training data hold one class; a classifier needs at least two."
            )
        self.trained_ = _fit(self, X, codes, CrossEntropy(), len(self.classes_))
        self.n_iter_ = len(self.trained_.history)
        return self

    def decision_function(self, X):
        """Outputs of the readout: (n, classes), or their difference for two classes."""
        outputs = _outputs(self, X)
        two = outputs.shape[1] == 2
        return outputs[:, 1] - outputs[:, 0] if two else outputs

    def predict_proba(self, X):
        """Softmax of the outputs."""
        return np.asarray(jax.nn.softmax(jnp.asarray(_outputs(self, X)), axis=1))

    def predict(self, X):
        """The most likely class."""
        best = np.argmax(_outputs(self, X), axis=1)
        return self.classes_[best]


class NeuralODERegressor(RegressorMixin, AbstractNeuralODE):
    """A neural ODE that writes its answer in added coordinates; squared loss.

    Arguments as in `NeuralODEClassifier`; targets are standardized.
    """

    def fit(self, X, y):
        """Train on (n, d) inputs and (n,) or (n, m) targets."""
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True
        )
        self.flat_ = y.ndim == 1
        targets = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        self.target_mean_ = targets.mean(axis=0)
        self.target_scale_ = _scale(targets)
        scaled = (targets - self.target_mean_) / self.target_scale_
        self.trained_ = _fit(self, X, scaled, Squared(), targets.shape[1])
        self.n_iter_ = len(self.trained_.history)
        return self

    def predict(self, X):
        """Outputs in the units of the targets."""
        scaled = _outputs(self, X)
        outputs = scaled * self.target_scale_ + self.target_mean_
        return outputs[:, 0] if self.flat_ else outputs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _scale(values: np.ndarray) -> np.ndarray:
    """Standard deviations, one where a column is constant."""
    spread = values.std(axis=0)
    return np.where(spread > 1e-12 * (1 + np.abs(values).max(axis=0)), spread, 1.0)


def _fit(
    estimator: Any, X: np.ndarray, labels: np.ndarray, loss: AbstractLoss, outputs: int
) -> Trained:
    estimator.mean_, estimator.scale_ = X.mean(axis=0), _scale(X)
    if not estimator.standardize:
        estimator.mean_, estimator.scale_ = 0.0, 1.0
    count("max_iter", estimator.max_iter)
    points = _state(estimator, X, outputs)
    d = points.shape[1]
    hidden = estimator.hidden
    family: AbstractFamily = (
        WeightsOutside(d) if hidden is None else Bottleneck(d, hidden)
    )
    seed = check_random_state(estimator.random_state).randint(2**31 - 1)
    key = jax.random.key(seed)
    # powers of two: nearby data sizes share one compilation
    n = len(points)
    pad = max(16, 1 << (n - 1).bit_length()) - n
    problem = TrainingProblem(
        family,
        np.concatenate([points, np.repeat(points[:1], pad, axis=0)]),
        np.concatenate([labels, np.repeat(labels[:1], pad, axis=0)]),
        readout=coordinate_readout(d, outputs),
        loss=loss,
        penalty=L2(estimator.lam),
        horizon=estimator.horizon,
        layers=estimator.layers,
        tracking=estimator.tracking,
        scheme=Midpoint(),
    )
    weights = jnp.where(jnp.arange(n + pad) < n, 1.0 / n, 0.0)
    problem = eqx.tree_at(lambda p: p.weights, problem, weights)
    polish = LBFGS(steps=estimator.max_iter, memory=20, tolerance=1e-7)
    batch = estimator.batch
    if batch is None or batch >= n:
        return optimize(problem, solver=polish, scale=_start(family), key=key)
    solver = AdamThenLBFGS(Adam(5e-3, 10 * estimator.max_iter, batch), polish)
    return optimize(problem, solver=solver, scale=_start(family), key=key)


def _state(estimator: Any, X: np.ndarray, outputs: int) -> np.ndarray:
    """Scaled inputs followed by one zero per output: the coordinates that are read."""
    points = (X - estimator.mean_) / estimator.scale_
    return np.hstack([points, np.zeros((len(points), outputs))])


def _start(family: AbstractFamily) -> float:
    """First weights small enough that a layer is near the identity."""
    return 0.3 / float(np.sqrt(family.d))


def _outputs(estimator: Any, X: np.ndarray) -> np.ndarray:
    check_is_fitted(estimator, "trained_")
    X = validate_data(estimator, X, reset=False, dtype=np.float64)
    points = _state(estimator, X, estimator.trained_.readout.m)
    n = len(points)
    pad = max(16, 1 << (n - 1).bit_length()) - n
    padded = np.concatenate([points, np.repeat(points[:1], pad, axis=0)])
    return estimator.trained_.outputs(padded)[:n]
