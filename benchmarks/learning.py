"""GULP against the textbook formula per lambda; matching against dense POT.

`rows(quick)` yields one dict per line: work, n, d, dtype, ours_seconds, peer,
peer_seconds, ratio, error, and the peak memory of both in bytes. Ours and the peer run
interleaved in one process, median of the repeats, CPU seconds. At 512 neurons and
3,500 features the peers take minutes: there the single run that measures memory is
also the timed one.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pushforward.statistics.matching.distances import (
    CorrelationDistance,
    MassGate,
    admissible_pairs,
    joint_distances,
)
from pushforward.statistics.representations.gulp import gulp_matrix
from pushforward.studies.metabolomics.paired_tables import (
    MEDIUM,
    simulate_cohort,
    split_cohort,
)
from pushforward.transport import SparseGromov

# The grid of the paper, less the zero that the textbook formula cannot take.
LAMBDAS = 10.0 ** np.arange(-20, 5)


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    for n, k in ((1000, 64),) if quick else ((1000, 64), (10_000, 128), (10_000, 512)):
        yield gulp_row(n, k, repeats=5 if k < 500 else 0)
    for features in (400,) if quick else (400, 1000, 3500):
        yield matching_row(features, repeats={400: 5, 1000: 3}.get(features, 0))


def gulp_row(n: int, k: int, repeats: int) -> dict[str, Any]:
    """Four representations, six pairs, twenty-five lambdas."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    networks = [
        np.maximum(X @ rng.normal(size=(k, k)) / np.sqrt(k), 0) for _ in range(4)
    ]
    ours, peer = interleaved(
        lambda: gulp_matrix(networks, LAMBDAS).squared,
        lambda: textbook(networks, LAMBDAS),
        repeats,
    )
    error = np.abs(ours.value - peer.value).max() / np.abs(peer.value).max()
    return line("GULP, 6 pairs, 25 lambdas", n, k, ours, "trace formula", peer, error)


def textbook(networks: list[np.ndarray], lambdas: np.ndarray) -> np.ndarray:
    """The trace formula, every product anew for every lambda and pair."""
    n, m = len(networks[0]), len(networks)
    A = [Z - Z.mean(0) for Z in networks]
    A = [Z * np.sqrt(n) / np.linalg.norm(Z) for Z in A]
    S = [Z.T @ Z / n for Z in A]
    out = np.zeros((len(lambdas), m, m))
    for t, lam in enumerate(lambdas):
        R = [np.linalg.inv(s + lam * np.eye(len(s))) for s in S]
        own = [np.sum((r @ s) * (r @ s).T) for r, s in zip(R, S, strict=True)]
        for i in range(m):
            for j in range(i):
                C = A[i].T @ A[j] / n
                cross = np.sum((R[i] @ C @ R[j]) * C)
                out[t, i, j] = out[t, j, i] = own[i] + own[j] - 2 * cross
    return out


def matching_row(features: int, repeats: int) -> dict[str, Any]:
    """The coupling of two tables of this many features, to the same tolerance."""
    from ot.gromov import fused_unbalanced_gromov_wasserstein

    # overlap .5 keeps three quarters of the cohort in each table
    cohort = simulate_cohort(int(np.ceil(features / 0.75)), 499, seed=0)
    pair = split_cohort(cohort, 0.5, MEDIUM, seed=1)
    D_A, D_B = joint_distances(pair.A, pair.B, CorrelationDistance())
    gate = 3.0 * (np.abs(pair.A.mz[:, None] - pair.B.mz[None, :]) > 0.01)

    def sparse() -> np.ndarray:
        pairs = admissible_pairs(pair.A.mz, pair.B.mz, MassGate())
        return SparseGromov(tol=1e-10).couple(D_A, D_B, pairs).dense()

    def dense() -> np.ndarray:
        return fused_unbalanced_gromov_wasserstein(
            D_A,
            D_B,
            reg_marginals=0.05,
            epsilon=0.005,
            unbalanced_solver="sinkhorn_log",
            alpha=1.0,
            M=gate,
            tol=1e-8,  # L1 over all pairs; 1e-10 on the largest entry is tighter
            max_iter_ot=1000,
            tol_ot=1e-9,
        )[0]

    ours, peer = interleaved(sparse, dense, repeats)
    error = np.abs(ours.value - peer.value).max()
    return line(
        "matching, coupling", pair.A.n, pair.A.p, ours, "POT dense", peer, error
    )


class Timed:
    """Median CPU seconds, peak traced memory and the value of repeated calls."""

    def __init__(self, work: Callable[[], np.ndarray]):
        self.work = work
        self.seconds: list[float] = []
        tracemalloc.start()
        start = time.process_time()
        self.value = work()
        self.traced_seconds = time.process_time() - start
        self.peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    @property
    def median(self) -> float:
        return float(np.median(self.seconds or [self.traced_seconds]))

    def run(self) -> None:
        start = time.process_time()
        self.value = self.work()
        self.seconds.append(time.process_time() - start)


def interleaved(
    ours: Callable[[], np.ndarray], peer: Callable[[], np.ndarray], repeats: int
) -> tuple[Timed, Timed]:
    """Memory first, once each; then timed runs turn by turn."""
    pair = Timed(ours), Timed(peer)
    for _ in range(repeats):
        for timed in pair:
            timed.run()
    return pair


def line(
    work: str, n: int, d: int, ours: Timed, peer: str, other: Timed, error: float
) -> dict[str, Any]:
    mine, theirs = ours.median, other.median
    return {
        "work": work,
        "n": n,
        "d": d,
        "dtype": "float64",
        "ours_seconds": mine,
        "peer": peer,
        "peer_seconds": theirs,
        "ratio": theirs / mine,
        "error": float(error),
        "ours_bytes": ours.peak,
        "peer_bytes": other.peak,
    }


if __name__ == "__main__":
    import sys

    for row in rows("--full" not in sys.argv):
        print(row)
