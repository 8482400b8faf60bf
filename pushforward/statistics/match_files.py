"""Matches on disk: the table of matches, all candidates, and truth from ids."""

from pathlib import Path

import numpy as np
from jaxtyping import Int

from pushforward._checks import as_path
from pushforward.errors import InputError
from pushforward.statistics._delimited import read_text, readings
from pushforward.statistics.matching import Matching
from pushforward.statistics.tables import FeatureTable
from pushforward.statistics.written_tables import write_csv

HEADER = "id_A,id_B,mz_A,mz_B,rt_A,rt_B,rt_B_predicted,coupling,score,reason".split(",")


def write_matches(matching: Matching, path: str | Path) -> None:
    """The matches as CSV: ids, masses, times (min), coupling, score and reason.

    Written under a temporary name and renamed, so a file is never half there.
    """
    _write(path, matching, np.flatnonzero(matching.kept))


def write_candidates(matching: Matching, path: str | Path) -> None:
    """Every pair inside the mass gate, in the same columns: why each was (not) kept."""
    _write(path, matching, np.arange(matching.pairs.count))


def write_merged(matching: Matching, path: str | Path) -> None:
    """One row per match: ids, masses, times, then the samples of A and those of B."""
    A, B = matching.A, matching.B
    header = ["id_A", "id_B", "mz", "rt_A", "rt_B"]
    header += [f"A_sample{k + 1}" for k in range(A.n)]
    header += [f"B_sample{k + 1}" for k in range(B.n)]
    rows = [
        [A.ids[i], B.ids[j], (A.mz[i] + B.mz[j]) / 2, A.rt[i], B.rt[j]]
        + [*A.intensities[:, i], *B.intensities[:, j]]
        for i, j in matching.matches
    ]
    write_csv(path, header, rows)


def read_truth(
    path: str | Path, A: FeatureTable, B: FeatureTable
) -> Int[np.ndarray, "m 2"]:
    """Known pairs from a file of two columns, id in A and id in B, as indices.

    A first row that names no features is taken for a header.
    """
    path = as_path("path", path)
    found = readings(read_text(path))
    if not found:
        raise InputError(
            f"{path.name} must have two columns of ids, e.g.\n    id_A,id_B\n    F1,G7"
        )
    places = [{name: i for i, name in enumerate(t.ids)} for t in (A, B)]
    pairs = []
    for number, row in enumerate(found[0].rows):
        known = [row[side] in places[side] for side in (0, 1)]
        if all(known):
            pairs.append([places[0][row[0]], places[1][row[1]]])
        elif number > 0 or any(known):
            side = known.index(False)
            raise InputError(
                f"{path.name}, row {number + 1}: {row[side]!r} is not an id of "
                f"{(A, B)[side].name}. Ids there look like {(A, B)[side].ids[0]!r}."
            )
    if not pairs:
        raise InputError(
            f"{path.name} names no pair of features: ids look like {A.ids[0]!r} in "
            f"{A.name} and {B.ids[0]!r} in {B.name}."
        )
    return np.array(pairs, dtype=int)


def _write(path: str | Path, m: Matching, chosen: np.ndarray) -> None:
    predicted = m.drift(m.A.rt[m.pairs.rows])
    rows = []
    for s in chosen:
        i, j = m.pairs.rows[s], m.pairs.cols[s]
        masses = [f"{m.A.mz[i]:.6f}", f"{m.B.mz[j]:.6f}"]
        times = [f"{t:.4f}" for t in (m.A.rt[i], m.B.rt[j], predicted[s])]
        strength = [f"{m.coupling[s]:.6e}", f"{m.score[s]:.6f}"]
        ids = [m.A.ids[i], m.B.ids[j]]
        rows.append([*ids, *masses, *times, *strength, m.reasons[s].value])
    write_csv(path, HEADER, rows)
