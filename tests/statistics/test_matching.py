"""GromovMatcher against the oracles of notes S4.6 (S4-O1 to S4-O11), simulated tables.

The official tutorial tables cannot be shipped, so oracles 1 to 5 and 10 are checked on
a simulated pair of the same size with the same quantities computed independently.
"""

from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy.interpolate import splev, splrep

from pushforward.errors import InputError
from pushforward.statistics.matching.distances import (
    CorrelationDistance,
    EuclideanDistance,
    MassGate,
    Pairs,
    PpmGate,
    admissible_pairs,
    joint_distances,
)
from pushforward.statistics.matching.drift import SplineDrift, weighted_spline
from pushforward.statistics.matching.matching import Reason, match, one_to_one
from pushforward.statistics.tables.tables import FeatureTable
from pushforward.studies.metabolomics.paired_tables import (
    HIGH,
    LOW,
    MEDIUM,
    Noise,
    simulate_cohort,
    split_cohort,
)
from pushforward.transport import SparseGromov
from pushforward.transport.gromov._sparse_gromov import distortion


@pytest.fixture(scope="module")
def tutorial():
    """499 originals, overlap .6: two tables of 399 features that share 299."""
    return split_cohort(simulate_cohort(499, 499, seed=0), 0.6, MEDIUM, seed=1)


@pytest.fixture(scope="module")
def matched(tutorial):
    return match(tutorial.A, tutorial.B)


def pot_plan(D_A, D_B, mz_a, mz_b, max_iter=60):
    ot = pytest.importorskip("ot")
    gate = 3.0 * (np.abs(mz_a[:, None] - mz_b[None, :]) > 0.01)
    p, q = gate.shape
    plan, _ = ot.gromov.fused_unbalanced_gromov_wasserstein(
        D_A,
        D_B,
        np.full(p, 1 / p),
        np.full(q, 1 / q),
        reg_marginals=0.05,
        epsilon=0.005,
        divergence="kl",
        unbalanced_solver="sinkhorn_log",
        alpha=1.0,
        M=gate,
        max_iter=max_iter,
        tol=1e-11,
        max_iter_ot=3000,
        tol_ot=1e-11,
    )
    return plan


def test_simulated_pair_has_the_published_sizes(tutorial):
    assert (tutorial.A.p, tutorial.B.p, len(tutorial.truth)) == (399, 399, 299)
    assert (tutorial.A.n, tutorial.B.n) == (249, 250)
    for i, j in tutorial.truth[:20]:
        assert tutorial.B.ids[j] == tutorial.A.ids[i] + "b"
        assert abs(tutorial.A.mz[i] - tutorial.B.mz[j]) <= 0.01


def test_o1_admissible_pairs_are_those_inside_the_gate(tutorial):
    A, B = tutorial.A, tutorial.B
    for gate, width in ((MassGate(0.01), 0.01), (PpmGate(30.0), 30e-6 * A.mz[:, None])):
        pairs = admissible_pairs(A.mz, B.mz, gate)
        rows, cols = np.nonzero(np.abs(A.mz[:, None] - B.mz[None, :]) <= width)
        np.testing.assert_array_equal(pairs.rows, rows)
        np.testing.assert_array_equal(pairs.cols, cols)


def test_o2_o3_o6_o8_plan_equals_dense_pot(tutorial, matched):
    A, B = tutorial.A, tutorial.B
    dense = pot_plan(*joint_distances(A, B, CorrelationDistance()), A.mz, B.mz)
    ours = matched.plan.dense()
    assert matched.plan.converged
    np.testing.assert_allclose(ours, dense, atol=1e-8)
    assert matched.plan.mass == pytest.approx(dense.sum(), rel=1e-6)
    assert 399 * ours.max() == pytest.approx(399 * dense.max(), rel=1e-6)
    off_gate = np.abs(A.mz[:, None] - B.mz[None, :]) > 0.01
    assert ours[off_gate].sum() == 0.0
    assert np.all((ours > 0) == ~off_gate)


def test_o4_counts_after_each_step(tutorial, matched):
    kept = matched.kept
    after_drift = sum(r is not Reason.DRIFT for r in matched.reasons)
    assert kept.sum() <= after_drift <= matched.pairs.count
    assert len(matched.matches) == kept.sum() > 270
    for side in (0, 1):
        assert len(np.unique(matched.matches[:, side])) == kept.sum()
    unshared = np.setdiff1d(np.arange(399), tutorial.truth[:, 0])
    assert np.isin(matched.matches[:, 0], unshared).sum() <= 3
    assert "one-to-one matches" in str(matched)


def test_o5_cut_is_the_median_plus_two_deviations(tutorial, matched):
    """The published procedure re-done with splrep, knots and rounds spelled out."""
    order = np.argsort(tutorial.A.rt[matched.pairs.rows], kind="stable")
    x = tutorial.A.rt[matched.pairs.rows][order]
    y = tutorial.B.rt[matched.pairs.cols][order]
    w = (matched.coupling / matched.coupling.max())[order]
    for _ in range(2):
        knots = np.quantile(x, np.arange(1, 11) / 11)
        residual = y - splev(x, splrep(x, y, w=w, t=knots))
        inside = np.abs(residual) < 1.96 * residual.std()
        x, y, w = x[inside], y[inside], w[inside]
    k = matched.drift.knots
    spline = splrep(x, y, w=w, t=np.quantile(x, np.arange(1, k + 1) / (k + 1)))
    residual = np.abs(y - splev(x, spline))
    deviation = np.median(np.abs(residual - np.median(residual)))
    assert matched.drift.cut == pytest.approx(
        np.median(residual) + 2 * deviation, abs=1e-6
    )
    assert matched.drift.anchors.sum() == len(x)


@pytest.mark.slow  # seconds alone, a minute of compilation on a busy machine
def test_o7_ott_plan_is_proportional():
    geometry = pytest.importorskip("ott.geometry.geometry")
    from ott.problems.quadratic import quadratic_problem
    from ott.solvers import linear
    from ott.solvers.quadratic import gromov_wasserstein

    pair = split_cohort(simulate_cohort(36, 60, seed=3), 0.6, MEDIUM, seed=4)
    D_A, D_B = joint_distances(pair.A, pair.B, CorrelationDistance())
    pairs = admissible_pairs(pair.A.mz, pair.B.mz, MassGate())
    ours = SparseGromov(tol=1e-13).couple(D_A, D_B, pairs).dense()
    gate = 3.0 * (np.abs(pair.A.mz[:, None] - pair.B.mz[None, :]) > 0.01)
    tau = 0.05 / 0.055
    problem = quadratic_problem.QuadraticProblem(
        geometry.Geometry(cost_matrix=D_A),
        geometry.Geometry(cost_matrix=D_B),
        geometry.Geometry(cost_matrix=gate),
        fused_penalty=1.0,
        tau_a=tau,
        tau_b=tau,
        gw_unbalanced_correction=True,
    )
    solver = gromov_wasserstein.GromovWasserstein(
        linear_solver=linear.sinkhorn.Sinkhorn(threshold=1e-11, max_iterations=2_000),
        epsilon=0.005,
        threshold=1e-12,
        max_iterations=40,
    )
    # their code, not ours
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        theirs = np.asarray(solver(problem).matrix)
    on = ours > 0
    assert theirs[~on].sum() < 1e-12
    assert np.corrcoef(ours[on], theirs[on])[0, 1] > 1 - 1e-8
    ratio = theirs[on].sum() / ours[on].sum()
    np.testing.assert_allclose(theirs[on], ratio * ours[on], atol=1e-8)


def test_o9_tighter_tolerance_changes_neither_plan_nor_matching(tutorial, matched):
    tight = match(tutorial.A, tutorial.B, transport=SparseGromov(tol=1e-13))
    change = np.abs(tight.coupling - matched.coupling).max()
    assert change <= 1e-5 * matched.coupling.max()
    np.testing.assert_array_equal(tight.matches, matched.matches)


def test_o10_accuracy_on_twenty_simulated_pairs():
    """Tutorial size, .5 overlap, medium noise: at least the notes' .979 and .934.

    Those were measured on real intensities; simulated masses are less crowded, so the
    numbers bound ours from below.
    """
    cohort = simulate_cohort(399, 249, seed=5)
    found = [
        match(pair.A, pair.B).accuracy(pair.truth)
        for pair in (split_cohort(cohort, 0.5, MEDIUM, seed=100 + s) for s in range(20))
    ]
    precision = np.mean([f.precision for f in found])
    recall = np.mean([f.recall for f in found])
    assert precision >= 0.979 - 0.015
    assert recall >= 0.934 - 0.015


def test_o11_permuting_the_second_table_permutes_the_plan(tutorial, matched):
    order = np.random.default_rng(6).permutation(tutorial.B.p)
    moved = match(tutorial.A, tutorial.B.select(order))
    expected = matched.plan.dense()[:, order]
    np.testing.assert_allclose(moved.plan.dense(), expected, atol=1e-10)


def test_stored_and_streamed_costs_agree_with_the_definition(monkeypatch):
    rng = np.random.default_rng(7)
    D_A, D_B = (np.abs(M + M.T) for M in (rng.normal(size=(k, k)) for k in (9, 7)))
    inside = rng.random((9, 7)) < 0.4
    rows, cols = np.nonzero(inside)
    pairs = Pairs(rows, cols, (9, 7))
    plan = rng.random(len(rows))
    dense = np.zeros((9, 7))
    dense[rows, cols] = plan
    squares = np.square(D_A[:, :, None, None] - D_B[None, None, :, :])  # k i l j
    expected = np.einsum("kilj,ij->kl", squares, dense)[rows, cols]
    np.testing.assert_allclose(distortion(D_A, D_B, pairs)(plan), expected)
    monkeypatch.setattr("pushforward.transport.gromov._sparse_gromov.STORED_PAIRS", 0)
    np.testing.assert_allclose(distortion(D_A, D_B, pairs)(plan), expected)


def test_solution_is_a_stationary_point_of_the_published_objective():
    """Finite differences of E + rho KL + rho KL + eps KL vanish at the coupling."""
    pair = split_cohort(simulate_cohort(40, 60, seed=8), 0.7, LOW, seed=9)
    D_A, D_B = joint_distances(pair.A, pair.B, CorrelationDistance())
    pairs = admissible_pairs(pair.A.mz, pair.B.mz, MassGate(0.3))
    plan = SparseGromov(tol=1e-14).couple(D_A, D_B, pairs).values
    p, q = pairs.shape
    cost = distortion(D_A, D_B, pairs)

    def kl(m, reference):  # KL(m x m | n x n) with n of mass one
        m, reference = m[m > 0], reference[m > 0]
        return 2 * m.sum() * np.sum(m * np.log(m / reference)) - m.sum() ** 2 + 1

    def objective(v):
        row = np.bincount(pairs.rows, v, p)
        col = np.bincount(pairs.cols, v, q)
        marginals = kl(row, np.full(p, 1 / p)) + kl(col, np.full(q, 1 / q))
        joint = kl(v, np.full(len(v), 1 / (p * q)))
        return v @ cost(v) + 0.05 * marginals + 0.005 * joint

    rng = np.random.default_rng(10)
    for _ in range(5):
        direction = plan * rng.normal(size=len(plan))
        h = 1e-4
        rise = objective(plan + h * direction) - objective(plan - h * direction)
        curvature = objective(plan + h * direction) - 2 * objective(plan)
        curvature += objective(plan - h * direction)
        assert abs(rise) / (2 * h) < 1e-7
        assert curvature > -1e-12


@pytest.mark.parametrize("noise", [LOW, MEDIUM, HIGH])
def test_transport_beats_its_ablation_where_masses_are_crowded(noise):
    cohort = simulate_cohort(1200, 200, seed=11)
    crowded = replace(cohort, mz=200 + 0.15 * cohort.mz)
    pair = split_cohort(crowded, 0.5, noise, seed=12)
    found = match(pair.A, pair.B)
    ours, without = found.accuracy(pair.truth), found.ablation.accuracy(pair.truth)
    assert ours.f1 > without.f1 + 0.05
    assert found.ablation.plan is None and found.ablation.ablation is None


def test_threshold_trades_recall_for_precision():
    pair = split_cohort(simulate_cohort(1500, 200, seed=13), 0.25, MEDIUM, seed=14)
    plain = match(pair.A, pair.B)
    strict = match(pair.A, pair.B, threshold=0.3)
    assert set(map(tuple, strict.matches)) <= set(map(tuple, plain.matches)) or (
        strict.accuracy(pair.truth).precision >= plain.accuracy(pair.truth).precision
    )
    assert strict.coupling[strict.kept].min() >= 0.3 * plain.coupling.max() * 0.999
    assert any(r is Reason.WEAK for r in strict.reasons)
    np.testing.assert_array_equal(plain.thresholded(0.3).matches, strict.matches)
    np.testing.assert_array_equal(strict.thresholded(0.0).matches, plain.matches)


def test_scores_rank_true_matches_first(tutorial, matched):
    curve = matched.precision_recall(tutorial.truth)
    assert np.all(np.diff(curve.scores) < 0) and np.all(np.diff(curve.recall) >= 0)
    end = matched.accuracy(tutorial.truth)
    assert curve.precision[-1] == end.precision and curve.recall[-1] == end.recall
    assert curve.precision[: len(curve.scores) // 2].min() >= end.precision - 0.01
    assert np.all((matched.score >= 0) & (matched.score <= 1))


def test_partial_truth_ignores_matches_it_cannot_judge(tutorial, matched):
    known = tutorial.truth[:30]
    partial = matched.accuracy(known, partial=True)
    full = matched.accuracy(known)
    assert partial.true == full.true and partial.false < full.false
    assert partial.recall == full.recall


def test_one_to_one_takes_columns_first_then_rows():
    # (0,0) .5, (0,1) .4, (1,0) .6: column 0 goes to row 1, so row 0 keeps column 1
    pairs = Pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), (2, 2))
    kept = one_to_one(pairs, np.array([0.5, 0.4, 0.6]), np.ones(3, dtype=bool))
    np.testing.assert_array_equal(kept, [False, True, True])
    tied = one_to_one(pairs, np.ones(3), np.ones(3, dtype=bool))
    assert len(set(pairs.rows[tied])) == len(set(pairs.cols[tied])) == tied.sum()


def test_spline_equals_splrep_and_survives_repeated_times():
    rng = np.random.default_rng(15)
    x = np.sort(rng.uniform(0, 10, 80))
    y, w = np.sin(x) + x, rng.uniform(0.1, 1, 80)
    knots = np.quantile(x, np.arange(1, 6) / 6)
    np.testing.assert_allclose(
        weighted_spline(x, y, w, 5)(x), splev(x, splrep(x, y, w=w, t=knots)), atol=1e-9
    )
    repeated = np.repeat([1.0, 2.0, 3.0], 4)
    fit = weighted_spline(repeated, 2 * repeated, np.ones(12), 10)
    np.testing.assert_allclose(fit(repeated), 2 * repeated, atol=1e-10)
    single = weighted_spline(np.ones(3), np.array([1.0, 2.0, 3.0]), np.ones(3), 4)
    np.testing.assert_allclose(single(np.ones(1)), 2.0)


def test_drift_recovers_the_published_function(tutorial, matched):
    grid = np.linspace(1.0, 6.0, 50)
    exact = 1.1 * grid + 1.3 * np.sin(1.2 * np.sqrt(grid))
    # uniform noise of half-width .5 over 300 pairs and 14 coefficients: about .06
    assert np.sqrt(np.mean((matched.drift(grid) - exact) ** 2)) < 0.12


def test_distances_are_what_they_say(tutorial):
    small = tutorial.A.select(np.arange(6))
    X = small.intensities
    corr = np.corrcoef(X.T)
    ours = CorrelationDistance().between(small)
    np.testing.assert_allclose(ours, np.sqrt(2 * (1 - corr)).round(12), atol=1e-7)
    plain = EuclideanDistance().between(small)
    brute = np.linalg.norm(X[:, :, None] - X[:, None, :], axis=0) / np.sqrt(len(X))
    np.testing.assert_allclose(plain, brute, rtol=1e-9, atol=1e-12)
    D_A, D_B = joint_distances(small, tutorial.B, EuclideanDistance())
    product = np.mean(D_A**2) * np.mean(D_B**2)
    assert product == pytest.approx(1.0)


def test_few_features_and_a_constant_one_still_match():
    rng = np.random.default_rng(16)
    mz, rt = np.array([100.0, 200.0, 300.0]), np.array([1.0, 2.0, 3.0])
    X = rng.normal(size=(20, 3))
    X[:, 1] = 5.0
    A = FeatureTable(("a", "b", "c"), mz, rt, X, "A")
    B = FeatureTable(("x", "y", "z"), mz + 0.001, rt + 0.5, X, "B")
    found = match(A, B)
    np.testing.assert_array_equal(found.matches, [[0, 0], [1, 1], [2, 2]])
    assert all(r is Reason.ONLY for r in found.reasons)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: match(t.A, replace(t.B, mz=t.B.mz + 5000)), "widen the gate"),
        (lambda t: match(t.A, t.B, threshold=2.0), r"\[0, 1\]"),
        (lambda t: match("a.csv", t.B), "read_table"),
        (
            lambda t: match(replace(t.A, intensities=t.A.intensities[:1]), t.B),
            "at least 3 samples",
        ),
        (lambda t: MassGate(0.0), "must be positive"),
        (lambda t: PpmGate(np.nan), "must be finite"),
        (lambda t: SparseGromov(eps=-1.0), "must be positive"),
        (lambda t: SparseGromov(max_rounds=0), "at least 1"),
        (lambda t: SplineDrift(folds=1), "folds"),
        (lambda t: SplineDrift(mads=-1.0), "published"),
        (lambda t: Noise(-1.0, 0.0), ">= 0"),
        (lambda t: split_cohort(t.A, 0.0, LOW, seed=0), "published overlaps"),
        (lambda t: simulate_cohort(1, 5, seed=0), ">= 2"),
        (lambda t: match(t.A, t.B).accuracy([1, 2]), "read_truth"),
        (lambda t: match(t.A, t.B).accuracy([[1, 999]]), "outside the tables"),
        (lambda t: match(t.A, t.B).accuracy([[1, 1], [1, 2]]), "one-to-one"),
        (lambda t: match(t.A, t.B).accuracy([[0.5, 1.0]]), "integer"),
    ],
)
def test_bad_arguments_are_refused_with_the_fix(call, message, tutorial):
    with pytest.raises(InputError, match=message):
        call(tutorial)


def test_tables_too_large_for_memory_are_refused_before_anything_is_built():
    p = 20_000
    ids = tuple(map(str, range(p)))
    table = FeatureTable(ids, np.arange(1.0, p + 1), np.ones(p), np.zeros((3, p)))
    with pytest.raises(InputError, match="GB"):
        match(table, table)
