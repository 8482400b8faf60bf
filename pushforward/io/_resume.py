"""An unfinished run from its own specification: all that `flow` needs to go on."""

from __future__ import annotations

import json
import pathlib
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.flows import Trajectory, flow
from pushforward.io._layout import TORN, read_attributes
from pushforward.io._reading import load
from pushforward.io._spec import from_json
from pushforward.measures import Particles


class Resumption(NamedTuple):
    """The arguments of the flow that wrote a run."""

    path: pathlib.Path
    field: Any
    mu: Particles
    times: np.ndarray
    solver: Any
    noise: Any
    key: Any
    observe: dict[str, Any]

    def flow(self, progress=None) -> Trajectory:
        """Go on from the last frame that counts; bitwise what one run would give."""
        return flow(
            self.field,
            self.mu,
            float(self.times[-1]),
            t0=float(self.times[0]),
            save=self.times,
            solver=self.solver,
            noise=self.noise,
            key=self.key,
            observe=self.observe,
            progress=progress,
            store=self.path,
        )


def resumption(path) -> Resumption:
    """How to go on with a run, from what it says about itself.

    Refused with the reason when the run holds functions of yours, which are not stored:
    then call `flow` as before with `store=path`, which resumes as well.
    """
    path = as_path("path", path)
    spec = _specification(path, read_attributes(path))
    first = load(path)[0]
    try:
        key = from_json(spec["key"])
        return Resumption(
            path,
            from_json(spec["field"]),
            first.moved(jnp.asarray(first.points), jnp.asarray(first.log_weights)),
            np.asarray(from_json(spec["times"]), float).reshape(-1),
            from_json(spec["solver"]),
            from_json(spec["noise"]),
            None if key is None else jax.random.wrap_key_data(jnp.asarray(key)),
            {name: from_json(spec["observe"][name]) for name in spec["observed"]},
        )
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
    if own or spec.get("until"):
        what = f"observables {own}" if own else "rule `until`"
        raise StoreError(
            f"{path} was made with {what}, functions that are not stored. Call "
            f'pf.flow as before with store="{path}": it resumes.'
        )
    return spec
