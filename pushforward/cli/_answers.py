"""What commands share: options that mean the same everywhere, and how they speak."""

import pathlib
import sys
from typing import Annotated, TypeAlias

import typer
from rich.console import Console

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Report: TypeAlias = Annotated[
    pathlib.Path | None, typer.Option(help="A page with pictures (.html).")
]

status = Console(stderr=True, highlight=False)


def need_folders(*paths: pathlib.Path | None) -> None:
    """Refuse before the work what could not be written after it."""
    from pushforward.errors import StoreError

    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise StoreError(f"{path} cannot be written: its folder does not exist.")


def say(line: str) -> None:
    """One line of the answer, or several."""
    sys.stdout.write(line + "\n")
