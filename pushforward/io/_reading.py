"""A run read from disk: frames whose hashes are verified, then a trajectory."""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.fields import AbstractField
from pushforward.flows import CLOCKS, Merges, Outcome, Trajectory
from pushforward.io._disk import Manifest, manifest_file, read_manifest
from pushforward.io._layout import TORN, read_attributes, read_frames, read_tables
from pushforward.io._names import Unknown, UnknownNameError, named
from pushforward.io._spec import from_json
from pushforward.measures import AbstractMeasure, Particles

COUNTS = ("steps", "rejected", "status")


def load(path: str | pathlib.PurePath, *, classes: Iterable[Any] = ()) -> Trajectory:
    """A run from disk, as the trajectory it was.

    Hashes are verified, no code runs, and a torn or foreign file is a `StoreError`.
    Name classes and functions of your own that the run may use: without
    `classes=[Pull]` the numbers are read all the same, and the field is an `Unknown`
    that prints what it was.
    """
    known = named(classes).values()
    path = as_path("path", path)
    attributes = read_attributes(path)
    if "outcome" in attributes:
        arrays, summary, outcome = read_ended(path, attributes)
    else:
        manifest = _committed(path)
        arrays = verified(path, manifest.hashes.tolist(), ended=False)
        arrays["time"] = manifest.times
        summary, outcome = {}, Outcome("interrupted", "unfinished run.")
    try:
        spec = json.loads(attributes["spec"])
        # Before format 2 a name such as "arc" was an observable like any other.
        names = CLOCKS if attributes["pushforward"] > 1 else ()
        clocks = {name: arrays.pop(name) for name in names if name in arrays}
        return _trajectory(spec, arrays, clocks, summary, outcome, known)
    except UnknownNameError as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    except (InputError, *TORN) as error:
        raise StoreError(f"{path} is damaged: {error}.") from error


def read_ended(
    path: pathlib.Path, attributes: dict
) -> tuple[dict[str, np.ndarray], dict[str, Any], Outcome]:
    """Frames, summary and outcome of a finished run, as they were written."""
    arrays = verified(path, attributes.get("hashes"), ended=True)
    if attributes.get("seal", "") not in ("", seal(attributes, arrays["time"])):
        raise StoreError(
            f"{path} is damaged: its times or its description are not what was "
            "written. Restore it from a copy, or remove it and run again."
        )
    try:
        summary = {n: int(attributes.get(n, 0)) for n in COUNTS}
        written = dict(attributes.get("tables", {}))
        tables = read_tables(path, list(written))
        for name, table in tables.items():
            if digest({name: table}) != written[name]:
                raise ValueError(f"{name} is not what was written")
        ended = attributes["outcome"]
        outcome = Outcome(str(ended["kind"]), str(ended["message"]))
    except (InputError, *TORN) as error:
        raise StoreError(f"{path} is damaged: {error}.") from error
    return arrays, {**summary, **tables}, outcome


def seal(attributes: dict, times: Float[np.ndarray, "k"]) -> str:
    """A hash of all that frames do not cover: description, outcome, times."""
    about = {k: v for k, v in attributes.items() if k != "seal"}
    text = json.dumps(about, sort_keys=True).encode()
    times = np.ascontiguousarray(times, dtype=float)
    return hashlib.sha256(text + times.tobytes()).hexdigest()


def _committed(path: pathlib.Path) -> Manifest:
    """Which frames of an unfinished run count."""
    manifest = read_manifest(path)
    if manifest is None:
        raise StoreError(
            f"{path} holds no finished frame, or its file {manifest_file(path).name} "
            "is not beside it. Bring that file back, or run again."
        )
    return manifest


def _trajectory(
    spec: dict,
    arrays: dict[str, np.ndarray],
    clocks: dict[str, np.ndarray],
    summary: dict,
    outcome: Outcome,
    classes: Iterable[Any],
) -> Trajectory:
    kind = _measure_of(spec, arrays, classes)
    times, own = arrays.pop("time"), {*kind.arrays(), *kind.readable_arrays()}
    measures = kind.with_arrays({name: arrays.pop(name) for name in own})
    return Trajectory(
        times=times,
        measures=measures,
        final=jax.tree_util.tree_map(lambda leaf: leaf[-1], measures),
        observed=arrays,
        **{name: jnp.asarray(summary.get(name, 0)) for name in COUNTS},
        field=_field_of(spec.get("field"), classes),
        outcome=outcome,
        log_times=clocks.get("log_time"),
        arc=clocks.get("arc"),
        merges=Merges.from_table(summary),
    )


def _field_of(written: Any, classes: Iterable[Any]) -> AbstractField | None:
    """The field, or what it was where its class is not known here."""
    try:
        return from_json(written, classes) if written else None
    except UnknownNameError as error:
        return Unknown(error.name, json.dumps(written))


def _measure_of(spec: dict, arrays: dict, classes: Iterable[Any]) -> AbstractMeasure:
    """A measure of the kind that the frames hold; its own numbers do not matter."""
    if "measure" in spec:
        return from_json(spec["measure"], classes)
    return Particles(from_json(spec["space"], classes), arrays["points"][0])


def frames_of(arrays: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    names = [name for name in arrays if name != "time"]
    return [
        {name: arrays[name][k] for name in names} for k in range(len(arrays["time"]))
    ]


def verified(path: pathlib.Path, hashes: Any, ended: bool) -> dict[str, np.ndarray]:
    """The frames that count, refused if they are not what was written."""
    if not (
        isinstance(hashes, list) and hashes and all(isinstance(h, str) for h in hashes)
    ):
        raise StoreError(f"{path} is damaged: it has no list of hashes.")
    arrays = read_frames(path, len(hashes), ended)
    for k, written in enumerate(hashes):
        frame = {name: array[k] for name, array in arrays.items() if name != "time"}
        if digest(frame) != written:
            raise StoreError(
                f"{path} is damaged: frame {k} is not what was written. "
                "Restore it from a copy, or remove it and run again."
            )
    return arrays


def digest(frame: dict[str, np.ndarray]) -> str:
    sha = hashlib.sha256()
    for name in sorted(frame):
        sha.update(np.ascontiguousarray(frame[name]).tobytes())
    return sha.hexdigest()
