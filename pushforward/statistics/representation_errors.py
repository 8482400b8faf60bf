"""Error bars of the plug-in GULP estimate, by its influence function."""

import numpy as np
from jaxtyping import Float

from pushforward.statistics._eigenbasis import Eigenbasis, eigenbasis
from pushforward.statistics.representations import lambda_grid, paired


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
