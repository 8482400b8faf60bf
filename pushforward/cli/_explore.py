"""`pushforward explore`: the live page, on this machine only."""

import json
import pathlib
import sys
from typing import Annotated

import typer

from pushforward.errors import InputError


def explore(
    run: Annotated[
        pathlib.Path | None, typer.Argument(help="A stored run to look at.")
    ] = None,
    port: Annotated[int, typer.Option(help="0 takes any that is free.")] = 8742,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others can reach only that.")
    ] = "127.0.0.1",
    state: Annotated[str, typer.Option(help="A state, as copied from the page.")] = "",
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
    try:
        from pushforward.web._serve import Server
    except ModuleNotFoundError as error:
        raise InputError(
            f"the page needs the package {error.name}, which is not installed. "
            "Install it with: pip install 'pushforward[web]'"
        ) from error
    if state:
        _check(state)
    server = Server(host, port)
    if run is not None:
        state = server.show(run)
    address = server.address + (f"#s={state}" if state else "")

    def ready() -> None:
        if as_json:
            sys.stdout.write(json.dumps({"address": address, "port": server.port}))
            sys.stdout.write("\n")
        else:
            sys.stdout.write(f"{address}\nCtrl-C ends the server.\n")
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(address)

    try:
        server.run(ready)
    except KeyboardInterrupt:
        pass  # the way to end it, not an accident


def _check(state: str) -> None:
    """Refuse a link that was not copied whole, before anything starts."""
    from pushforward.web._state import from_link

    from_link(state)
