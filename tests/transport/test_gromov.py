"""Gromov couplings: isometries have cost zero, and unmatched mass stays behind."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pushforward.errors import InputError, NumericalError
from pushforward.transport import fused_unbalanced_gromov_plan, gromov_plan

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
    assert plan.gap is None
    assert mass[10] < 0.2 * mass[:10].mean()


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
