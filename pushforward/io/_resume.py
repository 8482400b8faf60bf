"""An unfinished run from its own specification: all that `flow` needs to go on."""

from __future__ import annotations

import functools
import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.flows import Trajectory, flow
from pushforward.io._layout import TORN, read_attributes
from pushforward.io._names import UnknownNameError, named
from pushforward.io._reading import load
from pushforward.io._spec import from_json
from pushforward.measures import AbstractMeasure

MORE = ("t0", "t1", "save", "merge")  # arguments of `flow` that some runs have


class Resumption(NamedTuple):
    """The arguments of the flow that wrote a run."""

    path: pathlib.Path
    field: Any
    mu: AbstractMeasure
    times: np.ndarray | None
    solver: Any
    noise: Any
    key: Any
    observe: dict[str, Any]
    until: Any = None
    more: Mapping[str, Any] = {}

    def flow(self, progress: Any | None = None) -> Trajectory:
        """Go on from the last frame that counts; bitwise what one run would give."""
        arguments = dict(self.more)
        if self.times is not None:
            ends = {"t0": float(self.times[0]), "t1": float(self.times[-1])}
            arguments = {**ends, "save": self.times} | arguments
        return flow(
            self.field,
            self.mu,
            arguments.pop("t1"),
            solver=self.solver,
            noise=self.noise,
            key=self.key,
            observe=self.observe,
            until=self.until,
            progress=progress,
            store=self.path,
            **arguments,
        )


def resumption(
    path: str | pathlib.PurePath, *, classes: Iterable[Any] = ()
) -> Resumption:
    """How to go on with a run, from what it says about itself.

    Classes and functions of your own that the run uses are named in `classes`. Refused
    with the reason when there are some without a name, such as a lambda: then call
    `flow` as before with `store=path`, which resumes as well.
    """
    path = as_path("path", path)
    spec = _specification(path, read_attributes(path))
    classes = list(named(classes).values())
    first = load(path, classes=classes)[0]
    read = functools.partial(from_json, classes=classes)
    try:
        key, times, until = read(spec["key"]), read(spec["times"]), spec["until"]
        return Resumption(
            path,
            read(spec["field"]),
            first,
            None if times is None else np.asarray(times, float).reshape(-1),
            read(spec["solver"]),
            read(spec["noise"]),
            None if key is None else jax.random.wrap_key_data(jnp.asarray(key)),
            {name: read(spec["observe"][name]) for name in spec["observed"]},
            None if until is False else read(until),
            {name: read(spec[name]) for name in MORE if name in spec},
        )
    except UnknownNameError as error:
        raise StoreError(
            f"{path} cannot go on yet: {error} Here: "
            f'pushforward.io.resumption("{path}", classes=[...]).'
        ) from error
    except (InputError, *TORN) as error:
        raise StoreError(f"{path} is damaged: {error}.") from error


def _specification(path: pathlib.Path, attributes: dict) -> dict[str, Any]:
    try:
        spec = json.loads(attributes["spec"])
        spec = spec if isinstance(spec, dict) else {}
        own = [name for name, f in spec.get("observe", {}).items() if f is None]
    except TORN as error:
        raise StoreError(f"{path} is damaged: {error}.") from error
    if "solver" not in spec:
        raise StoreError(
            f"{path} was saved by Trajectory.save or by an older version: there is "
            "nothing to resume. Start it again."
        )
    if own or spec.get("until") is True:
        what = f"observables {own}" if own else "rule `until`"
        raise StoreError(
            f"{path} was made with {what}, functions without a name of their own. Call "
            f'pf.flow as before with store="{path}": it resumes.'
        )
    return spec
