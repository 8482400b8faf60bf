"""An experiment that no controls make: what of it runs here, and what may be changed.

Tokens in R^d or on a sphere, tokens with velocities, Gaussians, and densities on the
circle and S^2, under any field of the library: the server runs them, the page shows
their points. Sizes are read off the objects before anything is drawn.
"""

import functools
import json
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from scipy import special, stats

import pushforward as pf
from pushforward.errors import InputError
from pushforward.experiments import CONTROLS, GIVEN, AbstractStart
from pushforward.web import _caps
from pushforward.web.state._state import State, note

MOST_MODES = 64  # of a density on the circle; S^2 has the square of it
MOST_HARMONICS = 24
GAUSSIAN_POINTS = 400  # that stand for a Gaussian, of equal mass
ELSEWHERE = "this run has no such control: choose a model to use it"
NAMED = ("beta", "n", "noise")  # controls whose numbers may stand deeper


@functools.lru_cache(maxsize=64)
def given_experiment(text: str) -> pf.Experiment:
    """The experiment of a state that carries one."""
    return pf.Experiment.from_dict(json.loads(text))


def given_state(
    experiment: pf.Experiment, beside: Mapping[str, Any]
) -> tuple[State, list[dict]]:
    """An experiment as a state, changed by the controls that it has."""
    notes: list[dict] = []
    shown = _state(experiment)
    for key, control in CONTROLS.items():
        if key not in beside or key == "model" or beside[key] == getattr(shown, key):
            continue
        used, why = control.brought(beside[key])
        try:
            if key not in controls_of(experiment):
                used, why = getattr(shown, key), ELSEWHERE
            else:
                experiment = _changed(experiment, key, used)
                shown = _state(experiment)
        except InputError as error:
            used, why = getattr(shown, key), error.problem
        if why:
            notes.append(note(key, beside[key], used, why))
    for key in ("V", "moved", "file"):
        if beside.get(key):
            notes.append(note(key, beside[key], None, ELSEWHERE))
    return shown, notes


def controls_of(experiment: pf.Experiment) -> dict[str, str]:
    """The keys of the page that change this experiment, and their dotted names."""
    found = {"t1": "t1", "seed": "seed", "dtype": "dtype"}
    if isinstance(experiment.save, int):
        found["frames"] = "save"
    if home_of(experiment.start)[1] is not None:
        del found["dtype"]  # densities and Gaussians are in double precision
    for key in NAMED:
        part, word = CONTROLS[key].name.split(".")
        names = [
            name
            for name, value in experiment.numbers().items()
            if name.startswith(f"{part}.")
            and name.endswith(f".{word}")
            and np.ndim(value) == 0
        ]
        if len(names) == 1:  # two heads have two, and no slider for both
            found[key] = names[0]
    return found


def _changed(experiment: pf.Experiment, key: str, value: Any) -> pf.Experiment:
    changed = experiment.vary(**{controls_of(experiment)[key]: value})
    _state(changed)  # refuses what is too large
    return changed


def _state(experiment: pf.Experiment) -> State:
    """The keys that the page shows of it."""
    _refuse_large(experiment)
    space, sample = home_of(experiment.start)
    n = _count(experiment.start) if sample is None else len(sample.points)
    d, frames = int(space.d), _frames(experiment)
    _refuse_work(experiment, n, d, frames)
    shown: dict[str, Any] = {
        "beta": _number(experiment, "beta", 1.0),
        "noise": _number(experiment, "noise", 0.0),
        "clock": "log" if isinstance(experiment.save, pf.LogTimes) else "linear",
        "t1": experiment.t1,
        "seed": experiment.seed,
        "merge": experiment.merge is not None,
        "dtype": experiment.dtype,
    }
    text = json.dumps(experiment.to_dict(), sort_keys=True)
    if '"kind": "WeightsFromFile"' in text:
        raise InputError("`field` has weights of a file: drop the file on the page.")
    return State(model=GIVEN, n=n, d=d, frames=frames, experiment=text, **shown)


def _number(experiment: pf.Experiment, key: str, usual: float) -> float:
    name = controls_of(experiment).get(key)
    return usual if name is None else float(experiment.read(name))


def home_of(start: AbstractStart) -> tuple[Any, Any]:
    """The space of the tokens; and the atoms that stand for what has no tokens."""
    if isinstance(start, pf.AtRest | pf.Moved | pf.Scaled | pf.UnequalWeights):
        return home_of(start.start)
    if isinstance(start, pf.GivenDensity | pf.UniformDensity | pf.GivenGaussian):
        atoms = as_tokens(_small(start)(0))
        return atoms.space, atoms
    if isinstance(start, pf.Equispaced):
        return pf.Circle(), None
    if isinstance(start, pf.FromFile):
        raise InputError("`start` is a file that is not kept here: drop it again.")
    space = getattr(start, "home", None) or getattr(start, "space", None)
    if not isinstance(space, pf.Sphere | pf.Circle | pf.Euclidean):
        raise InputError(
            f"`start` must be on a sphere or in R^d, got {type(start).__name__}. "
            "Look at its numbers with: pushforward simulate spec.toml"
        )
    return space, None


def is_density(experiment: pf.Experiment) -> bool:
    """Whether it moves mass between points, and no points."""
    return isinstance(experiment.start, pf.GivenDensity | pf.UniformDensity)


def _small(start: Any) -> Any:
    """A density that fits the page."""
    basis = getattr(start, "basis", start)
    modes = int(getattr(basis, "resolution", 1))
    most = {2: MOST_MODES, 3: MOST_HARMONICS}
    d: Any = getattr(start, "d", None) or getattr(basis, "space", pf.Circle()).d
    flat = isinstance(start, pf.GivenGaussian)
    if not flat and (isinstance(basis, pf.Zonal) or modes > most.get(int(d), 0)):
        raise InputError(
            f"`start` must be a density of at most {MOST_MODES} modes on the circle or "
            f"{MOST_HARMONICS} degrees on S^2, got {start!r}."
        )
    return start


@functools.lru_cache(maxsize=16)
def _normal_points(d: int) -> np.ndarray:
    """400 points of equal mass, evenly normal, with mean zero and covariance one."""
    share = stats.qmc.Halton(d, scramble=False).random(GAUSSIAN_POINTS + 1)[1:]
    z = special.ndtri(share)
    z -= z.mean(axis=0)
    return z @ np.linalg.inv(np.linalg.cholesky(z.T @ z / len(z)).T)


def as_tokens(mu: Any) -> pf.Particles:
    """What is drawn of a measure: its tokens, without velocities, or points for it."""
    if isinstance(mu, pf.Density):
        return mu.quadrature()
    if isinstance(mu, pf.Gaussian):
        points = mu.center[None] + _normal_points(mu.d) @ mu.factor.T
        return pf.Particles(pf.Euclidean(mu.d), points)
    if isinstance(mu.space, pf.TangentBundle):
        return pf.positions(mu)
    return mu


def _count(start: Any) -> int:
    """The number of tokens, without drawing any."""
    if hasattr(start, "start"):
        return _count(start.start)
    return int(start.n) if hasattr(start, "n") else len(start.points)


def _frames(experiment: pf.Experiment) -> int:
    save = experiment.save
    if isinstance(save, pf.LogTimes):
        return save.num + 1
    if isinstance(save, int):
        return save
    if isinstance(save, list | tuple | np.ndarray | jax.Array):
        return len(np.unique([experiment.t0, *np.asarray(save), experiment.t1]))
    raise InputError(
        f"`save` must be a number of frames, times, or LogTimes, got {save!r}."
    )


def _refuse_large(experiment: pf.Experiment) -> None:
    """No whole number of a start or a field may ask for more than the page takes."""
    for name, value in experiment.numbers().items():
        part = name.split(".")[0]
        if part in ("start", "field") and isinstance(value, int):
            most = _caps.MOST_TOKENS if part == "start" else _caps.MOST_HEADS
            if name.endswith("heads") or part == "start":
                _at_most(name, value, most)
    if experiment.until is not None:
        raise InputError("`until` is not for the page: leave it out.")


def _refuse_work(experiment: pf.Experiment, n: int, d: int, frames: int) -> None:
    span = experiment.t1 - experiment.t0
    _at_most("start.d", d, _caps.MOST_DIMENSIONS)
    _at_most("n^2 d", n * n * d, _caps.MOST_WORK)
    _at_most("save", frames, _caps.MOST_FRAMES)
    _at_most("frames n d", 8 * frames * n * d, _caps.RUN_BYTES)
    solver: Any = experiment.solver
    if isinstance(solver, pf.Heun | pf.Layers | pf.MomentumLayers):
        _at_most("steps", span / float(solver.h), _caps.MOST_STEPS)
    elif experiment.merge is None:
        _at_most("t1", span, _caps.LONGEST_TIME)


def _at_most(name: str, value: float, most: float) -> None:
    if not value <= most:
        raise InputError(
            f"`{name}` must be at most {most:g} on the page, got {value:g}. "
            "Run it with: pushforward simulate spec.toml"
        )
