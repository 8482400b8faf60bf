"""Many systems of one structure in one compiled program.

Systems run eight at a time: a batch is as slow as its slowest member, and a small one
stays in the cache of the processor. The number of lanes is fixed, so that a system
gives the same bits whatever runs beside it.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

import pushforward as pf
from pushforward._seeds import key_for
from pushforward.flows import AbstractSolver
from pushforward.flows._advance import Segment
from pushforward.flows._traced import flow_traced
from pushforward.flows._watch import Watch
from pushforward.sweeps._in_turn import in_turn
from pushforward.sweeps._parameters import Numbers, Structure
from pushforward.sweeps._statistics import observable

LANES = 8
PROGRAMS = 64  # kept; each holds memory maps, of which a process has 65,530


def frames(structure: Structure) -> np.ndarray:
    """The times at which the statistic is taken."""
    times = np.linspace(0.0, structure.t1, structure.frames)
    if not structure.layers:
        return times
    h = structure.layers
    return h * np.unique(np.round(times / h))


def lanes(structure: Structure, statistic: tuple, members: list[tuple[Numbers, int]]):
    """The statistic of up to eight (numbers, replica) and whether each got to t1."""
    filled = members + [members[0]] * (LANES - len(members))
    column = lambda name: np.array([getattr(m, name) for m, _ in filled])  # noqa: E731
    keys = jnp.stack([key_for(m.seed, f"replica {r}") for m, r in filled])
    points, keys = _starts(structure)(keys)
    program = _program(_in_span(structure), statistic)
    values, status = program(column("beta"), column("noise"), points, keys)
    count = len(members)
    return np.asarray(values)[:count], np.asarray(status)[:count] == 0


def _in_span(structure: Structure) -> Structure:
    """With trivial weights only the Gram matrix counts: every d >= n is one program."""
    if structure.heads > 1 or structure.noisy:
        return structure
    return dataclasses.replace(structure, d=min(structure.d, max(structure.n, 2)))


@functools.lru_cache(PROGRAMS)
def _starts(structure: Structure):
    """Tokens and the key of all else, from the key of a system."""
    inside = _in_span(structure).d

    def one(key: PRNGKeyArray):
        key_x, key = jax.random.split(key)
        x = _start(structure, key_x).points
        return (jnp.linalg.qr(x.T)[1].T if inside < structure.d else x), key

    return in_turn(jax.vmap(one))


@functools.lru_cache(PROGRAMS)
def _program(structure: Structure, statistic: tuple):
    """The compiled flow of a structure."""
    space = pf.Circle() if structure.d == 2 else pf.Sphere(structure.d)
    times = frames(structure)

    def one(beta, noise, x, key):
        key_w, key_n = jax.random.split(key)
        field, mu = _field(structure, beta, key_w), pf.Particles(space, x)
        solver: AbstractSolver = pf.Adaptive(structure.rtol, structure.rtol / 100)
        if structure.noisy:
            solver = pf.Heun(0.01)
        if structure.layers:
            solver = pf.Layers(structure.layers)
        dW = pf.Brownian(noise) if structure.noisy else None
        watch = Watch({"value": observable(dict(statistic), beta)}, False, None)
        segment = Segment(field, solver, dW, None, key_n)
        run = flow_traced(segment, mu, times, lambda mu: mu, watch, reverse=False)
        return run.observed["value"], run.status

    return in_turn(jax.vmap(one))


def _start(structure: Structure, key: PRNGKeyArray) -> pf.Particles:
    n, d = structure.n, structure.d
    space = pf.Circle() if d == 2 else pf.Sphere(d)
    if structure.start == "equispaced":
        return pf.Particles.equispaced(space, n)
    if structure.start == "orthonormal":
        return pf.Particles.orthonormal(space, n)
    return pf.Particles.uniform(space, n, key=key)


def _field(structure: Structure, beta, key: PRNGKeyArray):
    kinds = {
        "sa": lambda **w: pf.Attention(beta, **w),
        "usa": lambda **w: pf.UnnormalizedAttention(beta, **w),
        "causal": lambda **w: pf.CausalAttention(beta, **w),
        "hardmax": lambda **w: pf.HardAttention(**w),
    }
    make = kinds[structure.model]
    if structure.heads == 1:
        return make()
    d, names = structure.d, ("Q", "K", "V")
    draws = jax.random.normal(key, (structure.heads, 3, d, d)) / np.sqrt(d)
    return pf.Heads([make(**dict(zip(names, w, strict=True))) for w in draws])
