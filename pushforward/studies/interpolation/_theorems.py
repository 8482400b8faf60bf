"""The theorems end to end: one schedule for all inputs, by steering."""

import functools

import numpy as np

import pushforward as pf
from pushforward.control import steer
from pushforward.control.steering.controls import Consensus
from pushforward.control.steering.targets import Cloud
from pushforward.errors import InputError
from pushforward.studies.interpolation.study import (
    POINTS,
    SPACE,
    Parameters,
    at_least,
    at_most,
    clouds,
    crowd,
    paper,
    refuted,
    replays,
    to_atoms,
    to_points,
    to_sample,
    within,
)
from pushforward.transport import wasserstein_distance

DIMENSIONS = (3, 8)


def replayed_by_flow(p: Parameters):
    """Theorem 1.1 for N = 2, each input flowed by itself."""
    ends = [np.asarray(run.final.points) for run in replays(p.seed, p.points)]
    off = [
        np.sqrt(np.mean(np.sum((x - y) ** 2, axis=1)))
        for x, y in zip(ends, POINTS, strict=False)
    ]
    claim = "N = 2, overlapping inputs, point targets, replayed by `flow`: largest W_2"
    note = f"{to_points(p.seed, p.points, 2).pieces} pieces"
    return at_most(claim, paper("theorem 1.1"), "theorem", max(off), 1e-7, note)


def three_inputs(p: Parameters):
    """N = 3."""
    steered = to_points(p.seed, p.points, 3)
    claim = "N = 3, point targets: largest W_2"
    note = f"{steered.pieces} pieces"
    worst = max(steered.errors)
    return at_most(claim, paper("theorem 1.1"), "theorem", worst, 1e-7, note)


def many_inputs(p: Parameters):
    """N up to 8 in dimensions 3 and 8."""
    runs = [crowd(p.seed, d, n, p.points) for d in DIMENSIONS for n in p.inputs]
    worst = max(max(run.errors) for run in runs)
    claim = f"N up to {max(p.inputs)}, d = 3 and 8, point targets: largest W_2"
    return at_most(claim, paper("theorem 1.1"), "theorem", worst, 1e-7)


def switches_grow_linearly(p: Parameters):
    """O(dN) switches."""
    pairs = [(d, n) for d in DIMENSIONS for n in p.inputs]
    share = [crowd(p.seed, d, n, p.points).switches / (d * n) for d, n in pairs]
    claim = f"switches over d N, N up to {max(p.inputs)}: largest"
    note = "the theorem leaves the constant open; 1 is what this program stays below"
    return at_most(claim, paper("theorem 1.1"), "theorem", max(share), 1.0, note)


def few_legs_per_point(p: Parameters):
    """Proposition 4.1: at most six switches per point."""
    runs = [crowd(p.seed, d, n, p.points) for d in DIMENSIONS for n in p.inputs]
    legs = []
    for run in runs:
        trips = [e.action.split(":")[0] for e in run.log if e.phase == "match"]
        legs.append(max(trips.count(name) for name in trips))
    claim = "legs of one point in the match: largest"
    where = paper("proposition 4.1")
    return at_most(claim, where, "theorem", max(legs), 6.0)


def gates_to_disentangle(p: Parameters):
    """Proposition 3.1: O(dN) pieces with B = 0."""
    share = [
        sum(e.phase == "disentangle" for e in crowd(p.seed, d, n, p.points).log)
        / (d * n)
        for d in DIMENSIONS
        for n in p.inputs
    ]
    claim = "pieces that disentangle over d N: largest"
    where = paper("proposition 3.1")
    return at_most(claim, where, "theorem", max(share), 1.0)


@functools.cache
def weights_against_time(seed: int, points: int) -> float:
    """Slope of the balanced weights (|W| |U|)^{1/2} against T, from T = 1 to 100."""
    inputs, sizes = clouds(seed, points)[:2], []
    for horizon in (1.0, 100.0):
        norms = steer(inputs, POINTS[:2], horizon=horizon).norms
        sizes.append(np.sqrt(norms["W"] * max(norms["U"], norms["b"])))
    return float(np.log(sizes[1] / sizes[0]) / np.log(100.0))


def printed_weights(p: Parameters):
    """The printed bound C M/(T min eps) on the weights would fall like 1/T."""
    slope = weights_against_time(p.seed, p.points)
    claim = "the bound C M/(T min eps) as printed: slope of the balanced weights in T"
    note = "a speed is at most |W| (|U| + |b|), so not both factors can fall like 1/T"
    return refuted(claim, paper("proposition 4.1"), slope, -1.0, 0.1, note)


def weights_scale_with_time(p: Parameters):
    """|W| T does not depend on T, so balanced weights fall like T^{-1/2}."""
    slope = weights_against_time(p.seed, p.points)
    claim = "slope of the balanced weights (|W| |U|)^{1/2} against T"
    where = paper("proposition 4.1 (corrected)")
    return within(claim, where, "erratum", slope, -0.5, 1e-9)


def equal_barycenters(p: Parameters):
    """Lemma 3.4 at work: one gate, then the barycenter gate."""
    x = np.array([[1, 0, 2], [-1, 0, 2], [0, 1, 2], [0, -1, 2.0]]) / np.sqrt(5)
    pairs = ([0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5])
    steered = steer([pf.Particles(SPACE, x, w) for w in pairs], POINTS[:2])
    claim = "two measures with one barycenter: pieces that tell them apart"
    told = sum("equal barycenters" in e.action for e in steered.log)
    note = f"largest W_2 {max(steered.errors):.1g}"
    return at_most(claim, paper("lemma 3.4"), "theorem", told, 2, note)


def same_support(p: Parameters):
    """Inputs on the same points with different weights."""
    mu = clouds(p.seed, p.points)[0]
    weights = np.random.default_rng(p.seed).uniform(size=mu.n)
    nu = pf.Particles.normalized(SPACE, mu.points, weights)
    steered = steer([mu, nu], POINTS[:2])
    claim = "two inputs on the same support, point targets: largest W_2"
    worst = max(steered.errors)
    return at_most(claim, paper("theorem 1.1"), "theorem", worst, 1e-7)


def no_attention_no_separation(p: Parameters):
    """V = 0: one map for all inputs; the call refuses."""
    mu = clouds(p.seed, p.points)[0]
    weights = np.arange(1.0, mu.n + 1)
    nu = pf.Particles(SPACE, mu.points, weights / weights.sum())
    gates = to_points(p.seed, p.points, 2).field.fields[2:]
    speeds = [np.asarray(f(0.0, m).v) for f in gates for m in (mu, nu)]
    apart = max(
        np.abs(a - b).max() for a, b in zip(speeds[::2], speeds[1::2], strict=True)
    )
    try:
        steer([mu, nu], POINTS[:2], attention=False)
        refused = False
    except InputError:
        refused = True
    claim = "without attention: velocities of two inputs at their shared points, apart"
    measured = apart if refused else np.inf
    where = paper("section 1")
    return within(claim, where, "theorem", measured, 0.0, 0.0, "and the call refuses")


def distinct_inputs_needed(p: Parameters):
    """Proposition 3.1 needs distinct inputs; d = 2 is excluded."""
    mu = clouds(p.seed, p.points)[0]
    circle = pf.Particles(pf.Sphere(2), np.eye(2))
    refused = 0
    for inputs, targets in (([mu, mu], POINTS[:2]), ([circle], [[0.0, -1.0]])):
        try:
            steer(inputs, targets)
        except InputError:
            refused += 1
    claim = "equal inputs, and inputs on the circle, are refused"
    where = paper("proposition 3.1 (corrected)")
    note = "the print asks for neither distinct inputs nor d above 2"
    return within(claim, where, "erratum", refused, 2, 0, note)


def exact_masses(p: Parameters):
    """Two atoms per target, masses cut exactly."""
    steered = to_atoms(p.seed, p.points)
    claim = "N = 2, two atoms per target: largest W_2"
    note = f"{steered.pieces} pieces, masses exact"
    worst = max(steered.errors)
    return at_most(claim, paper("proposition 2.2"), "theorem", worst, 1e-8, note)


def gates_follow_the_measure(p: Parameters):
    """Parameters must be chosen after the measure."""
    steered, other = to_atoms(p.seed, p.points), clouds(p.seed + 1, p.points)[0]
    slices = [k for k, e in enumerate(steered.log) if e.phase == "slice"]
    before = Cloud.of(clouds(p.seed, p.points)[0])
    share = (
        _taken(steered, slices[0], before),
        _taken(steered, slices[0], Cloud.of(other)),
    )
    claim = "a cut of mass 0.3 made for one sample: the mass it takes from another"
    note = f"{share[0]:.3f} from its own sample; parameters follow the measure"
    where = paper("lemmas B.1 and B.2")
    return refuted(claim, where, share[1], 0.3, 1e-3, note)


def _taken(steered, k: int, cloud: Cloud) -> float:
    """Mass of a cloud inside the cap of piece k, after the pieces before it."""
    fields, times = steered.field.fields, np.diff(np.asarray(steered.field.times))
    mu = pf.Particles(SPACE, cloud.points, cloud.weights)
    solver = pf.Heun(0.05)
    for field, time in zip(fields[:k], times, strict=False):
        mu = pf.flow(field, mu, float(time), save=2, solver=solver).final
    gate = fields[k]
    inside = np.asarray(mu.points) @ np.asarray(gate.A[0]) + float(gate.b[0]) > 0
    return float(np.asarray(mu.weights) @ inside)


def maps_and_distances(p: Parameters):
    """Lemma 5.2: W_2(T_# mu, T'_# mu) <= |T - T'|_{L^2(mu)}."""
    rng, x, ratios = np.random.default_rng(p.seed), clouds(p.seed, p.points)[0], []
    points = np.asarray(x.points)
    for _ in range(p.draws):
        first, second = (points @ rng.standard_normal((3, 3)) for _ in range(2))
        norm = np.sqrt(np.mean(np.sum((first - second) ** 2, axis=1)))
        ratios.append(wasserstein_distance(first, second) / norm)
    claim = "W_2 of two images over the distance of the maps: largest of random pairs"
    where = paper("lemma 5.2")
    return at_most(claim, where, "theorem", max(ratios), 1 + 1e-9)


def samples_through_maps(p: Parameters):
    """Theorem 1.2: simple maps come closer with more atoms."""
    errors = [to_sample(p.seed, p.points, k).errors[0] for k in p.atoms]
    claim = f"W_2 to a sample through maps of {p.atoms} values: largest ratio of two"
    ratios = np.array(errors[1:]) / np.array(errors[:-1])
    note = "errors " + ", ".join(f"{e:.3f}" for e in errors)
    return at_most(claim, paper("theorem 1.2"), "theorem", ratios.max(), 0.9, note)


def prompts_separate_by_themselves(p: Parameters):
    """Proposition 6.2: V = I, B = beta I sends prompts to different points."""
    rng, ends = np.random.default_rng(p.seed), []
    for _ in range(p.draws):
        x = rng.standard_normal((12, 3))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        cloud = Consensus(0.5, 3).move(Cloud(x, np.full(12, 1 / 12)), 60.0)
        assert cloud.radius < 1e-6
        ends.append(cloud.center)
    gaps = np.linalg.norm(np.array(ends)[:, None] - np.array(ends)[None], axis=-1)
    np.fill_diagonal(gaps, np.inf)
    claim = f"{p.draws} prompts of uniform tokens, V = I, B = I/2: closest limits"
    where = paper("proposition 6.2")
    return at_least(claim, where, "theorem", gaps.min(), 1e-3)


CLAIMS = (
    replayed_by_flow,
    three_inputs,
    many_inputs,
    switches_grow_linearly,
    few_legs_per_point,
    gates_to_disentangle,
    printed_weights,
    weights_scale_with_time,
    equal_barycenters,
    same_support,
    no_attention_no_separation,
    distinct_inputs_needed,
    exact_masses,
    gates_follow_the_measure,
    maps_and_distances,
    samples_through_maps,
    prompts_separate_by_themselves,
)
