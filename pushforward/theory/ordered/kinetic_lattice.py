"""The last row of exp(a t W): correlations of N ordered tokens before N is infinite.

W is the strictly lower triangular matrix of position weights, each row of sum one.
To leading order E cos n(theta_j(t) - theta_i(0)) is exp(a_n t W)_{ji}; N times the last
row tends to `kinetic.correlation` at rate 1/N. One product with W costs O(N), and all
modes share the same products. [duerinckx2026kinetic]
"""

import numpy as np
from numpy.typing import ArrayLike

from pushforward.errors import InputError
from pushforward.theory._checks import nonnegative, real, scalar, whole
from pushforward.theory.ordered.kinetic import codeword_weights, mode_rates

LARGEST = 500.0  # a t beyond which e^{at} leaves float64


def _sizes(n: int, decay: float) -> tuple[int, float]:
    n, decay = whole("n", n, 2), float(nonnegative("decay", scalar("decay", decay)))
    if decay > 500 * n:
        raise InputError(f"`decay` must be at most 500 n, got {decay:g} for n = {n}.")
    return n, decay


def position_weights(n: int, decay: float) -> np.ndarray:
    """W_jk = e^{-lambda (j-k)/N} / Z_j for k < j; the first row is zero."""
    n, decay = _sizes(n, decay)
    lag = np.arange(n)[:, None] - np.arange(n)[None, :]
    raw = np.where(lag > 0, np.exp(-decay * np.maximum(lag, 0) / n), 0.0)
    raw[1:] /= raw[1:].sum(1, keepdims=True)
    return raw


def lattice_correlations(
    rates: ArrayLike, t: float, n: int, decay: float
) -> np.ndarray:
    """N [exp(a t W)]_{N i} for every rate a and token i, of shape (rates, N).

    The entry of the last token is N: it has not forgotten itself. The terms of the
    exponential series are positive for a > 0, so nothing cancels.

    >>> from scipy.special import iv
    >>> rows = lattice_correlations(np.array([iv(1, 1.0)]), 1.0, 64, decay=1.0)
    >>> round(float(rows[0, 31]), 8)
    0.71565796
    """
    from scipy.signal import lfilter  # late: as slow to import as all the rest

    n, decay = _sizes(n, decay)
    c = real("rates", rates).ravel() * float(nonnegative("t", scalar("t", t)))
    if not np.isfinite(c).all() or np.abs(c).max() > LARGEST:
        raise InputError(
            f"`rates` times `t` must be at most {LARGEST:g}, got {np.abs(c).max():g}. "
            "Take a smaller t or beta."
        )
    q = np.exp(-decay / n)
    past = lfilter([0.0, 1.0], [1.0, -q], np.ones(n))  # Z_j / q
    inverse = np.concatenate([[0.0], 1.0 / (q * past[1:])])
    row = np.zeros(n)
    row[-1] = n
    total, factor = np.outer(np.ones(len(c)), row), np.ones(len(c))
    # ||W|| = 1, so the tail of the series is that of e^{|c|}.
    for m in range(1, int(40 + 4 * np.abs(c).max())):
        spread = (row * inverse)[::-1]
        row = lfilter([0.0, q], [1.0, -q], spread)[::-1]  # row times W
        factor = factor * c / m
        total = total + np.outer(factor, row)
    return total


def lattice_retrieval(
    t: float, n: int, beta: float, decay: float, codewords: int = 8, modes: int = 20
) -> np.ndarray:
    """S_t at the positions i/N, i = 1..N, from the lattice; the last one is N-fold."""
    rows = lattice_correlations(mode_rates(beta, modes), t, n, decay)
    return codeword_weights(codewords, modes) @ rows
