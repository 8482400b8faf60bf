"""A flow with merging while it runs: from frame to frame, packing atoms on the way."""

import dataclasses
import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from pushforward._checks import Number
from pushforward.fields import Motion
from pushforward.flows._advance import known_switches
from pushforward.flows._hosted import counts
from pushforward.flows._outcome import Outcome
from pushforward.flows._store import AbstractStore, Arrays, Recorder, Resumed, frame_of
from pushforward.flows._trajectory import Trajectory
from pushforward.flows.merging._loop import (
    advance_merging,
    arrived,
    located,
    start,
    switched,
)
from pushforward.flows.merging._merge import Slots
from pushforward.flows.merging._state import (
    BALANCED,
    FEWER,
    RUNNING,
    UNTIL,
    Leg,
    MergingCarry,
    MergingProblem,
    explain_merging,
    readable,
)
from pushforward.flows.merging._store import (
    Frame,
    Tokens,
    frames_again,
    gathered,
    restored,
    smaller,
    state_of,
)
from pushforward.flows.solvers._adaptive import Adaptive

PATIENCE = 200  # steps between two looks at the keyboard
_start = eqx.filter_jit(start)
_switched = eqx.filter_jit(switched)
_located = eqx.filter_jit(located)
_advance = eqx.filter_jit(advance_merging)


def _leg(
    begin,
    end,
    log_end: Number = math.inf,
    arc_end: Number = math.inf,
    steps_end: Number = 0,
) -> Leg:
    """Numbers go in as arrays: a Python number would be compiled into the program."""
    return Leg(*map(jnp.asarray, (begin, end, log_end, arc_end, steps_end)))


class MergingRun:
    """The tokens, the atoms they have become, and the frames so far."""

    def __init__(
        self,
        problem: MergingProblem,
        grows: bool,
        recorder: Recorder,
        store: AbstractStore | None,
        resumed: Resumed | None,
    ):
        self.problem, self.recorder, self.report = problem, recorder, recorder.report()
        self.store = store
        self.unwritten: tuple[Frame, Arrays] | None = None
        self.tokens, self.t = Tokens.start(problem.template), float(problem.t0)
        self.switches = known_switches(problem.field)
        self.frames: list[Frame] = []
        self.interrupted = False
        mu, n = problem.template, problem.template.n
        blank = jnp.full(n, -jnp.inf)
        grown = jnp.zeros(n) if grows else None
        slots = Slots(mu.points, mu.log_weights, jnp.arange(n), blank, blank, grown)
        self.carry = _start(problem, slots, _leg(self.t, self.t))
        if resumed is None:
            self.record()
        else:
            self.frames = frames_again(resumed, mu, recorder)
            again = restored(resumed.state, self.carry, mu)
            self.carry, self.tokens, self.t = again
            self.seen_at = int(self.carry.accepted)
            shrink = smaller(len(self.tokens.names))
            self.problem = dataclasses.replace(problem, shrink=shrink)

    @property
    def log_t(self) -> float:
        """The logarithm of the time since the start."""
        return float(self.carry.log_t)

    def record(self) -> None:
        """Save a frame of all tokens."""
        mu = self.tokens.measure(self.carry.slots)
        arc = float(self.carry.arc) * math.sqrt(mu.n)
        seen = self.recorder.record(mu, np.asarray)
        self.frames.append(Frame(self.t, self.log_t, arc, mu, seen))
        self.seen_at = int(self.carry.accepted)
        if self.store is not None:
            self._write()
            state = state_of(self.carry, self.tokens, self.t)
            self.unwritten = (self.frames[-1], state)
        t = min(self.t, np.finfo(float).max)
        self.report(t, mu, int(self.carry.accepted), seen)

    def _write(self) -> None:
        """Store the frame before: the last one may yet be replaced."""
        if self.store is not None and self.unwritten is not None:
            (t, log_t, arc, mu, seen), state = self.unwritten
            self.store.append(t, frame_of(mu, seen, log_time=log_t, arc=arc), state)
        self.unwritten = None

    def _record_last(self) -> None:
        """Save the end. At t = 1e132 the last approach, O(1), does not change log t."""
        if int(self.carry.accepted) == self.seen_at:
            return
        clocked = self.problem.stride < math.inf  # arc length tells the frames apart
        same = self.frames[-1].log_t == self.log_t
        if same and not clocked and len(self.frames) > 1:
            self.t, self.unwritten = self.frames.pop().t, None
        self.record()

    def until_reaching(self, t: float, log_end: float, arc_end: float) -> bool:
        """Advance to the target; False when the run is over before it."""
        t0 = float(self.problem.t0)
        while True:
            ahead = self.switches[(self.switches > self.t) & (self.switches < t)]
            stop = min([t, *ahead.tolist()])
            log_stop = log_end if stop == t else math.log(stop - t0)
            leg = _leg(self.t, stop, log_stop, arc_end)
            if not self._travelled(leg):
                self.t = self._rounded_time()
                return False
            if not arrived(self.log_t, log_stop):
                self.t = self._rounded_time()
                return True
            self.t = stop
            if stop in self.switches:
                leg = _leg(stop, math.inf)
                self.carry = _switched(self.problem, self.carry, leg)
            if stop == t:
                return True

    def _rounded_time(self) -> float:
        """The time between two targets; those themselves are met exactly."""
        with np.errstate(over="ignore"):
            t = float(self.problem.t0 + np.exp(self.log_t))
        return max(t, self.t)

    def _travelled(self, leg: Leg) -> bool:
        """Advance to the end of a leg; False when the run is over before it."""
        while True:
            before = self.carry
            status = int(before.status)
            if status == FEWER or (status == RUNNING and self._can_shrink()):
                self._pack()
                continue
            if status != RUNNING:
                return False
            budget = int(before.accepted) + PATIENCE
            leg = dataclasses.replace(leg, steps_end=jnp.asarray(budget))
            problem = self._on(leg)
            self.carry = _advance(problem, before, leg)
            status = int(self.carry.status)
            if status == UNTIL:
                self.carry = _located(problem, before, self.carry, leg)
                return False
            if status == RUNNING and int(self.carry.accepted) < budget:
                return True
            there = bool(arrived(self.log_t, leg.log_end))
            if status == RUNNING and (there or self.carry.arc >= leg.arc_end):
                return True
            if status == RUNNING and self._hovers(before):
                balanced = jnp.asarray(BALANCED)
                self.carry = eqx.tree_at(lambda c: c.status, self.carry, balanced)

    def _on(self, leg: Leg) -> MergingProblem:
        """The problem on a leg, before whose end no later field is seen."""
        if not len(self.switches):
            return self.problem
        field = self.problem.field.before(leg.end)
        return dataclasses.replace(self.problem, field=field)

    def _hovers(self, before: MergingCarry) -> bool:
        """Whether many steps led nowhere: rounding about an equilibrium.

        Speed is one in the unit of the loop, so atoms that move at all get somewhere.
        What depends on time may get moving later.
        """
        solver, slots, old = self.problem.solver, self.carry.slots, before.slots
        assert isinstance(solver, Adaptive)
        if self.problem.timed or int(jnp.sum(slots.alive)) != int(jnp.sum(old.alive)):
            return False
        gone = jnp.max(jnp.abs(slots.points - old.points))
        if slots.grown is not None and old.grown is not None:
            gone = jnp.maximum(gone, jnp.max(jnp.abs(slots.grown - old.grown)))
        rtol, atol = solver.tolerances(slots.points.dtype)
        return float(gone) < 20 * float(rtol + atol)

    def _can_shrink(self) -> bool:
        return int(jnp.sum(self.carry.slots.alive)) <= self.problem.shrink

    def _pack(self) -> None:
        """Drop absorbed slots: fewer pairs from here on, in one of a few sizes."""
        self.tokens, slots, order = self.tokens.packed(self.carry.slots)
        v, g = self.carry.motion
        v = jnp.where(slots.alive[:, None], v[order], 0.0)
        g = None if g is None else jnp.where(slots.alive, g[order], 0.0)
        size = smaller(len(order))
        self.problem = dataclasses.replace(self.problem, shrink=size)
        self.carry = dataclasses.replace(
            self.carry, slots=slots, motion=Motion(v, g), status=jnp.asarray(RUNNING)
        )

    def trajectory(self) -> Trajectory:
        """Everything that was saved, and how it ended."""
        if not self.interrupted:
            self._record_last()
        counted, outcome = counts(self.carry), self._outcome()
        merges = self.tokens.table(self.carry.slots)
        self._write()
        if self.store is not None and self.interrupted:
            self.store.commit()
        elif self.store is not None:
            self.store.finish(outcome, counted | merges.table())
        return gathered(
            self.problem.field,
            self.frames,
            self.recorder,
            final=self.tokens.measure(self.carry.slots),
            counts=counted,
            outcome=outcome,
            merges=merges,
        )

    def _outcome(self) -> Outcome:
        if self.interrupted:
            at = readable(self.log_t, self._rounded_time())
            return Outcome("interrupted", f"stopped by hand at t = {at}.")
        merges = self.tokens.table(self.carry.slots)
        last = float(merges.log_times[-1]) if len(merges.log_times) else self.log_t
        return explain_merging(self.carry, self.problem, self.t, last)
