"""Experiments: circles, chess board, digits, and networks over space and time."""

import numpy as np

from pushforward.control.neural.targets import chess, lifted, moons
from pushforward.control.space_time import (
    SpaceTimeProblem,
    cosine_lift,
    march,
    train_space_time,
    width_profile,
)
from pushforward.errors import InputError
from pushforward.studies._claims import (
    Claim,
    at_least,
    at_most,
    open_claim,
    place,
    rate,
    within,
)
from pushforward.studies.large_time.study import (
    KEY,
    NAME,
    PAPER,
    Parameters,
    accuracy,
    chess_run,
    chess_sparse,
    circles_run,
)
from pushforward.theory import depth as theory

SPACE_TIME = place(PAPER, "variable width")


def _march_error(n: int) -> float:
    nodes = np.linspace(0, 1, n)
    x = march(
        lambda z, s: (1 + 0.5 * np.sin(2 * np.pi * z)) * np.exp(-s),
        lambda z: 1.5 + np.cos(3 * z),
        [nodes] * 400,
        1.0,
        activation=lambda s: np.maximum(s, 0.0),
    )
    return float(np.max(np.abs(x - theory.rank_one_network(1.0, nodes))))


def rank_one_kernel(p: Parameters) -> Claim:
    """The network of a rank-one kernel tends to its exact solution as nodes grow."""
    errors = [_march_error(n) for n in (21, 41)]
    return rate(
        NAME,
        "rank-one kernel: order in the spacing of the nodes, against the solution",
        SPACE_TIME,
        "identity",
        np.log2(errors[0] / errors[1]),
        2.0,
        0.1,
        note=f"trapezoid rule, 21 and 41 nodes: {errors[0]:.2e}, {errors[1]:.2e}",
    )


def width_independence(p: Parameters) -> Claim:
    """With scaled unknowns the optimal cost hardly depends on the width."""
    points, labels = moons(1, 20)
    values = []
    for widths in ([9] * 17, [*range(6, 14), 13, *range(13, 5, -1)]):
        problem = SpaceTimeProblem(
            cosine_lift(points), labels, width_profile(widths), lam=0.01, horizon=4.0
        )
        values.append(train_space_time(problem, steps=p.width_steps, key=KEY)[1])
    note = f"constant width {values[0]:.4f}, diamond {values[1]:.4f}"
    return within(
        NAME,
        "cost of a diamond over constant width",
        SPACE_TIME,
        "experiment",
        values[1] / values[0],
        1.0,
        0.05,
        note,
    )


def circles_objective(p: Parameters) -> Claim:
    """Tracking with the hinge classifies the circles."""
    run = circles_run(p)
    # the risk summed at layer ends; the trapezoid rule adds half a layer
    value = run.objective - 0.5 * float(run.problem.dt) * run.risk()[0]
    note = f"risk at the end {run.risk()[-1]:.1e}, {run.seconds:.1f} s"
    return at_most(
        NAME, "circles, tracking and hinge: J", PAPER, "experiment", value, 0.61, note
    )


def chess_board(p: Parameters) -> Claim:
    """The chess board is learned within a few of the sixteen layers."""
    run = chess_run(p)
    points, labels = chess(1, per_cell=50)
    mass = np.abs(run.controls).sum(axis=1)
    shown = ", ".join(f"{r:.3g}" for r in run.risk()[:6])
    note = f"risk by layer {shown}; l1 mass of the last layer {mass[-1]:.2g}"
    return at_least(
        NAME,
        "3 x 3 chess: test accuracy",
        PAPER,
        "experiment",
        accuracy(run, lifted(points), labels),
        0.97,
        note,
    )


def chess_exact_zeros(p: Parameters) -> Claim:
    """With L1 most layers of the chess network are exactly zero, accuracy kept."""
    run = chess_sparse(p)
    points, labels = chess(1, per_cell=50)
    right = accuracy(run.trained, lifted(points), labels)
    before = accuracy(chess_run(p), lifted(points), labels)
    zero = int(np.sum(run.layer_norms == 0.0))
    note = f"test accuracy {right:.3f} (before {before:.3f})"
    value = zero if right >= before - 0.01 else -1
    return at_least(
        NAME,
        "3 x 3 chess: layers exactly zero of 16",
        PAPER,
        "experiment",
        value,
        4,
        note,
    )


def digits_depth(p: Parameters) -> Claim:
    """The depth at which tracked digits are told apart does not grow with T."""
    try:
        from sklearn.datasets import load_digits

        from pushforward.control.estimators import NeuralODEClassifier
    except (ImportError, InputError) as error:
        return open_claim(
            NAME,
            "digits: active depth",
            PAPER,
            "experiment",
            f"needs an extra: {error}",
        )
    X, y = load_digits(return_X_y=True)
    X, y = X[: p.digits] / 16.0, y[: p.digits]
    depths, scores = [], []
    for layers in (4, 8):
        fit = NeuralODEClassifier(
            hidden=16,
            layers=layers,
            horizon=float(layers),
            tracking=1.0,
            max_iter=p.digits_steps,
            standardize=False,
        ).fit(X, y)
        run = fit.trained_
        states = run.trajectory(np.hstack([X, np.zeros((len(X), 10))]))
        right = np.mean(np.argmax(states[:, :, -10:], axis=2) == y[None, :], axis=1)
        depths.append(int(np.argmax(right >= 0.99)))
        scores.append(fit.score(X, y))
    note = f"first layer with 99 % right: {depths}; accuracy at the end {scores}"
    claim = "digits: depth needed at T = 8 over T = 4"
    if min(depths) == 0:
        return at_least(NAME, claim, PAPER, "experiment", -1.0, 0.0, note)
    return at_most(NAME, claim, PAPER, "experiment", depths[1] / depths[0], 1.5, note)
