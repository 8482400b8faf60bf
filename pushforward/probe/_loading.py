"""From a name, a folder or a file to a model that runs."""

import dataclasses
import pathlib
from typing import Any

import numpy as np

from pushforward.errors import InputError
from pushforward.probe._bert import bert
from pushforward.probe._catalogue import model_folder, models
from pushforward.probe._gguf import read_gguf
from pushforward.probe._gpt2 import gpt2
from pushforward.probe._llama import llama
from pushforward.probe._tensors import read_arrays, read_config
from pushforward.probe._text import tokenizer_of
from pushforward.probe._transformer import AbstractTransformer

FAMILIES = {"bert": bert, "albert": bert, "gpt2": gpt2, "llama": llama}


@dataclasses.dataclass(frozen=True)
class Model:
    """A trained Transformer with the tokenizer it was trained with (or None)."""

    transformer: AbstractTransformer
    tokenizer: Any

    @property
    def name(self) -> str:
        """What it is called."""
        return self.transformer.name

    def __repr__(self) -> str:
        return f"Model({self.transformer!r})"


def load_model(model: str | pathlib.Path) -> Model:
    """A model by name ("minilm", "smollm2"), from a local folder or a .gguf file.

    A folder holds config.json, *.safetensors and, to read text, tokenizer.json, for
    BERT, ALBERT, GPT-2 or LLaMA-type models. Weights are float32. Nothing is fetched
    and no code of the folder is run.
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
        known = ", ".join(entry.name for entry in models())
        raise InputError(
            f"no model {str(model)!r}: it is neither a folder nor a .gguf file nor one "
            f"of {known}. Fetch one with `pushforward models get minilm`; for a model "
            "of the hub, download its folder first."
        )
    config = read_config(path)
    files = sorted(path.glob("*.safetensors"))
    if not files:
        raise InputError(
            f"{path} holds no .safetensors file. Pickled weights (.bin, .pt) can run "
            "code and are refused: convert them with safetensors."
        )
    arrays = {name: a for file in files for name, a in read_arrays(file).items()}
    name = str(model) if len(path.parts) == 1 else path.name
    return Model(built(config, arrays, name), tokenizer_of(path))


def built(
    config: dict[str, Any], arrays: dict[str, np.ndarray], name: str
) -> AbstractTransformer:
    """The model that a configuration describes, with these weights."""
    kind = config.get("model_type")
    if kind not in FAMILIES:
        raise InputError(
            f"models of type {kind!r} are not known; known: {', '.join(FAMILIES)}. "
            "Save its hidden states (layers, tokens, dim) to a .npy file instead and "
            "probe that."
        )
    try:
        return FAMILIES[kind](config, arrays, name)
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise InputError(
            f"the configuration of {name} is incomplete or wrong: {error!r}."
        ) from None
