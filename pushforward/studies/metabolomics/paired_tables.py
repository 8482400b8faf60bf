"""Simulated feature tables with known truth: pairs as published, and several."""

from dataclasses import dataclass, replace
from math import floor

import numpy as np
from jaxtyping import Float, Int

from pushforward.errors import InputError
from pushforward.statistics.matching.joint_matching import JointMatching
from pushforward.statistics.tables.tables import FeatureTable


@dataclass(frozen=True)
class Noise:
    """Half-width of retention-time noise (min) and relative intensity noise."""

    rt: float
    intensity: float

    def __post_init__(self) -> None:
        if not (self.rt >= 0 and self.intensity >= 0):
            raise InputError(
                f"`rt` and `intensity` noise must be >= 0, got {self.rt} and "
                f"{self.intensity}. `MEDIUM` is Noise(0.5, 0.5)."
            )


LOW, MEDIUM, HIGH = Noise(0.2, 0.1), Noise(0.5, 0.5), Noise(1.0, 1.0)


@dataclass(frozen=True)
class PairedTables:
    """Two tables cut from one cohort and the pairs of features they share."""

    A: FeatureTable
    B: FeatureTable
    truth: Int[np.ndarray, "m 2"]


def published_drift(rt: Float[np.ndarray, "p"]) -> Float[np.ndarray, "p"]:
    """1.1 x + 1.3 sin(1.2 sqrt x). [breeur2024gromovmatcher]"""
    return 1.1 * rt + 1.3 * np.sin(1.2 * np.sqrt(rt))


def simulate_cohort(
    features: int = 4712, samples: int = 499, *, seed: int
) -> FeatureTable:
    """A synthetic cohort with the size and texture of a metabolomics table.

    Masses are integers plus the defect 0.0005 m + N(0, 0.05), times uniform over six
    minutes, log intensities carried by 40 latent factors in groups of 15 features
    (adducts and pathways) with noise of their own.
    """
    if features < 2 or samples < 2:
        raise InputError(
            f"`features` and `samples` must be >= 2, got {features} and {samples}."
        )
    rng = np.random.default_rng(seed)
    nominal = rng.integers(60, 1000, size=features)
    mz = nominal * 1.0005 + rng.normal(0.0, 0.05, features)
    rt = rng.uniform(0.6, 6.5, features)
    groups = np.arange(features) // 15
    shared = rng.normal(size=(groups[-1] + 1, 40))[groups]
    loadings = (shared + 0.7 * rng.normal(size=(features, 40))) / np.sqrt(40)
    factors = rng.normal(size=(samples, 40))
    scale = rng.uniform(0.5, 1.5, features)
    own = 0.5 * rng.normal(size=(samples, features))
    level = rng.uniform(8.0, 14.0, features)
    intensities = level + scale * (factors @ loadings.T + own)
    ids = tuple(f"F{i:05d}" for i in range(features))
    return FeatureTable(ids, mz, rt, intensities, "cohort")


def split_cohort(
    cohort: FeatureTable,
    overlap: float,
    noise: Noise,
    *,
    balance: float = 0.5,
    seed: int,
) -> PairedTables:
    """Cut a cohort into two studies that share a fraction `overlap` of the features.

    p_A = floor((L + Lf (1-L)) p), p_B = floor((L + (1-Lf)(1-L)) p), with L the overlap
    and Lf the `balance`; half the samples each. Table B gets m/z + U(-.01, .01), the
    published drift + U(-s, s) floored at .1, and both tables Gaussian noise of
    `noise.intensity` times their global standard deviation.
    [breeur2024gromovmatcher]
    """
    if not (0.0 < overlap <= 1.0 and 0.0 <= balance <= 1.0):
        raise InputError(
            f"`overlap` must lie in (0, 1] and `balance` in [0, 1], got {overlap} and "
            f"{balance}. The published overlaps are 0.25, 0.5 and 0.75."
        )
    rng = np.random.default_rng(seed)
    p, half = cohort.p, floor(0.5 * cohort.n)
    p_a = floor((overlap + balance * (1 - overlap)) * p)
    p_b = floor((overlap + (1 - balance) * (1 - overlap)) * p)
    order = rng.permutation(p)
    left, right = order[:p_a], order[p - p_b :]
    shared = order[p - p_b : p_a]
    if not len(shared):
        raise InputError(f"`overlap` = {overlap} leaves no shared feature of {p}.")
    rng.shuffle(right)  # so that the truth is not the order of the columns
    mz = cohort.mz[right] + rng.uniform(-0.01, 0.01, p_b)
    rt = published_drift(cohort.rt[right]) + rng.uniform(-noise.rt, noise.rt, p_b)
    upper = cohort.intensities[:half][:, left]
    lower = cohort.intensities[half:][:, right]
    A = FeatureTable(
        tuple(cohort.ids[i] for i in left),
        cohort.mz[left],
        cohort.rt[left],
        upper + noise.intensity * upper.std() * rng.normal(size=upper.shape),
        "study A",
    )
    B = FeatureTable(
        tuple(f"{cohort.ids[i]}b" for i in right),
        mz,
        np.maximum(rt, 0.1),
        lower + noise.intensity * lower.std() * rng.normal(size=lower.shape),
        "study B",
    )
    where_a, where_b = np.full(p, -1), np.full(p, -1)
    where_a[left], where_b[right] = np.arange(p_a), np.arange(p_b)
    return PairedTables(A, B, np.column_stack([where_a[shared], where_b[shared]]))


@dataclass(frozen=True)
class ManyTables:
    """Tables cut from one cohort; a row of `truth` is a feature, -1 where it is not."""

    tables: tuple[FeatureTable, ...]
    truth: Int[np.ndarray, "m k"]

    def pair(self, a: int, b: int) -> Int[np.ndarray, "s 2"]:
        """The true pairs of two tables."""
        pairs = self.truth[:, [a, b]]
        return pairs[(pairs >= 0).all(axis=1)]


def split_many(
    cohort: FeatureTable, count: int, presence: float, noise: Noise, *, seed: int
) -> ManyTables:
    """Cut a cohort into `count` studies, each with a feature by chance `presence`.

    Samples are shared out; every table has m/z + U(-.005, .005), so that two differ by
    at most the gate, a drift a x + b sin(c sqrt x) of its own, and the noise of times
    and intensities of `split_cohort`. No table is cleaner than the others.
    """
    rng = np.random.default_rng(seed)
    there = rng.random((cohort.p, count)) < presence
    truth = np.full((cohort.p, count), -1)
    tables = []
    for k, rows in enumerate(np.array_split(rng.permutation(cohort.n), count)):
        chosen = rng.permutation(np.flatnonzero(there[:, k]))
        truth[chosen, k] = np.arange(len(chosen))
        x = cohort.rt[chosen]
        slope, swing, pace = rng.uniform([0.85, 0.3, 0.8], [1.15, 1.3, 1.4]).tolist()
        drifted = slope * x + swing * np.sin(pace * np.sqrt(x))
        shift = rng.uniform(-noise.rt, noise.rt, len(chosen))
        seen = cohort.intensities[np.ix_(rows, chosen)]
        tables.append(
            FeatureTable(
                tuple(f"{cohort.ids[i]}_{k + 1}" for i in chosen),
                cohort.mz[chosen] + rng.uniform(-0.005, 0.005, len(chosen)),
                np.maximum(drifted + shift, 0.1),
                seen + noise.intensity * seen.std() * rng.normal(size=seen.shape),
                f"study {k + 1}",
            )
        )
    shared = (truth >= 0).sum(axis=1) >= 2
    return ManyTables(tuple(tables), truth[shared])


def stepwise(joint: JointMatching) -> JointMatching:
    """The same pairs of tables, added one table at a time: what `joint` is measured by.

    A feature of the next table joins the group of its match in the first table that has
    one, if the group has no feature of this table yet; otherwise that in the second.
    """
    K = len(joint.tables)
    group = [np.arange(t.p) if k == 0 else np.full(t.p, -1)
             for k, t in enumerate(joint.tables)]  # fmt: skip
    taken = [set(range(joint.tables[0].p))] + [set() for _ in range(K - 1)]
    count = joint.tables[0].p
    for b in range(1, K):
        for a in range(b):
            for i, j in joint.pairs[a, b].matches:
                if group[b][j] < 0 and group[a][i] not in taken[b]:
                    group[b][j] = group[a][i]
                    taken[b].add(group[a][i])
        alone = np.flatnonzero(group[b] < 0)
        group[b][alone] = count + np.arange(len(alone))
        count += len(alone)
    groups = np.full((count, K), -1)
    for k, own in enumerate(group):
        groups[own, k] = np.arange(len(own))
    groups = groups[(groups >= 0).sum(axis=1) >= 2]
    return replace(joint, groups=groups, support=np.ones(len(groups)))
