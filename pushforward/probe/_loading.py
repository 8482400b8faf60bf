"""From a name, a folder or a file to a model that runs."""

import dataclasses
import os
import pathlib
from typing import Any

from pushforward.errors import InputError
from pushforward.probe._building import built
from pushforward.probe._catalogue import model_folder, models
from pushforward.probe._config import read_config
from pushforward.probe._gguf import read_gguf
from pushforward.probe._text import tokenizer_of
from pushforward.probe._transformer import Transformer
from pushforward.probe._weights import OnDisk


@dataclasses.dataclass(frozen=True)
class Model:
    """A trained Transformer with the tokenizer it was trained with (or None)."""

    transformer: Transformer
    tokenizer: Any

    @property
    def name(self) -> str:
        """What it is called."""
        return self.transformer.name

    def __repr__(self) -> str:
        return f"Model({self.transformer!r})"


def load_model(model: str | pathlib.Path) -> Model:
    """A model by name, from a local folder or a .gguf file.

    A name is "minilm" or "smollm2", or one of a hub whose files are already in the
    cache of this machine ("org/name"). A folder holds config.json, *.safetensors and,
    to read text, tokenizer.json, of one of the families in docs/probe.md. Weights may
    be float16 or bfloat16; all is computed in float32. Layers that do not fit into
    memory together are read one by one. Nothing is fetched and no code is run.
    """
    path = pathlib.Path(model)
    if str(model) in [entry.name for entry in models()]:
        path = model_folder(str(model))
        if (path / "model.gguf").is_file():
            path = path / "model.gguf"
    if path.suffix == ".gguf":
        config, arrays, tokenizer = read_gguf(path)
        return Model(built(config, arrays, str(model)), tokenizer)
    if not path.is_dir():
        path = hub_models().get(str(model), path)
    if not path.is_dir():
        known = ", ".join(entry.name for entry in models())
        raise InputError(
            f"no model {str(model)!r}: it is neither a folder nor a .gguf file nor one "
            f"of {known}, and {_hub()} does not hold it. Fetch one with `pushforward "
            "models get minilm`; for a model of the hub, download its folder first."
        )
    config = read_config(path)
    files = sorted(path.glob("*.safetensors"))
    if not files:
        raise InputError(
            f"{path} holds no .safetensors file. Pickled weights (.bin, .pt) can run "
            "code and are refused: convert them with safetensors."
        )
    short = len(path.parts) == 1 or str(model) in hub_models()
    name = str(model) if short else path.name
    return Model(built(config, OnDisk(files), name), tokenizer_of(path))


def hub_models() -> dict[str, pathlib.Path]:
    """Models that a hub's own tools left on this machine, by name; nothing is fetched.

    Those with a configuration and safetensors, at the revision they call main.
    """
    found = {}
    for folder in sorted(_hub().glob("models--*")):
        main = folder / "refs" / "main"
        snapshots = sorted((folder / "snapshots").glob("*"))
        if main.is_file():
            snapshots = [folder / "snapshots" / main.read_text().strip()]
        for path in snapshots[-1:]:
            if (path / "config.json").is_file() and any(path.glob("*.safetensors")):
                found[folder.name[len("models--") :].replace("--", "/")] = path
    return found


def _hub() -> pathlib.Path:
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    chosen = os.environ.get("HF_HUB_CACHE") or pathlib.Path(home) / "hub"
    return pathlib.Path(chosen).expanduser()
