"""Parameters of the GULP study and the small networks it compares."""

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.statistics import normalized
from pushforward.studies import AbstractParameters

NAME = "gulp"
TITLE = "GULP: how differently ridge regression behaves on two representations"
PAPER = "boixadsera2022gulp"
NO_RUNS = "No runs: distances between networks are statistics, no flow of a field."


@dataclass(frozen=True)
class Parameters(AbstractParameters):
    """What is trained and how finely it is measured."""

    depths: tuple[int, ...] = (1, 2, 3)
    widths: tuple[int, ...] = (32, 128)
    trainings: int = 2
    iterations: int = 25
    label_draws: int = 10
    task_lambdas: tuple[float, ...] = (1e-4, 1e-2, 1.0)
    lambdas: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
    sample_sizes: tuple[int, ...] = (400, 1600, 6400)
    repeats: int = 200
    seed: int = 0

    @classmethod
    def full(cls) -> "Parameters":
        """Twenty-seven networks."""
        return cls(
            widths=(32, 64, 128),
            trainings=3,
            iterations=60,
            sample_sizes=(400, 1600, 6400, 25600),
            repeats=400,
        )


@dataclass(frozen=True)
class Networks:
    """Hidden layers of trained networks on the digits, train and held-out rows."""

    names: tuple[str, ...]
    depths: tuple[int, ...]
    train: tuple[Float[np.ndarray, "n _"], ...]
    test: tuple[Float[np.ndarray, "m _"], ...]
    accuracy: Float[np.ndarray, "nets"]


@lru_cache(maxsize=2)
def digit_networks(parameters: Parameters) -> Networks:
    """Perceptrons trained on scikit-learn's digits; last hidden layer of each.

    Raises `InputError` when scikit-learn is missing.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.neural_network import MLPClassifier
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise InputError(
            "The digits networks need scikit-learn. Run `pip install scikit-learn`."
        ) from None
    X, labels = load_digits(return_X_y=True)
    X = X / 16.0
    order = np.random.default_rng(parameters.seed).permutation(len(X))
    train, test = order[:1200], order[1200:]
    names, depths, on_train, on_test, scores = [], [], [], [], []
    for depth in parameters.depths:
        for width in parameters.widths:
            for training in range(parameters.trainings):
                net = MLPClassifier(
                    (width,) * depth,
                    max_iter=parameters.iterations,
                    random_state=training,
                )
                # such small products only lose time to threads on a busy machine
                with warnings.catch_warnings(), threadpool_limits(1):
                    warnings.simplefilter("ignore")  # stopping early is intended
                    net.fit(X[train], labels[train])
                names.append(f"{depth} x {width}, training {training}")
                depths.append(depth)
                on_train.append(_hidden(net, X[train]))
                on_test.append(_hidden(net, X[test]))
                scores.append(net.score(X[test], labels[test]))
    return Networks(
        tuple(names), tuple(depths), tuple(on_train), tuple(on_test), np.array(scores)
    )


def _hidden(net: object, X: np.ndarray) -> np.ndarray:
    """Activations of the last hidden layer of a rectified perceptron."""
    weights, biases = net.coefs_[:-1], net.intercepts_[:-1]  # type: ignore[attr-defined]
    for W, b in zip(weights, biases, strict=True):
        X = np.maximum(X @ W + b, 0.0)
    return X


def prediction_gaps(
    networks: Networks, lam: float, draws: int, rng: np.random.Generator
) -> Float[np.ndarray, "nets nets"]:
    """Mean squared gap between held-out ridge predictions of labels N(1, 1)."""
    n = len(networks.train[0])
    labels = rng.normal(1.0, 1.0, size=(n, draws))
    predictions = []
    for train, test in zip(networks.train, networks.test, strict=True):
        A = normalized("train", train)
        scale = np.linalg.norm(A) / np.linalg.norm(train - train.mean(0))
        B = (test - train.mean(0)) * scale
        S = A.T @ A / n + lam * np.eye(A.shape[1])
        predictions.append(B @ np.linalg.solve(S, A.T @ labels / n))
    P = np.array([p.ravel() for p in predictions])
    squares = np.square(P).sum(1)
    gaps = squares[:, None] + squares[None, :] - 2.0 * P @ P.T
    return np.maximum(gaps, 0.0) / P.shape[1]
