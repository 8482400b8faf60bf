"""Exact sparsity in depth against the oracles C2-1 to C2-8."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from pushforward.control.neural.families import Bottleneck, Readout, WeightsOutside
from pushforward.control.neural.first_order import LBFGS, Adam, AdamThenLBFGS
from pushforward.control.neural.losses import (
    L1,
    L2,
    Distance,
    Logistic,
    Squared,
    SquaredHinge,
)
from pushforward.control.neural.problem import Parameters, RungeKutta, TrainingProblem
from pushforward.control.neural.proximal import (
    Fista,
    Lumped,
    bounded_l1_prox,
    lumped_objective,
    piece_costs,
    project_l1_ball,
    spread,
)
from pushforward.control.neural.sparse_training import (
    SparseTrained,
    finish_sparse,
    largest_useful_lam,
    minimize_active,
    train_sparse,
)
from pushforward.control.neural.targets import circles, lifted
from pushforward.control.neural.trained import Trained
from pushforward.errors import InputError
from pushforward.theory import depth

KEY = jax.random.PRNGKey(0)
RELU = jax.nn.relu


def scalar(t1, layers, loss=Squared(), lam=0.1, bound=2.0):
    return TrainingProblem(
        WeightsOutside(1, RELU),
        [[0.5]],
        [np.e],
        loss=loss,
        penalty=L1(lam, bound),
        horizon=t1,
        layers=layers,
        tracking=1.0,
        final=0.0,
    )


def solve(problem):
    start = np.zeros((problem.layers, problem.family.size))
    start[:24] = 0.1
    controls, history = minimize_active(problem, start, Fista(steps=3000))
    trained = Trained(problem, Parameters(controls, None), history, history[-1:], 0.0)
    return SparseTrained(trained, None)


@pytest.fixture(scope="module")
def ten():
    return solve(scalar(10.0, 400))


def test_c2_1_active_time_and_cost(ten):
    exact = depth.sparse_scalar(10.0, 0.1, 2.0)
    assert exact["active_time"] == pytest.approx(0.7496338415, abs=1e-10)
    assert exact["cost"] == pytest.approx(1.7447228732, abs=1e-9)
    assert ten.active_time == pytest.approx(exact["active_time"], abs=3e-4)
    fine = solve(scalar(10.0, 1600))
    errors = [run.trained.history[-1] - exact["cost"] for run in (ten, fine)]
    assert errors[0] / errors[1] == pytest.approx(16.0, abs=1.0)
    assert abs(errors[1]) < 6e-5
    assert fine.active_time == pytest.approx(exact["active_time"], abs=2e-5)


def test_c2_2_bias_then_weight(ten):
    dt = 10.0 / 400
    weight, bias = ten.controls[: ten.active_layers].T
    first_weight = np.flatnonzero(weight)[0] * dt
    assert first_weight == pytest.approx(0.25, abs=dt)
    assert np.all(bias[np.flatnonzero(weight)[0] + 1 :] == 0)
    assert np.all(weight[: np.flatnonzero(weight)[0]] == 0)


@pytest.mark.parametrize("t1, stop", [(5.0, 0.7492022), (20.0, 0.7498241)])
def test_c2_3_active_time_hardly_depends_on_depth(t1, stop):
    assert depth.sparse_scalar(t1, 0.1, 2.0)["active_time"] == pytest.approx(
        stop, abs=5e-8
    )
    found = solve(scalar(t1, round(t1 / 0.025)))
    assert found.active_time == pytest.approx(stop, abs=3e-4)


def test_c2_4_zeros_are_bitwise_and_active_rows_saturate(ten):
    assert np.sum(ten.layer_norms == 0.0) == 370
    assert ten.active_layers == 30
    assert np.all(ten.controls[30:] == 0.0)
    assert ten.layer_norms[:29] == pytest.approx(2.0, abs=1e-9)
    assert 0 < ten.layer_norms[29] <= 2.0  # the last row is shared with rest


def test_stopping_identity_and_pruning(ten):
    assert ten.stopping_value() == pytest.approx(0.1, abs=1e-4)
    short = ten.pruned()
    assert short.problem.layers == 30
    assert np.array_equal(short.outputs([[0.5]]), ten.trained.outputs([[0.5]]))


def test_c2_5_plain_distance_reaches_the_target_in_finite_time():
    problem = TrainingProblem(
        WeightsOutside(1, RELU),
        [[0.5]],
        [np.e],
        loss=Distance(),
        penalty=L1(0.1, 2.0),
        horizon=5.0,
        layers=64,
        tracking=1.0,
        final=0.0,
        scheme=RungeKutta(),
    )

    @jax.jit
    def cost(amounts):  # bias for a while, then weight for a while
        bias, weight = amounts / 32.0
        rows = jnp.concatenate(
            [
                jnp.tile(jnp.array([[0.0, 1.0]]), (32, 1)) * bias,
                jnp.tile(jnp.array([[1.0, 0.0]]), (32, 1)) * weight,
            ]
        )
        return lumped_objective(problem, rows)

    run = minimize(
        lambda a: float(cost(jnp.asarray(a))),
        [0.4, 0.8],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000},
    )
    assert run.x == pytest.approx([0.5, 1.0], abs=2e-3)
    stop = np.sum(np.abs(run.x)) / 2.0
    assert stop == pytest.approx(depth.sparse_distance_active_time(2.0), abs=1e-3)
    end = (0.5 + run.x[0]) * np.exp(run.x[1])
    assert end == pytest.approx(np.e, abs=1e-5)


def test_c2_6_logistic_active_time_grows_logarithmically():
    s = depth.sparse_logistic(1e4, 1.0, 1.0)
    assert 1e4 * s["risk"] == pytest.approx(1.0010, abs=5e-5)
    assert s["active_time"] == pytest.approx(9.20932, abs=1e-5)
    problem = TrainingProblem(
        WeightsOutside(1, jnp.zeros_like),  # bias only
        [[0.0]],
        [1],
        loss=Logistic(),
        penalty=L1(1.0, 1.0),
        horizon=20.0,
        layers=400,
        tracking=1.0,
        final=0.0,
    )
    found, exact = solve(problem), depth.sparse_logistic(20.0, 1.0, 1.0)
    assert found.active_time == pytest.approx(exact["active_time"], abs=2e-3)
    assert found.trained.risk()[-1] == pytest.approx(exact["risk"], rel=2e-3)


def test_c2_7_lumped_optimum_has_nonnegative_surplus():
    problem = scalar(10.0, 400)
    g, history = Lumped(steps=6000).minimize(problem, jnp.full((60, 2), 0.02))
    costs, _ = piece_costs(problem, g)
    assert float(jnp.min(costs)) - 0.1 >= -1e-6
    exact = depth.sparse_scalar(10.0, 0.1, 2.0)
    assert history[-1] == pytest.approx(exact["cost"], abs=1e-3)
    assert float(jnp.sum(jnp.abs(g))) / 2.0 == pytest.approx(
        exact["active_time"], abs=2e-4
    )


def test_c2_8_prox_is_the_exact_minimizer():
    rng = np.random.default_rng(0)
    for _ in range(40):
        v = 2 * rng.standard_normal(5)
        weight, radius = rng.uniform(0.05, 1.0), rng.uniform(0.3, 3.0)

        def objective(ab, v=v, weight=weight):
            x = ab[:5] - ab[5:]
            return 0.5 * np.sum((x - v) ** 2) + weight * np.sum(ab)

        best = minimize(
            objective,
            np.full(10, 0.01),
            method="SLSQP",
            jac=lambda ab, v=v, weight=weight: (
                weight + np.concatenate([ab[:5] - ab[5:] - v, v - ab[:5] + ab[5:]])
            ),
            bounds=[(0, None)] * 10,
            constraints={
                "type": "ineq",
                "fun": lambda ab, r=radius: r - np.sum(ab),
                "jac": lambda ab: -np.ones(10),
            },
            options={"ftol": 1e-15, "maxiter": 500},
        )
        feasible = best.x * min(1.0, radius / np.sum(np.abs(best.x)))
        x = np.asarray(bounded_l1_prox(jnp.asarray(v), weight, radius))
        ours = 0.5 * np.sum((x - v) ** 2) + weight * np.sum(np.abs(x))
        assert np.sum(np.abs(x)) <= radius * (1 + 1e-12)
        assert ours == pytest.approx(objective(feasible), abs=1e-9)
        assert ours <= objective(feasible) + 1e-12


def test_projection_is_not_a_rescaling():
    x = np.asarray(project_l1_ball(jnp.array([3.0, 1.0]), jnp.asarray(2.0)))
    assert x == pytest.approx([2.0, 0.0], abs=1e-15)


def test_spread_keeps_the_integral_and_the_speed():
    g = np.array([[0.3, -0.1], [0.0, 0.0], [0.2, 0.6]])
    u = spread(g, 2.0, 4.0, 400)
    assert u.sum(axis=0) * 0.01 == pytest.approx(g.sum(axis=0), abs=1e-12)
    norms = np.abs(u).sum(axis=1)
    assert np.max(norms) <= 2.0 + 1e-12
    assert np.sum(norms > 1e-9) == 60


@pytest.mark.slow
def test_circles_become_a_shallow_network():
    """Smaller cousin of the circles run of the notes: same data recipe, 24 points."""
    points, labels = circles(0, 24)
    found = train_sparse(
        WeightsOutside(3, RELU),
        (lifted(points), labels),
        penalty=L1(0.05, 8.0),
        horizon=20.0,
        layers=400,
        pieces=24,
        solver=AdamThenLBFGS(Adam(steps=800), LBFGS(steps=200)),
        lumped=Lumped(steps=2000),
        fista=Fista(steps=2000),
        key=KEY,
    )
    assert np.all(np.sign(found.trained.outputs(lifted(points))[:, 0]) == labels)
    assert found.active_layers < 60
    assert np.all(found.controls[found.active_layers :] == 0.0)
    assert np.max(found.layer_norms) <= 8.0 + 1e-9
    same = found.pruned().outputs(lifted(points))
    assert np.array_equal(same, found.trained.outputs(lifted(points)))


def test_bad_input_is_explained():
    points, labels = circles(0, 10)
    heavy = TrainingProblem(
        WeightsOutside(3, RELU),
        lifted(points),
        labels,
        loss=SquaredHinge(),
        penalty=L1(50.0, 8.0),
        horizon=1.0,
        layers=10,
        tracking=1.0,
        final=0.0,
    )
    with pytest.raises(InputError, match="zero control is already stationary"):
        finish_sparse(heavy, np.zeros((5, 12)))
    assert largest_useful_lam(heavy) < 50.0
    bottle = TrainingProblem(
        Bottleneck(3, 2),
        lifted(points),
        labels,
        loss=SquaredHinge(),
        penalty=L1(0.1, 8.0),
        horizon=1.0,
        layers=10,
        tracking=1.0,
        final=0.0,
        readout=Readout([[0.0, 0.0, 1.0]]),
    )
    with pytest.raises(InputError, match="not homogeneous"):
        finish_sparse(bottle, np.zeros((5, 17)))


def test_bad_input_is_refused_before_any_training():
    points, labels = circles(0, 10)
    data, size = (lifted(points), labels), dict(horizon=1.0, layers=10, key=KEY)

    class Never:
        def minimize(self, problem, start, key):
            raise AssertionError("trained before the input was checked")

    with pytest.raises(InputError, match=r"needs `penalty=L1.*got L2"):
        train_sparse(
            WeightsOutside(3, RELU), data, penalty=L2(0.1), solver=Never(), **size
        )
    with pytest.raises(InputError, match="control.sparsify"):
        bottle = Bottleneck(3, 2)
        train_sparse(bottle, data, penalty=L1(0.1, 8.0), solver=Never(), **size)
    with pytest.raises(InputError, match="is too large"):
        train_sparse(
            WeightsOutside(3, RELU), data, penalty=L1(50.0, 8.0), solver=Never(), **size
        )
