"""Training against the oracles of large-time asymptotics (C3-1 to C3-9, C3-12)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.control.neural.families import (
    Bottleneck,
    Readout,
    WeightsInside,
    WeightsOutside,
)
from pushforward.control.neural.first_order import LBFGS, Adam, AdamThenLBFGS
from pushforward.control.neural.gauss_newton import ILQR
from pushforward.control.neural.losses import (
    H1,
    L1,
    L2,
    CrossEntropy,
    Distance,
    Hinge,
    Logistic,
    SquaredHinge,
)
from pushforward.control.neural.marquardt import LevenbergMarquardt
from pushforward.control.neural.problem import (
    Euler,
    Midpoint,
    Parameters,
    RungeKutta,
    TrainingProblem,
)
from pushforward.control.neural.targets import circles, lifted, moons, target_problem
from pushforward.control.neural.trained import Trained
from pushforward.control.neural.training import (
    minimal_norm_interpolator,
    optimize,
    sweep_horizons,
    train,
)
from pushforward.errors import InputError
from pushforward.theory import depth

KEY = jax.random.key(0)
RELU = jax.nn.relu
START = [(0.3, -0.2), (-0.4, 0.5), (0.6, 0.7)]
GOAL = [(1.0, 0.2), (-0.5, 1.0), (0.8, 1.6)]


def scalar(layers, scheme=RungeKutta(), lam=1.0, horizon=1.0):
    return target_problem(
        WeightsOutside(1, RELU),
        [[0.5]],
        [[np.e]],
        lam=lam,
        horizon=horizon,
        layers=layers,
        tracking=0.0,
        scheme=scheme,
    )


def triple(**options):
    return target_problem(WeightsOutside(2), START, GOAL, **options)


def squared_norm(trained):
    """||v||^2 of the rescaled control v(s) = T u(sT) on (0, 1)."""
    horizon = float(trained.problem.horizon)
    return horizon**2 * np.mean(trained.norms() ** 2)


def test_c3_1_minimal_norm_is_a_squared_distance():
    exact = depth.scalar_minimal_norm(0.5, np.e)
    excess = {}
    for scheme in (RungeKutta(), Euler()):
        for layers in (40, 80):
            problem = scalar(layers, scheme)
            one = Parameters(jnp.ones((layers, 2)), None)
            found = minimal_norm_interpolator(problem, start=one)
            excess[type(scheme), layers] = found.history[-1] - exact
    assert excess[RungeKutta, 80] == pytest.approx(1.23e-5, abs=1e-7)
    assert excess[RungeKutta, 40] / excess[RungeKutta, 80] == pytest.approx(4, abs=0.01)
    assert excess[Euler, 80] == pytest.approx(1.85e-2, abs=1e-4)
    assert excess[Euler, 40] / excess[Euler, 80] == pytest.approx(2, abs=0.05)


@pytest.fixture(scope="module")
def scalar_sweep():
    horizons = [4.0**k for k in range(6)]
    return sweep_horizons(scalar(40), horizons, solver=ILQR(), key=KEY)


def test_c3_2_squared_loss_decays_like_one_over_depth_squared(scalar_sweep):
    last = scalar_sweep[-1]
    scaled = 1024.0**2 * last.risk()[-1]
    assert scaled == pytest.approx(
        depth.squared_risk_constant(0.5, np.e, 1.0), rel=2e-4
    )
    assert scaled == pytest.approx(0.184548, abs=1e-6)


def test_c3_3_risk_bound_and_monotonicity(scalar_sweep):
    norm = depth.scalar_minimal_norm(0.5, np.e)
    risks = np.array([run.risk()[-1] for run in scalar_sweep])
    horizons = np.array([float(run.problem.horizon) for run in scalar_sweep])
    assert np.all(horizons * risks <= norm)
    assert np.all(np.diff(risks) < 0)
    assert np.all(np.diff([squared_norm(run) for run in scalar_sweep]) > 0)


@pytest.mark.slow
def test_c3_4_three_particles_over_four_decades_of_depth():
    problem = triple(lam=0.1, horizon=1.0, layers=40, tracking=0.0, scheme=RungeKutta())
    runs = sweep_horizons(problem, [4.0**k for k in range(8)], solver=ILQR(), key=KEY)
    norms = [squared_norm(runs[k]) for k in (0, 2, 4, 7)]
    assert norms == pytest.approx([0.651427, 1.150028, 1.203685, 1.207358], abs=1e-5)
    risks = [run.risk()[-1] for run in runs[2:]]
    slope = np.polyfit(np.log(4.0 ** np.arange(2, 8)), np.log(risks), 1)[0]
    assert slope == pytest.approx(-1.993, abs=0.02)


@pytest.mark.slow
def test_c3_5_optimal_controls_have_constant_norm():
    spread = []
    for layers in (40, 80):
        problem = triple(
            lam=0.05, horizon=4.0, layers=layers, tracking=0.0, scheme=RungeKutta()
        )
        found = optimize(problem, solver=ILQR(tolerance=1e-12), key=KEY)
        norms = found.norms()
        spread.append(np.ptp(norms) / np.mean(norms))
    assert np.mean(norms) == pytest.approx(0.26187, abs=5e-6)
    assert spread[1] < 4e-6
    assert spread[0] / spread[1] == pytest.approx(4.0, abs=0.6)


@pytest.fixture(scope="module")
def tracked():
    problem = triple(lam=0.5, horizon=40.0, layers=800, tracking=1.0, final=0.0)
    return optimize(problem, solver=ILQR(), key=KEY)


def test_c3_6_tracking_rate_is_a_singular_value(tracked):
    rates = depth.tracking_rates(np.tanh(GOAL), 1 / 3, 0.5)
    assert rates[-1] == pytest.approx(0.322797, abs=1e-6)
    window = (tracked.times > 12) & (tracked.times < 24)
    distance = np.sqrt(tracked.risk()[window])
    rate = -np.polyfit(tracked.times[window], np.log(distance), 1)[0]
    assert rate == pytest.approx(rates[-1], abs=2e-4)
    assert len(tracked.history) < 20 and tracked.optimality() < 1e-6


def test_c3_7_scalar_tracking_rate_and_cost():
    exact = depth.scalar_tracking_cost(0.5, 2.0, 1.0)
    assert exact == pytest.approx(1.6136266, abs=5e-8)
    gaps = []
    for layers in (400, 800):
        problem = target_problem(
            WeightsOutside(1, RELU),
            [[0.5]],
            [[2.0]],
            lam=1.0,
            horizon=8.0,
            layers=layers,
            final=0.0,
        )
        found = optimize(problem, solver=ILQR(), key=KEY)
        gaps.append(found.objective - exact)
    assert abs(gaps[1]) < 6e-5 and gaps[0] / gaps[1] == pytest.approx(4.0, abs=0.2)
    window = (found.times > 4) & (found.times < 6)
    distance = np.sqrt(found.risk()[window])
    rate = -np.polyfit(found.times[window], np.log(distance), 1)[0]
    assert rate == pytest.approx(np.sqrt(5.0), abs=3e-4)


@pytest.mark.slow
def test_c3_8_hamiltonian_law():
    defects = []
    for layers in (50, 100, 200):
        problem = triple(lam=0.5, horizon=4.0, layers=layers, tracking=1.0, final=0.0)
        found = optimize(problem, solver=ILQR(), key=KEY)
        defects.append(found.hamiltonian_defect())
        assert found.risk()[-1] <= np.min(found.risk()) + 1e-12
    assert defects[-1] < 2e-4
    assert defects[0] / defects[1] == pytest.approx(4.0, abs=0.3)
    assert defects[1] / defects[2] == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("scheme", [Euler(), Midpoint(), RungeKutta()])
@pytest.mark.parametrize(
    "family", [WeightsOutside(2), WeightsInside(2, RELU)], ids=["out-tanh", "in-relu"]
)
def test_c3_9_only_the_ratio_of_penalty_and_depth_matters(scheme, family):
    u = jax.random.normal(KEY, (7, family.size))
    T, lam = 3.7, 0.3
    options = dict(layers=7, tracking=0.0, scheme=scheme)
    deep = target_problem(family, START, GOAL, lam=lam, horizon=T, **options)
    unit = target_problem(family, START, GOAL, lam=lam / T, horizon=1.0, **options)
    assert float(deep.objective(Parameters(u, None))) == pytest.approx(
        float(unit.objective(Parameters(T * u, None))), rel=1e-13
    )


def test_c3_12_three_optimizers_agree_on_moons():
    points, labels = moons(0)
    problem = TrainingProblem(
        WeightsOutside(3),
        lifted(points),
        labels,
        penalty=L2(0.01),
        horizon=10.0,
        layers=40,
    )
    start = problem.random(jax.random.PRNGKey(0))
    for solver in (LBFGS(), AdamThenLBFGS(Adam(steps=1500))):
        found = optimize(problem, solver=solver, start=start, key=KEY)
        assert found.objective == pytest.approx(0.026143, abs=1e-6)


def test_solvers_agree_on_a_small_problem():
    problem = triple(lam=0.5, horizon=2.0, layers=10, tracking=1.0)
    start = problem.random(KEY)
    values = [
        optimize(problem, solver=solver, start=start, key=KEY).objective
        for solver in (ILQR(), LevenbergMarquardt(), LBFGS())
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-9)


def test_levenberg_marquardt_keeps_the_lowest_of_its_descents():
    problem = triple(lam=0.5, horizon=2.0, layers=10, tracking=1.0)
    start = problem.random(KEY)
    few = [LevenbergMarquardt(steps=3, shifts=(s,)) for s in (1000.0, 1.0)]
    alone = [solver.minimize(problem, start, KEY).history[-1] for solver in few]
    assert alone[0] != alone[1]
    both = LevenbergMarquardt(steps=3, shifts=(1000.0, 1.0))
    assert both.minimize(problem, start, KEY).history[-1] == min(alone)
    for shifts in ((), 1.0, (1.0, -1.0), (float("nan"),)):
        with pytest.raises(InputError, match="`shifts`"):
            LevenbergMarquardt(shifts=shifts)


@pytest.mark.slow
def test_hinge_tracking_classifies_the_circles():
    """Table of the notes: J = .5998 with the risk summed at layer ends."""
    points, labels = circles(0)
    problem = TrainingProblem(
        WeightsOutside(3, RELU),
        lifted(points),
        labels,
        loss=SquaredHinge(),
        penalty=L2(0.01),
        horizon=10.0,
        layers=40,
        tracking=1.0,
        final=0.0,
    )
    key = jax.random.PRNGKey(0)
    found = optimize(problem, start=problem.random(key), key=key)
    at_ends = found.objective - 0.5 * float(problem.dt) * found.risk()[0]
    assert at_ends < 0.61
    assert np.all(np.sign(found.outputs(lifted(points))[:, 0]) == labels)


@pytest.mark.parametrize(
    "loss, labels",
    [
        (Distance(), [0.5, -0.5, 1.0]),
        (Hinge(), [1, -1, 1]),
        (Logistic(), [1, -1, 1]),
    ],
)
def test_other_losses_train(loss, labels):
    found = train(
        WeightsOutside(2),
        (START, labels),
        loss=loss,
        penalty=L2(1e-3),
        horizon=2.0,
        layers=8,
        solver=AdamThenLBFGS(Adam(steps=300), LBFGS(steps=100)),
        key=KEY,
    )
    assert found.risk()[-1] < 0.2 * found.risk()[0]


@pytest.mark.slow
def test_cross_entropy_with_trained_readout_and_chunks():
    points, _ = circles(0, 30)
    classes = (points[:, 0] > 0).astype(int)
    options = dict(
        loss=CrossEntropy(),
        penalty=L2(1e-2),
        horizon=1.0,
        layers=4,
        readout=Readout(np.zeros((2, 2)), trained=True),
    )
    whole = TrainingProblem(WeightsOutside(2), points, classes, **options)
    parts = TrainingProblem(WeightsOutside(2), points, classes, chunk=7, **options)
    start = whole.random(KEY)
    assert float(parts.objective(start)) == pytest.approx(
        float(whole.objective(start)), rel=1e-14
    )
    found = optimize(parts, solver=LBFGS(steps=60), start=start, key=KEY)
    assert np.mean(np.argmax(found.outputs(points), axis=1) == classes) == 1.0


def test_minibatches_reduce_the_objective():
    points, labels = circles(0)
    problem = TrainingProblem(
        Bottleneck(2, 8),
        points,
        labels,
        readout=Readout([[1.0, 0.0]]),
        loss=SquaredHinge(),
        horizon=2.0,
        layers=4,
    )
    found = optimize(problem, solver=Adam(steps=200, batch=16), key=KEY)
    assert float(problem.objective(found.parameters)) < 0.7


def test_smooth_penalty_of_the_inner_form_smooths_controls():
    options = dict(readout=Readout([[1.0, 0.0]]), horizon=2.0, layers=16)
    jumps = []
    for penalty in (L2(0.05), H1(0.05)):
        found = train(
            WeightsInside(2),
            (START, [1.0, 0.5, 2.0]),
            penalty=penalty,
            solver=LBFGS(),
            key=KEY,
            **options,
        )
        jumps.append(np.sum(np.diff(found.controls, axis=0) ** 2))
    assert jumps[1] < 0.5 * jumps[0]


def small(*, labels=(1.0, 2.0, 3.0), **options):
    return train(WeightsOutside(2), (START, labels), key=KEY, **options)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: L2(0.0), "`lam` must be positive, got 0"),
        (lambda: L2(-1.0), "`lam` must be positive"),
        (lambda: L1(0.1), "L1 needs `bound`.*impulse"),
        (lambda: L1(0.1, -2.0), "`bound` must be positive"),
        (
            lambda: train(WeightsOutside(2), (START, [1.0, 2.0]), key=KEY),
            r"shape \(3, 1\)",
        ),
        (
            lambda: train(WeightsOutside(2), (START, [0, 1, 2]), loss=Hinge(), key=KEY),
            r"-1 or \+1",
        ),
        (
            lambda: train(
                WeightsOutside(2), (START, [0.5, 1, 2]), loss=CrossEntropy(), key=KEY
            ),
            "class numbers",
        ),
        (
            lambda: target_problem(
                WeightsOutside(2),
                np.eye(4, 2),
                np.ones((4, 2)),
                lam=1.0,
                horizon=1.0,
                layers=2,
            ),
            r"N <= d \+ 1 = 3.*SquaredHinge",
        ),
        (
            lambda: train(
                WeightsOutside(2), (START, [1.0, 0, 1]), penalty=L1(1.0, 2.0), key=KEY
            ),
            "train_sparse",
        ),
        (
            lambda: train(
                WeightsOutside(2),
                (START, [1, -1, 1]),
                loss=Logistic(),
                solver=ILQR(),
                key=KEY,
            ),
            "AdamThenLBFGS",
        ),
        (
            lambda: train(WeightsOutside(3), (START, [1.0, 2, 3]), key=KEY),
            "`inputs` must have",
        ),
        (
            lambda: train(WeightsOutside(2), (START, [1.0, 2, 3]), final=0.0, key=KEY),
            "nothing asks for a fit",
        ),
        (lambda: L2(float("nan")), "`lam` must be finite, got nan"),
        (
            lambda: train(WeightsOutside(2), START, key=KEY),
            r"pair \(inputs, labels\), got list",
        ),
        (lambda: small(penalty=0.01), r"`penalty`.*L2\(0.01\), got 0.01"),
        (lambda: small(loss="mse"), r"`loss`.*SquaredHinge\(\), got 'mse'"),
        (lambda: small(loss=Hinge), "got the class Hinge"),
        (lambda: small(solver="adam"), "AdamThenLBFGS.*got 'adam'"),
        (lambda: small(readout=Readout(np.eye(3))), "2 columns"),
        (lambda: small(labels=["a", "b", "a"]), "got 'a'.*NeuralODEClassifier"),
        (lambda: small(labels=[0, 1, 1], loss=CrossEntropy()), "one output per class"),
        (
            lambda: train(WeightsOutside(2), (START, [1.0, 2, 3]), key=0),
            "random key.*got 0",
        ),
        (lambda: WeightsOutside(2, "relu"), "`activation` must be a function"),
        (
            lambda: small(
                labels=np.ones((3, 2)), readout=Readout(np.eye(2)), tracking=1.0
            ),
            "slow_allowed=True",
        ),
    ],
)
def test_bad_input_is_explained(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    "family",
    [WeightsOutside(2), WeightsInside(2), Bottleneck(2, 3)],
    ids=["out", "in", "bottleneck"],
)
def test_flowing_the_field_repeats_the_network(family):
    problem = TrainingProblem(
        family, START, [1.0, 0.0, -1.0], horizon=2.0, layers=4, scheme=Euler()
    )
    controls = problem.random(KEY, 0.5)
    made = Trained(problem, controls, np.zeros(1), np.zeros(1), 0.0)
    mu = pf.Particles(pf.Euclidean(2), jnp.asarray(START))
    layers = pf.flow(made.as_field(), mu, 2.0, save=2, solver=pf.Layers(0.5))
    assert np.asarray(layers.final.points) == pytest.approx(
        made.trajectory(START)[-1], abs=1e-13
    )


def test_flow_is_the_limit_of_the_layers():
    problem = triple(lam=0.5, horizon=0.6, layers=6, scheme=RungeKutta())
    made = optimize(problem, solver=ILQR(), key=KEY)
    mu = pf.Particles(pf.Euclidean(2), jnp.asarray(START))
    exact = pf.flow(made.as_field(), mu, 0.6, save=2)
    assert np.asarray(exact.final.points) == pytest.approx(
        made.trajectory(START)[-1], abs=1e-6
    )
