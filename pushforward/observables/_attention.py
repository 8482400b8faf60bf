"""The attention matrix of a cloud of tokens, and what it says."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, Real

from pushforward._checks import (
    AnyArray,
    Number,
    as_float_array,
    check_finite,
    matrix_or_none,
    measure,
    scalar,
)
from pushforward.errors import InputError
from pushforward.measures import Particles

MOST_ROWS = 20_000  # tokens whose n x n matrix still fits into 3.2 GB


def attention_matrix(
    mu: Particles,
    beta: Number,
    Q: Real[ArrayLike, "k d"] | Sequence | None = None,
    K: Real[ArrayLike, "k d"] | Sequence | None = None,
    *,
    causal: bool = False,
) -> Float[Array, "n n"]:
    """A_ij = w_j e^{beta <Q x_i, K x_j>} / Z_i: the attention paid by i to j.

    Rows sum to one. With `causal`, A_ij = 0 for j > i.
    """
    measure("mu", mu)
    if mu.n > MOST_ROWS:
        raise InputError(
            f"the attention matrix of n = {mu.n} tokens would need "
            f"{mu.n**2 * 8 / 1e9:.0f} GB. Look at a subset of the tokens."
        )
    Q, K = matrix_or_none("Q", Q), matrix_or_none("K", K)
    for name, W in (("Q", Q), ("K", K)):
        if W is not None and W.shape[1] != mu.d:
            raise InputError(
                f"`{name}` must have {mu.d} columns, the dimension of the tokens, got "
                f"shape {W.shape}."
            )
    rows = [mu.d if W is None else len(W) for W in (Q, K)]
    if rows[0] != rows[1]:
        raise InputError(f"`Q` and `K` must map to one space, got dimensions {rows}.")
    q = mu.points if Q is None else mu.points @ Q.T
    k = mu.points if K is None else mu.points @ K.T
    logits = scalar("beta", beta) * (q @ k.T) + mu.log_weights[None, :]
    if causal:
        logits = jnp.where(jnp.tri(mu.n, dtype=bool), logits, -jnp.inf)
    logits = logits - logits.max(axis=1, keepdims=True)
    a = jnp.exp(logits)
    return a / a.sum(axis=1, keepdims=True)


def attention_entropy(A: Float[AnyArray, "n n"]) -> Float[Array, "n"]:
    """-sum_j A_ij log A_ij of every row, between 0 (one token) and log n (all)."""
    A = _square(A)
    return -jnp.sum(
        jnp.where(A > 0, A * jnp.log(jnp.where(A > 0, A, 1.0)), 0.0), axis=1
    )


def attention_rank(A: Float[AnyArray, "n n"], tolerance: float = 1e-3) -> int:
    """The number of singular values above `tolerance` times the largest."""
    s = np.linalg.svd(np.asarray(_square(A)), compute_uv=False)
    return int((s > float(scalar("tolerance", tolerance)) * s[0]).sum())


def leaders(A: Float[AnyArray, "n n"], threshold: float = 0.5) -> Int[np.ndarray, "k"]:
    """The tokens to which some token pays more than `threshold` of its attention.

    In the long run these are the nonzero columns of the limit of A.
    [geshkovski2023clusters]
    """
    paid = np.asarray(_square(A)).max(axis=0)
    return np.flatnonzero(paid > float(scalar("threshold", threshold)))


def _square(A: object) -> Float[Array, "n n"]:
    """An attention matrix from outside."""
    A = as_float_array("A", A)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size:
        raise InputError(
            f"`A` must be an (n, n) attention matrix, got shape {A.shape}. "
            "Make one with attention_matrix(mu, beta)."
        )
    check_finite("A", A)
    return A
