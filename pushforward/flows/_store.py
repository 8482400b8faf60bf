"""What is recorded while a measure flows, and what a flow asks of a store: frames and
the integrator's state, as plain dicts of arrays.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import pathlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from pushforward._wiring import connected
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._outcome import Outcome
from pushforward.measures import AbstractMeasure

Arrays: TypeAlias = dict[str, np.ndarray]
CLOCKS = ("log_time", "arc")  # what a flow with merging adds to each frame


class Problem(NamedTuple):
    """All that a run depends on: it tells two runs apart, and how to go on.

    `times` are those of the frames, None where they are not known before. `more` holds
    further arguments of `flow` by name, such as `merge`.
    """

    field: AbstractField
    mu: AbstractMeasure
    times: np.ndarray | None
    solver: Any
    noise: Any = None
    key: Any = None
    observe: Mapping[str, Callable] = {}
    until: Callable | None = None
    more: Mapping[str, Any] = {}


class Resumed(NamedTuple):
    """What a store holds already: frames, and either the state to go on from or how
    the run ended, with the summary that was given to `finish`."""

    times: np.ndarray
    frames: list[Arrays]
    state: Arrays | None
    outcome: Outcome | None
    summary: Mapping[str, Any] = {}


class AbstractStore(abc.ABC):
    """Where frames go as they come. `pushforward.io.RunStore` is the one on disk."""

    @abc.abstractmethod
    def resume(self) -> Resumed | None:
        """What is there already, or None for a run that has not begun."""

    @abc.abstractmethod
    def append(self, t: float, frame: Arrays, state: Arrays) -> None:
        """One more frame, and the state from which the run would go on after it."""

    @abc.abstractmethod
    def commit(self) -> None:
        """Let every frame so far count, whatever happens next."""

    @abc.abstractmethod
    def finish(self, outcome: Outcome, summary: Mapping[str, Any]) -> None:
        """How it ended; numbers and arrays that belong to no frame."""

    @abc.abstractmethod
    def close(self) -> None:
        """Commit, and let others write."""


class AbstractOpener(abc.ABC):
    """Something that opens a store once the problem is known."""

    @abc.abstractmethod
    def open(self, problem: Problem) -> AbstractStore:
        """The store of this problem, new or taken up again."""


@contextlib.contextmanager
def open_store(store: object, problem: Problem) -> Iterator[AbstractStore]:
    """A store from a path, closed at the end; an open one is used as it is."""
    if isinstance(store, AbstractStore):
        yield store
        return
    _rehearse(problem)
    if isinstance(store, AbstractOpener):
        with contextlib.closing(store.open(problem)) as run:
            yield run
        return
    if not isinstance(store, str | pathlib.Path):
        raise InputError(
            f"`store` must be a path or an open store, got {type(store).__name__}."
        )
    with contextlib.closing(connected("open_run")(store, problem)) as run:
        yield run


def _rehearse(problem: Problem) -> None:
    """What would fail at the first frame fails before anything is written."""
    mu = problem.mu
    seen = {}
    for name, look in problem.observe.items():
        seen[name] = value = np.asarray(look(mu))
        if value.dtype.kind not in "fiub":
            raise InputError(
                f"`observe` must give numbers for a store, and {name!r} gives "
                f"{type(look(mu)).__name__}. Observe one number of it, such as "
                "ClusterCount(radius)."
            )
    frame_of(mu, seen)
    rule = mu.rule_of(problem.field)
    jax.eval_shape(lambda mu: rule(jnp.zeros(()), mu), mu)


def frame_of(mu: AbstractMeasure, seen: Arrays, **clocks: float) -> Arrays:
    """One frame as a store takes it: the measure, the clocks, what was observed."""
    own = mu.arrays() | mu.readable_arrays()
    frame = {name: np.asarray(value) for name, value in (own | clocks).items()}
    taken = {"time", *frame, *CLOCKS} & set(seen)
    if taken:
        raise InputError(
            f"`observe` must not use the name {sorted(taken)[0]!r}: the store has it "
            "for the frames themselves. Choose another name."
        )
    return frame | {name: np.asarray(value) for name, value in seen.items()}


def reporter(progress: Any) -> Callable:
    """A function of (t, measure, steps, observed) from what the user asked for."""
    if progress is None or progress is False:
        return lambda t, mu, steps, observed=None: None
    if progress is True:
        return _Line()
    if hasattr(progress, "observed"):
        return lambda t, mu, steps, observed=None: progress.observed(t, observed, steps)
    if callable(progress):
        return lambda t, mu, steps, observed=None: progress(t, mu, steps)
    raise InputError(f"`progress` must be True or a function, got {progress!r}.")


class _Line:
    """One line on stderr, rewritten at most five times a second."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, t: float, mu, steps: int, observed=None) -> None:
        now = time.monotonic()
        if now - self.last > 0.2:
            self.last = now
            sys.stderr.write(f"\r t = {t:<12.6g} {steps} steps")
            sys.stderr.flush()


def check_observe(observe: object) -> None:
    """Refuse what is not a table of functions of a measure."""
    if not isinstance(observe, Mapping):
        raise InputError(
            f"`observe` must be a dict of named functions, got {observe!r}. "
            'For example observe={"E": InteractionEnergy(9.0)}.'
        )
    for name, look in observe.items():
        if not callable(look) or isinstance(look, AbstractField):
            raise InputError(
                f"`observe` must hold functions of the measure, got {look!r} for "
                f"{name!r}. For example InteractionEnergy(9.0)."
            )


@dataclasses.dataclass(frozen=True)
class Recorder:
    """Observables by name, whether measures are kept, and whom to tell."""

    observe: Mapping[str, Callable]
    keep: bool
    progress: object

    def report(self) -> Callable:
        """A function of (t, measure, steps) that shows progress."""
        return reporter(self.progress)

    def record(self, mu: AbstractMeasure, as_array: Callable) -> dict:
        """Every observable of a measure."""
        return {name: as_array(f(mu)) for name, f in self.observe.items()}

    def kept(self, mu: AbstractMeasure) -> AbstractMeasure | None:
        """The measure itself, unless only observables were asked for."""
        return mu if self.keep else None
