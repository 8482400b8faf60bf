"""The same model with random heads: what sizes and norms alone would do to its tokens.

Attention alone, with fresh Gaussian matrices in every layer that are as large as the
trained ones, against the theory's recursion for the Gram matrix of the tokens, in which
no matrix occurs. [koubbi2026homogenized]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from pushforward.probe._recording import Recording
from pushforward.probe.measured._heads import HeadSpectra
from pushforward.probe.measured._normalization import lengths, unit

MOST, REPLICAS = 64, 2  # tokens, and draws of all matrices


@dataclasses.dataclass(frozen=True)
class RandomHeads:
    """Mean cosines of two tokens after the last layer, one for each draw.

    `found` ran the matrices, `predicted` is the recursion
    G'_ij = G_ij + sum_h (|O V|_F^2 / d) <m_i, m_j>, m_i the averages that tokens see,
    with lengths as the norms leave them.
    """

    found: Float[np.ndarray, "r"]
    predicted: Float[np.ndarray, "r"]


def random_heads(
    recording: Recording,
    spectra: Sequence[Sequence[HeadSpectra]],
    *,
    after: bool,
    seed: int = 0,
) -> RandomHeads:
    """Run the first 64 tokens through random heads of the sizes that `spectra` tell.

    `after` says that norms follow each sublayer, and so reset the lengths of tokens.
    """
    x = np.asarray(recording.hidden[0][:MOST], np.float32)
    kept = lengths(recording.hidden[1:]).mean(axis=1) if after else None
    both = []
    for k in range(REPLICAS):
        rng = np.random.default_rng([seed, k])
        both.append(_run(x, spectra, bool(recording.causal), kept, rng))
    return RandomHeads(*np.array(both).T)


def _run(x, spectra, causal: bool, kept, rng) -> tuple[float, float]:
    """The mean cosine at the end, by matrices and by the recursion for G = x x^T."""
    G = (x @ x.T).astype(float)
    for k, layer in enumerate(spectra):
        x = x + _pushed(x, layer, causal, rng)
        G = G + _seen(G, layer, causal, x.shape[1], rng)
        if kept is not None:
            x = (kept[k] * unit(x)).astype(np.float32)
            G = kept[k] ** 2 * _cosines(G)
    return _mean(_cosines((x @ x.T).astype(float))), _mean(_cosines(G))


def _pushed(x: np.ndarray, layer, causal: bool, rng) -> np.ndarray:
    """What random heads of this layer add; each reads unit tokens."""
    d, k = x.shape[1], len(layer[0].V)
    read, push = unit(x).astype(np.float32), np.zeros_like(x)
    for head in layer:
        Q, K, V, O = rng.standard_normal((4, k, d), dtype=np.float32)
        # |Q^T K|_F^2 has mean k d^2 for entries of variance one
        scale = head.beta / np.sqrt(k * d)
        A = _attention(scale * ((read @ Q.T) @ (read @ K.T).T), causal)
        push += head.size / (np.sqrt(k) * d) * (A.astype(np.float32) @ read @ V.T) @ O
    return push


def _seen(G: np.ndarray, layer, causal: bool, d: int, rng) -> np.ndarray:
    """sum_h (|O V|_F^2 / d) E <m_i, m_j>: columns of Q x are Gaussian vectors."""
    R, k = _cosines(G), len(layer[0].V)
    values, vectors = np.linalg.eigh(R)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    added = np.zeros_like(G)
    for head in layer:
        P, Q = root @ rng.standard_normal((2, len(R), k))
        A = _attention(head.beta / np.sqrt(k * d) * P @ Q.T, causal)
        added += head.size**2 / d * A @ R @ A.T
    return added


def _attention(logits: np.ndarray, causal: bool) -> np.ndarray:
    if causal:
        logits = np.where(np.tri(len(logits), dtype=bool), logits, -np.inf)
    return softmax(logits, axis=1)


def _cosines(G: np.ndarray) -> np.ndarray:
    size = np.sqrt(np.diag(G))
    return G / size[:, None] / size[None, :]


def _mean(R: np.ndarray) -> float:
    n = len(R)
    return float((R.sum() - n) / (n * (n - 1)))
