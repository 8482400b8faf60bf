"""Particle methods for the NPMLE: where particles start, how long, births and deaths.

Each method is an object with `solve(sample)`, interchangeable with
`ColumnGeneration`. None of them proves its answer while it runs: the certificate
is computed afterwards by `npmle`, and says when a run only looks converged.
"""

from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.errors import InputError
from pushforward.statistics.mixtures._descent import (
    ExpectationMaximizationStep,
    FisherRaoStep,
    State,
    Step,
    WassersteinFisherRaoStep,
    WassersteinStep,
    descend,
)
from pushforward.statistics.mixtures._everywhere import Solution
from pushforward.statistics.mixtures._likelihood import (
    AbstractSample,
    Sample,
    log_certificate,
    loss,
)
from pushforward.statistics.mixtures._noise import Chart


@dataclass(frozen=True)
class EveryDatum:
    """One particle at each datum, with the weight of that datum."""

    def draw(self, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
        """Atoms and weights at the start."""
        return sample.points.copy(), sample.weights.copy()


@dataclass(frozen=True)
class RandomSubset:
    """`m` particles at data drawn without replacement, with equal weights.

    Data in the tails usually have no particle near them: descents from here stall
    with a small excess and a certificate of order one.
    """

    m: int
    seed: int

    def draw(self, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
        """Atoms and weights at the start."""
        n = len(sample.points)
        if not 1 <= self.m <= n:
            raise InputError(
                f"m must lie between 1 and the {n} distinct data, got {self.m}."
            )
        chosen = np.random.default_rng(self.seed).choice(n, self.m, replace=False)
        return sample.points[chosen], np.full(self.m, 1 / self.m)


@dataclass(frozen=True)
class Births:
    """Every `every` steps: drop atoms of no mass, add atoms where D > 1.

    Up to `most` particles are born per round, at data with the largest
    D > 1 + `excess`, mutually farther than `apart`, sharing the mass `mass`.
    """

    every: int = 50
    most: int = 8
    mass: float = 0.002
    apart: float = 0.5
    excess: float = 1e-6
    death: float = 1e-8

    def __post_init__(self) -> None:
        if self.every < 1 or self.most < 1 or not 0 < self.mass < 1:
            raise InputError(
                f"births need every >= 1, most >= 1 and mass in (0, 1), got {self}."
            )

    def renew(
        self,
        sample: Sample,
        atoms: Float[np.ndarray, "m d"],
        weights: Float[np.ndarray, "m"],
    ) -> tuple[np.ndarray, np.ndarray]:
        """The particles after one round of deaths and births."""
        alive = weights >= self.death
        atoms, weights = atoms[alive], weights[alive] / weights[alive].sum()
        log_f = sample.log_mixture(atoms, weights)
        log_d = log_certificate(sample.points, sample, log_f)
        born: list[np.ndarray] = []
        for i in np.argsort(-log_d, kind="stable"):
            if log_d[i] <= np.log1p(self.excess) or len(born) == self.most:
                break
            point = sample.points[i]
            if all(np.linalg.norm(point - other) > self.apart for other in born):
                born.append(point)
        if born:
            share = np.full(len(born), self.mass / len(born))
            atoms = np.concatenate([atoms, np.stack(born)])
            weights = np.concatenate([(1 - self.mass) * weights, share])
        return atoms, weights


@dataclass(frozen=True)
class ParticleDescent:
    """A descent by `step` for `iterations` steps, with births and deaths if asked.

    Use the constructors: `wfr`, `fisher_rao`, `wasserstein`, `em`.
    """

    step: Step
    iterations: int
    start: EveryDatum | RandomSubset = field(default_factory=EveryDatum)
    births: Births | None = None

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InputError(f"iterations must be positive, got {self.iterations}.")

    def solve(self, sample: AbstractSample, chart: Chart) -> Solution:
        """The history is the loss after each step, the start first."""
        if not isinstance(sample, Sample):
            raise InputError(
                "`method` must be ColumnGeneration() or FixedGrid(nodes): particle "
                "descents know Gaussian noise of one covariance only."
            )
        atoms, weights = self.start.draw(sample)
        x, p = jnp.asarray(sample.points), jnp.asarray(sample.weights)
        history: list[float] = []
        every = self.births.every if self.births else self.iterations
        done = 0
        while done < self.iterations:
            if self.births and done:
                atoms, weights = self.births.renew(sample, atoms, weights)
            count = min(every, self.iterations - done)
            state = _padded(atoms, weights, self._capacity(sample))
            (new_atoms, new_weights), losses = descend(
                self.step, x, p, state, iterations=count
            )
            atoms, weights = np.asarray(new_atoms), np.asarray(new_weights)
            atoms, weights = atoms[weights > 0], weights[weights > 0]
            history += np.asarray(losses).tolist()
            done += count
        weights = weights / weights.sum()
        return Solution(atoms, weights, [*history, loss(sample, atoms, weights)])

    def _capacity(self, sample: Sample) -> int:
        """Slots for all particles that can ever live, so that one shape compiles."""
        first = len(self.start.draw(sample)[1])
        if self.births is None:
            return first
        return first + self.births.most * (self.iterations // self.births.every)


def _padded(atoms: np.ndarray, weights: np.ndarray, capacity: int) -> State:
    empty = max(0, capacity - len(weights))
    return (
        jnp.asarray(np.concatenate([atoms, np.repeat(atoms[:1], empty, axis=0)])),
        jnp.asarray(np.concatenate([weights, np.zeros(empty)])),
    )


def _checked(eta: float) -> Float[Array, ""]:
    if not 0 < eta <= 1:
        raise InputError(
            f"eta must lie in (0, 1], got {eta}: beyond 1 weights may turn negative."
        )
    return jnp.asarray(eta)


def wfr(
    iterations: int,
    eta: float = 1.0,
    start: EveryDatum | RandomSubset = EveryDatum(),
    births: Births | None = None,
) -> ParticleDescent:
    """Wasserstein-Fisher-Rao descent: reweight, then move."""
    step = WassersteinFisherRaoStep(_checked(eta))
    return ParticleDescent(step, iterations, start, births)


def fisher_rao(
    iterations: int,
    eta: float = 1.0,
    start: EveryDatum | RandomSubset = EveryDatum(),
) -> ParticleDescent:
    """Baseline: only the weights change."""
    return ParticleDescent(FisherRaoStep(_checked(eta)), iterations, start)


def wasserstein(
    iterations: int,
    eta: float = 1.0,
    start: EveryDatum | RandomSubset = EveryDatum(),
) -> ParticleDescent:
    """Baseline: only the atoms move."""
    return ParticleDescent(WassersteinStep(_checked(eta)), iterations, start)


def em(
    iterations: int,
    start: EveryDatum | RandomSubset = EveryDatum(),
) -> ParticleDescent:
    """Baseline: expectation-maximization with one component per particle."""
    return ParticleDescent(ExpectationMaximizationStep(), iterations, start)
