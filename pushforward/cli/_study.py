"""`pushforward study`: papers, their figures and their claims."""

import json
import pathlib
import sys
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(
    help="One study per paper: figures and claims.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
status = Console(stderr=True)


@app.command("list")
def list_studies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The studies that are there."""
    from pushforward.studies._runner import names, part

    titles = {name: part(name, "study").TITLE for name in names()}
    if as_json:
        sys.stdout.write(json.dumps(titles) + "\n")
    else:
        lines = [f"{name:22s}{title}" for name, title in titles.items()]
        sys.stdout.write("\n".join(lines) + "\n")


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(help="The study.")],
    full: Annotated[
        bool, typer.Option("--full", help="Paper size instead of quick.")
    ] = False,
    out: Annotated[
        pathlib.Path, typer.Option(help="Folder for the figures.")
    ] = pathlib.Path("out/studies"),
) -> None:
    """Draw every figure of a study."""
    from pushforward import plot, studies

    folder = out / name / ("full" if full else "quick")
    for path, seconds in studies.draw(name, folder, full, plot.save):
        sys.stdout.write(f"{path}  ({seconds:.1f} s)\n")


@app.command("verify")
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Studies; all of them if none is named.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Paper size instead of quick.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check every claim: measured against predicted. Exits 1 if one fails."""
    from pushforward import studies

    claims = []
    for name in names or studies.names():
        for claim, seconds in studies.verify(name, full):
            claims.append(claim)
            status.print(_line(claim, seconds), highlight=False)
    if as_json:
        sys.stdout.write(json.dumps([c.as_dict() for c in claims], indent=1) + "\n")
    failed = [c for c in claims if c.holds is False]
    open_ones = [c for c in claims if c.holds is None]
    status.print(
        f"{len(claims) - len(failed) - len(open_ones)} hold, {len(failed)} fail, "
        f"{len(open_ones)} open"
    )
    if failed:
        raise typer.Exit(1)


def _line(claim, seconds: float) -> str:
    mark = {True: "[green]holds[/]", False: "[red]FAILS[/]", None: "[yellow]open[/] "}
    numbers = ""
    if claim.measured is not None:
        numbers = f"  {claim.measured:.8g} vs {claim.predicted:.8g}"
    note = f"  ({claim.note})" if claim.note and claim.holds is not True else ""
    what = f"{mark[claim.holds]} {claim.study}: {claim.claim}"
    return f"{what}{numbers}{note} {seconds:.1f} s"
