"""Arrays from files, safely and when they are needed: safetensors, npz, npy.

Never a pickle. float16 and bfloat16 are read as they are and become float32 where they
are used.
"""

import abc
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from pushforward._files import read_npy, read_npz
from pushforward.errors import InputError

SUFFIXES = (".safetensors", ".npz", ".npy")
assert jnp.bfloat16  # importing jax teaches numpy the name of that type


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
        return dict(OnDisk([path]))
    return {"array": read_npy(path)} if path.suffix == ".npy" else read_npz(path)


class Stored(Mapping[str, Any]):
    """Tensors by name that are read when they are asked for, and not kept."""

    @abc.abstractmethod
    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, without reading it."""

    @abc.abstractmethod
    def rows(self, name: str) -> Any:
        """A table of which only the rows that are asked for are read."""


class OnDisk(Stored):
    """The tensors of safetensors files."""

    def __init__(self, paths: Sequence[pathlib.Path]):
        from safetensors import SafetensorError, safe_open

        self._files: dict[str, Any] = {}
        for path in paths:
            try:
                file = safe_open(path, framework="numpy")
                self._files |= dict.fromkeys(file.keys(), file)
                for name in file.keys():
                    np.dtype(DTYPES[file.get_slice(name).get_dtype()])
            except (SafetensorError, ValueError, TypeError, KeyError, OSError) as error:
                raise InputError(
                    f"{path.name} is not a safetensors file of numbers: {error}. "
                    "Restore it from a copy."
                ) from None

    def __getitem__(self, name: str) -> np.ndarray:
        return self._files[name].get_tensor(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._files[name].get_slice(name).get_shape())

    def rows(self, name: str) -> "Rows":
        return Rows(self._files[name].get_slice(name))


class Rows:
    """Rows of a table on disk, by index."""

    def __init__(self, table: Any):
        self._table = table
        self.shape = tuple(table.get_shape())

    def __getitem__(self, ids: Any) -> np.ndarray:
        parts = [self._table[int(i) : int(i) + 1] for i in np.asarray(ids)]
        return np.concatenate(parts).astype(np.float32)


DTYPES = {
    **{"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"},
    **{f"{kind}{size}": f"{name}{size}" for kind, name in (("I", "int"), ("U", "uint"))
       for size in (8, 16, 32, 64)},
    "BOOL": "bool",
}  # fmt: skip


class Under(Mapping[str, Any]):
    """The weights whose names begin with a prefix, without it; counts what was used."""

    def __init__(self, arrays: Mapping[str, Any], prefix: str):
        self._arrays, self._prefix = arrays, prefix
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        return self._arrays[self._prefix + name]

    def __iter__(self) -> Iterator[str]:
        for name in self._arrays:
            if name.startswith(self._prefix):
                yield name.removeprefix(self._prefix)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._prefix + name in self._arrays

    def take(self, name: str, shape: tuple[int, ...]) -> Any:
        """A weight in float32, of the shape that the configuration promises."""
        self.check(name, shape)
        return np.asarray(self[name]).astype(np.float32)

    def rows(self, name: str, shape: tuple[int, ...]) -> Any:
        """A table by rows: float32, or read from disk row by row."""
        self.check(name, shape)
        if isinstance(self._arrays, Stored):
            return self._arrays.rows(self._prefix + name)
        return np.asarray(self[name]).astype(np.float32)

    def check(self, name: str, shape: tuple[int, ...]) -> None:
        """Refuse a weight that is missing or of another shape."""
        if name not in self:
            raise InputError(
                f"the weights have no tensor {name!r}; is the file complete?"
            )
        self.used.add(name)
        whole = self._prefix + name
        if isinstance(self._arrays, Stored):
            found = self._arrays.shape(whole)
        else:
            found = np.shape(self._arrays[whole])
        if tuple(found) != shape:
            raise InputError(f"{name} has shape {found}, config.json says {shape}.")
