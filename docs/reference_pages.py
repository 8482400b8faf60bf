"""The reference, written from the program: rooms, command line, bibliography."""

import importlib
import inspect
import pathlib
import re
import shutil

import typer

from pushforward._references import PAPERS, bibtex
from pushforward.cli._main import app

PAGES = pathlib.Path(__file__).parent / "reference"
ROOMS = {  # a page each, with the packages on it
    "spaces": ["spaces"],
    "measures": ["measures"],
    "sums": ["sums"],
    "functionals": ["functionals"],
    "fields": ["fields"],
    "flows": ["flows"],
    "observables": ["observables"],
    "theory": ["theory"],
    "transport": ["transport"],
    "control": [
        "control",
        "control.estimators",
        "control.classical",
        "control.steering",
        "control.normalizing",
    ],
    "statistics": ["statistics"],
    "probe": ["probe"],
    "experiments": ["experiments"],
    "sweeps": ["sweeps"],
    "plot": ["plot"],
    "io": ["io"],
    "studies": ["studies"],
    "errors": ["errors"],
}
# listed on the page of the room that has them
ELSEWHERE = {
    "statistics": "Coupling, SparseGromov",
    "control": "LinearQuadratic, semi_lagrangian_value, NormalizingFlow, "
    "StandardNormal, UnitCube, steer, Refined, learn, refine, Steered, Sampled",
}


def write() -> None:
    """All pages, into `docs/reference`."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    for room, packages in ROOMS.items():
        (PAGES / f"{room}.md").write_text(api(room, packages))
    (PAGES / "command-line.md").write_text(command_line())
    (PAGES / "bibliography.md").write_text(bibliography())


def api(room: str, packages: list[str]) -> str:
    """Signatures and docstrings of a room; modules of `theory` one by one."""
    inside = importlib.import_module(f"pushforward.{room}")
    parts = [f"# pushforward.{room}"]
    if room == "theory":
        packages = [f"theory.{name}" for name in sorted(modules_of(inside))]
        parts.append((inside.__doc__ or "").strip().splitlines()[0])
    for package in packages:
        name = package.removeprefix("theory.")
        where = modules_of(inside).get(name, f"pushforward.{package}")
        lines = [f".. automodule:: {where}"]
        if room != "theory" and package != "control.estimators":
            lines.append("   :imported-members:")
        if package in ELSEWHERE:
            lines.append(f"   :exclude-members: {ELSEWHERE[package]}")
        if len(packages) > 1:
            parts.append(f"## {package}")
        body = "\n".join(lines)
        parts.append(f"```{{eval-rst}}\n{body}\n```")
    return "\n\n".join(parts) + "\n"


def modules_of(room) -> dict[str, str]:
    """The public modules of a room by the names that users type, and where they lie."""
    found = {
        name: value for name, value in vars(room).items() if inspect.ismodule(value)
    }
    homes = {name: module.__name__ for name, module in found.items()}
    return {name: home for name, home in homes.items() if home.count(".") == 3}


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
