"""GULP and the matching of features against the codes of their authors.

Those are no packages: PUSHFORWARD_PEERS names a folder with checkouts `GULP` and
`GromovMatcher` of github.com/sgstepaniants; without it these rows are left out, which
is said. Each row: CPU seconds of both, least of the repeats, turn by turn; a matching
of theirs takes minutes and is run once. GromovMatcher runs as its script does, on
standardized logarithms; `floor` tells both F1 against the truth of the simulated
cohort, and `error` by how much theirs is higher.
"""

import contextlib
import importlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning import LAMBDAS
from benchmarks.mixtures import side_by_side
from pushforward.statistics import gulp_matrix, match
from pushforward.statistics.matching.accuracy import accuracy_of
from pushforward.statistics.tables.tables import FeatureTable
from pushforward.studies.metabolomics.paired_tables import (
    MEDIUM,
    PairedTables,
    simulate_cohort,
    split_cohort,
)

FOLDER = "PUSHFORWARD_PEERS"


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Rows of whichever code is there; none in a hurry, for they take minutes."""
    if quick:
        return
    given = os.environ.get(FOLDER)
    for name, folder, module, made in (
        ("GULP", "GULP", "distance_functions", gulp_rows),
        ("GromovMatcher", "GromovMatcher/src", "main_GromovMatcher_function", gm_rows),
    ):
        where = Path(given or "") / folder
        if given is None or not (where / f"{module}.py").is_file():
            print(
                f"official {name} left out: {FOLDER} names no folder with {folder}",
                file=sys.stderr,
            )
            continue
        sys.path.insert(0, str(where))
        try:
            peer = importlib.import_module(module)
        except ImportError as missing:
            print(f"official {name} left out: {missing}", file=sys.stderr)
            continue
        finally:
            sys.path.remove(str(where))
        yield from made(peer)


def gulp_rows(peer: Any) -> Iterator[dict[str, Any]]:
    """Six pairs of representations, twenty-six ridges; theirs are arrays (k, n)."""
    for n, k in ((1000, 64), (10_000, 128)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, k))
        networks = [
            np.maximum(X @ rng.normal(size=(k, k)) / np.sqrt(k), 0) for _ in range(4)
        ]
        ours = partial(lambda given: gulp_matrix(given, LAMBDAS).squared, networks)
        theirs = partial(official_gulp, peer, networks)
        mine, value, other, known = side_by_side(ours, theirs, 3)
        error = float(np.abs(value - known).max() / np.abs(known).max())
        yield line("GULP, 6 pairs, 25 lambdas", n, k, mine, "GULP", other, error, "")


def official_gulp(peer: Any, networks: list[np.ndarray]) -> np.ndarray:
    """As their script does: eigenvectors of each pair once, for all ridges."""
    m = len(networks)
    A = [(Z - Z.mean(0)).T for Z in networks]
    A = [np.sqrt(Z.shape[1]) * Z / np.linalg.norm(Z) for Z in A]
    found = np.zeros((len(LAMBDAS), m, m))
    for i in range(m):
        for j in range(i):
            known = (*np.linalg.eigh(A[i] @ A[i].T), *np.linalg.eigh(A[j] @ A[j].T))
            for t, lam in enumerate(LAMBDAS):
                value = peer.predictor_dist(A[i], A[j], *known, lmbda=lam)
                found[t, i, j] = found[t, j, i] = value
    return found


def gm_rows(peer: Any) -> Iterator[dict[str, Any]]:
    """Two halves of one cohort, medium noise, published drift."""
    for features in (200, 400):
        cohort = simulate_cohort(int(np.ceil(features / 0.75)), 499, seed=0)
        pair = split_cohort(cohort, 0.5, MEDIUM, seed=1)
        mine, value = min(timed(partial(our_f1, pair)) for _ in range(3))
        other, known = timed(partial(official_f1, peer, pair))
        told = f"F1 {value:.4f}, theirs {known:.4f}"
        yield line(
            "matching", pair.A.n, pair.A.p, mine, "GromovMatcher", other,
            known - value, told,
        )  # fmt: skip


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """CPU seconds and the value."""
    start = time.process_time()
    value = work()
    return time.process_time() - start, value


def our_f1(pair: PairedTables) -> float:
    return match(pair.A, pair.B).accuracy(pair.truth).f1


def official_f1(peer: Any, pair: PairedTables) -> float:
    """Their matching and one-to-one choice, by their defaults."""
    with contextlib.redirect_stdout(io.StringIO()):
        coupling = peer.GM(standardized(pair.A), standardized(pair.B))
    found = np.argwhere(peer.keep_max(coupling) > 0)
    return accuracy_of(found, pair.truth, coupling.shape, partial=False).f1


def standardized(table: FeatureTable) -> np.ndarray:
    """Masses, times, then samples with mean zero and variance one per feature."""
    X = table.intensities
    return np.concatenate([[table.mz, table.rt], (X - X.mean(0)) / X.std(0)])


def line(
    work: str, n: int, d: int, ours: float, peer: str, theirs: float, error: float,
    told: str,
) -> dict[str, Any]:  # fmt: skip
    return {
        "work": work,
        "n": n,
        "d": d,
        "dtype": "float64",
        "ours_seconds": ours,
        "peer": f"official {peer}",
        "peer_seconds": theirs,
        "ratio": theirs / ours,
        "error": error,
        "floor": told,
    }
