"""`npmle`, `gulp` and `match`: the statistics, on the user's own files."""

import json
import pathlib
import sys
from typing import Annotated

import typer
from rich.console import Console

status = Console(stderr=True, highlight=False)


def npmle(
    data: Annotated[
        pathlib.Path, typer.Argument(help="A CSV table, one datum per row.")
    ],
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, separated by commas.")
    ] = None,
    variance: Annotated[float, typer.Option(help="Known variance of the noise.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit a Gaussian mixture without choosing the number of components.

    The answer comes with a certificate: no other mixture has a log-likelihood per datum
    larger by more than the gap.
    """
    from pushforward.statistics.mixtures import npmle_from_csv, summary

    chosen = tuple(columns.split(",")) if columns else None
    fit, table = npmle_from_csv(data, columns=chosen, covariance=variance)
    found = summary(fit, table)
    if as_json:
        _print(json.dumps(found))
        return
    names = ", ".join(table.columns)
    _print(f"{len(table.values)} rows of {names}; {len(fit.atoms)} components")
    for weight, atom in zip(fit.weights, fit.atoms, strict=True):
        place = "  ".join(f"{x:12.6g}" for x in atom)
        _print(f"  weight {weight:.6f}  at {place}")
    _print(f"log-likelihood {fit.log_likelihood:.9g}, certified gap {fit.gap:.2e}")


def gulp(
    files: Annotated[
        list[pathlib.Path], typer.Argument(help="Representations, (samples, features).")
    ],
    ridge: Annotated[
        str, typer.Option("--lambda", help="Ridge parameters, separated by commas.")
    ] = "0.01",
    picture: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the map of representations.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Distances between representations of the same samples, for ridge prediction."""
    from pushforward.errors import InputError
    from pushforward.statistics import gulp_matrix, read_representation

    if len(files) < 2:
        raise InputError("`gulp` compares at least two files, got one.")
    try:
        lambdas = [float(value) for value in ridge.split(",")]
    except ValueError as error:
        raise InputError(f"`--lambda` must be numbers, got {ridge!r}.") from error
    if picture is not None and len(files) < 3:
        raise InputError("`--picture` maps at least three files, got two.")
    names = [path.stem for path in files]
    matrix = gulp_matrix([read_representation(f) for f in files], lambdas, names=names)
    if picture is not None:
        from pushforward import plot
        from pushforward.plot.representations import plot_embedding

        plot.save(plot_embedding(matrix), picture)
    if as_json:
        distances = matrix.distance.tolist()
        _print(json.dumps({"names": names, "lambdas": lambdas, "distances": distances}))
        return
    for lam, distance in zip(matrix.lambdas, matrix.distance, strict=True):
        _print(f"lambda = {lam:g}")
        for name, row in zip(names, distance, strict=True):
            _print(f"  {name:20.20s} " + " ".join(f"{x:9.6f}" for x in row))


def match(
    first: Annotated[pathlib.Path, typer.Argument(help="Feature table A.")],
    second: Annotated[pathlib.Path, typer.Argument(help="Feature table B.")],
    out: Annotated[pathlib.Path, typer.Option(help="The match table.")] = pathlib.Path(
        "matches.csv"
    ),
    report: Annotated[
        pathlib.Path | None, typer.Option(help="A page with pictures (.html).")
    ] = None,
    truth: Annotated[
        pathlib.Path | None, typer.Option(help="Known pairs: two columns of ids.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Override the reading, as mz=...,rt=...")
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Drop couplings below this share of the largest.")
    ] = 0.0,
    logarithm: Annotated[
        bool, typer.Option("--log", help="Take logarithms of raw peak areas first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Match the features of two metabolomics tables (GromovMatcher)."""
    from pushforward import statistics
    from pushforward.plot.matching import write_report

    _need_folders(out, report)
    override = statistics.parse_columns(columns) if columns else None
    tables = [statistics.read_table(p, columns=override) for p in (first, second)]
    for table in tables:
        for decision in table.decisions:
            status.print(f"{table.name}: {decision}")
    if logarithm:
        tables = [table.logarithm() for table in tables]
    known = None if truth is None else statistics.read_truth(truth, *tables)
    found = statistics.match(*tables, threshold=threshold or None)
    summary: dict = {"matched": len(found.matches), "candidates": found.pairs.count}
    if found.ablation is not None:
        summary["matched_without_transport"] = len(found.ablation.matches)
    if known is not None:
        accuracy = found.accuracy(known)
        summary |= {"precision": accuracy.precision, "recall": accuracy.recall}
    statistics.write_matches(found, out)
    written = {"matches": str(out)}
    if report is not None:
        write_report(found, report, truth=known)
        written["report"] = str(report)
    if as_json:
        _print(json.dumps(summary | {"written": written}))
        return
    for name, value in summary.items():
        _print(f"{name:28s}{value}")
    for name, path in written.items():
        _print(f"{name:28s}{path}")


def _need_folders(*paths: pathlib.Path | None) -> None:
    """Refuse before the work what could not be written after it."""
    from pushforward.errors import StoreError

    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise StoreError(f"{path} cannot be written: its folder does not exist.")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
