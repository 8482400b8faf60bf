"""The runs behind figures and claims, as experiments, and what both share of them."""

import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.flows import Merges
from pushforward.observables import ClosePairs
from pushforward.studies import Preset
from pushforward.studies.metastability.study import Parameters
from pushforward.theory import metastability as meta

BETA, EPSILON, N = 30.0, 0.01, 6


def on_the_rim() -> np.ndarray:
    """Two tokens per cap S_q(epsilon), leaning to the two other centers."""
    tilt, eye = np.arccos(1 - EPSILON), np.eye(3)
    others = [(q, (q + k) % 3) for q in range(3) for k in (1, 2)]
    return np.array([np.cos(tilt) * eye[q] + np.sin(tilt) * eye[r] for q, r in others])


@functools.cache
def bounds() -> dict[str, float]:
    """alpha, lambda, T_1 and T_2 of the instance."""
    alpha = meta.configuration_overlap(np.eye(3), EPSILON)
    exponent = 0.95 * meta.contraction_exponent(BETA, alpha, EPSILON, N)
    entry = meta.entry_time(BETA, EPSILON, N, exponent)
    leave = meta.exit_time(BETA, alpha, EPSILON, N)
    return {"alpha": alpha, "exponent": exponent, "entry": entry, "leave": leave}


# staircase.py: 0.5 (0, 0.5, 2, 4, 7) log(2000)/sqrt(2000), the same for every beta
ANGLES = 0.5 * np.array([0, 0.5, 2, 4, 7]) * np.log(2000) / np.sqrt(2000)
STAIRCASE_BETAS = (500.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0)
KINETIC = np.array(  # kinetic.py
    [
        (0.99806638, 0.06215705),
        (0.97712061, 0.21268594),
        (-0.24578194, 0.96932515),
        (-0.97354734, 0.2284854),
        (-0.99892629, -0.04632772),
    ]
)
ESCAPE_BETAS = np.array([8.0, 12, 16, 20, 24, 32, 40])
SHOWN = {
    "kinetic": ("kinetic", "last_kinetic_event", "kinetic_plateau"),
    "staircase-500": ("staircase",),
    "staircase-2000": ("saddle-to-saddle",),
    "rainbow": ("rainbow", "crowd_becomes_one"),
    "escape-40": ("escape-times", "escape_at_beta_40", "escape_exponent"),
    "escape-40-from-120": ("escape_exponent_at_120_degrees",),
    "escape-4000": ("escape_beyond_all_numbers",),
    "kinetic-layers": ("last_kinetic_event_of_the_script",),
    "staircase-4000": (
        "plateaus_of_the_staircase",
        "jumps_of_the_staircase",
        "energy_between_jumps",
        "physical_time_of_the_last_jump",
    ),
    "generic": ("staircase_of_generic_tokens",),
    "caps": ("tokens_stay_in_their_caps", "caps_collapse"),
    "one-cap": (
        "distance_by_energy_as_printed",
        "distance_by_energy",
        "slow_motion_as_printed",
    ),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Staircases, escapes, rainbow, generic data, kinetic data, caps."""
    return {
        **{f"staircase-{beta:g}": climbing(beta) for beta in STAIRCASE_BETAS},
        **{f"escape-{b:g}": escaping(float(b)) for b in (*ESCAPE_BETAS, 4000.0)},
        "escape-40-from-120": escaping(40.0, -0.5),
        "rainbow": crowded(p.seed, p.crowd),
        "generic": from_anywhere(p.seed, p.generic, 1000.0),
        "kinetic": kinetic_data(False),
        "kinetic-layers": kinetic_data(True),
        "caps": in_caps(),
        "one-cap": in_one_cap(),
    }


def on_circle(angles) -> pf.Given:
    """Tokens at these angles."""
    return pf.Given(pf.Circle(), pf.Circle().points(jnp.asarray(angles, float)))


def climbing(beta: float) -> pf.Experiment:
    """The published staircase in arc length; weights 1/n, where the paper has 1/n^2."""
    return pf.Experiment(
        on_circle(ANGLES),
        pf.UnnormalizedAttention(beta, log_scale=-beta),
        np.inf,
        save=pf.ArcLength(0.002),
        merge=pf.Merge(),
        observe={"energy": pf.InteractionEnergy(beta)},
    )


def escaping(beta: float, g_0: float = 0.0) -> pf.Experiment:
    """Two clusters from the cosine g_0 until it is 0.999."""
    return pf.Experiment(
        on_circle([0.0, np.arccos(g_0)]),
        pf.Attention(beta),
        np.inf,
        save=pf.ArcLength(1.0),
        merge=pf.Merge(),
        until=ClosePairs(0.999),
    )


def crowded(seed: int, n: int, beta: float = 100.0) -> pf.Experiment:
    """Uniform tokens on the circle under SA, to one cluster."""
    times = np.concatenate(
        [[0.0], np.geomspace(0.1, 1e3, 120), np.geomspace(2e3, 1e88, 280)]
    )
    start, field = pf.Uniform(n, 2), pf.Attention(beta)
    return pf.Experiment(start, field, 1e88, save=times, merge=pf.Merge(), seed=seed)


def from_anywhere(seed: int, n: int, beta: float) -> pf.Experiment:
    """Uniform tokens on the circle under SA in arc length, with the energy."""
    return pf.Experiment(
        pf.Uniform(n, 2),
        pf.Attention(beta),
        np.inf,
        save=pf.ArcLength(0.02),
        merge=pf.Merge(),
        observe={"energy": pf.InteractionEnergy(beta)},
        seed=seed,
    )


def kinetic_data(layers: bool) -> pf.Experiment:
    """kinetic.py, beta = 4: the exact flow, or its own steps of 0.1."""
    points = pf.Particles.normalized(pf.Circle(), KINETIC).points
    late = np.arange(360.0, 400.0, 0.1) if layers else np.arange(326.0, 330.0, 0.1)
    early = [np.arange(0.0, 6.0, 0.1), np.arange(6.0, 326.0, 5.0)]
    return pf.Experiment(
        pf.Given(pf.Circle(), points),
        pf.Attention(4.0),
        400.0,
        save=np.round(np.concatenate([*early, late, [400.0]]), 10),
        solver=pf.Layers(0.1) if layers else pf.Adaptive(),
    )


def in_caps() -> pf.Experiment:
    """The instance of the main theorem, to its time T_2."""
    leave = bounds()["leave"]
    return pf.Experiment(
        pf.Given(pf.Sphere(3), on_the_rim()),
        pf.Attention(BETA),
        leave,
        save=np.concatenate([[0.0], np.geomspace(0.1, leave, 40)]),
        merge=pf.Merge(),
    )


def in_one_cap() -> pf.Experiment:
    """Four tokens of one narrow cap gather, by ascent of the energy in W_2."""
    angles = jnp.array([-0.03, -0.01, 0.012, 0.03])
    start = pf.Given(pf.Circle(), pf.Circle().points(angles))
    field, solver = (
        pf.GradientFlow(-pf.InteractionEnergy(BETA)),
        pf.Adaptive(1e-10, 1e-12),
    )
    return pf.Experiment(start, field, 1.0, save=41, solver=solver)


class Long(NamedTuple):
    """A flow with merging: its clocks, its mergers, and its energy where it was asked.

    `log_times` are natural logarithms.
    """

    times: np.ndarray
    log_times: np.ndarray
    arc: np.ndarray
    points: np.ndarray
    energy: np.ndarray
    tree: Merges
    trajectory: pf.Trajectory


def long(run: pf.Trajectory) -> Long:
    """What a flow with merging always has, by name."""
    assert run.log_times is not None and run.arc is not None and run.merges is not None
    energy = np.asarray(run.observed.get("energy", np.zeros(len(run))))
    times, points = np.asarray(run.times), np.asarray(run.points)
    return Long(times, run.log_times, run.arc, points, energy, run.merges, run)


@functools.lru_cache(maxsize=16)
def climb(beta: float) -> Long:
    """The published staircase in arc length."""
    return long(climbing(beta).run())


@functools.lru_cache(maxsize=64)
def log_escape(beta: float, g_0: float = 0.0) -> float:
    """Natural logarithm of the time for two clusters to get from g_0 to 0.999."""
    return float(long(escaping(beta, g_0).run()).log_times[-1])


@functools.lru_cache(maxsize=4)
def crowd(seed: int, n: int) -> Long:
    """Uniform tokens on the circle under SA, to one cluster."""
    return long(crowded(seed, n).run())


@functools.lru_cache(maxsize=4)
def generic(seed: int, n: int, beta: float) -> Long:
    """Uniform tokens on the circle under SA in arc length, with the energy."""
    return long(from_anywhere(seed, n, beta).run())


def mass_squares(run: Long) -> np.ndarray:
    """sum_c m_c^2 of the atoms at every frame: the ideal staircase.

    By arc length: at t = 1e50 the second half of an approach no longer changes t.
    """
    mass, tree = np.array(run.trajectory[0].weights), run.tree
    total = float(np.sum(mass**2))
    values = [total]
    for gone, into in zip(tree.absorbed, tree.into, strict=True):
        total += 2 * mass[gone] * mass[into]
        mass[into] += mass[gone]
        values.append(total)
    return np.array(values)[np.searchsorted(tree.arc, run.arc, side="right")]


@functools.lru_cache(maxsize=2)
def kinetic(layers: bool) -> pf.Trajectory:
    """kinetic.py, beta = 4: the exact flow, or its own steps of 0.1."""
    return kinetic_data(layers).run()


def states(p: Parameters) -> tuple[Preset, ...]:
    """Staircase, saddles, rainbow, escape, kinetic data."""
    long = {"merge": True, "clock": "log", "d": 2, "seed": p.seed}
    return (*_climbs(long), *_others(p, long))


def _climbs(long: dict) -> tuple[Preset, ...]:
    steps = {**long, "model": "usa", **_at(ANGLES), "frames": 401}
    return (
        Preset(
            "staircase",
            "Staircase, β = 500",
            "The energy climbs in steps, one per merger, at times e^{cβ}.",
            {**steps, "beta": 500.0, "t1": 1e20},
        ),
        Preset(
            "saddle-to-saddle",
            "From saddle to saddle, β = 2000",
            "Five tokens pass near states of 4, 3 and 2 clusters, each for ages.",
            {**steps, "beta": 2000.0, "t1": 1e70},
        ),
    )


def _others(p: Parameters, long: dict) -> tuple[Preset, ...]:
    return (
        Preset(
            "rainbow",
            f"Rainbow, {p.crowd} tokens, β = 100",
            "Clusters merge over eighty decades of time until one is left.",
            {**long, "n": p.crowd, "beta": 100.0, "t1": 1e88, "frames": 301},
        ),
        Preset(
            "escape",
            "Escape of two clusters, β = 40",
            "Two clusters at a right angle meet at t = 2.9e15.",
            {**long, **_at(np.array([0.0, np.pi / 2])), "beta": 40.0, "t1": 1e17},
        ),
        Preset(
            "kinetic",
            "The five tokens of the published script, β = 4",
            "Mergers at t = 1.3, 2.5, 5.2 and 328.",
            {**_placed(KINETIC), "d": 2, "beta": 4.0, "t1": 400.0, "clock": "log"},
        ),
    )


def _at(angles: np.ndarray) -> dict:
    """Tokens at these angles of the circle."""
    return _placed(np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 15))


def _placed(points: np.ndarray) -> dict:
    moved = [[i, x] for i, x in enumerate(points.tolist())]
    return {"n": len(points), "init": "equispaced", "moved": moved}
