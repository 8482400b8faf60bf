"""Gromov-Wasserstein without tables: closed forms, quadruple sums, certificates."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pushforward.errors import InputError, NumericalError
from pushforward.transport import (
    InnerProduct,
    SphereDistance,
    SquaredDistance,
    entropic_gromov_plan,
    entropic_plan,
)

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(30, 3)) * [1.0, 1.5, 2.0]
Y = RNG.gamma(1.0, size=(25, 2)) * [1.0, 1.7]
A, B = RNG.dirichlet(np.full(30, 3.0)), RNG.dirichlet(np.full(25, 3.0))
EPS = 20.0


def tables(inside):
    if isinstance(inside, InnerProduct):
        return X @ X.T, Y @ Y.T
    return cdist(X, X, "sqeuclidean"), cdist(Y, Y, "sqeuclidean")


@pytest.mark.parametrize("inside", [InnerProduct(), SquaredDistance()], ids=str)
def test_value_and_gap_are_those_of_the_whole_tables(inside):
    """The quadruple sum, and the linearized problem solved with its table."""
    plan = entropic_gromov_plan((X, A), (Y, B), EPS, inside=inside)
    P, (C, D) = plan.dense(), tables(inside)
    np.testing.assert_allclose(P.sum(axis=1), A, atol=1e-14)
    np.testing.assert_allclose(P.sum(axis=0), B, atol=1e-14)
    gaps = (C[:, None, :, None] - D[None, :, None, :]) ** 2
    cost = np.einsum("ijkl,ij,kl->", gaps, P, P)
    assert plan.cost == pytest.approx(cost, rel=1e-10)
    entropy = EPS * np.sum(P * np.log(P / np.outer(A, B)))
    assert 0 <= plan.value - cost - entropy + 1e-9 < 1e-6 * EPS
    slope = 2 * np.einsum("ijkl,kl->ij", gaps, P)
    table = lambda x, y: slope  # noqa: E731
    best = entropic_plan((X[:, :1], A), (Y[:, :1], B), EPS, cost=table)
    gap = np.sum(slope * P) + entropy - best.value
    assert gap - 1e-8 < plan.gap <= 1e-6 * EPS


def test_two_normal_laws_have_a_closed_form():
    """Inner products: E[xy]^2 = a b - eps / 4. [le2022entropic]"""
    a, b, eps = 1.3, 0.6, 0.5
    x = np.linspace(-8, 8, 400)
    w, v = np.exp(-(x**2) / (2 * a)), np.exp(-(x**2) / (2 * b))
    laws = [(x[:, None], z / z.sum()) for z in (w, v)]
    plan = entropic_gromov_plan(*laws, eps, inside=InnerProduct(), tol=1e-9)
    square = a * b - eps / 4
    value = a**2 + b**2 - 2 * square + eps / 2 * np.log(4 * a * b / eps)
    assert plan.cross[0, 0] ** 2 == pytest.approx(square, abs=1e-4)  # a flat optimum
    assert plan.value == pytest.approx(value, abs=1e-8)


def test_agrees_with_pot_from_the_same_start():
    ot = pytest.importorskip("ot")
    plan = entropic_gromov_plan((X, A), (Y, B), EPS, tol=1e-9)
    first = plan.dense() * RNG.uniform(0.9, 1.1, (30, 25))
    for _ in range(200):
        first *= (A / first.sum(axis=1))[:, None]
        first *= B / first.sum(axis=0)
    theirs = ot.gromov.entropic_gromov_wasserstein(
        *tables(SquaredDistance()), A, B, "square_loss", epsilon=EPS, G0=first,
        max_iter=500, tol=1e-10, numItermax=100_000,  # its plans want 1e-10 as well
    )  # fmt: skip
    np.testing.assert_allclose(plan.dense(), theirs, atol=1e-6)
    (C, D), gaps = tables(SquaredDistance()), []
    for P in (plan.dense(), theirs):
        p, q = P.sum(axis=1), P.sum(axis=0)
        cost = p @ C**2 @ p + q @ D**2 @ q - 2 * np.sum((C @ P @ D) * P)
        gaps.append(cost + EPS * np.sum(P * np.log(P / np.outer(A, B))) - plan.value)
    np.testing.assert_allclose(gaps, 0.0, atol=1e-8 * EPS)


def test_a_turned_cloud_is_recognized():
    x = RNG.uniform(size=(100, 3)) ** 2 * [1.0, 1.5, 2.0]
    turn = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    order = RNG.permutation(100)
    y = (x @ turn + 5)[order]
    plan = entropic_gromov_plan(x, y, 0.5)
    off = plan.map - (x @ turn + 5)
    assert np.sum(off**2) < 0.2 * np.sum((y - y.mean(axis=0)) ** 2)


def test_steps_descend():
    told = []
    entropic_gromov_plan(X, Y, EPS, progress=lambda count, gap: told.append(gap))
    assert min(told) > -1e-9
    assert told[-1] < told[0]
    again = entropic_gromov_plan(X, Y, EPS, start=entropic_gromov_plan(X, Y, EPS))
    assert again.iterations <= 5


def test_bad_input():
    with pytest.raises(InputError, match="gromov_plan"):
        entropic_gromov_plan(X, Y, EPS, inside=SphereDistance())
    with pytest.raises(InputError, match="inside"):
        entropic_gromov_plan(X, Y, EPS, inside="distance")
    with pytest.raises(InputError, match="start"):
        entropic_gromov_plan(X, Y, EPS, start=np.eye(3))
    with pytest.raises(InputError, match="NaN"):
        entropic_gromov_plan(np.full((3, 2), np.nan), Y, EPS)
    with pytest.raises(InputError, match="eps"):
        entropic_gromov_plan(X, Y, 0.0)
    with pytest.raises(NumericalError, match="raise iterations"):
        entropic_gromov_plan(X, Y, EPS, start=np.ones((3, 2)), iterations=1)
