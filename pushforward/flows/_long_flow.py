"""Flows with merging, driven from the host: to exponentially long times."""

import dataclasses
import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from pushforward.errors import InputError
from pushforward.fields import Motion, same_for_all_orders, switch_times
from pushforward.flows._adaptive import Adaptive
from pushforward.flows._long_loop import (
    BALANCED,
    FEWER,
    RUNNING,
    UNTIL,
    LongCarry,
    LongSegment,
    advance_long,
    arrived,
    located,
    start,
)
from pushforward.flows._long_outcome import explain_long, readable
from pushforward.flows._merging import Atoms, Merge
from pushforward.flows._outcome import Outcome
from pushforward.flows._times import ArcLength, save_times
from pushforward.flows._trajectory import Merges, Trajectory
from pushforward.flows._watch import Watch
from pushforward.measures import Particles, stack

PATIENCE = 200  # steps between two looks at the keyboard
SMALLEST = 32  # fewer atoms cost the same: not worth another compilation
_start = eqx.filter_jit(start)
_located = eqx.filter_jit(located)
_compiled = eqx.filter_jit(advance_long)


def _advance(segment, carry, log_end, arc_end, steps_end) -> LongCarry:
    """Numbers go in as arrays: a Python number would be compiled into the program."""
    ends = (np.asarray(log_end), np.asarray(arc_end), np.asarray(steps_end))
    return _compiled(segment, carry, *ends)


def flow_merging(
    field, mu: Particles, t1, t0, save, solver, merge: Merge, until, watch: Watch
) -> Trajectory:
    """What `flow(..., merge=Merge())` does."""
    _check(field, mu, solver)
    run = _Run(field, mu, t0, solver, merge, save, until, watch)
    for log_end, arc_end in _targets(save, t0, t1, run):
        try:
            if not run.until_reaching(log_end, arc_end):
                break
        except KeyboardInterrupt:
            run.interrupted = True
            break
        run.look()
    return run.trajectory()


def _targets(save, t0, t1, run):
    """(log time, arc length) at which to save; one of them is always out of reach."""
    if isinstance(save, ArcLength):
        log_end = math.log(t1 - t0) if t1 < math.inf else math.inf
        while True:
            yield log_end, float(run.carry.arc) + save.step / math.sqrt(run.mu.n)
            if arrived(run.log_t, log_end):
                return
    if not t1 < math.inf:
        raise InputError("`t1` may be infinite only with save=ArcLength(step).")
    for t in save_times(save, t0, t1)[1:]:
        yield math.log(t - t0), math.inf


def _check(field, mu: Particles, solver) -> None:
    if not same_for_all_orders(field):
        raise InputError(
            "`merge` needs tokens that are treated alike: under causal attention "
            "coincident tokens separate again. Leave `merge` out."
        )
    if len(switch_times(field)):
        raise InputError("`merge` does not follow fields that switch in time.")
    if not isinstance(solver, Adaptive):
        raise InputError("`merge` needs the solver Adaptive(rtol, atol).")
    if mu.points.dtype != jnp.float64:
        raise InputError("`merge` needs float64: pass mu.astype(float).")


class _Run:
    """The tokens, the atoms they have become, and the frames so far."""

    def __init__(self, field, mu, t0, solver, merge, save, until, watch: Watch):
        self.mu, self.t0, self.watch, self.report = mu, t0, watch, watch.report()
        stride = save.step if isinstance(save, ArcLength) else math.inf
        n = mu.n
        self.owner = np.arange(n)  # token -> slot
        self.names = np.arange(n)  # slot -> the token that names its atom
        self.segment = LongSegment(
            field, solver, merge, mu, until, jnp.asarray(stride), _smaller(n)
        )
        blank = jnp.full(n, -jnp.inf)
        atoms = Atoms(mu.points, mu.log_weights, jnp.arange(n), blank, blank)
        self.carry = _start(self.segment, atoms)
        self.frames: list[tuple[float, float, Particles, dict]] = []
        self.merges: list[tuple[float, float, int, int]] = []
        self.interrupted = False
        self.look()

    @property
    def log_t(self) -> float:
        return float(self.carry.log_t)

    def look(self) -> None:
        """Save a frame of all tokens."""
        slot = _roots(np.asarray(self.carry.atoms.parent))[self.owner]
        mu = self.mu.moved(self.carry.atoms.points[slot])
        seen = self.watch.look(mu, np.asarray)
        arc = float(self.carry.arc) * math.sqrt(self.mu.n)
        self.frames.append((self.log_t, arc, mu, seen))
        self.seen_at = int(self.carry.accepted)
        t = self.t0 + math.exp(min(self.log_t, 709.0))
        self.report(t, mu, int(self.carry.accepted))

    def _look_last(self) -> None:
        """Save the end. At t = 1e132 the last approach, O(1), does not change log t."""
        if int(self.carry.accepted) == self.seen_at:
            return
        clocked = self.segment.stride < math.inf  # arc length tells the frames apart
        if self.frames[-1][0] == self.log_t and not clocked and len(self.frames) > 1:
            self.frames.pop()
        self.look()

    def until_reaching(self, log_end: float, arc_end: float) -> bool:
        """Advance to the target; False when the run is over before it."""
        while True:
            before = self.carry
            status = int(before.status)
            if status == FEWER or (status == RUNNING and self._can_shrink()):
                self._compact()
                continue
            if status != RUNNING:
                return False
            budget = int(before.accepted) + PATIENCE
            self.carry = _advance(self.segment, before, log_end, arc_end, budget)
            if int(self.carry.status) == UNTIL:
                self.carry = _located(self.segment, before, self.carry)
                return False
            if int(self.carry.status) == RUNNING and int(self.carry.accepted) < budget:
                return True
            there = bool(arrived(self.log_t, log_end))
            reached = there or float(self.carry.arc) >= arc_end
            if int(self.carry.status) == RUNNING and reached:
                return True
            if int(self.carry.status) == RUNNING and self._hovers(before):
                balanced = jnp.asarray(BALANCED)
                self.carry = eqx.tree_at(lambda c: c.status, self.carry, balanced)

    def _hovers(self, before: LongCarry) -> bool:
        """Whether many steps led nowhere: rounding about an equilibrium.

        Speed is one in the unit of the loop, so atoms that move at all get somewhere.
        """
        solver = self.segment.solver
        assert isinstance(solver, Adaptive)
        if int(jnp.sum(before.atoms.alive)) != int(jnp.sum(self.carry.atoms.alive)):
            return False
        gone = before.atoms.points - self.carry.atoms.points
        return float(jnp.max(jnp.abs(gone))) < 20 * float(solver.rtol + solver.atol)

    def _can_shrink(self) -> bool:
        return int(jnp.sum(self.carry.atoms.alive)) <= self.segment.shrink

    def _compact(self) -> None:
        """Drop absorbed slots: fewer pairs from here on, in one of a few sizes."""
        self._note_merges()
        atoms = self.carry.atoms
        alive = np.flatnonzero(np.asarray(atoms.alive))
        size = _bucket(len(alive))
        order = np.concatenate([alive, np.repeat(alive[:1], size - len(alive))])
        place = np.full(len(self.names), -1)
        place[alive] = np.arange(len(alive))
        self.owner = place[_roots(np.asarray(atoms.parent))[self.owner]]
        self.names = self.names[order]
        filled = jnp.arange(size) < len(alive)
        new = Atoms(
            atoms.points[order],
            jnp.where(filled, atoms.log_weights[order], -jnp.inf),
            jnp.arange(size),
            jnp.full(size, -jnp.inf),
            jnp.full(size, -jnp.inf),
        )
        self.segment = dataclasses.replace(self.segment, shrink=_smaller(size))
        v = jnp.where(filled[:, None], self.carry.motion.v[order], 0.0)
        self.carry = dataclasses.replace(
            self.carry, atoms=new, motion=Motion(v, None), status=jnp.asarray(RUNNING)
        )

    def _note_merges(self) -> None:
        """Remember who was absorbed by whom and when."""
        parent = np.asarray(self.carry.atoms.parent)
        log_t = np.asarray(self.carry.atoms.log_absorbed)
        arc = np.asarray(self.carry.atoms.arc_absorbed) * math.sqrt(self.mu.n)
        for slot in np.flatnonzero(parent != np.arange(len(parent))):
            into = self.names[parent[slot]]
            row = (float(log_t[slot]), float(arc[slot]), self.names[slot], into)
            self.merges.append(row)

    def trajectory(self) -> Trajectory:
        """Everything that was saved, and how it ended."""
        self._look_last()
        self._note_merges()
        log_times = np.array([frame[0] for frame in self.frames])
        with np.errstate(over="ignore"):
            times = self.t0 + np.exp(log_times)
        table = sorted(self.merges, key=lambda row: (row[0], row[1], row[3]))
        return Trajectory(
            times=times,
            measures=stack([frame[2] for frame in self.frames]),
            final=self.frames[-1][2],
            observed={
                name: np.stack([frame[3][name] for frame in self.frames])
                for name in self.watch.observe
            },
            steps=self.carry.accepted,
            rejected=self.carry.rejected,
            status=self.carry.status,
            field=self.segment.field,
            outcome=self._outcome(),
            log_times=log_times,
            arc=np.array([frame[1] for frame in self.frames]),
            merges=Merges.of(table),
        )

    def _outcome(self) -> Outcome:
        if self.interrupted:
            at = readable(self.log_t, self.t0)
            return Outcome("interrupted", f"stopped by hand at t = {at}.")
        last = max((row[0] for row in self.merges), default=self.log_t)
        return explain_long(self.carry, self.mu.n, self.t0, last)


def _roots(parent: np.ndarray) -> np.ndarray:
    """The slot that each slot has finally become part of."""
    while (parent[parent] != parent).any():
        parent = parent[parent]
    return parent


def _bucket(count: int) -> int:
    """32, 256, ... whichever first holds `count` atoms: few shapes to compile."""
    size = SMALLEST
    while size < count:
        size *= 8
    return size


def _smaller(size: int) -> int:
    """The largest of 32, 256, ... below `size`; zero when there is none."""
    smaller = SMALLEST
    while smaller * 8 < size:
        smaller *= 8
    return smaller if smaller < size else 0
