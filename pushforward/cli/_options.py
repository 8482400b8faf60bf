"""What commands share: options, from these to an experiment, and how they answer."""

import importlib
import json
import pathlib
import sys
import tomllib
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console

from pushforward.errors import InputError

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


# What says where results go, and not what is run.
BESIDE = tuple(
    "spec changes classes out resume picture movie toml python dry_run as_json".split()
)


def given(context: typer.Context) -> list[str]:
    """The options that a person wrote, by the names of their parameters."""
    found = []
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP"):
            found.append(name)
    return found


def refuse_options(context: typer.Context, allowed: tuple[str, ...], what: str) -> None:
    """A run or a file knows its own n, beta and times: others would contradict it."""
    for name in given(context):
        if name not in allowed:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{what}, and `{option}` was given as well ({context.params[name]}). "
                "Leave it out, or change the experiment with --set NAME=VALUE."
            )


def from_study(study: str, run: str, full: bool = False):
    """A run of a study, by name."""
    from pushforward import studies
    from pushforward.experiments import unknown

    found = studies.experiments(study, full)
    if run not in found:
        raise InputError(unknown(run, tuple(found), f"the study {study}"))
    return found[run]


def from_file(path: pathlib.Path, classes: list[str]):
    """The experiment of a TOML or JSON file, of a run, or of a study, STUDY/RUN."""
    import pushforward as pf

    own = named_classes(classes)
    if not path.exists() and len(path.parts) == 2 and not path.suffix:
        from pushforward import studies

        if path.parts[0] in studies.names():
            return from_study(*path.parts)
    if path.is_dir():
        return pf.Experiment.of_run(path, classes=own)
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}. Check the path.") from error
    if path.suffix == ".json":
        try:
            return pf.Experiment.from_dict(json.loads(text), classes=own)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path} is not JSON: {error}.") from error
    return pf.Experiment.from_toml(text, classes=own)


def changed(experiment, changes: list[str]):
    """The experiment with NAME=VALUE applied, values as TOML writes them."""
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise InputError(f"`--set` must be NAME=VALUE, got {change!r}.")
        experiment = experiment.vary(**{name.strip(): _value(text.strip())})
    return experiment


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a word needs no quotes


def named_classes(names: list[str]) -> list[Any]:
    """Classes and functions of the user's own, `module:Name`, imported as asked."""
    found = []
    for name in names:
        module, colon, inside = name.partition(":")
        if not colon or module.startswith("."):
            raise InputError(f"`--classes` must be module:Name, got {name!r}.")
        try:
            value: Any = importlib.import_module(module)
            for part in inside.split("."):
                value = getattr(value, part)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(
                f"`--classes` must be module:Name for Python to import, got {name!r}: "
                f"{error}."
            ) from error
        found.append(value)
    return found


def observed(names: list[str]) -> dict[str, Any]:
    """Observables by name, as `effective_rank` or `ClusterCount(radius=0.1)`."""
    from pushforward.experiments import made

    found = {}
    for name in names:
        word, bracket, inside = name.partition("(")
        arguments: dict[str, Any] = {}
        if bracket:
            try:
                table = f"value = {{{inside.rstrip().removesuffix(')')}}}"
                arguments = tomllib.loads(table)["value"]
            except tomllib.TOMLDecodeError as error:
                raise InputError(
                    f"`--observe` must be NAME or NAME(parameter=value), got {name!r}."
                ) from error
        found[word] = made({"kind": word} | arguments, "observe")
    return found
