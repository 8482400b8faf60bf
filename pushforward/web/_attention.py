"""The attention matrix of one frame, as the page draws it."""

import base64
import pathlib
from typing import Any

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.errors import InputError
from pushforward.observables import (
    attention_entropy,
    attention_matrix,
    attention_rank,
    leaders,
)
from pushforward.web import _caps
from pushforward.web.computing._frames import numbers_of
from pushforward.web.computing._runs import Run
from pushforward.web.server._files import PULLS
from pushforward.web.state._experiment import directions, heads_of, space_of
from pushforward.web.state._given import given_experiment, is_density

ORDERS = ("index", "cluster", "angle")
RANKED = 512  # tokens whose singular values are worth waiting for


def matrix(run: Run, k: int, head: int, files: pathlib.Path) -> np.ndarray:
    """A_ij of frame k and one head, all of it."""
    mu = measure(run, k, files)
    state = run.state
    if state.model == "recorded":
        return np.asarray(attention_matrix(mu, state.beta))
    heads = heads_of(state, files)
    if state.experiment is not None and is_density(given_experiment(state.experiment)):
        raise InputError("a density has no attention matrix.")
    if not heads:
        raise InputError("this field has no attention matrix.")
    if not 0 <= head < len(heads):
        raise InputError(f"`head` must be below {len(heads)}, got {head}.")
    field = heads[head]
    t = numbers_of(run.frames[k]).t
    return np.asarray(field.attention_matrix(t, mu))


def pulled(run: Run, k: int, token: int, files: pathlib.Path) -> np.ndarray | None:
    """The shares of a token's motion after frame k that others brought, if known."""
    if run.state.model != "recorded":
        return None
    with np.load(files / f"{run.state.file}.npz", allow_pickle=False) as stored:
        if not all(name in stored.files for name in PULLS):
            return None
        sources, shares = (stored[name] for name in PULLS)
    frames, n, _ = sources.shape
    if k >= frames or token >= n:
        raise InputError(
            f"`frame` and `token` must be below {frames} and {n}, got {k} and {token}."
        )
    row = np.zeros(n)
    np.add.at(row, sources[k, token].astype(int), shares[k, token])
    return row


def measure(run: Run, k: int, files: pathlib.Path) -> pf.Particles:
    """The tokens of frame k."""
    assert run.done is not None
    if not 0 <= k < len(run.points):
        raise InputError(f"`frame` must be below {len(run.points)}, got {k}.")
    points = run.tokens(k).astype(float)
    weights, d = run.masses(k, files), points.shape[1]
    if run.done.get("space") == "euclidean":
        return directions(run.state, pf.Particles(pf.Euclidean(d), points, weights))
    return pf.Particles.normalized(space_of(d), points, weights)


def picture(run: Run, k: int, head: int, order: str, files: pathlib.Path) -> dict:
    """The matrix in an order, binned above 256 tokens, with what it says."""
    if order not in ORDERS:
        raise InputError(f"`order` must be one of {ORDERS}, got {order[:40]!r}.")
    A: Any = matrix(run, k, head, files)
    n = len(A)
    orders = _orders(run, k)
    chosen = orders[order]
    ordered = A[np.ix_(chosen, chosen)]
    bins = min(n, _caps.MATRIX)
    if bins < n:
        ordered = _binned(ordered, bins)
    few, whole = n <= RANKED, jnp.asarray(A)
    return {
        "n": n,
        "bins": bins,
        "binned": bins < n,
        "order_by": {name: o.tolist() for name, o in orders.items()},
        "order": chosen.tolist(),
        "values": base64.b64encode(ordered.astype("<f4").tobytes()).decode(),
        "entropy": np.asarray(attention_entropy(whole)).tolist(),
        "rank": attention_rank(whole) if few else None,
        "leaders": leaders(whole).tolist(),
    }


def _orders(run: Run, k: int) -> dict[str, np.ndarray]:
    assert run.done is not None
    n = run.done["n"]
    frame = run.frames[k]
    dshow = int.from_bytes(frame[16:20], "little")
    start = 24 + 56 + 4 * n * dshow
    labels = np.frombuffer(frame, "<u2", n, start)
    points = run.tokens(k).astype(float)
    if points.shape[1] > 2:
        centered = points - points.mean(axis=0)
        axes = np.linalg.svd(centered, full_matrices=False)[2]
        points = centered @ axes[:2].T
    flat = points.shape[1] == 1  # on the line a place is the angle
    angle = points[:, 0] if flat else np.arctan2(points[:, 1], points[:, 0])
    return {
        "index": np.arange(n),
        "cluster": np.argsort(labels, kind="stable"),
        "angle": np.argsort(angle, kind="stable"),
    }


def _binned(A: np.ndarray, bins: int) -> np.ndarray:
    """Rows averaged and columns summed over runs of the order: rows still sum to 1."""
    edges = np.linspace(0, len(A), bins + 1).astype(int)[:-1]
    sizes = np.diff(np.append(edges, len(A)))
    columns = np.add.reduceat(A, edges, axis=1)
    return np.add.reduceat(columns, edges, axis=0) / sizes[:, None]
