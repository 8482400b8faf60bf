"""Flows with merging, driven from the host: to exponentially long times."""

import dataclasses
import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from pushforward.errors import InputError
from pushforward.fields import same_for_all_orders, switch_times
from pushforward.flows._long_loop import (
    BALANCED,
    FEWER,
    NOT_FINITE,
    ONE_ATOM,
    OUT_OF_STEPS,
    RUNNING,
    UNTIL,
    LongCarry,
    LongSegment,
    advance_long,
    start,
)
from pushforward.flows._merging import Atoms, Merge
from pushforward.flows._outcome import Outcome
from pushforward.flows._times import ArcLength, save_times
from pushforward.flows._trajectory import Merges, Trajectory
from pushforward.measures import Particles, stack

PATIENCE = 200  # steps between two looks at the keyboard
_start = eqx.filter_jit(start)
_compiled = eqx.filter_jit(advance_long)


def _advance(segment, carry, log_end, arc_end, steps_end) -> LongCarry:
    """Numbers go in as arrays: a Python number would be compiled into the program."""
    ends = (np.asarray(log_end), np.asarray(arc_end), np.asarray(steps_end))
    return _compiled(segment, carry, *ends)


def flow_merging(
    field, mu: Particles, t1, t0, save, solver, merge: Merge, observe, until, report
) -> Trajectory:
    """What `flow(..., merge=Merge())` does."""
    _check(field, mu, solver)
    run = _Run(field, mu, t0, solver, merge, save, until, observe, report)
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
            if run.log_t >= log_end:
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
    if not hasattr(solver, "rtol"):
        raise InputError("`merge` needs the solver Adaptive(rtol, atol).")
    if mu.points.dtype != jnp.float64:
        raise InputError("`merge` needs float64: pass mu.astype(float).")


class _Run:
    """The tokens, the atoms they have become, and the frames so far."""

    def __init__(self, field, mu, t0, solver, merge, save, until, observe, report):
        self.mu, self.t0, self.observe, self.report = mu, t0, observe, report
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
        seen = {name: np.asarray(f(mu)) for name, f in self.observe.items()}
        arc = float(self.carry.arc) * math.sqrt(self.mu.n)
        self.frames.append((self.log_t, arc, mu, seen))
        t = self.t0 + math.exp(min(self.log_t, 709.0))
        self.report(t, mu, int(self.carry.accepted))

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
                self.carry = self._locate(before)
                return False
            if int(self.carry.status) == RUNNING and int(self.carry.accepted) < budget:
                return True
            reached = self.log_t >= log_end or float(self.carry.arc) >= arc_end
            if int(self.carry.status) == RUNNING and reached:
                return True

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
        shrink = _smaller(size)
        self.segment = dataclasses.replace(self.segment, shrink=shrink)
        fresh = _start(self.segment, new, self.carry.log_t)
        old = self.carry
        counts = (old.arc, old.accepted, old.rejected)
        self.carry = eqx.tree_at(
            lambda c: (c.arc, c.accepted, c.rejected), fresh, counts
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

    def _locate(self, before: LongCarry) -> LongCarry:
        """The first time at which `until` holds, by bisection in time."""
        free = eqx.tree_at(lambda s: s.until, self.segment, None)
        until = self.segment.until
        assert until is not None
        low, high, best = float(before.log_t), self.log_t, self.carry
        for _ in range(60):
            middle = float(np.logaddexp(low, high)) - math.log(2.0)
            if not low < middle < high:
                break
            trial = _advance(free, before, middle, math.inf, 2**62)
            if bool(until(free.measure(trial.atoms))):
                high, best = middle, trial
            else:
                low, before = middle, trial
        return eqx.tree_at(lambda c: c.status, best, jnp.asarray(UNTIL))

    def trajectory(self) -> Trajectory:
        """Everything that was saved, and how it ended."""
        if self.frames[-1][0] < self.log_t:
            self.look()
        self._note_merges()
        log_times = np.array([frame[0] for frame in self.frames])
        with np.errstate(over="ignore"):
            times = self.t0 + np.exp(log_times)
        table = sorted(self.merges, key=lambda row: row[0])
        return Trajectory(
            times=times,
            measures=stack([frame[2] for frame in self.frames]),
            final=self.frames[-1][2],
            observed={
                name: np.stack([frame[3][name] for frame in self.frames])
                for name in self.observe
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
        n, steps = self.mu.n, int(self.carry.accepted)
        left = int(jnp.sum(self.carry.atoms.alive))
        at = _readable(self.log_t, self.t0)
        status = int(self.carry.status)
        if self.interrupted:
            return Outcome("interrupted", f"stopped by hand at t = {at}.")
        if status == ONE_ATOM and n > 1:
            last = max((row[0] for row in self.merges), default=self.log_t)
            when = _readable(last, self.t0)
            message = f"all {n} tokens are one atom since t = {when} ({steps} steps)."
            return Outcome("one cluster", message)
        if status == BALANCED or n == 1:
            message = (
                f"at t = {at} the forces on the {left} atoms that are left balance to "
                f"rounding ({steps} steps): an equilibrium, or too close to one for "
                "this precision. A small perturbation tells which."
            )
            return Outcome("stationary" if n == 1 else "frozen", message)
        if status == UNTIL:
            return Outcome("until", f"the stopping rule was met at t = {at}.")
        if status == OUT_OF_STEPS:
            message = f"stopped at t = {at} after {steps} steps with {left} atoms left."
            return Outcome("budget", message + " Raise max_steps of the solver.")
        if status == NOT_FINITE:
            message = f"the velocity stopped being finite after t = {at}."
            return Outcome("diverged", message + " The last finite state is kept.")
        return Outcome("reached t1", f"t = {at} in {steps} steps; {left} atoms left.")


def _readable(log_t: float, t0: float) -> str:
    if log_t < 700:
        return f"{t0 + math.exp(log_t):.9g}"
    return f"10^{log_t / math.log(10):.6f}"


def _roots(parent: np.ndarray) -> np.ndarray:
    """The slot that each slot has finally become part of."""
    while (parent[parent] != parent).any():
        parent = parent[parent]
    return parent


def _bucket(count: int) -> int:
    """4, 32, 256, ... whichever first holds `count` atoms: few shapes to compile."""
    size = 4
    while size < count:
        size *= 8
    return size


def _smaller(size: int) -> int:
    """The largest of 4, 32, 256, ... below `size`; zero when there is none."""
    smaller = 4
    while smaller * 8 < size:
        smaller *= 8
    return smaller if smaller < size else 0
