"""Finding studies, drawing their figures, verifying claims, listing presets."""

import abc
import dataclasses
import importlib.util
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Self

from pushforward.errors import InputError
from pushforward.experiments import Experiment
from pushforward.studies._claims import Claim


class AbstractParameters(abc.ABC):
    """The sizes of a study, a frozen dataclass: its defaults take seconds a claim."""

    @classmethod
    def quick(cls) -> Self:
        """Seconds per claim on two cores."""
        return cls()

    @classmethod
    @abc.abstractmethod
    def full(cls) -> Self:
        """The sizes of the paper, or what a machine does in minutes."""


def names() -> list[str]:
    """The studies that are there."""
    here = pathlib.Path(__file__).parent
    return sorted(p.parent.name for p in here.glob("*/study.py"))


def part(name: str, module: str) -> ModuleType:
    """`study`, `figures` or `claims` of a study."""
    if name not in names():
        raise InputError(f"no study called {name!r}; there are: {', '.join(names())}.")
    return importlib.import_module(f"pushforward.studies.{name}.{module}")


def parameters(name: str, full: bool = False) -> object:
    """The preset of a study."""
    preset = part(name, "study").Parameters
    return preset.full() if full else preset.quick()


def experiments(name: str, full: bool = False) -> dict[str, Experiment]:
    """The runs behind the figures and claims of a study, by name; {} if it has none.

    >>> experiments("metastability")["escape-40"].field
    Attention(beta=40.0)
    """
    runs = _runs(name)
    return {} if runs is None else runs.experiments(parameters(name, full))


def experiment_of(name: str, shown: str) -> str:
    """The experiment behind a figure, or behind the claim of that function; or ""."""
    runs = _runs(name)
    there = {} if runs is None else runs.SHOWN
    return next((run for run, seen in there.items() if shown in seen), "")


def _runs(name: str) -> ModuleType | None:
    part(name, "study")  # refuses a study that is not there
    there = importlib.util.find_spec(f"pushforward.studies.{name}.runs")
    return None if there is None else part(name, "runs")


def verify(name: str, full: bool = False) -> Iterator[tuple[Claim, float]]:
    """Every claim of a study, one by one, with the seconds it took."""
    chosen = parameters(name, full)
    for function in part(name, "claims").CLAIMS:
        start = time.perf_counter()
        yield _run(name, function, chosen), time.perf_counter() - start


def _run(name: str, function: Callable, chosen: object) -> Claim:
    """A claim that raises does not hold, and says what happened."""
    try:
        return dataclasses.replace(
            function(chosen),
            experiment=experiment_of(name, function.__name__),
            function=function.__name__,
        )
    except Exception as error:  # a study reports every claim, whatever one of them does
        claim = (function.__doc__ or function.__name__).strip().splitlines()[0]
        why = f"{type(error).__name__}: {error}"
        nothing = (None, None, None)
        return Claim(
            name,
            claim,
            "",
            "experiment",
            *nothing,
            False,
            why,
            relation="error",
            function=function.__name__,
        )


def draw(
    name: str, folder: pathlib.Path, full: bool, save: Callable
) -> Iterator[tuple[pathlib.Path, float]]:
    """Every figure of a study into a folder; `save(figure, path)` writes one."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = parameters(name, full)
    for label, (compute, picture) in part(name, "figures").FIGURES.items():
        start = time.perf_counter()
        path = folder / f"{label}.png"
        save(picture(compute(chosen)), path)
        yield path, time.perf_counter() - start


def films(name: str, folder: pathlib.Path, full: bool) -> Iterator[pathlib.Path]:
    """Every film of a study into a folder, as .mp4; most studies have none."""
    made = getattr(part(name, "figures"), "FILMS", {})
    folder.mkdir(parents=True, exist_ok=True)
    for label, film in made.items():
        yield film(folder / f"{label}.mp4", parameters(name, full))


@dataclasses.dataclass(frozen=True)
class Preset:
    """One picture: what it is called, what the paper says, and how to make it."""

    name: str
    title: str
    claim: str
    state: Mapping[str, Any]


def presets(study: str) -> tuple[Preset, ...]:
    """The presets of a study: `states(parameters)` of its runs, or of `study.py`."""
    states = getattr(_runs(study) or part(study, "study"), "states", None)
    return () if states is None else states(parameters(study))


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
