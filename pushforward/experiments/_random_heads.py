"""Fields whose weights are known once the dimension and the seed of a run are."""

from __future__ import annotations

import abc
import itertools
import pathlib
from typing import NoReturn

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Int

from pushforward._checks import Number, as_float_array, whole
from pushforward._seeds import key_for
from pushforward.errors import InputError
from pushforward.experiments import _names
from pushforward.fields import AbstractField, Heads
from pushforward.measures import Particles

WEIGHTS = ("Q", "K", "V")
Seed = int | Int[Array, ""]  # traced where many experiments run in one program


class AbstractDrawn(AbstractField):
    """Stands for a field, or for a part of one, until its weights are there."""

    field: eqx.AbstractVar[AbstractField]

    @abc.abstractmethod
    def drawn(self, d: int, seed: Seed, part: int = 0) -> AbstractField:
        """The field in dimension d; the parts of a field get weights of their own."""

    @property
    def ordered(self) -> bool:
        """As the field."""
        return self.field.ordered

    def drive(self, t: Number, mu: Particles) -> NoReturn:
        """Refused: there are no weights yet."""
        raise InputError(
            f"`field` gets its weights from an experiment, got {self!r}. Run "
            "Experiment(start, field, t1), or pass field.drawn(d, seed)."
        )


def with_weights(field: AbstractField, d: int, seed: Seed) -> AbstractField:
    """The field with everything drawn that is yet to be, however deep it stands."""
    waits = lambda part: isinstance(part, AbstractDrawn)  # noqa: E731
    parts, form = jax.tree_util.tree_flatten(field, is_leaf=waits)
    count = itertools.count()
    return jax.tree_util.tree_unflatten(
        form, [p.drawn(d, seed, next(count)) if waits(p) else p for p in parts]
    )


class RandomHeads(AbstractDrawn):
    """`heads` copies of a field, each with Ginibre matrices Q, K, V of its own.

    Entries have variance 1/d and come from the seed: another seed, other weights. What
    the field has already, such as a V, all heads share.
    """

    field: AbstractField
    heads: int = eqx.field(static=True)

    def __init__(self, field: AbstractField, heads: int = 2):
        self.field = _with_weights(field)
        self.heads = whole("heads", heads, 1)

    def drawn(self, d: int, seed: Seed, part: int = 0) -> Heads:
        """The heads in dimension d."""
        d, where = whole("d", d, 1), f"part {part} " if part else ""
        heads = range(self.heads)
        return Heads([self._head(d, seed, f"{where}head {h}") for h in heads])

    def _head(self, d: int, seed: Seed, head: str) -> AbstractField:
        one = self.field
        for name in WEIGHTS:
            if getattr(one, name) is not None:
                continue
            key = key_for(seed, f"{head} {name}")
            matrix = jax.random.normal(key, (d, d)) / np.sqrt(d)
            one = _names.replaced(one, name, matrix)
        return one


class WeightsFromFile(AbstractDrawn):
    """A field with Q, K, V from an .npz or .safetensors file, one per head there.

    Matrices are (d, d), or (heads, d, d) for several heads; what the file leaves out
    stays as the field has it.
    """

    field: AbstractField
    path: str = eqx.field(static=True)

    def __init__(self, field: AbstractField, path):
        self.field = _with_weights(field)
        if not isinstance(path, str | pathlib.PurePath):
            raise InputError(f"`path` must be the path of a file, got {path!r}.")
        self.path = str(path)

    def drawn(self, d: int, seed: Seed, part: int = 0) -> AbstractField:
        """One field, or as many heads as the file has."""
        heads = []
        for weights in weights_of_file(pathlib.Path(self.path)):
            one = self.field
            for name, matrix in weights.items():
                one = _names.replaced(one, name, matrix)
            heads.append(one)
        return heads[0] if len(heads) == 1 else Heads(heads)


def _with_weights(field: AbstractField) -> AbstractField:
    if not set(WEIGHTS) <= set(_names.parameters(field)):
        raise InputError(
            f"`field` must have weights Q, K and V, such as Attention(9.0), got "
            f"{field!r}."
        )
    return field


def weights_of_file(path: pathlib.Path) -> list[dict[str, np.ndarray]]:
    """Q, K, V of shape (d, d), or (heads, d, d) for several heads."""
    arrays = _tensors(path)
    names = [name for name in WEIGHTS if name in arrays]
    found = {name: np.asarray(as_float_array(name, arrays[name])) for name in names}
    if not found:
        raise InputError(
            f"{path} has no tensor called Q, K or V; it has {sorted(arrays)[:5]}."
        )
    for name, array in found.items():
        if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
            raise InputError(
                f"`{name}` in {path} must be (d, d) or (heads, d, d), got "
                f"{array.shape}."
            )
    stacked = {k: v[None] if v.ndim == 2 else v for k, v in found.items()}
    count = max(len(v) for v in stacked.values())
    if any(len(v) not in (1, count) for v in stacked.values()):
        raise InputError(f"the tensors of {path} have different numbers of heads.")
    return [{k: v[h % len(v)] for k, v in stacked.items()} for h in range(count)]


def _tensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        return load_file(path)
    except FileNotFoundError as error:
        raise InputError(f"no file at {path}. Check the path.") from error
    except (SafetensorError, ValueError, KeyError, TypeError, OSError) as error:
        # the last four: kinds of numbers that numpy does not have, folders
        raise InputError(f"{path} is not a file of weights: {error}.") from error
