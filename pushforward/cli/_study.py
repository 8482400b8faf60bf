"""`pushforward study`: papers, their figures and their claims."""

import json
import pathlib
import sys
from collections import Counter
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from pushforward.cli import _options
from pushforward.cli._options import AsJson, say

app = typer.Typer(
    help="One study per paper: figures and claims.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
status = Console(stderr=True)
STATUSES = ("holds", "corrected", "refuted", "open", "fails")


@app.command("list")
def list_studies(
    as_json: AsJson = False,
) -> None:
    """The studies that are there."""
    from pushforward.studies import names, part

    titles = {name: part(name, "study").TITLE for name in names()}
    if as_json:
        say(json.dumps(titles))
    else:
        lines = [f"{name:22s}{title}" for name, title in titles.items()]
        say("\n".join(lines))


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(help="The study.")],
    full: Annotated[
        bool, typer.Option("--full", help="Paper size instead of quick.")
    ] = False,
    out: Annotated[
        pathlib.Path, typer.Option(help="Folder for the figures.")
    ] = pathlib.Path("out/studies"),
    films: Annotated[
        bool, typer.Option("--films", help="Also write its films, as .mp4.")
    ] = False,
) -> None:
    """Draw every figure of a study."""
    from pushforward import plot, studies

    folder = out / name / ("full" if full else "quick")
    for path, seconds in studies.draw(name, folder, full, plot.save):
        say(f"{path}  ({seconds:.1f} s)")
    for path in studies.films(name, folder, full) if films else ():
        say(f"{path}")


@app.command("runs")
def runs(
    name: Annotated[str, typer.Argument(help="The study.")],
    run: Annotated[
        str | None, typer.Argument(help="One of its runs; all are listed if left out.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Paper size instead of quick.")
    ] = False,
    python: Annotated[
        bool, typer.Option("--python", help="Print it as Python instead of TOML.")
    ] = False,
    toml: Annotated[bool, typer.Option("--toml", help="Print it as TOML.")] = False,
    as_json: AsJson = False,
) -> None:
    """The runs behind figures and claims, as experiments.

    Example: pushforward study runs metastability escape-40 --python
    """
    from pushforward import studies

    if run is not None:
        experiment = _options.from_study(name, run, full)
        text = experiment.to_python() if python else experiment.to_toml()
        text = json.dumps(experiment.to_dict()) + "\n" if as_json else text
        sys.stdout.write(text)
        return
    found = studies.experiments(name, full)
    if as_json:
        say(json.dumps({k: e.to_dict() for k, e in found.items()}))
        return
    lines = [f"{key:24s}{e.field!r}" for key, e in found.items()]
    nothing = getattr(studies.part(name, "study"), "NO_RUNS", "No runs.")
    say("\n".join(lines or [nothing]))


@app.command("verify")
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Studies; all of them if none is named.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Paper size instead of quick.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every claim: measured against predicted. Exits 1 if one fails.

    A row says how the two are compared: 0.978 = 1 +- 0.05, or 0.3 <= 0.5, slack 0.2.
    With --json rows go to standard error, and `holds` can be computed again from
    `relation`, `measured`, `predicted` and `tolerance`.
    """
    from pushforward import studies

    rows = status if as_json else Console(highlight=False, soft_wrap=True)
    claims = []
    for name in names or studies.names():
        for claim, seconds in studies.verify(name, full):
            claims.append(claim)
            rows.print(_line(claim, seconds), highlight=False)
    if as_json:
        say(json.dumps([c.as_dict() for c in claims], indent=1))
    for line in _counts(claims):
        rows.print(line, highlight=False)
    if any(c.holds is False for c in claims):
        raise typer.Exit(1)


def _counts(claims: list) -> list[str]:
    """How many there are of every status, in all and by kind."""
    lines = []
    kinds = [("", claims)]
    kinds += [(k, [c for c in claims if c.kind == k]) for k in {c.kind for c in claims}]
    for kind, some in sorted(kinds, key=lambda pair: pair[0]):
        found = Counter(c.status for c in some)
        text = ", ".join(f"{found[s]} {s}" for s in STATUSES if found[s] or not kind)
        lines.append(f"{kind + ':' if kind else 'claims:'} {text}")
    return lines


def _line(claim, seconds: float) -> str:
    mark = {"holds": "green", "fails": "red", "open": "yellow"}.get(
        claim.status, "magenta"
    )
    note = f"  ({claim.note})" if claim.note and claim.holds is not True else ""
    what = f"[{mark}]{claim.status}[/] {claim.study}: {escape(claim.claim)}"
    return f"{what}  {_numbers(claim)}{escape(note)} {seconds:.1f} s"


def _numbers(claim) -> str:
    """Both numbers, the relation between them and its tolerance or slack."""
    if claim.measured is None:
        return ""
    measured, predicted = f"{claim.measured:.8g}", f"{claim.predicted:.8g}"
    if claim.relation in (">=", "<="):
        slack = claim.as_dict()["slack"]
        return f"{measured} {claim.relation} {predicted}, slack {slack:.3g}"
    sign = "is not" if claim.relation == "refuted" else "="
    kind = " as a rate" if claim.relation == "rate" else ""
    return f"{measured} {sign} {predicted} +- {claim.tolerance:.3g}{kind}"
