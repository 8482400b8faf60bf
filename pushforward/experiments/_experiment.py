"""What a run is, said once: start, field, times, solver, noise, seed."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import jax

from pushforward._checks import as_path, whole
from pushforward._seeds import key_for
from pushforward.errors import InputError, StoreError
from pushforward.experiments import _names, _texts, _tree
from pushforward.experiments._random_heads import with_weights
from pushforward.experiments._start import AbstractStart
from pushforward.fields import AbstractField
from pushforward.flows import (
    AbstractNoise,
    AbstractSolver,
    Merge,
    Trajectory,
    check_observe,
    flow,
)
from pushforward.io import DescribedRun, read_attributes
from pushforward.measures import Density

# by these words the text of an object is told from a table of names
RESERVED = set(
    "activation array class dict function kind observable scheme tuple type".split()
)
DTYPES = ("float64", "float32")


@dataclasses.dataclass(frozen=True, eq=False)
class Experiment:
    """Everything that a run depends on; `run` is `pf.flow` with these.

    Every number in it has a dotted name: `read("field.beta")`, and
    `vary(**{"field.beta": 4.0})` is the same experiment with another one. It is written
    and read as TOML, as JSON and as Python, and travels with the run on disk.

    - `start`: how the tokens start, such as `Uniform(64, 3)`, drawn from the `seed`.
    - `field`: a field; weights of a `RandomHeads` in it come from the `seed`.
    - the rest: as in `pf.flow`.

    >>> e = Experiment(Uniform(8, 3), Attention(9.0), 2.0, save=5)
    >>> len(e.vary(**{"field.beta": 4.0, "start.n": 4}).run())
    5
    """

    start: AbstractStart
    field: AbstractField
    t1: float
    t0: float = 0.0
    save: Any = 101
    solver: AbstractSolver | None = None
    merge: Merge | None = None
    noise: AbstractNoise | None = None
    observe: Mapping[str, Callable] = dataclasses.field(default_factory=dict)
    until: Callable | None = None
    seed: int = 0
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if not isinstance(self.start, AbstractStart):
            raise InputError(
                f"`start` must be a start such as Uniform(64, 3), got {self.start!r}. "
                "For points of your own use Given(space, points)."
            )
        if not isinstance(self.field, AbstractField):
            raise InputError(
                f"`field` must be a field such as Attention(9.0), got {self.field!r}."
            )
        if not isinstance(self.dtype, str) or self.dtype not in DTYPES:
            known = " or ".join(DTYPES)
            raise InputError(f"`dtype` must be {known}, got {self.dtype!r}.")
        whole("seed", self.seed, 0)
        for name in ("t0", "t1"):
            object.__setattr__(self, name, _time(name, getattr(self, name)))
        check_observe(self.observe)
        taken = sorted(RESERVED & set(self.observe))
        if taken:
            raise InputError(
                f"`observe` has the name {taken[0]!r}, which texts of experiments use "
                "for themselves. Choose another."
            )

    @property
    def measure(self) -> Any:
        """The initial measure, in the precision asked for."""
        mu = self.start(self.seed)
        if self.dtype == "float64":
            return mu
        if isinstance(mu, Density):
            raise InputError("`dtype` of a density is float64: leave it out.")
        return mu.astype(self.dtype)

    def drawn_field(self, d: int) -> AbstractField:
        """The field, its random weights drawn from the seed."""
        return with_weights(self.field, d, self.seed)

    def run(self, *, store=None, progress=None) -> Trajectory:
        """`pf.flow` with what the experiment says; a run at a path carries it along."""
        mu = self.measure
        if isinstance(store, str | pathlib.Path):
            store = DescribedRun(store, {"experiment": json.dumps(self.to_dict())})
        key = None if self.noise is None else key_for(self.seed, "noise")
        return flow(
            self.drawn_field(mu.d),
            mu,
            self.t1,
            t0=self.t0,
            save=self.save,
            solver=self.solver,
            merge=self.merge,
            noise=self.noise,
            observe=self.observe or None,
            until=self.until,
            key=key,
            progress=progress,
            store=store,
        )

    @classmethod
    def of_run(cls, path, *, classes=()) -> Experiment:
        """The experiment that a run on disk carries."""
        text = read_attributes(as_path("path", path)).get("experiment")
        if not isinstance(text, str):
            raise StoreError(
                f"{path} carries no experiment: it was written by pf.flow or by an "
                "older version. pf.load reads it."
            )
        try:
            tree = json.loads(text)
        except ValueError as error:
            raise StoreError(f"{path} is damaged: {error}.") from error
        return cls.from_dict(tree, classes=classes)

    def read(self, name: str) -> Any:
        """The value at a dotted name such as `field.heads[1].V`."""
        return _names.read(self, name)

    def vary(self, **values: Any) -> Experiment:
        """The same experiment with other values at dotted names."""
        found = self
        # On the host: a GPU takes a millisecond for each number, and sweeps have many.
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            for name, value in values.items():
                found = _names.replaced(found, name, value)
        return found

    def numbers(self) -> dict[str, Any]:
        """Every number of the experiment by its dotted name."""
        return dict(_names.numbers(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data with what differs from the defaults: JSON, and what links hold."""
        return _tree.tree(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], *, classes=()) -> Experiment:
        """The experiment of `to_dict`; classes of your own are named in `classes`."""
        return cls(**_tree.arguments(cls, tree, classes))

    def to_toml(self) -> str:
        """As TOML that a person can read and change."""
        return _texts.written(self.to_dict())

    @classmethod
    def from_toml(cls, text: str, *, classes=()) -> Experiment:
        """The experiment of a TOML text."""
        return cls.from_dict(_texts.parsed(text), classes=classes)

    def to_python(self) -> str:
        """A script that runs as it stands and gives the same bits."""
        return _texts.script(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Experiment):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_toml())


def _time(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"`{name}` must be a time, got {value!r}.") from error
