"""Representations on disk: plain arrays, never pickles."""

import warnings
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward._array_files import read_npy
from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.statistics._matrices import finite_matrix


def read_representation(path: str | Path) -> Float[np.ndarray, "n k"]:
    """A representation (n, k), samples first, from a `.npy`, `.csv` or `.tsv` file.

    Arrays with more axes (tokens, heads, pixels) are flattened after the first.
    """
    path = as_path("path", path)
    if not path.is_file():
        raise StoreError(f"`path` = {str(path)!r} is not a file. Check the name.")
    try:
        if path.suffix == ".npy":
            array = read_npy(path)
        else:
            comma = "\t" if path.suffix == ".tsv" else ","
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # an empty file only warns
                array = np.loadtxt(path, delimiter=comma, ndmin=2)
    except (ValueError, EOFError, OSError, UserWarning) as error:
        raise InputError(
            f"{path.name} cannot be read as an array of numbers ({error}). Save it "
            "with `numpy.save(path, array)`, samples in rows."
        ) from None
    if array.ndim > 2:
        array = array.reshape(len(array), -1)
    return finite_matrix(path.name, array, "(n, k), samples first")
