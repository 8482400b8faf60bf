"""A run read from disk: frames whose hashes are verified, then a trajectory."""

from __future__ import annotations

import hashlib
import json
import pathlib

import jax.numpy as jnp
import numpy as np

from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.flows import Outcome, Trajectory
from pushforward.io._layout import TORN, read_attributes, read_frames
from pushforward.io._manifest import Manifest, manifest_file, read_manifest
from pushforward.io._spec import from_json
from pushforward.measures import Particles


def load(path) -> Trajectory:
    """A run from disk, as the trajectory it was.

    Hashes are verified, no code runs, and a torn or foreign file is a `StoreError`.
    """
    path = as_path("path", path)
    attributes = read_attributes(path)
    if "outcome" in attributes:
        arrays = verified(path, attributes.get("hashes"))
        if attributes.get("seal", "") not in ("", seal(attributes, arrays["time"])):
            raise StoreError(
                f"{path} is damaged: its times or its description are not what was "
                "written. Restore it from a copy, or remove it and run again."
            )
    else:
        manifest = _committed(path)
        arrays = verified(path, manifest.hashes.tolist())
        arrays["time"] = manifest.times
    try:
        return _trajectory(attributes, arrays)
    except (InputError, *TORN) as error:
        raise StoreError(f"{path} is damaged: {error}.") from error


def seal(attributes: dict, times: np.ndarray) -> str:
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


def _trajectory(attributes: dict, arrays: dict[str, np.ndarray]) -> Trajectory:
    spec = json.loads(attributes["spec"])
    space = from_json(spec["space"])
    points, log_weights = arrays.pop("points"), arrays.pop("log_weights")
    frames = Particles(space, points[0], None)
    frames = frames.moved(jnp.asarray(points), jnp.asarray(log_weights))
    times = arrays.pop("time")
    arrays.pop("weights")
    ended = attributes.get("outcome")
    unfinished = Outcome("interrupted", "unfinished run.")
    return Trajectory(
        times=times,
        measures=frames,
        final=frames.moved(frames.points[-1], frames.log_weights[-1]),
        observed=arrays,
        steps=jnp.asarray(int(attributes.get("steps", 0))),
        rejected=jnp.asarray(int(attributes.get("rejected", 0))),
        status=jnp.zeros((), int),
        field=from_json(spec["field"]) if spec.get("field") else None,
        outcome=Outcome(str(ended["kind"]), str(ended["message"]))
        if ended
        else unfinished,
    )


def frames_of(arrays: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    names = [name for name in arrays if name != "time"]
    return [
        {name: arrays[name][k] for name in names} for k in range(len(arrays["time"]))
    ]


def verified(path: pathlib.Path, hashes) -> dict[str, np.ndarray]:
    """The frames that count, refused if they are not what was written."""
    if not (
        isinstance(hashes, list) and hashes and all(isinstance(h, str) for h in hashes)
    ):
        raise StoreError(f"{path} is damaged: it has no list of hashes.")
    arrays = read_frames(path, len(hashes))
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
