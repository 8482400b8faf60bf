"""Tables on disk, whole or not at all and inert in a spreadsheet: matches, groups,
candidates, and files of true matches."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Int

from pushforward._checks import as_path
from pushforward._files import write_text
from pushforward.errors import InputError
from pushforward.statistics.matching.joint_matching import JointMatching
from pushforward.statistics.matching.matching import Matching
from pushforward.statistics.tables._delimited import read_text, readings
from pushforward.statistics.tables.tables import FeatureTable


def write_csv(
    path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """A CSV file; floats keep all their digits."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow([inert(name) for name in header])
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    write_text(path, lines.lines)


def inert(name: str) -> str:
    """A word that a spreadsheet will not run as a formula."""
    return f"'{name}" if name.startswith(tuple("=+-@\t\r")) else name


def _cell(value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    return inert(value) if isinstance(value, str) else repr(value)


class _Lines:
    """Just enough of a file for `csv.writer`."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> int:
        self.lines.append(line)
        return len(line)


Matched = Matching | JointMatching
HEADER = "id_A,id_B,mz_A,mz_B,rt_A,rt_B,rt_B_predicted,coupling,score,reason".split(",")


def write_matches(matching: Matching, path: str | Path) -> None:
    """The matches as CSV: ids, masses, times (min), coupling, score and reason.

    Written under a temporary name and renamed, so a file is never half there.
    """
    _write(path, matching, np.flatnonzero(matching.kept))


def write_candidates(matching: Matched, path: str | Path) -> None:
    """Every pair inside the mass gate, in the same columns: why each was (not) kept.

    Of several tables, those of every pair of tables, which two columns name.
    """
    if isinstance(matching, Matching):
        _write(path, matching, np.arange(matching.pairs.count))
        return
    labels = table_labels(matching.tables)
    rows = [
        [labels[a], labels[b], *row]
        for (a, b), found in matching.pairs.items()
        for row in _rows(found, np.arange(found.pairs.count))
    ]
    write_csv(path, ["table_A", "table_B", *HEADER], rows)


def write_merged(matching: Matched, path: str | Path) -> None:
    """One row per group: ids, masses, times (min), then the samples of every table.

    Cells are empty where a table has no such feature, and where nothing was measured.
    """
    tables, labels = matching.tables, table_labels(matching.tables)
    header = [f"id_{x}" for x in labels] + ["mz"] + [f"rt_{x}" for x in labels]
    for table, x in zip(tables, labels, strict=True):
        header += [f"{x}_{name}" for name in table.sample_names()]
    rows, measured = [], [t.measured() for t in tables]
    for group in matching.groups:
        there = [(t, k) for t, k in zip(tables, group, strict=True)]
        row = [t.ids[k] if k >= 0 else "" for t, k in there]
        row.append(float(np.mean([t.mz[k] for t, k in there if k >= 0])))
        row += [t.rt[k] if k >= 0 else "" for t, k in there]
        for values, k in zip(measured, group, strict=True):
            cells = values[:, k] if k >= 0 else np.full(len(values), np.nan)
            row += ["" if np.isnan(v) else v for v in cells]
        rows.append(row)
    write_csv(path, header, rows)


def write_groups(joint: JointMatching, path: str | Path) -> None:
    """One row per group: number of tables, support, then ids, masses and times."""
    labels = table_labels(joint.tables)
    parts = [f"{part}_{x}" for x in labels for part in ("id", "mz", "rt")]
    rows = []
    for group, support in zip(joint.groups, joint.support, strict=True):
        row: list[object] = [int((group >= 0).sum()), f"{support:.4f}"]
        for t, k in zip(joint.tables, group, strict=True):
            row += (
                [t.ids[k], f"{t.mz[k]:.6f}", f"{t.rt[k]:.4f}"] if k >= 0 else [""] * 3
            )
        rows.append(row)
    write_csv(path, ["tables", "support", *parts], rows)


def table_labels(tables: Sequence[FeatureTable]) -> list[str]:
    """A and B for two tables; for more the names of their files, told apart."""
    if len(tables) == 2:
        return ["A", "B"]
    stems = [Path(t.name).stem for t in tables]
    return [x if stems.count(x) == 1 else f"{x}_{k + 1}" for k, x in enumerate(stems)]


def read_truth(path: str | Path, *tables: FeatureTable) -> Int[np.ndarray, "m k"]:
    """Known groups from a file with a column of ids for each table, as indices.

    Two tables: pairs. More: a cell may be empty, which is -1. A first row that names no
    features is taken for a header. Rows of features that were left out are skipped.
    """
    return truth_and_skipped(path, *tables)[0]


def truth_and_skipped(
    path: str | Path, *tables: FeatureTable
) -> tuple[Int[np.ndarray, "m k"], int]:
    """The same, and how many rows name a feature that was left out."""
    path = as_path("path", path)
    found = [c for c in readings(read_text(path)) if len(c.rows[0]) >= len(tables)]
    if not found:
        wanted = ",".join(f"id_{x}" for x in table_labels(tables))
        count = "two" if len(tables) == 2 else len(tables)
        raise InputError(
            f"{path.name} must have {count} columns of ids, one for each table, e.g.\n"
            f"    {wanted}"
        )
    places = [{name: i for i, name in enumerate(t.ids)} for t in tables]
    groups, skipped = [], 0
    for number, row in enumerate(found[0].rows):
        cells = row[: len(tables)]
        if any(c in t.left_out for c, t in zip(cells, tables, strict=True)):
            skipped += 1
            continue
        lost = [cell == "" and len(tables) > 2 for cell in cells]
        known = [c in p or x for c, p, x in zip(cells, places, lost, strict=True)]
        if all(known) and len(tables) - sum(lost) > 1:
            groups.append([p.get(c, -1) for c, p in zip(cells, places, strict=True)])
        elif not all(known) and (number > 0 or sum(known) > sum(lost)):
            side = known.index(False)
            raise InputError(
                f"{path.name}, row {number + 1}: {cells[side]!r} is not an id of "
                f"{tables[side].name}. Ids there look like {tables[side].ids[0]!r}."
            )
    if not groups:
        raise InputError(
            f"{path.name} names no pair of features: ids look like "
            + ", ".join(f"{t.ids[0]!r} in {t.name}" for t in tables)
            + "."
        )
    return np.array(groups, dtype=int), skipped


def _write(path: str | Path, m: Matching, chosen: np.ndarray) -> None:
    write_csv(path, HEADER, _rows(m, chosen))


def _rows(m: Matching, chosen: np.ndarray) -> list[list[str]]:
    predicted = m.drift(m.A.rt[m.pairs.rows])
    rows = []
    for s in chosen:
        i, j = m.pairs.rows[s], m.pairs.cols[s]
        masses = [f"{m.A.mz[i]:.6f}", f"{m.B.mz[j]:.6f}"]
        times = [f"{t:.4f}" for t in (m.A.rt[i], m.B.rt[j], predicted[s])]
        strength = [f"{m.coupling[s]:.6e}", f"{m.score[s]:.6f}"]
        ids = [m.A.ids[i], m.B.ids[j]]
        rows.append([*ids, *masses, *times, *strength, m.reasons[s].value])
    return rows
