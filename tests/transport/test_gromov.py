"""Gromov couplings: isometries have cost zero, and unmatched mass stays behind."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pushforward.errors import InputError, NumericalError
from pushforward.transport import fused_unbalanced_gromov_plan, gromov_plan
from pushforward.transport.gromov._gromov import UnbalancedGromov

pytest.importorskip("ot")


def rotated(seed=0, n=15):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3)) * [1, 2, 3]
    q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order = rng.permutation(n)
    return cdist(x, x), cdist(x @ q, x @ q)[np.ix_(order, order)], order


def test_isometric_clouds_match_from_a_hint():
    A, B, order = rotated()
    n = len(A)
    hint = np.full((n, n), 0.5 / n**2)
    hint[order, np.arange(n)] += 0.5 / n
    plan = gromov_plan(A, B, start=hint)
    assert plan.value == pytest.approx(0, abs=1e-10)
    assert plan.gap < 1e-8
    assert (np.argmax(plan.matrix, axis=0) == order).all()


def test_value_is_the_quadruple_sum():
    A, B, _ = rotated(n=6)
    plan = gromov_plan(A, B[:5, :5])
    gaps = (A[:, None, :, None] - B[None, :5, None, :5]) ** 2
    direct = np.einsum("ijkl,ij,kl->", gaps, plan.matrix, plan.matrix)
    assert plan.value == pytest.approx(direct, abs=1e-12)
    assert max(plan.marginal_errors) < 1e-12


def test_unbalanced_leaves_an_outlier_unmatched():
    A, B, _ = rotated(n=10)
    far = np.zeros((11, 11))
    scale = A.max()
    far[:10, :10], far[10, :10], far[:10, 10] = A, 3 * scale, 3 * scale
    plan = fused_unbalanced_gromov_plan(
        far / scale, B / scale, rho=0.5, eps=0.05, iterations=200
    )
    mass = plan.matrix.sum(axis=1)
    assert plan.gap < 1e-6  # a stationary point
    assert mass[10] < 0.2 * mass[:10].mean()


def unbalanced(n=7, m=6, *, eps=0.05, rho=0.4):
    A, B, _ = rotated(n=n)
    B = B[:m, :m]
    rng = np.random.default_rng(3)
    a, b = rng.dirichlet(np.full(n, 5.0)), rng.dirichlet(np.full(m, 5.0))
    linear = rng.uniform(0, 0.2, (n, m))
    return UnbalancedGromov(A / A.max(), B / B.max(), a, b, linear, rho, eps)


def test_unbalanced_objective_is_its_definition():
    """The quadruple sum, and the divergences of products summed over all pairs."""
    problem = unbalanced(5, 4)
    P = np.random.default_rng(0).uniform(0.01, 0.1, (5, 4))

    def product_kl(p, a):
        pp, aa = np.multiply.outer(p, p), np.multiply.outer(a, a)
        return np.sum(pp * np.log(pp / aa) - pp + aa)

    gaps = (problem.A[:, None, :, None] - problem.B[None, :, None, :]) ** 2
    direct = np.einsum("ijkl,ij,kl->", gaps, P, P) + np.sum(problem.linear * P)
    direct += 0.4 * product_kl(P.sum(1), problem.a)
    direct += 0.4 * product_kl(P.sum(0), problem.b)
    direct += 0.05 * product_kl(P, np.outer(problem.a, problem.b))
    assert problem.value(P) == pytest.approx(direct, abs=1e-12)


def test_unbalanced_gradient_is_the_derivative():
    problem = unbalanced(5, 4)
    rng = np.random.default_rng(1)
    P, move = rng.uniform(0.01, 0.1, (5, 4)), rng.standard_normal((5, 4))
    step = 1e-5
    ahead, behind = problem.value(P + step * move), problem.value(P - step * move)
    expected = (ahead - behind) / (2 * step)
    assert np.sum(problem.gradient(P) * move) == pytest.approx(expected, rel=1e-7)


def test_unbalanced_gap_certifies_stationarity():
    """Small where the solver arrived, large where it was stopped or pushed away."""
    p = unbalanced()

    def solve(iterations):
        return fused_unbalanced_gromov_plan(
            p.A, p.B, a=p.a, b=p.b, rho=p.rho, eps=p.eps, fused=5 * p.linear, alpha=0.2,
            iterations=iterations,
        )  # fmt: skip

    early, late = solve(1), solve(300)
    assert late.gap == pytest.approx(p.gap(late.matrix), abs=1e-15)
    assert 0 <= late.gap < 1e-6 < 1e-3 < early.gap
    assert late.value < early.value
    assert p.gap(1.01 * late.matrix) > 1e3 * late.gap
    assert late.iterations > early.iterations == 1
    assert max(late.marginal_errors) > 0.01  # unbalanced: mass is left behind


@pytest.mark.parametrize(
    ("A", "B", "options", "message"),
    [
        (np.zeros((2, 3)), np.eye(2), {}, "square"),
        (np.zeros((0, 0)), np.eye(2), {}, "square"),
        (np.array([[0, np.nan], [np.nan, 0]]), np.eye(2), {}, "NaN"),
        (np.array([[0.0, 1.0], [0.0, 0.0]]), np.eye(2), {}, "symmetric"),
        (np.eye(2), np.eye(2), {"a": np.ones(2)}, "sum to one"),
        (np.eye(2), np.eye(2), {"start": np.ones((2, 2))}, "coupling"),
        ("text", np.eye(2), {}, "numbers"),
    ],
)
def test_bad_input(A, B, options, message):
    with pytest.raises(InputError, match=message):
        gromov_plan(A, B, **options)


def test_bad_penalties():
    with pytest.raises(InputError, match="rho"):
        fused_unbalanced_gromov_plan(np.eye(2), np.eye(2), rho=0.0)
    with pytest.raises(NumericalError, match="raise eps"):
        table = 1e3 * (1 - np.eye(4))
        fused_unbalanced_gromov_plan(table, table[:3, :3], rho=0.1, eps=1e-5)
    with pytest.raises(InputError, match="eps"):
        fused_unbalanced_gromov_plan(np.eye(2), np.eye(2), rho=1.0, eps=-1.0)
    with pytest.raises(InputError, match="table"):
        fused_unbalanced_gromov_plan(
            np.eye(2), np.eye(2), rho=1.0, fused=np.ones((3, 2))
        )
