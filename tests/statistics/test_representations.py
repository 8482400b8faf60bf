"""GULP and its companions against the oracles of notes S2.6 (ids S2-O1 to S2-O10)."""

import numpy as np
import pytest

from pushforward.errors import InputError, StoreError
from pushforward.statistics import GulpMoments
from pushforward.statistics.representations import streamed
from pushforward.statistics.representations.gulp import (
    gulp,
    gulp_errors,
    gulp_matrix,
    gulp_standard_error,
    read_representation,
)
from pushforward.statistics.representations.similarities import (
    cca,
    cka,
    procrustes,
)

LAMBDAS = np.array([1e-6, 1e-3, 1e-2, 0.1, 1.0, 10.0])


def pair(seed=0, n=60, k=7, l=5):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, k)) * np.linspace(2, 0.3, k)
    B = A[:, :l] @ rng.normal(size=(l, l)) + 0.7 * rng.normal(size=(n, l))
    return A, B


def hat(A, lam):
    """Ridge hat matrix of a normalized representation, straight from its definition."""
    A = A - A.mean(0)
    A = A * np.sqrt(len(A)) / np.linalg.norm(A)
    n, k = A.shape
    return A @ np.linalg.solve(A.T @ A / n + lam * np.eye(k), A.T) / n


def textbook(S_a, S_b, C, lam):
    """The trace formula, from covariances of unit trace."""
    R_a = np.linalg.inv(S_a + lam * np.eye(len(S_a)))
    R_b = np.linalg.inv(S_b + lam * np.eye(len(S_b)))
    own = np.trace(R_a @ S_a @ R_a @ S_a) + np.trace(R_b @ S_b @ R_b @ S_b)
    return own - 2 * np.trace(R_a @ C @ R_b @ C.T)


@pytest.mark.parametrize("shape", [(60, 7, 5), (20, 33, 6), (15, 40, 50)])
def test_o1_gulp_is_the_distance_between_hat_matrices(shape):
    n, k, l = shape
    A, B = pair(1, n, k, min(k, l))
    B = np.random.default_rng(2).normal(size=(n, l)) + B[:, :1]
    expected = [np.square(hat(A, lam) - hat(B, lam)).sum() for lam in LAMBDAS]
    # atol: d^2 is a difference of traces of size n, so rounding leaves n eps
    squared = gulp(A, B, LAMBDAS).squared
    np.testing.assert_allclose(squared, expected, rtol=1e-12, atol=n * 4e-15)


def test_gulp_agrees_with_the_trace_formula():
    A, B = pair(3)
    n = len(A)
    X, Y = A - A.mean(0), B - B.mean(0)
    X, Y = (Z * np.sqrt(n) / np.linalg.norm(Z) for Z in (X, Y))
    expected = [textbook(X.T @ X / n, Y.T @ Y / n, X.T @ Y / n, lam) for lam in LAMBDAS]
    np.testing.assert_allclose(gulp(A, B, LAMBDAS).squared, expected, rtol=1e-10)


def test_o2_gulp_ignores_orthogonal_maps_and_only_those():
    A, B = pair(4)
    Q = np.linalg.qr(np.random.default_rng(5).normal(size=(7, 7)))[0]
    grid = LAMBDAS[1:]
    turned = gulp(A @ Q, B, grid).squared
    np.testing.assert_allclose(turned, gulp(A, B, grid).squared, atol=1e-12)
    np.testing.assert_allclose(gulp(A @ Q, A, grid).squared, 0.0, atol=1e-12)
    sheared = A @ np.diag(np.arange(1.0, 8))
    assert gulp(sheared, A, 0.1).distance[0] > 0.1
    np.testing.assert_allclose(gulp(sheared, A, 0.0).squared, 0.0, atol=1e-10)


def test_o3_scalar_closed_form():
    x = np.array([1.0, 1, -1, -1])[:, None]
    y = np.array([1.0, -1, 1, -1])[:, None]
    squared = gulp(x, 0.6 * x + 0.8 * y, [0.1, 1.0]).squared
    np.testing.assert_allclose(squared, [1.0578512396694213, 0.32], rtol=1e-12)


def test_o4_small_lambda_is_canonical_correlation():
    A, B = pair(6)
    rho = cca(A, B).correlations
    limit = 7 + 5 - 2 * np.square(rho).sum()
    np.testing.assert_allclose(gulp(A, B, 1e-12).squared[0], limit, rtol=1e-8)
    np.testing.assert_allclose(gulp(A, B, 0.0).squared[0], limit, rtol=1e-10)


def test_o5_large_lambda_is_unnormalized_cka_with_error_one_over_lambda():
    A, B = pair(7)
    n = len(A)
    X, Y = (Z - Z.mean(0) for Z in (A, B))
    X, Y = (Z * np.sqrt(n) / np.linalg.norm(Z) for Z in (X, Y))
    S, T, C = X.T @ X / n, Y.T @ Y / n, X.T @ Y / n
    limit = np.square(S).sum() + np.square(T).sum() - 2 * np.square(C).sum()
    grid = np.array([1e2, 1e4, 1e6])
    gaps = (grid**2 * gulp(A, B, grid).squared - limit) / limit
    assert np.all(gaps < 0) and 1e-3 < -gaps[0] < 3e-2
    np.testing.assert_allclose(gaps[:2] / gaps[1:], 100.0, rtol=0.05)


def test_o6_and_o7_prediction_gap_averages_to_gulp_and_its_norm_is_below():
    A, B = pair(8, n=40)
    difference = hat(A, 0.1) - hat(B, 0.1)
    labels = np.random.default_rng(9).normal(size=(40, 20_000))
    squared = gulp(A, B, 0.1).squared[0]
    gap = np.square(difference @ labels).sum(0).mean()
    np.testing.assert_allclose(gap, squared, rtol=0.01)
    assert np.linalg.norm(difference, 2) ** 2 <= squared


def test_o8_triangle_inequality_over_many_representations():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(80, 6))
    networks = [
        np.maximum(X @ rng.normal(size=(6, k)), 0) for k in rng.integers(2, 30, size=14)
    ]
    for d in gulp_matrix(networks, LAMBDAS).distance:
        violation = d[:, :, None] - d[:, None, :] - d.T[None, :, :]
        assert violation.max() <= 1e-9
        assert np.all(np.diag(d) == 0) and np.array_equal(d, d.T)


def test_gulp_matrix_agrees_with_pairs():
    A, B = pair(11)
    result = gulp_matrix([A, B, A[:, :3]], LAMBDAS, names=["a", "b", "c"])
    np.testing.assert_array_equal(result.squared[:, 0, 1], gulp(B, A, LAMBDAS).squared)
    np.testing.assert_array_equal(result.at(0.1), result.distance[3])
    with pytest.raises(InputError, match="not one of the computed lambdas"):
        result.at(0.2)


def correlated(rng, n, mixing):
    Z = rng.normal(size=(n, 10)) @ mixing
    return Z[:, :5], Z[:, 5:]


@pytest.mark.slow
def test_o9_plug_in_error_falls_as_the_root_of_n_and_error_bars_know_it():
    rng = np.random.default_rng(12)
    mixing = rng.normal(size=(10, 10))
    S = mixing.T @ mixing
    a, b = np.trace(S[:5, :5]), np.trace(S[5:, 5:])
    grid, sizes = np.array([0.1, 1.0]), np.array([400, 1600, 6400])
    truth = np.array(
        [
            textbook(S[:5, :5] / a, S[5:, 5:] / b, S[:5, 5:] / np.sqrt(a * b), lam)
            for lam in grid
        ]
    )
    rmse, bars = [], []
    for n in sizes:
        draws = [correlated(rng, n, mixing) for _ in range(300)]
        errors = np.array([gulp(A, B, grid).squared for A, B in draws]) - truth
        rmse.append(np.sqrt(np.square(errors).mean(0)))
        bars.append(np.mean([gulp_standard_error(*d, grid) for d in draws[:20]], 0))
    slopes = np.polyfit(np.log(sizes), np.log(rmse), 1)[0]
    # 300 draws: relative error of an RMSE about 4 %, of a slope about 0.02
    np.testing.assert_allclose(slopes, -0.5, atol=0.05)
    np.testing.assert_allclose(bars[-1], rmse[-1], rtol=0.15)


def test_unbiased_cka_agrees_with_the_gram_matrix_formula():
    A, B = pair(13, n=30)
    X, Y = A - A.mean(0), B - B.mean(0)
    K, L = X @ X.T, Y @ Y.T

    def hsic(K, L):
        K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
        n, one = len(K), np.ones(len(K))
        middle = (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
        return np.trace(K @ L) + middle - 2 / (n - 2) * one @ K @ L @ one

    expected = hsic(K, L) / np.sqrt(hsic(K, K) * hsic(L, L))
    result = cka(A, B)
    assert result.unbiased == pytest.approx(expected, rel=1e-10)
    biased = np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L)
    assert result.value == pytest.approx(biased, rel=1e-12)
    assert result.distance == 1 - result.value


def test_unbiased_cka_of_strangers_is_flagged_when_negative():
    rng = np.random.default_rng(14)
    results = [
        cka(rng.normal(size=(30, 20)), rng.normal(size=(30, 20))) for _ in range(40)
    ]
    flags = [r.negative for r in results]
    assert 5 < sum(flags) < 35  # unbiased: about half below zero
    assert all(r.value > 0.2 for r in results)  # biased: never, and far from zero
    mean = np.mean([r.unbiased for r in results])
    assert abs(mean) < 0.03


def test_cca_of_known_correlations():
    rng = np.random.default_rng(15)
    Q = np.linalg.qr(rng.normal(size=(50, 8)) - 0)[0]
    Q = np.linalg.qr(Q - Q.mean(0))[0]
    rho = np.array([0.9, 0.5, 0.2])
    B = Q[:, :3] * rho + Q[:, 3:6] * np.sqrt(1 - rho**2)
    A = Q[:, :3] @ rng.normal(size=(3, 3))
    result = cca(A, B)
    np.testing.assert_allclose(result.correlations, rho, atol=1e-12)
    assert result.mean == pytest.approx(rho.mean())
    assert result.mean_squared == pytest.approx(np.square(rho).mean())
    assert cca(A, A @ rng.normal(size=(3, 3))).projected == pytest.approx(1.0)
    scaled = cca(Q[:, :3] * [1.0, 0.0001, 0.0001], B)
    assert scaled.projected == pytest.approx(0.9, abs=1e-3)


def test_procrustes_matches_scipy_and_is_zero_on_rotations():
    from scipy.linalg import orthogonal_procrustes

    A, B = pair(16, k=5)
    X, Y = (Z - Z.mean(0) for Z in (A, B))
    X, Y = (Z * np.sqrt(len(Z)) / np.linalg.norm(Z) for Z in (X, Y))
    R, _ = orthogonal_procrustes(Y, X)
    expected = np.square(X - Y @ R).sum() / len(X)
    assert procrustes(A, B) == pytest.approx(expected, rel=1e-12)
    Q = np.linalg.qr(np.random.default_rng(17).normal(size=(5, 5)))[0]
    assert procrustes(A, 3 * A @ Q) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda A: gulp(A, A[:-1]), "share their samples"),
        (lambda A: gulp(A, A, -1.0), "numbers from 0 to 1e100"),
        (lambda A: gulp(A, A, []), "numbers from 0 to 1e100"),
        (lambda A: gulp(A[:, 0], A), r"value\[:, None\]"),
        (lambda A: gulp(A * np.nan, A), "NaN or infinite values in 60 of 60"),
        (lambda A: gulp(A, np.ones((60, 2))), "constant over its 60 samples"),
        (lambda A: gulp(A, [["a"]] * 60), "does not convert"),
        (lambda A: gulp(A[:1], A[:1]), "one sample"),
        (lambda A: gulp_matrix([A]), "at least 2 arrays"),
        (lambda A: gulp_matrix([A, A[:9]]), "share their samples"),
        (lambda A: gulp_matrix([A, A], names=["x"]), "one name each"),
        (lambda A: cka(A[:3], A[:3]), "at least 4"),
    ],
)
def test_bad_representations_are_refused_with_the_fix(call, message):
    with pytest.raises(InputError, match=message):
        call(pair()[0])


def test_representation_files(tmp_path):
    A, _ = pair()
    np.save(tmp_path / "a.npy", A.reshape(60, 7, 1))
    np.testing.assert_array_equal(read_representation(tmp_path / "a.npy"), A)
    np.savetxt(tmp_path / "a.csv", A, delimiter=",")
    np.testing.assert_array_equal(read_representation(tmp_path / "a.csv"), A)
    np.save(tmp_path / "p.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "text.csv").write_text("a,b\nc,d\n")
    for name in ("p.npy", "empty.csv", "text.csv"):
        with pytest.raises(InputError, match=r"cannot be read|numpy\.save"):
            read_representation(tmp_path / name)
    with pytest.raises(StoreError, match="not a file"):
        read_representation(tmp_path / "missing.npy")


def test_errors_of_all_pairs_are_those_of_each():
    rng = np.random.default_rng(8)
    A, B = rng.normal(size=(200, 4)), rng.normal(size=(200, 3))
    errors = gulp_errors([A, B, A], [0.1, 1.0])
    d, squared = gulp(A, B, [0.1, 1.0]).distance, gulp_standard_error(A, B, [0.1, 1.0])
    np.testing.assert_allclose(errors[:, 0, 1], squared / (2 * d))
    np.testing.assert_allclose(errors, errors.transpose(0, 2, 1))
    assert (errors[:, 0, 0] == 0).all()
    # the bootstrap over samples sees the same spread
    draws = [rng.integers(0, 200, 200) for _ in range(200)]
    spread = np.std([gulp(A[i], B[i], 1.0).distance[0] for i in draws])
    assert 0.5 < spread / errors[1, 0, 1] < 2.0


def test_moments_by_blocks_are_those_of_all_rows(tmp_path, monkeypatch):
    """Small blocks, a large mean, float32 on disk: the distances of `gulp_matrix`."""
    monkeypatch.setattr(streamed, "BLOCK", 8 * 15 * 100.0)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1234, 6))
    reps = [50 + x @ rng.normal(size=(6, k)) + rng.normal(size=(1234, k))
            for k in (4, 5, 6)]  # fmt: skip
    reps[2] = reps[2].astype("f4")
    np.save(tmp_path / "c.npy", reps[2])
    moments = GulpMoments.of([*reps[:2], tmp_path / "c.npy"])
    lambdas = [0.0, 1e-3, 1.0]
    found, whole = moments.matrix(lambdas), gulp_matrix(reps, lambdas)
    assert moments.n == 1234 and found.names == whole.names
    np.testing.assert_allclose(found.squared, whole.squared, atol=1e-11)


def test_bootstrap_of_groups_agrees_with_the_influence_function():
    """Two ways to one standard error; 300 draws of 100 groups are right to a tenth."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(4000, 5))
    reps = [x @ rng.normal(size=(5, 4)), np.tanh(x), x]
    errors = GulpMoments.of(reps).errors([0.1, 1.0], draws=300)
    exact = gulp_errors(reps, [0.1, 1.0])
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(errors[:, off] / exact[:, off], 1.0, atol=0.35)
    assert (errors[:, ~off] == 0).all()


@pytest.mark.parametrize(
    ("reps", "message"),
    [
        ([np.ones((9, 2))], "at least 2 arrays"),
        ([np.ones((9, 2)), np.ones((8, 2))], "share their samples"),
        ([np.ones((9, 2)), np.full((9, 2), np.nan)], "first in row 0"),
        ([np.eye(9), np.ones((9, 2, 2))], "samples first"),
        ([np.eye(9), np.array(["a"] * 9)], "must be numbers"),
    ],
)
def test_what_cannot_be_streamed_is_refused(reps, message):
    with pytest.raises(InputError, match=message):
        GulpMoments.of(reps)
    with pytest.raises(InputError, match="is constant"):
        GulpMoments.of([np.eye(9), np.ones((9, 2))]).matrix()
    with pytest.raises(InputError, match="must be 20 for a bootstrap"):
        GulpMoments.of([np.eye(9), np.eye(9)]).errors()
