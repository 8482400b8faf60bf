"""`pushforward gulp`: representations compared, on the user's own files."""

import json
import pathlib
import re
from typing import Annotated, Any

import typer

from pushforward.cli._options import AsJson, Report, need_folders, say, status

LARGE = 2e7  # numbers beyond which files are read block by block


def gulp(
    files: Annotated[
        list[pathlib.Path],
        typer.Argument(
            help="Representations (samples, features): .npy .csv .tsv .xlsx .parquet; "
            "a folder of .npy; or a run of probe, whose layers are compared."
        ),
    ],
    ridge: Annotated[
        str, typer.Option("--lambda", help="Ridge parameters, separated by commas.")
    ] = "0.01",
    flatten: Annotated[
        bool, typer.Option("--flatten", help="Flatten arrays with more than two axes.")
    ] = False,
    bootstrap: Annotated[
        int | None,
        typer.Option(help="Errors by so many draws of groups of rows."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    out: Annotated[
        pathlib.Path | None, typer.Option(help="Write distances and errors (.csv).")
    ] = None,
    picture: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the map of representations.")
    ] = None,
    tree: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the tree of representations.")
    ] = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Distances between representations of the same samples, for ridge prediction.

    Files of .npy with very many rows are read block by block.
    """
    from pushforward.errors import InputError
    from pushforward.statistics import lambdas_from

    need_folders(out, picture, tree, report)
    lambdas = lambdas_from(ridge)
    found = [one for path in files for one in _expanded(path)]
    if len(found) < 2:
        raise InputError("`gulp` compares at least two files, got one.")
    if (picture is not None or tree is not None) and len(found) < 3:
        raise InputError("`--picture` maps at least three files, got two.")
    names = _names([path for path, _ in found])
    matrix, errors, read = _compared(found, names, lambdas, flatten, bootstrap, seed)
    for line in read[:-1]:
        status.print(line, markup=False, soft_wrap=True)
    _draw(matrix, errors, read, picture, tree, report)
    if out is not None:
        _write_distances(matrix, errors, out)
    if as_json:
        answer = {"names": names, "lambdas": lambdas, "errors": errors.tolist()}
        answer |= {"distances": matrix.distance.tolist(), "read": read}
        say(json.dumps(answer))
        return
    say(read[-1])
    for lam, distance, wide in zip(
        matrix.lambdas, matrix.distance, errors, strict=True
    ):
        say(f"lambda = {lam:g}, distances and standard errors")
        say(
            " " * 26
            + "  ".join(f"{j + 1:<15d}" for j in range(len(names) - 1)).rstrip()
        )
        for i, name in enumerate(names):
            cells = [f"{distance[i, j]:.4f} +-{wide[i, j]:.4f}" for j in range(i)]
            say(f"  {i + 1:3d} {name:18.18s}  {'  '.join(cells)}".rstrip())


def _expanded(path: pathlib.Path) -> list[tuple[pathlib.Path, Any]]:
    """Files with their arrays, None if still on disk: of a folder, of a run."""
    from pushforward.errors import InputError

    if not path.is_dir():
        return [(path, None)]
    if (path / "zarr.json").is_file():
        import numpy as np

        import pushforward as pf

        run: Any = pf.load(path)
        layers = np.asarray(run.measures.points)
        return [(path / f"layer {k}", x) for k, x in enumerate(layers)]
    inside = sorted(path.glob("*.npy"), key=_natural)
    if not inside:
        raise InputError(f"{path} holds no .npy file, and is no run of probe.")
    return [(file, None) for file in inside]


def _natural(path: pathlib.Path) -> list[tuple[bool, int, str]]:
    """layer2 before layer10."""
    parts = re.split(r"(\d+)", path.stem)
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts
    ]


def _names(paths: list[pathlib.Path]) -> list[str]:
    """Names of files without their ending; with their folder where they repeat."""
    stems = [path.stem for path in paths]
    return [
        stem if stems.count(stem) == 1 else f"{path.parent.name}/{stem}"
        for path, stem in zip(paths, stems, strict=True)
    ]


def _compared(
    found: list, names: list, lambdas: list, flatten: bool, draws: int | None, seed: int
) -> tuple[Any, Any, list[str]]:
    """Distances, errors, and how the files were read."""
    from pushforward.statistics import (
        GulpMoments,
        gulp_errors,
        gulp_matrix,
        shape_on_disk,
    )
    from pushforward.statistics.representations.files import (
        refuse_other_samples,
        representation_and_words,
    )

    shapes: list[Any] = [shape_on_disk(p) if a is None else a.shape for p, a in found]
    known = all(shape is not None and len(shape) == 2 for shape in shapes)
    large = known and sum(rows * columns for rows, columns in shapes) > LARGE
    given, read, rows = [], [], {}
    for (path, array), shape in zip(found, shapes, strict=True):
        one: Any = path if array is None else array
        words: tuple[str, ...] = ()
        if array is None and not large:
            one, words, rows[path.name] = representation_and_words(
                path, flatten=flatten
            )
        given.append(one)
        samples, features = shape if large else one.shape
        told = "; ".join((f"{samples} samples, {features} features", *words))
        read.append(f"{path.name}: {told}")
    refuse_other_samples(rows)
    if large or draws is not None:
        moments = GulpMoments.of(given)
        count = 100 if draws is None else draws
        errors = moments.errors(lambdas, draws=count, seed=seed)
        how = "read block by block; " if large else ""
        read.append(f"{how}errors by {count} draws of {len(moments.counts)} row groups")
        return moments.matrix(lambdas, names=names), errors, read
    read.append("errors over samples, by the influence function")
    return gulp_matrix(given, lambdas, names=names), gulp_errors(given, lambdas), read


def _write_distances(matrix: Any, errors: Any, path: pathlib.Path) -> None:
    """A row per lambda and pair."""
    from pushforward.statistics.tables.match_files import write_csv

    m = len(matrix.names)
    rows = [
        [lam, matrix.names[i], matrix.names[j], distance[i, j], error[i, j]]
        for lam, distance, error in zip(
            matrix.lambdas, matrix.distance, errors, strict=True
        )
        for i in range(m)
        for j in range(i + 1, m)
    ]
    write_csv(path, ["lambda", "first", "second", "distance", "error"], rows)


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
