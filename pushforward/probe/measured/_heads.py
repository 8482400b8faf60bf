"""What each attention head does: its matrices, its spectra, its regime."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float, Inexact, Int
from scipy.special import entr

from pushforward._threads import side_by_side
from pushforward.errors import InputError
from pushforward.observables import attention_rank
from pushforward.probe._recording import Recording, load_any
from pushforward.probe.measured._collapse import mean_of_cosines
from pushforward.probe.measured._normalization import unit
from pushforward.theory.few_tokens.long_context import critical_gamma

TIE = 1e-6  # eigenvalues closer than this share of the largest count as equal


@dataclasses.dataclass(frozen=True)
class HeadTable:
    """Attention as it was paid on a text, one number per layer and head.

    `entropy` is the mean of row entropies over that of uniform attention (log n, or
    log i for row i of a causal head), between 0 (one token) and 1 (all alike);
    `rank` the numerical rank at 1e-3; `leaders` the number of tokens that get more
    than half of some token's attention; `first` the attention to the first token and
    `own` the attention that tokens pay to themselves, on average.
    """

    entropy: Float[np.ndarray, "l h"]
    rank: Float[np.ndarray, "l h"]
    leaders: Float[np.ndarray, "l h"]
    first: Float[np.ndarray, "l h"]
    own: Float[np.ndarray, "l h"]


def head_table(recording: Recording) -> HeadTable:
    """Entropy, rank, leaders and sinks of every head."""
    A = needs_attention(recording)
    n = A.shape[-1]
    seen = np.arange(1, n + 1) if recording.causal else np.full(n, n)
    rows = slice(int(seen[0] == 1), None)  # a row that sees one token has no choice

    def layer(one: Float[np.ndarray, "h n n"]) -> tuple[np.ndarray, ...]:
        one = one.astype(float)
        entropy = entr(one).sum(axis=-1)
        own = np.diagonal(one, axis1=-2, axis2=-1)
        return (
            (entropy[:, rows] / np.log(seen[rows])).mean(axis=-1),
            np.array([attention_rank(head) for head in one], float),
            (one[:, rows].max(axis=-2) > 0.5).sum(axis=-1).astype(float),
            one[:, rows, 0].mean(axis=-1),
            own[:, rows].mean(axis=-1),
        )

    columns = zip(*side_by_side(layer, A), strict=True)
    return HeadTable(*(np.stack(column) for column in columns))


@dataclasses.dataclass(frozen=True)
class HeadSpectra:
    """Eigenvalues of the matrices of one head, on tokens of unit length.

    `V` holds the eigenvalues of O V that can be nonzero, `B` those of the symmetrized
    Q^T K. `beta` is the effective inverse temperature |B|_F / sqrt(d), the one of
    B = beta I; `aligned` is tr(B) / d, the part of B that is like the identity and the
    only one that the theory's B = beta I has. `size` is |O V|_F, `pull` is tr(O V) in
    standard deviations of what a random rotation of O V has, size / sqrt(d): positive
    attracts. `regime` is the row of the table of limits that (Q, K, V) falls in.
    [geshkovski2023clusters]
    """

    V: Inexact[np.ndarray, "k"]
    B: Float[np.ndarray, "b"]
    beta: float
    aligned: float
    regime: str
    size: float = 0.0
    pull: float = 0.0


def head_spectra(model: Any, recording: Recording, layer: int) -> list[HeadSpectra]:
    """The spectra of every head of a layer.

    Gains of a norm before attention are absorbed in Q, K, V, and lengths of tokens
    (root mean square over the text) too, so that heads of all models act on unit
    vectors. Biases and rotary positions are left out: this is the head at distance 0.
    A norm of queries and keys enters by its mean scale on the text.
    """
    weights = load_any(model).transformer.layer(layer).heads
    if recording.inputs is None:
        length = np.ones(())
    else:
        length = np.sqrt((recording.inputs[layer].astype(float) ** 2).sum(1).mean())
    groups = (np.asarray(weights.every_head(w), float) for w in (weights.K, weights.V))
    Q, K, V = (length * w for w in (np.asarray(weights.Q, float), *groups))
    if weights.gains is not None and recording.inputs is not None:
        u = recording.inputs[layer].astype(float) / length
        Q, K = (_normed(M, u, g) for M, g in zip((Q, K), weights.gains, strict=True))
    O = np.asarray(weights.O, float)
    return [spectra(*parts) for parts in zip(Q, K, V, O, strict=True)]


def _normed(M: np.ndarray, u: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """The matrices of heads over the root mean square of what they give on tokens u."""
    sizes = np.sqrt(np.mean((M @ u.T) ** 2, axis=(1, 2), keepdims=True))
    return M / sizes * np.asarray(gain, float)[None, :, None]


def spectra(
    Q: Float[np.ndarray, "k d"],
    K: Float[np.ndarray, "k d"],
    V: Float[np.ndarray, "k d"],
    O: Float[np.ndarray, "d k"],
) -> HeadSpectra:
    """The spectra of B = Q^T K and of O V, through matrices of the width of a head."""
    d = Q.shape[1]
    values, vectors = np.linalg.eig(V @ O)  # V (O V) has the nonzero spectrum of O V
    R: Any = np.linalg.qr(np.vstack([Q, K]).T, mode="r")
    k = len(Q)
    symmetric = (R[:, :k] @ R[:, k:].T + R[:, k:] @ R[:, :k].T) / 2
    norm = np.sqrt(np.sum((Q @ Q.T) * (K @ K.T)))  # |Q^T K|_F
    size = np.sqrt(np.sum((O.T @ O) * (V @ V.T)))  # |O V|_F
    leading = np.argmax(np.abs(values))
    direction = O @ vectors[:, leading]
    return HeadSpectra(
        V=values[np.argsort(-np.abs(values))],
        B=np.sort(np.linalg.eigvalsh(symmetric))[::-1],
        beta=float(norm / np.sqrt(d)),
        aligned=float(np.trace(K @ Q.T) / d),
        regime=regime(values, direction, Q, K, full=len(V) == d),
        size=float(size),
        pull=float(values.sum().real * np.sqrt(d) / max(size, 1e-300)),
    )


HYPERPLANES = "hyperplanes"  # at most three parallel hyperplanes (theorem 4.1)
SUBSPACES = "subspaces"  # parallel subspaces of codimension k (conjecture)
POLYTOPE = "polytope"  # vertices of a polytope (theorem 3.1)
COLLAPSE = "origin"  # all to the origin (theorem C.5, for V = -I)
OUTSIDE = "outside"  # no row of the table
REGIMES = (POLYTOPE, HYPERPLANES, SUBSPACES, COLLAPSE, OUTSIDE)


def regime(
    values: Inexact[np.ndarray, "k"],
    direction: Inexact[np.ndarray, "d"],
    Q: Float[np.ndarray, "k d"],
    K: Float[np.ndarray, "k d"],
    *,
    full: bool,
) -> str:
    """The row of the table of [geshkovski2023clusters] for eigenvalues of V.

    `direction` is the eigenvector of the largest eigenvalue in modulus; `full` says
    whether V has no further, zero, eigenvalues. Hypotheses are tested as stated: V = I
    with Q^T K positive gives a polytope; a leading eigenvalue that is real, positive,
    simple and strictly largest in modulus, with <Q phi, K phi> > 0, hyperplanes; some
    eigenvalues with positive real part, the conjectured subspaces; V = -I the origin.
    """
    size = np.abs(values)
    top = values[np.argmax(size)]
    scale = max(float(size.max()), 1e-300)
    same = np.abs(values - top) <= TIE * scale
    if full and same.all() and abs(top.imag) <= TIE * scale:
        lowest = np.linalg.eigvalsh((Q.T @ K + K.T @ Q) / 2)[0]
        if top.real > 0 and lowest > 0:
            return POLYTOPE
        if top.real < 0 and lowest > 0:
            return COLLAPSE
    alone = int((size >= (1 - TIE) * scale).sum()) == 1
    if alone and abs(top.imag) <= TIE * scale and top.real > 0:
        phi = np.real(direction)
        if (Q @ phi) @ (K @ phi) > 0:
            return HYPERPLANES
    if (values.real > TIE * scale).any():
        return SUBSPACES
    return OUTSIDE


def seen_beta(
    recording: Recording,
    rows: slice = slice(None),
    *,
    order: Int[np.ndarray, "n"] | None = None,
) -> Float[np.ndarray, "l h"]:
    """The inverse temperature that explains the attention seen, per layer and head.

    The slope of log A_ij against <x_i, x_j>, after the mean of every row is taken from
    both: with logits beta <x_i, x_j> + c_i it is beta. x are the unit directions of
    what attention read, or of hidden states where that is not known.
    Rows of causal heads are their past. `rows` picks the tokens that pay attention;
    `order` shuffles the tokens under the attention, for a control.
    """
    A = needs_attention(recording)
    read = what_attention_reads(recording)
    n = A.shape[-1]
    order = np.arange(n) if order is None else order
    mask = np.tri(n, dtype=bool) if recording.causal else np.ones((n, n), bool)
    used = np.zeros((n, 1), bool)
    used[rows] = True
    mask = mask & used
    count = np.maximum(mask.sum(axis=1), 1)
    slopes = np.zeros(A.shape[:2])
    for k, layer in enumerate(A):
        x = read[k][order]
        cosines = _rows_centered(x @ x.T, mask, count)
        logits = np.log(np.maximum(layer.astype(float), 1e-30))
        for h, row in enumerate(logits):
            y = _rows_centered(row, mask, count)
            slopes[k, h] = (cosines * y).sum() / (cosines**2).sum()
    return slopes


def _rows_centered(a: np.ndarray, mask: np.ndarray, count: np.ndarray) -> np.ndarray:
    mean = np.where(mask, a, 0.0).sum(axis=1) / count
    return np.where(mask, a - mean[:, None], 0.0)


def what_attention_reads(recording: Recording) -> Float[np.ndarray, "l n d"]:
    """Unit directions of what the attention of each layer reads.

    Those of the hidden states, where that is not known.
    """
    read = recording.hidden if recording.inputs is None else recording.inputs
    return unit(read[: recording.depth])


def critical_beta(recording: Recording) -> Float[np.ndarray, "l"]:
    """The critical inverse temperature of every layer, log n / (1 - rho).

    rho is the mean cosine of what attention reads. A head below it averages all tokens,
    one above it chooses. [chen2025longcontext]
    """
    x = what_attention_reads(recording)
    n, rho = x.shape[1], mean_of_cosines(x)
    return np.log(n) * np.asarray(critical_gamma(np.clip(rho, -0.99, 0.999)))


def needs_attention(recording: Recording) -> Float[np.ndarray, "l h n n"]:
    """The attention matrices, or a message that they are not known."""
    if recording.attention is None:
        raise InputError(
            f"{recording.name} is a file of hidden states: attention is not known. "
            "Probe a model instead."
        )
    return recording.attention
