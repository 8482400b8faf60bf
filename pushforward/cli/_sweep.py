"""`pushforward sweep`: phase diagrams that resume by themselves."""

import json
import pathlib
import sys
import time
from typing import Annotated

import typer

from pushforward.cli import _options
from pushforward.cli._options import AsJson, say

FAILED = 4  # some cells could not be computed


def sweep(
    spec: Annotated[pathlib.Path, typer.Argument(help="The design, a TOML file.")],
    out: Annotated[
        pathlib.Path | None,
        typer.Option(help="Folder of the cells; out/sweeps/NAME if left out."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Compute failed cells again.")
    ] = False,
    picture: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the heat map into this file.")
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(help="A class of your own in the design, as module:Class."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would do, and stop.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compute a statistic over a grid of parameters; what is there is kept.

    Example: pushforward sweep phase.toml --picture phase.png
    """
    from pushforward import sweeps

    design = sweeps.Design.from_toml(spec, _options.named_classes(classes or []))
    folder = out or pathlib.Path("out/sweeps") / spec.stem
    cost = sweeps.cost(design, folder)
    if dry_run:
        _say(cost, as_json)
        return
    started = time.perf_counter()
    result = sweeps.sweep(
        design, folder, scheduler=scheduler, retry=retry, progress=True
    )
    summary = {
        "cells": cost["cells"],
        "computed": result.computed,
        "failed": len(result.failed),
        "seconds": time.perf_counter() - started,
        "result": str(folder / "result.zarr"),
    }
    if picture is not None:
        from pushforward import plot

        plot.save(sweeps.picture(result), picture)
        summary["picture"] = str(picture)
    if as_json:
        summary["failures"] = [[p, why] for p, why in result.failed]
    _say(summary, as_json)
    for parameters, why in [] if as_json else result.failed[:5]:
        sys.stderr.write(f"failed: {parameters}: {why}\n")
    if result.failed:
        raise typer.Exit(FAILED)


def _say(values: dict, as_json: bool) -> None:
    if as_json:
        say(json.dumps(values))
        return
    lines = [f"{name:12s}{value}" for name, value in values.items()]
    say("\n".join(lines))
