"""What the study is called, its two sizes, and the instances that it looks at."""

import dataclasses
import functools

import jax
import numpy as np

import pushforward as pf
from pushforward import studies
from pushforward.control import Refined, Sampled, Steered, learn, refine, steer
from pushforward.studies import AbstractParameters, statements

TITLE = "Measure-to-measure interpolation using Transformers"
PAPER = "geshkovski2024measure"
NO_RUNS = "No runs: steering builds its fields piece by piece and replays them."

within, at_least, at_most, open_claim, paper = statements("interpolation", PAPER)
refuted = functools.partial(studies.refuted, "interpolation")


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; the construction is the same in both presets.

    - `points`: per input.
    - `draws`: random instances in which a statement is tested.
    - `inputs`: the numbers of inputs N at which switches are counted.
    - `atoms`: of the simple maps that approximate a transport map.
    - `steps`: of Adam, the same for refining and for the learned baseline.
    """

    seed: int = 0
    points: int = 40
    draws: int = 6
    inputs: tuple[int, ...] = (2, 4, 8)
    atoms: tuple[int, ...] = (1, 2, 4)
    steps: int = 60

    @classmethod
    def full(cls) -> "Parameters":
        """More points, more inputs, more atoms."""
        return cls(0, 300, 40, (2, 3, 4, 5, 6, 7, 8, 10), (1, 2, 4, 8), 400)


SPACE = pf.Sphere(3)
POINTS = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])
CENTERS = np.array([[0.165, 0, 1], [-0.165, 0, 1], [0, 0.25, 1]])


def cap(rng: np.random.Generator, n: int, center, radius: float) -> np.ndarray:
    """n points spread evenly over a cap."""
    center = np.asarray(center, float) / np.linalg.norm(center)
    side = rng.standard_normal((n, len(center)))
    side -= (side @ center)[:, None] * center
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    r = radius * np.sqrt(rng.uniform(size=(n, 1)))
    return np.cos(r) * center + np.sin(r) * side


@functools.cache
def clouds(seed: int, n: int) -> tuple[pf.Particles, ...]:
    """Three overlapping clouds of radius 1/2 near the north pole."""
    rng = np.random.default_rng(seed)
    return tuple(pf.Particles(SPACE, cap(rng, n, c, 0.5)) for c in CENTERS)


@functools.cache
def to_points(seed: int, n: int, count: int) -> Steered:
    """The first clouds to points of the equator."""
    return steer(clouds(seed, n)[:count], POINTS[:count])


def two_atoms() -> list[pf.Particles]:
    """Targets with masses 0.3, 0.7 and 0.5, 0.5."""
    first = pf.Particles.normalized(SPACE, [[1, 0, 0], [0, 1.0, 0.2]], [0.3, 0.7])
    second = pf.Particles.normalized(SPACE, [[-1, 0, 0], [0, -1.0, 0.5]], [0.5, 0.5])
    return [first, second]


@functools.cache
def to_atoms(seed: int, n: int) -> Steered:
    """Two clouds to two atoms each."""
    return steer(clouds(seed, n)[:2], two_atoms())


@functools.cache
def to_sample(seed: int, n: int, atoms: int) -> Steered:
    """One cloud to a sample on a cap of the equator, through a map."""
    rng = np.random.default_rng(seed + 1)
    nu = pf.Particles(SPACE, cap(rng, n, [1.0, 0, 0], 0.6))
    return steer(clouds(seed, n)[:1], [Sampled(nu, atoms)])


@functools.cache
def replays(seed: int, n: int, frames: int = 40) -> tuple[pf.Trajectory, ...]:
    """Two clouds to points, by `flow`, each input by itself; frames in every piece."""
    steered = to_points(seed, n, 2)
    ends = np.asarray(steered.field.times)
    spans = zip(ends, ends[1:], strict=False)
    times = np.unique(np.concatenate([np.linspace(a, b, frames) for a, b in spans]))
    return tuple(steered.replay(mu, save=times) for mu in clouds(seed, n)[:2])


@functools.cache
def crowd(seed: int, d: int, count: int, n: int) -> Steered:
    """Many inputs around one pole of S^{d-1}, to random points."""
    rng = np.random.default_rng([seed, d, count])
    shift = 0.4 * rng.standard_normal((count, d)) / np.sqrt(d)
    space = pf.Sphere(d)
    near = np.eye(d)[0] + shift
    inputs = [pf.Particles(space, cap(rng, n, center, 0.5)) for center in near]
    goals = rng.standard_normal((count, d))
    return steer(inputs, goals / np.linalg.norm(goals, axis=1, keepdims=True))


TRAINED = 24  # points per input while weights are trained
SUBSTEPS = 20


@functools.cache
def refined(seed: int, steps: int, pieces: int = 2) -> Refined:
    """Two pieces instead of four."""
    steered, inputs = to_points(seed, TRAINED, 2), clouds(seed, TRAINED)[:2]
    return refine(
        steered.field,
        inputs,
        POINTS[:2],
        pieces=pieces,
        steps=steps,
        substeps=SUBSTEPS,
    )


@functools.cache
def learned(seed: int, steps: int) -> Refined:
    """Plain training with as many pieces as the construction, and as many steps."""
    return learn(
        clouds(seed, TRAINED)[:2],
        POINTS[:2],
        pieces=4,
        horizon=10.0,
        steps=steps,
        substeps=SUBSTEPS,
        key=jax.random.key(seed),
    )
