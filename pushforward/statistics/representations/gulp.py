"""GULP: how differently ridge regression behaves on two representations.

Error bars of the plug-in GULP estimate, by its influence function.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward._checks import listed
from pushforward.errors import InputError
from pushforward.statistics._matrices import (
    Eigenbasis,
    eigenbasis,
    normalized,
    ridge_inverses,
)
from pushforward.statistics.representations.files import (
    read_representation as read_representation,
)


@dataclass(frozen=True)
class GulpDistance:
    """GULP distances of one pair of representations, one per lambda.

    `squared` is d^2 as the formula gives it (rounding may leave it at -1e-15);
    `distance` is its root and obeys the triangle inequality.
    """

    lambdas: Float[np.ndarray, "t"]
    squared: Float[np.ndarray, "t"]

    @property
    def distance(self) -> Float[np.ndarray, "t"]:
        """The pseudo-metric d, clipped at zero before the root."""
        return np.sqrt(np.maximum(self.squared, 0.0))

    def __str__(self) -> str:
        rows = zip(self.lambdas, self.distance, strict=True)
        return "\n".join(f"lambda {lam:8.3g}   d = {d:.6g}" for lam, d in rows)


@dataclass(frozen=True)
class GulpMatrix:
    """GULP distances between all pairs of m representations, one matrix per lambda."""

    names: tuple[str, ...]
    lambdas: Float[np.ndarray, "t"]
    squared: Float[np.ndarray, "t m m"]

    @property
    def distance(self) -> Float[np.ndarray, "t m m"]:
        """The pseudo-metrics d, clipped at zero before the root."""
        return np.sqrt(np.maximum(self.squared, 0.0))

    def at(self, lam: float) -> Float[np.ndarray, "m m"]:
        """The distance matrix of one lambda of the grid."""
        found = np.flatnonzero(self.lambdas == lam)
        if not found.size:
            raise InputError(
                f"`lam` = {lam} is not one of the computed lambdas "
                f"{self.lambdas.tolist()}. Pick one of them or recompute."
            )
        return self.distance[found[0]]


def gulp(A: object, B: object, lambdas: object = 1e-2) -> GulpDistance:
    """GULP distances between representations A (n, k) and B (n, l) of one sample.

    With R = (S + lambda)^{-1} and H = A (A^T A/n + lambda)^{-1} A^T / n the ridge hat
    matrix,

        d^2 = tr(R_A S_A R_A S_A) + tr(R_B S_B R_B S_B) - 2 tr(R_A S_AB R_B S_AB^T)
            = ||H_A - H_B||_F^2,

    after centering and scaling each to E|phi|^2 = 1. In the two eigenbases all
    lambdas cost one matrix product. lambda = 0 is CCA, large lambda is CKA; the
    lambda to choose is the ridge of the task. Rows are samples in the same order.

    >>> import numpy as np
    >>> x, y = np.array([[1.0], [1], [-1], [-1]]), np.array([[1.0], [-1], [1], [-1]])
    >>> bool(np.isclose(gulp(x, 0.6 * x + 0.8 * y, 1.0).squared[0], 0.32))
    True

    [boixadsera2022gulp]
    """
    grid = lambda_grid(lambdas)
    A, B = paired(A, B)
    return GulpDistance(grid, _squared(eigenbasis(A), eigenbasis(B), grid))


def gulp_matrix(
    representations: Sequence[object],
    lambdas: object = 1e-2,
    *,
    names: Sequence[str] | None = None,
) -> GulpMatrix:
    """GULP distances between all pairs: one eigendecomposition per representation.

    All representations are (n, k_i) over the same n samples. [boixadsera2022gulp]
    """
    grid = lambda_grid(lambdas)
    matrices = [
        normalized(f"representations[{i}]", r) for i, r in _many(representations)
    ]
    rows = {len(m) for m in matrices}
    if len(rows) > 1:
        raise InputError(
            f"`representations` must share their samples, got {sorted(rows)} rows. "
            "Rows are samples: evaluate every network on the same inputs."
        )
    labels = labels_of(names, len(matrices))
    bases = [eigenbasis(m) for m in matrices]
    squared = np.zeros((len(grid), len(bases), len(bases)))
    for i, a in enumerate(bases):
        for j in range(i):
            squared[:, i, j] = squared[:, j, i] = _squared(a, bases[j], grid)
    return GulpMatrix(labels, grid, squared)


def lambda_grid(lambdas: object) -> Float[np.ndarray, "t"]:
    """A one-dimensional grid of finite lambdas >= 0, or a refusal."""
    try:
        grid = np.atleast_1d(np.asarray(lambdas, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        grid = np.empty(0)
    if grid.ndim != 1 or grid.size == 0 or not np.all((0 <= grid) & (grid <= 1e100)):
        raise InputError(
            f"`lambdas` must be numbers from 0 to 1e100, got {lambdas!r}. Try "
            "`np.logspace(-4, 1, 6)`."
        )
    return grid


def paired(A: object, B: object) -> tuple[np.ndarray, np.ndarray]:
    """Both representations normalized, over the same number of samples."""
    A, B = normalized("A", A), normalized("B", B)
    if len(A) != len(B):
        hint = (
            " Their columns agree: transpose both." if A.shape[1] == B.shape[1] else ""
        )
        raise InputError(
            f"`A` and `B` must share their samples (rows), got shapes {A.shape} and "
            f"{B.shape}. Evaluate both on the same inputs.{hint}"
        )
    return A, B


def _squared(a: Eigenbasis, b: Eigenbasis, grid: np.ndarray) -> np.ndarray:
    Q = np.square(a.coordinates.T @ b.coordinates)
    return squared_distances(a.eigenvalues, b.eigenvalues, Q, grid)


def squared_distances(
    e: Float[np.ndarray, "r"],
    f: Float[np.ndarray, "s"],
    Q: Float[np.ndarray, "r s"],
    grid: Float[np.ndarray, "t"],
) -> Float[np.ndarray, "t"]:
    """d^2 from eigenvalues and the squared cross-covariance in both eigenbases."""
    w, v = ridge_inverses(e, grid), ridge_inverses(f, grid)
    own = np.square(e * w).sum(1) + np.square(f * v).sum(1)
    return own - 2.0 * ((w @ Q) * v).sum(1)


def _many(representations: Sequence[object]) -> list[tuple[int, object]]:
    found = list(enumerate(representations))
    if len(found) < 2:
        raise InputError(
            f"`representations` must hold at least 2 arrays, got {len(found)}. Pass a "
            "list of matrices (n, k_i)."
        )
    return found


def labels_of(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """A name for each representation; numbers if there are none."""
    if names is None:
        return tuple(f"representation {i}" for i in range(count))
    names = listed("names", names, "names")
    if len(names) != count:
        raise InputError(
            f"`names` has {len(names)} entries for {count} representations. Give one "
            "name each."
        )
    return tuple(names)


def gulp_standard_error(
    A: object, B: object, lambdas: object = 1e-2
) -> Float[np.ndarray, "t"]:
    """Standard error of the squared GULP distance estimated from n samples.

    The plug-in estimate is asymptotically normal; its influence at a sample (phi, psi)
    with G_A = 2 lambda R_A^3 S_A + 2 R_A C R_B C^T R_A, likewise G_B, and
    K = R_A C R_B is

        phi^T G_A phi - |phi|^2 <G_A, S_A> + psi^T G_B psi - |psi|^2 <G_B, S_B>
          - 4 phi^T K psi + 2 (|phi|^2 + |psi|^2) <K, C>,

    where the subtracted terms come from scaling each representation to unit size. The
    error is its standard deviation over sqrt(n); divide by 2 d for the error of d
    itself. It measures variance only: below the smallest eigenvalue that n samples
    resolve the estimate is also biased. [boixadsera2022gulp]
    """
    grid = lambda_grid(lambdas)
    A, B = paired(A, B)
    a, b = eigenbasis(A), eigenbasis(B)
    spread = [np.std(_influence(a, b, lam), ddof=1) for lam in grid]
    return np.array(spread) / np.sqrt(len(A))


def _influence(a: Eigenbasis, b: Eigenbasis, lam: float) -> Float[np.ndarray, "n"]:
    n = len(a.coordinates)
    phi, psi = a.coordinates * np.sqrt(n), b.coordinates * np.sqrt(n)
    w_a, w_b = a.inverses(np.array([lam]))[0], b.inverses(np.array([lam]))[0]
    C = a.coordinates.T @ b.coordinates
    K = w_a[:, None] * C * w_b
    own_a = _quadratic(phi, _gradient(a.eigenvalues, w_a, lam, K @ (C.T * w_a)), a)
    own_b = _quadratic(psi, _gradient(b.eigenvalues, w_b, lam, K.T @ (C * w_b)), b)
    cross = np.einsum("ni,ni->n", phi @ K, psi)
    sizes = np.square(phi).sum(1) + np.square(psi).sum(1)
    return own_a + own_b - 4.0 * cross + 2.0 * sizes * np.sum(K * C)


def _gradient(
    e: np.ndarray, w: np.ndarray, lam: float, cross: np.ndarray
) -> np.ndarray:
    return np.diag(2.0 * lam * w**3 * e) + 2.0 * cross


def _quadratic(phi: np.ndarray, G: np.ndarray, basis: Eigenbasis) -> np.ndarray:
    """phi^T G phi - |phi|^2 <G, S>, in the basis where S is diagonal."""
    own = np.einsum("ni,ni->n", phi @ G, phi)
    return own - np.square(phi).sum(1) * np.sum(np.diag(G) * basis.eigenvalues)


def gulp_errors(
    representations: Sequence[object], lambdas: object = 1e-2
) -> Float[np.ndarray, "t m m"]:
    """Standard errors of the distances d of `gulp_matrix`: that of d^2 over 2 d.

    Zero between equal representations, where the estimate has no first-order error.
    """
    grid = lambda_grid(lambdas)
    found = _many(representations)
    errors = np.zeros((len(grid), len(found), len(found)))
    for i, A in found:
        for j, B in found[:i]:
            twice = 2 * gulp(A, B, grid).distance
            error = gulp_standard_error(A, B, grid) / np.where(twice > 0, twice, np.inf)
            errors[:, i, j] = errors[:, j, i] = error
    return errors
