"""Representations on disk: arrays, never pickles, and tables of numbers."""

from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward._array_files import read_npy
from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.statistics._matrices import finite_matrix
from pushforward.statistics.number_files import Missing, read_numbers


def lambdas_from(text: str) -> list[float]:
    """Ridge parameters, as a command line has them."""
    try:
        return [float(value) for value in text.split(",")]
    except (ValueError, AttributeError) as error:
        raise InputError(f"`--lambda` must be numbers, got {text!r}.") from error


def shape_on_disk(path: str | Path) -> tuple[int, ...] | None:
    """The shape of a .npy file of numbers, by its header; None for all else."""
    try:
        array = np.load(as_path("path", path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError):
        return None  # told by whoever reads it
    return array.shape if array.dtype.kind in "fiub" else None


def read_representation(
    path: str | Path, *, flatten: bool = True
) -> Float[np.ndarray, "n k"]:
    """A representation (n, k), samples first, from a `.npy`, `.csv` or `.tsv` file.

    Arrays with more axes (tokens, heads, pixels) are flattened after the first, or
    refused without `flatten`. A header of a text file is skipped.
    """
    path = as_path("path", path)
    if not path.is_file():
        raise StoreError(f"`path` = {str(path)!r} is not a file. Check the name.")
    if path.suffix != ".npy":
        return finite_matrix(path.name, _numbers(path), "(n, k), samples first")
    try:
        array = read_npy(path)
    except (ValueError, EOFError, OSError) as error:
        raise InputError(
            f"{path.name} cannot be read as an array of numbers ({error}). Save it "
            "with `numpy.save(path, array)`, samples in rows."
        ) from None
    if array.ndim > 2 and not flatten:
        flat = (len(array), int(np.prod(array.shape[1:])))
        raise InputError(
            f"{path.name} must be (samples, features), got {array.shape}. To compare "
            f"all its values flat, as {flat}, say --flatten; else save a mean over the "
            "other axes."
        )
    if array.ndim > 2:
        array = array.reshape(len(array), -1)
    return finite_matrix(path.name, array, "(n, k), samples first")


def _numbers(path: Path) -> np.ndarray:
    try:
        return read_numbers(path, missing=Missing.KEEP).values
    except InputError as error:
        raise InputError(
            f"{path.name} cannot be read as an array of numbers: {error}"
        ) from None
