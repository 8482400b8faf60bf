"""Many experiments of one structure in one compiled program.

Numbers (beta, weights, noise, seeds) go in as arrays, so that experiments which differ
by numbers alone share a program. On a CPU systems run eight at a time: a batch is as
slow as its slowest member, and a small one stays in the cache of the processor; on a
GPU thousands run side by side. The number of lanes is fixed, so that a system gives the
same bits whatever runs beside it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float

from pushforward._seeds import key_for
from pushforward.experiments._experiment import Experiment
from pushforward.experiments._random_heads import with_weights
from pushforward.flows import OnlyObservables, Trajectory, flow
from pushforward.io import to_json

TURN = threading.Lock()


def one_shape(function: Callable) -> Callable:
    """`jit` for arguments of one shape; those that factorize matrices take turns."""
    program, compiling = jax.jit(function), threading.Lock()
    ready: list[tuple[Any, bool]] = []

    def call(*arguments):
        with compiling:
            if not ready:
                lowered = program.lower(*arguments)
                ready.append((lowered.compile(), "lapack" in lowered.as_text()))
        compiled, factorizes = ready[0]
        with TURN if factorizes else contextlib.nullcontext():
            return jax.block_until_ready(compiled(*arguments))

    return call


FITS = 2**28  # entries of the tables that all lanes of a GPU may hold at once
PROGRAMS = 64  # kept; each holds memory maps, of which a process has 65,530


class Observations(NamedTuple):
    """What was observed in every system, when, and which systems reached t1."""

    times: Float[np.ndarray, "t"]
    values: Float[np.ndarray, "k t *shape"]
    arrived: Bool[np.ndarray, "k"]


def lanes() -> int:
    """How many systems a program runs at once."""
    return 4096 if jax.default_backend() == "gpu" else 8


def _width(experiment: Experiment) -> int:
    """Lanes of a program: fewer where thousands of large systems would not fit."""
    n, d = jax.eval_shape(lambda seed: experiment.start(seed).state, 0).shape
    return min(lanes(), max(8, FITS // (n * max(n, 8 * d))))


def structure(experiment: Experiment, observe: Callable) -> Hashable:
    """What a compiled program depends on; equal structures share one program."""
    numbers, rest = _numbers_and_rest(experiment, observe)
    leaves, shape = jax.tree_util.tree_flatten(numbers)
    words, form = jax.tree_util.tree_flatten(rest)
    sizes = tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves)
    return shape, sizes, tuple(map(_hashable, words)), form, _fixed(experiment)


def ensemble(experiments: list[Experiment], observe: list[Callable]) -> Observations:
    """One observation per experiment at its saved times; all of one structure.

    What cannot be compiled (merging, a rule `until`, an observable that needs numpy)
    runs one after the other on the host, with the same result.
    """
    first = experiments[0]
    if first.merge is None and first.until is None:
        try:
            return _together(experiments, observe)
        except jax.errors.JAXTypeError:  # a start or an observable for the host
            pass
    return _one_by_one(experiments, observe)


def _together(experiments: list[Experiment], observe: list[Callable]) -> Observations:
    program = _program(_Example(experiments[0], observe[0]))
    width, parts = _width(experiments[0]), []
    pairs = list(zip(experiments, observe, strict=True))
    numbers = _inputs(pairs)
    seeds = np.array([e.seed for e in experiments])
    for begin in range(0, len(pairs), width):
        # the last program is filled up with copies of its first system
        some = np.arange(begin, begin + width)
        some = np.where(some < len(pairs), some, begin)
        stacked = jax.tree_util.tree_map(lambda a: a[some], numbers)  # noqa: B023
        times, values, status = program(stacked, seeds[some])
        count = min(width, len(pairs) - begin)
        parts.append((values[:count], status[:count]))
    values = np.concatenate([np.asarray(v) for v, _ in parts])
    status = np.concatenate([np.asarray(s) for _, s in parts])
    return Observations(np.asarray(times[0]), values, status == 0)


def _inputs(pairs: list[tuple[Experiment, Callable]]) -> Any:
    """The numbers of all systems, stacked on the host.

    All have the structure of the first one, whose leaves say which are numbers: taking
    thousands of systems apart, or stacking on a device, would last longer than the run.
    """
    numbers, _ = _numbers_and_rest(*pairs[0])
    chosen = jax.tree_util.tree_leaves(_is_input(*pairs[0]))
    rows = [jax.tree_util.tree_leaves(_parts(*pair)) for pair in pairs]
    picked = [c for c, yes in zip(zip(*rows, strict=True), chosen, strict=True) if yes]
    columns = [np.stack(jax.device_get(column)) for column in picked]
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(numbers), columns)


class _Example:
    """An experiment that stands for all of its structure: the key of a program."""

    def __init__(self, experiment: Experiment, observe: Callable):
        self.experiment, self.observe = experiment, observe
        self.key = structure(experiment, observe)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Example) and self.key == other.key


@functools.lru_cache(PROGRAMS)
def _program(example: _Example) -> Callable:
    """(numbers, seeds) -> (times, values, status), compiled once."""
    rest = _numbers_and_rest(example.experiment, example.observe)[1]

    def one(numbers, seed):
        start, field, noise, observe = eqx.combine(numbers, rest)
        run = _run(example.experiment, start, field, noise, observe, seed)
        return run.times, run.observed["value"].astype(float), run.status

    return one_shape(jax.vmap(one))


def _run(e: Experiment, start, field, noise, observe, seed: Array) -> Trajectory:
    mu = start(seed)
    mu = mu if e.dtype == "float64" else mu.astype(e.dtype)
    return flow(
        with_weights(field, mu.d, seed),
        mu,
        e.t1,
        t0=e.t0,
        save=OnlyObservables(e.save),
        solver=e.solver,
        noise=noise,
        observe={"value": observe},
        key=None if noise is None else key_for(seed, "noise"),
    )


def _one_by_one(experiments: list[Experiment], observe: list[Callable]) -> Observations:
    found = []
    for experiment, function in zip(experiments, observe, strict=True):
        watched = experiment.vary(observe={"value": function})
        found.append(watched.run())
    times = max((np.asarray(run.times) for run in found), key=len)
    shape = np.shape(found[0].observed["value"])[1:]
    values = np.full((len(found), len(times), *shape), np.nan)
    for row, run in zip(values, found, strict=True):
        row[: len(run)] = run.observed["value"]
        row[len(run) :] = run.observed["value"][-1]  # stopped early: it stays there
    lost = ("diverged", "budget", "interrupted")
    arrived = [
        run.outcome is not None and run.outcome.kind not in lost for run in found
    ]
    return Observations(times, values, np.array(arrived))


def _parts(experiment: Experiment, observe: Callable) -> tuple:
    """What may hold numbers."""
    return experiment.start, experiment.field, experiment.noise, observe


def _is_input(experiment: Experiment, observe: Callable) -> tuple:
    """Which leaves a program takes as input; all else is compiled into it.

    A field that switches in time is compiled in: steps end at its switches.
    """
    start, field, noise, look = jax.tree_util.tree_map(
        eqx.is_array, _parts(experiment, observe)
    )
    if len(experiment.field.switch_times()):
        field = jax.tree_util.tree_map(lambda leaf: False, field)
    return start, field, noise, look


def _numbers_and_rest(experiment: Experiment, observe: Callable):
    """Arrays that a program takes as input, and all that is compiled into it."""
    return eqx.partition(_parts(experiment, observe), _is_input(experiment, observe))


def _fixed(e: Experiment) -> str:
    """The times and the solver: steps to saved times are laid out when compiling."""
    return json.dumps([e.t0, e.t1, to_json(e.save), to_json(e.solver), e.dtype])


def _hashable(word: Any) -> Hashable:
    if eqx.is_array(word):
        array = np.asarray(word)
        return array.shape, str(array.dtype), array.tobytes()
    return word
