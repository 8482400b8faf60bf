"""The command line and the bibliography as pages, written from the program itself."""

import pathlib
import re
import shutil

import typer

from pushforward._references import PAPERS, bibtex
from pushforward.cli._main import app

PAGES = pathlib.Path(__file__).parent / "reference"


def write() -> None:
    """Both pages, into `docs/reference`."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    (PAGES / "command-line.md").write_text(command_line())
    (PAGES / "bibliography.md").write_text(bibliography())


def bibliography() -> str:
    """Every paper under its key, which other pages link to."""
    parts = [
        "# Bibliography",
        "Docstrings name these keys in square brackets; `pf.cite(object)` and "
        "`pushforward cite` print the entries behind what was used.",
    ]
    for key in sorted(PAPERS, key=lambda k: (PAPERS[k][1], PAPERS[k][4])):
        _, authors, title, venue, year, arxiv = PAPERS[key]
        where = f" {venue}." if venue else ""
        link = f" [arXiv {arxiv}](https://arxiv.org/abs/{arxiv})." if arxiv else ""
        people = authors.replace(" and ", "; ")
        parts.append(
            f"({key})=\n## {key}\n\n{people} ({year}). *{title}.*{where}{link}\n\n"
            f"```bibtex\n{bibtex(key)}\n```"
        )
    return "\n\n".join(parts) + "\n"


def command_line() -> str:
    """Every command with its arguments and options."""
    parts = ["# Command line", "What `pushforward COMMAND --help` says, on one page."]
    parts += _commands(typer.main.get_command(app), "pushforward")
    return "\n\n".join(parts) + "\n"


def _commands(command, path: str) -> list[str]:
    inside = getattr(command, "commands", None)
    if inside:
        return [text for k, c in inside.items() for text in _commands(c, f"{path} {k}")]
    lines = [f"## {path}", f"```text\n{_help(command)}\n```"]
    rows = [_row(option) for option in command.params if not option.hidden]
    table = ["| argument | meaning |", "| --- | --- |", *rows]
    return [*lines, "\n".join(table)] if rows else lines


def _help(command) -> str:
    text = (command.help or "").strip()
    return re.sub(r"\n\s+", "\n", text) or command.name


def _row(option) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    meaning = (getattr(option, "help", None) or "").replace("|", "\\|")
    default = option.default
    if default not in (None, "", False, ()) and not callable(default):
        meaning += f" Default: `{default}`."
    return f"| {names} | {meaning} |"
