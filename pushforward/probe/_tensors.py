"""Arrays from files, safely: safetensors, npz, npy; never a pickle."""

import json
import pathlib
import zipfile

import numpy as np

from pushforward.errors import InputError

SUFFIXES = (".safetensors", ".npz", ".npy")


def read_arrays(path: str | pathlib.Path) -> dict[str, np.ndarray]:
    """Every array of a file, by name; the array of a `.npy` file is called "array"."""
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"{path.name} is not read: arrays come from {', '.join(SUFFIXES)}. Pickles "
            "(.pt, .pth, .bin, .pkl) can run code and are refused; save them with "
            "safetensors.numpy.save_file."
        )
    if not path.is_file():
        raise InputError(f"no file at {path}. Check the path.")
    if path.suffix == ".safetensors":
        return _safetensors(path)
    try:
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return {"array": found}
        with found:
            return {name: found[name] for name in found.files}
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path.name} cannot be read as arrays of numbers ({error}). Save them "
            "with numpy.save or numpy.savez; objects are refused, since reading them "
            "could run code."
        ) from None


def _safetensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (SafetensorError, ValueError, TypeError, KeyError, OSError) as error:
        raise InputError(
            f"{path.name} is not a safetensors file of numbers: {error}. Restore it "
            "from a copy; bfloat16 must be saved as float32 first."
        ) from None


def read_config(folder: pathlib.Path) -> dict:
    """config.json of a model folder."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{folder} has no config.json. A model folder holds config.json, "
            "model.safetensors and tokenizer.json."
        ) from None
    except (ValueError, OSError) as error:
        raise InputError(f"config.json of {folder} cannot be read: {error}.") from None
    if not isinstance(found, dict):
        raise InputError(f"config.json of {folder} must be an object.")
    return found
