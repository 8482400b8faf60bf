"""`gulp`: representations compared, on the user's own files."""

import json
import pathlib
import sys
from typing import Annotated, Any

import typer


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
        say(json.dumps(found | {"distances": matrix.distance.tolist()}))
        return
    for lam, distance, errors_here in zip(
        matrix.lambdas, matrix.distance, errors, strict=True
    ):
        say(f"lambda = {lam:g}, distances and standard errors over samples")
        for name, row, wide in zip(names, distance, errors_here, strict=True):
            cells = (f"{x:.4f} +- {e:.4f}" for x, e in zip(row, wide, strict=True))
            say(f"  {name:20.20s} " + "  ".join(cells))


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


def need_folders(*paths: pathlib.Path | None) -> None:
    """Refuse before the work what could not be written after it."""
    from pushforward.errors import StoreError

    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise StoreError(f"{path} cannot be written: its folder does not exist.")


def say(line: str) -> None:
    """One line of the answer."""
    sys.stdout.write(line + "\n")
