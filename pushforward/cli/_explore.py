"""`pushforward explore`, `export`, `site`: the live page, and it without a server."""

import json
import pathlib
import sys
from typing import Annotated

import typer

import pushforward as pf
from pushforward.cli import _options
from pushforward.cli._options import say
from pushforward.errors import InputError, StoreError


def explore(
    what: Annotated[
        pathlib.Path | None,
        typer.Argument(help="A run, or an experiment (.toml or .json)."),
    ] = None,
    port: Annotated[int, typer.Option(help="0 takes any that is free.")] = 8742,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others can reach only that.")
    ] = "127.0.0.1",
    state: Annotated[str, typer.Option(help="A state, as copied from the page.")] = "",
    classes: Annotated[
        list[str] | None,
        typer.Option(help="A class of your own in the experiment, as module:Class."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the address as JSON to stdout.")
    ] = False,
) -> None:
    """Open the explorer: a sphere of tokens you can grab, in the browser.

    Example: pushforward explore
    """
    web = page_tools()
    experiment = None if what is None else experiment_at(what, classes or [])
    if state:
        web.unpacked(state)  # refuses one that was not copied whole, before all else
    server = web.Server(host, port)
    if what is not None:
        state, words = server.show(what, experiment)
        sys.stderr.write("".join(f"{line}\n" for line in words))
    address = server.address + (f"#s={state}" if state else "")

    def ready() -> None:
        if as_json:
            say(json.dumps({"address": address, "port": server.port}))
        else:
            say(f"{address}\nCtrl-C ends the server.")
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(address)

    try:
        server.run(ready)
    except KeyboardInterrupt:
        pass  # the way to end it, not an accident


def page_tools():
    """The page's part of the library, or how to install it."""
    try:
        from pushforward.web import explorer
    except ModuleNotFoundError as error:
        raise InputError(
            f"the page needs the package {error.name}, which is not installed. "
            "Install it with: pip install 'pushforward[web]'"
        ) from error
    return explorer


def experiment_at(what: pathlib.Path, classes: list[str]):
    """The experiment of a file, or of a run that carries one."""
    if not what.is_dir():
        return _options.from_file(what, classes)
    try:
        return _options.from_file(what, classes)
    except StoreError:
        return None  # written by pf.flow: its frames can be shown


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
