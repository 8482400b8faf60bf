"""Representations on disk: arrays, never pickles, and tables of numbers."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward._checks import as_path
from pushforward._files import read_npy
from pushforward.errors import InputError, StoreError
from pushforward.statistics._matrices import finite_matrix
from pushforward.statistics.tables.number_files import BadCell, read_numbers


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
    return representation_and_words(path, flatten=flatten)[0]


def representation_and_words(
    path: str | Path, *, flatten: bool = True
) -> tuple[Float[np.ndarray, "n k"], tuple[str, ...], tuple[str, ...]]:
    """The same, what was decided when it was read, and the names of the rows if any."""
    path = as_path("path", path)
    if not path.is_file():
        raise StoreError(f"`path` = {str(path)!r} is not a file. Check the name.")
    wanted = "(n, k), samples first"
    if path.suffix != ".npy":
        values, words, names = _numbers(path)
        return finite_matrix(path.name, values, wanted), words, names
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
    return finite_matrix(path.name, array, wanted), (), ()


def _numbers(path: Path) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    unread = f"{path.name} cannot be read as an array of numbers"
    try:
        table = read_numbers(path)
    except BadCell as error:
        where, what, _ = error.args
        raise InputError(
            f"{unread}: {where}: {what}. Leave a sample with gaps out of every file, "
            "for rows are the same samples in all."
        ) from None
    except InputError as error:
        raise InputError(f"{unread}: {error}") from None
    return table.values, table.decisions, table.names


def refuse_other_samples(named: Mapping[str, tuple[str, ...]]) -> None:
    """Files whose rows have names name the same samples in the same order."""
    some = [(file, names) for file, names in named.items() if names]
    for file, names in some[1:]:
        first, known = some[0]
        for row, (a, b) in enumerate(zip(known, names, strict=False), 1):
            if a != b:
                raise InputError(
                    f"{first} and {file} must hold the same samples in the same order: "
                    f"row {row} is {a!r} in one and {b!r} in the other. Sort both by "
                    "name, or take the names out if they are something else."
                )
