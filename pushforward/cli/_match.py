"""`pushforward match`: the features of two tables or more, on the user's own files."""

import json
import pathlib
from dataclasses import replace
from typing import Annotated, Any

import typer

from pushforward.cli._options import AsJson, Report, need_folders, say, status


def match(
    files: Annotated[
        list[pathlib.Path],
        typer.Argument(help="Two feature tables, or more to be matched jointly."),
    ],
    out: Annotated[pathlib.Path, typer.Option(help="The match table.")] = pathlib.Path(
        "matches.csv"
    ),
    candidates: Annotated[
        pathlib.Path | None,
        typer.Option(help="All pairs inside the gate, and what became of each (.csv)."),
    ] = None,
    merged: Annotated[
        pathlib.Path | None,
        typer.Option(help="Matched features with the samples of all tables (.csv)."),
    ] = None,
    mztab: Annotated[
        pathlib.Path | None,
        typer.Option(help="The same as mzTab-M 2.0; needs --polarity."),
    ] = None,
    polarity: Annotated[
        str | None, typer.Option(help="Of the scans: positive or negative.")
    ] = None,
    report: Report = None,
    truth: Annotated[
        pathlib.Path | None,
        typer.Option(help="Known matches, perhaps not all: a column of ids per table."),
    ] = None,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="The known matches are all there are."),
    ] = False,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Override the reading, as mz=NAME,rt=NAME,id=NAME,samples=TEXT,"
            "unit=min (or s); once for all tables, or once for each."
        ),
    ] = None,
    impute: Annotated[
        bool,
        typer.Option("--impute", help="Missing intensities: half their minimum."),
    ] = False,
    blanks: Annotated[
        str | None,
        typer.Option(help="Text in the names of blanks, or keep; usual words if not."),
    ] = None,
    controls: Annotated[
        str | None,
        typer.Option(help="The same for quality controls (QC, pool)."),
    ] = None,
    blank_ratio: Annotated[
        float | None,
        typer.Option(help="Drop features below so many times the blanks, e.g. 3."),
    ] = None,
    control_spread: Annotated[
        float | None,
        typer.Option(help="Drop features that vary more over controls, e.g. 0.3."),
    ] = None,
    gate: Annotated[
        str, typer.Option(help="Largest m/z difference: 0.01, or 15ppm.")
    ] = "0.01",
    distance: Annotated[
        str, typer.Option(help="Of features: correlation or euclidean.")
    ] = "correlation",
    rho: Annotated[
        float, typer.Option(help="Unbalancedness: large forces all mass to move.")
    ] = 0.05,
    eps: Annotated[float, typer.Option(help="Entropic blur of the coupling.")] = 0.005,
    no_transport: Annotated[
        bool, typer.Option("--no-transport", help="Masses and times only.")
    ] = False,
    threshold: Annotated[
        float, typer.Option(help="Drop couplings below this share of the largest.")
    ] = 0.0,
    drift_band: Annotated[
        float,
        typer.Option(help="Drop pairs so many deviations off the drift of times."),
    ] = 2.0,
    agreement: Annotated[
        float,
        typer.Option(help="Of more than two tables: 0 joins by one match, 1 by all."),
    ] = 0.3,
    logarithm: Annotated[
        bool, typer.Option("--log", help="Take logarithms of raw peak areas first.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Match the features of metabolomics tables (GromovMatcher), two or more."""
    from pushforward import statistics

    need_folders(out, candidates, merged, mztab, report)
    _check(files, mztab, polarity)
    roles = statistics.SampleRoles(blanks, controls, blank_ratio, control_spread)
    filling = statistics.HalfMinimum() if impute else None
    tables = _read(files, columns, filling, roles)
    for table in tables:
        for decision in table.decisions:
            status.print(f"{table.name}: {decision}", markup=False, soft_wrap=True)
    known = None if truth is None else _known(truth, tables)
    found = _matched(
        tables,
        logarithm,
        agreement,
        gate=_gate(gate),
        distance=_distance(distance),
        transport=None if no_transport else statistics.SparseGromov(rho, eps),
        drift=statistics.SplineDrift(mads=drift_band),
        threshold=threshold or None,
    )
    summary = _summary(found, known, complete)
    asked = {"matches": out, "candidates": candidates, "merged": merged}
    asked |= {"mztab": mztab, "report": report}
    written = {name: path for name, path in asked.items() if path is not None}
    for name, path in written.items():
        _write(found, name, path, known, complete, polarity)
    summary |= {"written": {name: str(path) for name, path in written.items()}}
    _tell(summary, as_json)


def _known(path: pathlib.Path, tables: list) -> Any:
    """The list of true matches."""
    from pushforward.statistics.tables.match_files import truth_and_skipped

    known, skipped = truth_and_skipped(path, *tables)
    if skipped:
        status.print(f"{path.name}: {skipped} rows name features that were left out")
    return known


def _check(files: list, mztab: object, polarity: str | None) -> None:
    from pushforward.errors import InputError

    if len(files) < 2:
        raise InputError("`match` needs two tables at least, got one.")
    if mztab is not None and polarity not in ("positive", "negative"):
        raise InputError(
            "`--mztab` needs --polarity positive or --polarity negative: the format "
            "asks for it."
        )


def _read(files: list, columns: list[str] | None, filling: Any, roles: Any) -> list:
    """The tables; one override serves those tables that have its columns."""
    from pushforward import statistics
    from pushforward.errors import InputError
    from pushforward.statistics.tables.sample_roles import ABSENT
    from pushforward.statistics.tables.table_layouts import NoSuchColumns

    texts = columns or []
    if len(texts) not in (0, 1, len(files)):
        raise InputError(
            f"`--columns` must be given once, or once for each of the {len(files)} "
            f"tables, got {len(texts)}."
        )
    given = [statistics.parse_columns(text) for text in texts] or [{}]
    given = given * len(files) if len(given) == 1 else given
    keys = {"imputation": filling, "roles": replace(roles, elsewhere=True)}
    tables, lost = [], []
    for path, names in zip(files, given, strict=True):
        try:
            tables.append(statistics.read_table(path, columns=names, **keys))
        except NoSuchColumns as error:
            if len(texts) != 1:
                raise
            lost.append(error)
            tables.append(statistics.read_table(path, **keys))
    if lost and len(lost) == len(files):
        raise lost[0]
    only = {
        "blanks": replace(roles, controls=None, control_spread=None),
        "quality controls": replace(roles, blanks=None, blank_ratio=None),
    }
    for what, one in only.items():
        told = f"{ABSENT} {what}"
        if all(any(d.startswith(told) for d in t.decisions) for t in tables):
            statistics.read_table(files[0], columns=given[0], roles=one)  # says so
    return tables


def _matched(tables: list, logarithm: bool, agreement: float, **options: Any) -> Any:
    """The matching, by logarithms if asked for, of the tables as they were read."""
    from pushforward import statistics

    given = tables
    if logarithm:
        given = [table.logarithm() for table in tables]
        tables = [
            replace(table, decisions=other.decisions)
            for table, other in zip(tables, given, strict=True)
        ]
    if len(tables) == 2:
        found = statistics.match(*given, **options)
        return replace(found, A=tables[0], B=tables[1])
    joint = statistics.match_jointly(given, agreement=agreement, **options)
    return replace(joint, tables=tuple(tables))


def _write(found: Any, name: str, path, known, complete: bool, polarity) -> None:
    """One of the files that were asked for."""
    from pushforward import statistics

    pair = isinstance(found, statistics.Matching)
    if name == "matches" and pair:
        statistics.write_matches(found, path)
    elif name == "matches":
        statistics.write_groups(found, path)
    elif name == "candidates":
        statistics.write_candidates(found, path)
    elif name == "merged":
        statistics.write_merged(found, path)
    elif name == "mztab":
        statistics.write_mztab(found, path, polarity=polarity)
    elif pair:
        from pushforward.plot.matching import write_report

        write_report(found, path, truth=known, complete=complete)
    else:
        from pushforward.plot.joint_matching import write_joint_report

        write_joint_report(found, path, truth=known, complete=complete)


def _summary(found: Any, known: Any, complete: bool) -> dict:
    """Counts, and how they compare with matches that are known."""
    from pushforward import statistics

    if isinstance(found, statistics.Matching):
        summary = {"matched": len(found.matches), "candidates": found.pairs.count}
        if found.ablation is not None:
            summary["matched_without_transport"] = len(found.ablation.matches)
    else:
        sizes = (found.groups >= 0).sum(axis=1).tolist()
        summary = {"tables": len(found.tables), "groups": len(found.groups)}
        for k in range(len(found.tables), 1, -1):
            summary[f"groups_in_{k}_tables"] = sizes.count(k)
        summary["candidates"] = sum(m.pairs.count for m in found.pairs.values())
    if known is None:
        return summary
    accuracy = found.accuracy(known, partial=not complete)
    summary |= {"known_pairs": len(known), "recall": accuracy.recall}
    if complete:
        return summary | {"precision": accuracy.precision, "f1": accuracy.f1}
    return summary | {"contradicting_known_pairs": accuracy.false}


def _tell(summary: dict, as_json: bool) -> None:
    if as_json:
        say(json.dumps(summary))
        return
    written = summary.pop("written")
    for name, value in summary.items():
        shown = f"{value:.4f}" if isinstance(value, float) else value
        say(f"{name.replace('_', ' '):28s}{shown}")
    for name, path in written.items():
        say(f"{name + ' written':28s}{path}")


def _gate(text: str) -> Any:
    from pushforward.errors import InputError
    from pushforward.statistics import MassGate, PpmGate

    try:
        if text.lower().endswith("ppm"):
            return PpmGate(float(text[:-3]))
        return MassGate(float(text))
    except ValueError:
        raise InputError(
            f"`--gate` must be a width such as 0.01 or 15ppm, got {text!r}."
        ) from None


def _distance(name: str) -> Any:
    from pushforward.errors import InputError
    from pushforward.statistics import CorrelationDistance, EuclideanDistance

    known = {"correlation": CorrelationDistance(), "euclidean": EuclideanDistance()}
    if name not in known:
        raise InputError(
            f"`--distance` must be correlation or euclidean, got {name!r}."
        )
    return known[name]
