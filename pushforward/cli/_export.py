"""`pushforward export` and `pushforward site`: the page without a server."""

import pathlib
import sys
from typing import Annotated

import typer

import pushforward as pf
from pushforward.cli._answers import say
from pushforward.cli._explore import experiment_at, page_tools
from pushforward.errors import InputError


def export(
    run: Annotated[
        pathlib.Path, typer.Argument(help="A run, as `simulate` writes it.")
    ],
    html: Annotated[
        pathlib.Path, typer.Option("--html", help="The file to write.")
    ] = pathlib.Path("run.html"),
    classes: Annotated[
        list[str] | None,
        typer.Option(help="A class of your own in the experiment, as module:Class."),
    ] = None,
) -> None:
    """One file that shows a run in any browser: nothing to install, nothing asked.

    Example: pushforward export out/first-run --html run.html
    """
    web = page_tools()
    experiment = experiment_at(run, classes or [])
    web.write_page(html, pf.load(run), run.name, experiment)
    say(f"{html}  {html.stat().st_size / 1e6:.1f} MB")


def site(
    folder: Annotated[pathlib.Path, typer.Argument(help="Where the pages go.")],
    preset: Annotated[
        list[str] | None,
        typer.Option(help="Only this preset, and the story; may be given again."),
    ] = None,
    diagrams: Annotated[
        bool, typer.Option("--diagrams/--no-diagrams", help="Record phase diagrams.")
    ] = True,
) -> None:
    """The explorer as a folder for any web host: all presets, recorded.

    Example: pushforward site out/site
    """
    web = page_tools()
    found = {entry["id"]: entry for entry in web.all_presets()}
    missing = [name for name in preset or [] if name not in found]
    if missing:
        raise InputError(
            f"`preset` {missing[0]!r} is not known. Use one of: {', '.join(found)}."
        )
    chosen = [found[name] for name in preset] if preset else list(found.values())

    def told(line: str) -> None:
        sys.stderr.write(f"{line}\n")

    recorded = web.DIAGRAMS if diagrams else ()
    web.write_site(folder, chosen, told, recorded)
    say(f"{folder / 'index.html'}")
