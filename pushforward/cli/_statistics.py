"""`gulp` and `match`: the statistics, on the user's own files."""

import json
import pathlib
import sys
from typing import Annotated, Any

import typer
from rich.console import Console

status = Console(stderr=True, highlight=False)


def gulp(
    files: Annotated[
        list[pathlib.Path],
        typer.Argument(
            help="Representations, (samples, features), or a folder of .npy."
        ),
    ],
    ridge: Annotated[
        str, typer.Option("--lambda", help="Ridge parameters, separated by commas.")
    ] = "0.01",
    flatten: Annotated[
        bool, typer.Option("--flatten", help="Flatten arrays with more than two axes.")
    ] = False,
    picture: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the map of representations.")
    ] = None,
    tree: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the tree of representations.")
    ] = None,
    report: Annotated[
        pathlib.Path | None, typer.Option(help="A page with pictures (.html).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Distances between representations of the same samples, for ridge prediction."""
    from pushforward.errors import InputError
    from pushforward.statistics import gulp_errors, gulp_matrix, read_representation

    need_folders(picture, tree, report)
    paths = _expanded(files)
    if len(paths) < 2:
        raise InputError("`gulp` compares at least two files, got one.")
    try:
        lambdas = [float(value) for value in ridge.split(",")]
    except ValueError as error:
        raise InputError(f"`--lambda` must be numbers, got {ridge!r}.") from error
    if (picture is not None or tree is not None) and len(paths) < 3:
        raise InputError("`--picture` maps at least three files, got two.")
    names = [path.stem for path in paths]
    arrays = [read_representation(f, flatten=flatten) for f in paths]
    matrix = gulp_matrix(arrays, lambdas, names=names)
    errors = gulp_errors(arrays, lambdas)
    read = [f"{p.name}: {a.shape[0]} samples, {a.shape[1]} features"
            for p, a in zip(paths, arrays, strict=True)]  # fmt: skip
    _draw(matrix, errors, read, picture, tree, report)
    if as_json:
        found = {"names": names, "lambdas": lambdas, "errors": errors.tolist()}
        _print(json.dumps(found | {"distances": matrix.distance.tolist()}))
        return
    for lam, distance, errors_here in zip(
        matrix.lambdas, matrix.distance, errors, strict=True
    ):
        _print(f"lambda = {lam:g}, distances and standard errors over samples")
        for name, row, wide in zip(names, distance, errors_here, strict=True):
            cells = (f"{x:.4f} +- {e:.4f}" for x, e in zip(row, wide, strict=True))
            _print(f"  {name:20.20s} " + "  ".join(cells))


def _expanded(files: list[pathlib.Path]) -> list[pathlib.Path]:
    """The files, a folder standing for its arrays in order of name."""
    from pushforward.errors import InputError

    found: list[pathlib.Path] = []
    for path in files:
        inside = sorted(path.glob("*.npy")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path} holds no .npy file.")
        found += inside
    return found


def _draw(matrix: Any, errors: Any, read: list, picture, tree, report) -> None:
    if picture is None and tree is None and report is None:
        return
    from pushforward import plot
    from pushforward.plot import representations as pictures

    if picture is not None:
        plot.save(pictures.plot_embedding(matrix), picture)
    if tree is not None:
        lam = float(matrix.lambdas[0])
        plot.save(pictures.plot_dendrogram(matrix, lam), tree)
    if report is not None:
        pictures.write_gulp_report(matrix, report, errors=errors, read=read)


def match(
    first: Annotated[pathlib.Path, typer.Argument(help="Feature table A.")],
    second: Annotated[pathlib.Path, typer.Argument(help="Feature table B.")],
    out: Annotated[pathlib.Path, typer.Option(help="The match table.")] = pathlib.Path(
        "matches.csv"
    ),
    candidates: Annotated[
        pathlib.Path | None,
        typer.Option(help="All pairs inside the gate, and what became of each (.csv)."),
    ] = None,
    merged: Annotated[
        pathlib.Path | None,
        typer.Option(help="Matched features with the samples of both tables (.csv)."),
    ] = None,
    report: Annotated[
        pathlib.Path | None, typer.Option(help="A page with pictures (.html).")
    ] = None,
    truth: Annotated[
        pathlib.Path | None,
        typer.Option(help="Known pairs, perhaps not all: two columns of ids."),
    ] = None,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="The known pairs are all there are."),
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Override the reading, as mz=NAME,rt=NAME,id=NAME,samples=TEXT,"
            "unit=min (or s)."
        ),
    ] = None,
    impute: Annotated[
        bool,
        typer.Option("--impute", help="Missing intensities: half their minimum."),
    ] = False,
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
    logarithm: Annotated[
        bool, typer.Option("--log", help="Take logarithms of raw peak areas first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Match the features of two metabolomics tables (GromovMatcher)."""
    from pushforward import statistics

    need_folders(out, candidates, merged, report)
    override = statistics.parse_columns(columns) if columns else None
    filling = statistics.HalfMinimum() if impute else None
    tables = [
        statistics.read_table(p, columns=override, imputation=filling)
        for p in (first, second)
    ]
    for table in tables:
        for decision in table.decisions:
            status.print(f"{table.name}: {decision}")
    if logarithm:
        tables = [table.logarithm() for table in tables]
    known = None if truth is None else statistics.read_truth(truth, *tables)
    found = statistics.match(
        *tables,
        gate=_gate(gate),
        distance=_distance(distance),
        transport=None if no_transport else statistics.SparseGromov(rho, eps),
        threshold=threshold or None,
    )
    summary = _summary(found, known, complete)
    files = {"matches": out, "candidates": candidates, "merged": merged}
    _write(found, files, report, known, complete)
    files["report"] = report
    written = {name: str(path) for name, path in files.items() if path is not None}
    if as_json:
        _print(json.dumps(summary | {"written": written}))
        return
    for name, value in (summary | written).items():
        _print(f"{name:28s}{value}")


def _write(found: Any, files: dict, report, known, complete: bool) -> None:
    from pushforward import statistics

    statistics.write_matches(found, files["matches"])
    if files["candidates"] is not None:
        statistics.write_candidates(found, files["candidates"])
    if files["merged"] is not None:
        statistics.write_merged(found, files["merged"])
    if report is not None:
        from pushforward.plot.matching import write_report

        write_report(found, report, truth=known, complete=complete)


def _summary(found: Any, known: Any, complete: bool) -> dict:
    """Counts, and how they compare with pairs that are known."""
    summary: dict = {"matched": len(found.matches), "candidates": found.pairs.count}
    if found.ablation is not None:
        summary["matched_without_transport"] = len(found.ablation.matches)
    if known is None:
        return summary
    accuracy = found.accuracy(known, partial=not complete)
    summary |= {"known_pairs": len(known), "recall": accuracy.recall}
    if complete:
        return summary | {"precision": accuracy.precision}
    return summary | {"contradicting_known_pairs": accuracy.false}


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


def need_folders(*paths: pathlib.Path | None) -> None:
    """Refuse before the work what could not be written after it."""
    from pushforward.errors import StoreError

    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise StoreError(f"{path} cannot be written: its folder does not exist.")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
