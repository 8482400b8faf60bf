"""Published statements about GULP, measured."""

from functools import lru_cache

import numpy as np

from pushforward.errors import InputError
from pushforward.statistics.representations.gulp import gulp, gulp_matrix
from pushforward.statistics.representations.similarities import cca
from pushforward.studies import Claim, at_least, at_most, open_claim, within
from pushforward.studies.gulp.figures import compute_convergence, compute_prediction
from pushforward.studies.gulp.study import NAME, PAPER, Parameters, digit_networks

_predictions = lru_cache(maxsize=2)(compute_prediction)
_convergence = lru_cache(maxsize=2)(compute_convergence)


def _pair(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(120, 8)) * np.linspace(2.0, 0.3, 8)
    return A, A[:, :6] @ rng.normal(size=(6, 6)) + 0.7 * rng.normal(size=(120, 6))


def _hat(A: np.ndarray, lam: float) -> np.ndarray:
    A = A - A.mean(0)
    A = A * np.sqrt(len(A)) / np.linalg.norm(A)
    n, k = A.shape
    return A @ np.linalg.solve(A.T @ A / n + lam * np.eye(k), A.T) / n


def hat_matrices(parameters: Parameters) -> Claim:
    """GULP squared is the squared distance between ridge hat matrices."""
    A, B = _pair(parameters.seed)
    grid = np.array(parameters.lambdas)
    exact = np.array([np.square(_hat(A, g) - _hat(B, g)).sum() for g in grid])
    error = np.abs(gulp(A, B, grid).squared / exact - 1.0).max()
    text = "d^2 equals the squared Frobenius distance of the two ridge hat matrices"
    return at_most(NAME, text, PAPER, "identity", error, 1e-10)


def orthogonal_invariance(parameters: Parameters) -> Claim:
    """Orthogonal maps of a representation leave GULP unchanged."""
    A, B = _pair(parameters.seed + 1)
    Q = np.linalg.qr(np.random.default_rng(2).normal(size=(8, 8)))[0]
    change = gulp(A @ Q, B, 0.1).squared - gulp(A, B, 0.1).squared
    text = "GULP is invariant under orthogonal maps of either representation"
    return at_most(NAME, text, PAPER, "theorem", float(np.abs(change).max()), 1e-12)


def triangle_inequality(parameters: Parameters) -> Claim:
    """No triple of networks violates the triangle inequality at any lambda."""
    rng = np.random.default_rng(parameters.seed)
    X = rng.normal(size=(300, 10))
    networks = [np.maximum(X @ rng.normal(size=(10, 24)), 0.0) for _ in range(16)]
    worst = max(
        float((d[:, :, None] - d[:, None, :] - d.T[None, :, :]).max())
        for d in gulp_matrix(networks, parameters.lambdas).distance
    )
    text = "GULP obeys the triangle inequality for every lambda"
    return at_most(NAME, text, PAPER, "theorem", worst, 1e-9, "largest violation")


def canonical_limit(parameters: Parameters) -> Claim:
    """At lambda to zero GULP squared is k + l - 2 sum rho^2."""
    A, B = _pair(parameters.seed)
    limit = 8 + 6 - 2.0 * np.square(cca(A, B).correlations).sum()
    text = "lambda -> 0: d^2 -> k + l - 2 sum of squared canonical correlations"
    found = gulp(A, B, 1e-12).squared[0]
    return within(NAME, text, PAPER, "theorem", found, limit, 1e-7)


def kernel_limit(parameters: Parameters) -> Claim:
    """At large lambda, lambda^2 d^2 is the unnormalized CKA distance."""
    A, B = _pair(parameters.seed)
    X, Y = (Z - Z.mean(0) for Z in (A, B))
    X, Y = (Z / np.linalg.norm(Z) for Z in (X, Y))
    limit = sum(s * np.square(U.T @ V).sum() for s, U, V in _signs(X, Y))
    text = "lambda -> infinity: lambda^2 d^2 -> unnormalized CKA distance"
    found = 1e12 * gulp(A, B, 1e6).squared[0]
    return within(NAME, text, PAPER, "theorem", found, limit, 1e-4 * limit)


def _signs(X: np.ndarray, Y: np.ndarray) -> list[tuple[float, np.ndarray, np.ndarray]]:
    return [(1.0, X, X), (1.0, Y, Y), (-2.0, X, Y)]


def plug_in_rate(parameters: Parameters) -> Claim:
    """The plug-in error falls as the root of n at fixed lambda."""
    data = _convergence(parameters)
    slopes = np.polyfit(np.log(data["sizes"]), np.log(data["rmse"][:, 1:]), 1)[0]
    worst = slopes[np.abs(slopes + 0.5).argmax()]
    text = "plug-in estimation error is O(n^{-1/2}) at fixed lambda (0.1 and 1)"
    note = "slope furthest from -1/2, in dimension 5 + 5"
    return within(NAME, text, PAPER, "theorem", worst, -0.5, 0.06, note)


def best_lambda_is_the_tasks(parameters: Parameters) -> Claim:
    """GULP ranks prediction gaps best near the lambda of the task."""
    text = "the GULP lambda that best predicts a ridge task is the task's, to a decade"
    try:
        data = _predictions(parameters)
    except InputError as error:
        return open_claim(NAME, text, PAPER, "experiment", str(error))
    best = data["lambdas"][data["gulp"].argmax(1)]
    decades = np.abs(np.log10(best / data["tasks"])).max()
    found = dict(zip(data["tasks"].tolist(), best.tolist(), strict=True))
    note = f"best lambda per task {found}; digits"
    return at_most(NAME, text, PAPER, "experiment", float(decades), 1.0, note)


def gulp_beats_baselines(parameters: Parameters) -> Claim:
    """At the matching lambda GULP predicts the gap at least as well as baselines."""
    text = "at the task's lambda GULP predicts gaps no worse than CCA, CKA, Procrustes"
    try:
        data = _predictions(parameters)
    except InputError as error:
        return open_claim(NAME, text, PAPER, "experiment", str(error))
    own = [
        row[list(data["lambdas"]).index(task)]
        for row, task in zip(data["gulp"], data["tasks"], strict=True)
    ]
    margin = np.min(np.array(own) - data["baselines"].max(1))
    note = f"Spearman {np.round(own, 3).tolist()}; least margin over the best baseline"
    return at_least(NAME, text, PAPER, "experiment", float(margin), 0.0, note)


def depth_is_visible(parameters: Parameters) -> Claim:
    """Networks of one depth are closer to each other than to other depths."""
    text = "at lambda = 0.01 networks of equal depth are closer than across depths"
    try:
        networks = digit_networks(parameters)
    except InputError as error:
        return open_claim(NAME, text, PAPER, "experiment", str(error))
    distance = gulp_matrix(networks.train, 1e-2).distance[0]
    depth = np.array(networks.depths)
    same = (depth[:, None] == depth[None, :]) & ~np.eye(len(depth), dtype=bool)
    within_depth = distance[same].mean()
    across = distance[depth[:, None] != depth[None, :]].mean()
    note = f"mean d within {within_depth:.2f}, across {across:.2f}"
    ratio = float(across / within_depth)
    return at_least(NAME, text, PAPER, "experiment", ratio, 1.05, note)


def saved_matrices(parameters: Parameters) -> Claim:
    """The paper's own ImageNet and MNIST matrices."""
    why = (
        "needs 37 pretrained image networks and 10,000 ImageNet images, which cannot "
        "be shipped; the digits claims above test the same statement offline"
    )
    text = "Pearson correlations of baselines with GULP on ImageNet (666 pairs)"
    return open_claim(NAME, text, PAPER, "experiment", why)


CLAIMS = (
    hat_matrices,
    orthogonal_invariance,
    triangle_inequality,
    canonical_limit,
    kernel_limit,
    plug_in_rate,
    best_lambda_is_the_tasks,
    gulp_beats_baselines,
    depth_is_visible,
    saved_matrices,
)
