"""Presets: a study's figures as states of the explorer.

A study may have a file `presets.py` with a function `states(parameters)` that returns
`Preset`s; they appear in the explorer without further work. `state` holds the keys of
a link of the explorer that differ from its defaults.
"""

import dataclasses
import importlib.util
from collections.abc import Iterator, Mapping
from typing import Any

from pushforward.studies._runner import names, parameters, part


@dataclasses.dataclass(frozen=True)
class Preset:
    """One picture: what it is called, what the paper says, and how to make it."""

    name: str
    title: str
    claim: str
    state: Mapping[str, Any]


def presets(study: str) -> tuple[Preset, ...]:
    """The presets of a study; none where it has no `presets.py`."""
    if importlib.util.find_spec(f"pushforward.studies.{study}.presets") is None:
        return ()
    return part(study, "presets").states(parameters(study))


def all_presets() -> Iterator[tuple[str, str, Preset]]:
    """(study, its reference, preset) for every study that has some."""
    for study in names():
        found = presets(study)
        paper = part(study, "study").PAPER if found else ""
        for preset in found:
            yield study, paper, preset


def shown(experiment: Any, **view: Any) -> dict[str, Any]:
    """The state of an experiment that needs no controls, and how it is looked at."""
    return {"experiment": experiment.to_dict(), "view": view}
