"""Real errors: closed forms, a dense convex solver, and proofs for every noise."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, norm, poisson

from pushforward.errors import InputError
from pushforward.statistics import (
    BinomialCounts,
    FixedGrid,
    GaussianErrors,
    GaussianNoise,
    PoissonCounts,
    estimated_noise,
    npmle,
)
from pushforward.statistics.mixtures import EvenGrid, wfr

RNG = np.random.default_rng(0)
SD = RNG.uniform(0.5, 2.0, 60)
LINE = RNG.choice([0.0, 4.0], 60) + SD * RNG.normal(size=60)
SDS = RNG.uniform(0.5, 1.5, (60, 2))
PLANE = RNG.choice([-2.0, 2.0], (60, 2)) + SDS * RNG.normal(size=(60, 2))
RATES = RNG.poisson(RNG.choice([0.0, 1.0, 8.0], 80))
EXPOSURE = RNG.uniform(0.2, 3.0, 80)
TRIALS = RNG.integers(1, 30, 80)
WINS = RNG.binomial(TRIALS, RNG.choice([0.0, 0.3, 1.0], 80))
CASES = {
    "line": (LINE, GaussianErrors(SD)),
    "plane": (PLANE, GaussianErrors(SDS)),
    "rates": (RATES, PoissonCounts(EXPOSURE)),
    "shares": (WINS, BinomialCounts(TRIALS)),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    data, likelihood = CASES[request.param]
    return request.param, npmle(data, likelihood=likelihood)


def test_equal_errors_are_one_variance():
    sd = np.full(60, 0.7)
    plain = npmle(LINE, covariance=0.49)
    fit = npmle(LINE, likelihood=GaussianErrors(sd))
    assert fit.loss == pytest.approx(plain.loss, abs=1e-11)
    np.testing.assert_allclose(fit.atoms, plain.atoms, atol=1e-6)
    np.testing.assert_allclose(fit.weights, plain.weights, atol=1e-7)


@pytest.mark.parametrize(("s", "t"), [(0.5, 1.5), (1.0, 1.0), (0.3, 3.0)])
def test_two_observations_with_two_atoms(s, t):
    """Far apart, by symmetry of the problem in weights: a closed system in two atoms.

    With weights w and 1 - w at a < b, stationarity in w reads D(a) = D(b) = 1, and in
    the atoms the posterior means are the atoms' own weighted data.
    """
    x, sd = np.array([-2.0, 3.0]), np.array([s, t])
    fit = npmle(x, likelihood=GaussianErrors(sd))
    assert fit.gap < 1e-9 and fit.proven and len(fit.atoms) == 2
    (a, b), w = fit.atoms[:, 0], fit.weights
    L = norm.pdf(x[:, None], [a, b], sd[:, None])
    share = 0.5 * L / (L @ w)[:, None]
    np.testing.assert_allclose(share.sum(axis=0), 1, atol=1e-9)
    precision = share / sd[:, None] ** 2
    means = (precision * x[:, None]).sum(axis=0) / precision.sum(axis=0)
    np.testing.assert_allclose(means, [a, b], atol=1e-7)


def test_two_close_observations_have_one_atom_at_their_weighted_mean():
    """The precision-weighted mean, and the loss in closed form."""
    x, sd = np.array([0.0, 0.8]), np.array([1.0, 2.0])
    fit = npmle(x, likelihood=GaussianErrors(sd))
    mean = (x / sd**2).sum() / (1 / sd**2).sum()
    np.testing.assert_allclose(fit.atoms, [[mean]], atol=1e-8)
    expected = -norm.logpdf(x, mean, sd).mean()
    assert fit.loss == pytest.approx(expected, abs=1e-12)


def test_one_parameter_families_have_their_closed_forms():
    """Equal counts: one atom at the rate; two far counts: two atoms, D = 1 at both."""
    fit = npmle(np.full(4, 7), likelihood=PoissonCounts(2.0))
    np.testing.assert_allclose(fit.atoms, [[3.5]], atol=1e-9)
    assert fit.loss == pytest.approx(-poisson.logpmf(7, 7.0), abs=1e-12)
    fit = npmle(np.array([0, 10]), likelihood=BinomialCounts(10))
    np.testing.assert_allclose(fit.atoms[:, 0], [0, 1], atol=1e-12)
    np.testing.assert_allclose(fit.weights, [0.5, 0.5], atol=1e-12)
    assert fit.loss == pytest.approx(np.log(2), abs=1e-12)
    # counts 0 and k: an atom at zero, and one at b with weight 1/(2 (1 - e^-b)).
    fit = npmle(np.array([0, 9]), likelihood=PoissonCounts())

    def slope(b):  # of the profile likelihood in b
        w = 1 / (2 * (1 - np.exp(-b)))
        zero = 1 - w + w * np.exp(-b)
        return -w * np.exp(-b) / zero + 9 / b - 1

    b = brentq(slope, 5, 12, xtol=1e-14)
    np.testing.assert_allclose(fit.atoms[:, 0], [0, b], atol=1e-7)
    assert fit.weights[1] == pytest.approx(1 / (2 * (1 - np.exp(-b))), abs=1e-8)


def test_every_noise_is_certified_and_proven(case):
    _, fit = case
    assert fit.proven and fit.gap < 1e-9
    np.testing.assert_allclose(fit.optimality(fit.atoms), 1, atol=1e-9)


def test_nothing_lies_above_the_certificate(case):
    name, fit = case
    low, high = fit.data.min(axis=0), fit.data.max(axis=0)
    if name == "rates":
        low, high = np.zeros(1), np.array([(RATES / EXPOSURE).max() * 1.3])
    if name == "shares":
        low, high = np.zeros(1), np.ones(1)
    count = 4001 if fit.atoms.shape[1] == 1 else 101
    axes = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    nodes = np.stack(np.meshgrid(*axes), -1).reshape(-1, len(axes))
    assert fit.optimality(nodes).max() <= 1 + 1e-9


@pytest.mark.slow  # cvxpy comes with the benchmarks
def test_a_dense_convex_solver_is_not_better(case):
    """cvxpy on a grid: a loss above ours by what the grid costs, never below."""
    cvxpy = pytest.importorskip("cvxpy")
    name, fit = case
    top = {"line": 8.0, "plane": 5.0, "rates": (RATES / EXPOSURE).max(), "shares": 1.0}
    low = -top[name] if name in ("line", "plane") else 0.0
    axis = np.linspace(low, top[name], 25 if name == "plane" else 400)
    grid = np.stack(np.meshgrid(*[axis] * fit.atoms.shape[1]), -1)
    grid = grid.reshape(-1, fit.atoms.shape[1])
    table = np.exp(fit.likelihood.log_table(fit.data, grid))
    w = cvxpy.Variable(len(grid), nonneg=True)
    goal = cvxpy.Minimize(-cvxpy.sum(cvxpy.log(table @ w)) / len(table))
    problem = cvxpy.Problem(goal, [cvxpy.sum(w) == 1])
    problem.solve(solver=cvxpy.CLARABEL)
    coarse = 0.1 if name == "plane" else 2e-3
    assert -1e-7 < problem.value - fit.loss < coarse
    ours = npmle(fit.data, likelihood=fit.likelihood, method=FixedGrid(grid))
    assert ours.loss == pytest.approx(problem.value, abs=1e-6)
    assert ours.loss <= problem.value + 1e-9
    assert 0 <= ours.loss - fit.loss <= ours.gap + 1e-12


def test_the_loss_is_that_of_scipy(case):
    name, fit = case
    w = fit.weights
    if name == "line":
        table = norm.pdf(LINE[:, None], fit.atoms[:, 0], SD[:, None])
    elif name == "plane":
        table = norm.pdf(PLANE[:, None], fit.atoms[None], SDS[:, None]).prod(axis=2)
    elif name == "rates":
        table = poisson.pmf(RATES[:, None], EXPOSURE[:, None] * fit.atoms[:, 0])
    else:
        table = binom.pmf(WINS[:, None], TRIALS[:, None], fit.atoms[:, 0])
    assert fit.loss == pytest.approx(-np.log(table @ w).mean(), abs=1e-12)
    assert fit.log_likelihood == pytest.approx(np.log(table @ w).sum(), abs=1e-9)
    posterior = table * w / (table @ w)[:, None]
    np.testing.assert_allclose(fit.posteriors().probabilities, posterior, atol=1e-12)


def test_covariances_and_the_standard_deviations_of_a_diagonal_agree():
    full = SDS[:, :, None] ** 2 * np.eye(2)
    by_sd = npmle(PLANE, likelihood=GaussianErrors(SDS))
    fit = npmle(PLANE, likelihood=GaussianErrors(full))
    assert fit.loss == pytest.approx(by_sd.loss, abs=1e-11)


def test_correlated_errors_turn_with_the_data():
    """Rotating data and covariances rotates the answer; the proof covers the plane."""
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    S = SDS[:30, :, None] ** 2 * np.eye(2)
    plain = npmle(PLANE[:30], likelihood=GaussianErrors(S))
    fit = npmle(PLANE[:30] @ turn.T, likelihood=GaussianErrors(turn @ S @ turn.T))
    assert fit.loss == pytest.approx(plain.loss, abs=1e-10)
    assert fit.proven and fit.gap < 1e-9


def test_missing_coordinates_leave_what_is_there():
    """A row without its second coordinate is worth its first, exactly."""
    sd = SDS.copy()
    sd[:20, 1] = np.inf
    x = np.where(np.isinf(sd), np.nan, PLANE)
    fit = npmle(x, likelihood=GaussianErrors(sd))
    seen = np.isfinite(sd)
    each = norm.logpdf(PLANE[:, None], fit.atoms[None], SDS[:, None])
    table = np.exp(np.where(seen[:, None], each, 0).sum(axis=2))
    assert fit.loss == pytest.approx(-np.log(table @ fit.weights).mean(), abs=1e-12)
    assert fit.proven and fit.gap < 1e-9
    assert fit.assumption.endswith("20 values missing")


def test_weights_are_repetitions(case):
    name, fit = case
    data, likelihood = CASES[name]
    sizes = {"line": SD, "plane": SDS, "rates": EXPOSURE, "shares": TRIALS}[name]
    again = np.concatenate([data, data[:10]])
    both = type(likelihood)(np.concatenate([sizes, sizes[:10]]))
    twice = npmle(again, likelihood=both)
    weights = np.where(np.arange(len(data)) < 10, 2.0, 1.0)
    once = npmle(data, likelihood=likelihood, weights=weights)
    assert once.loss == pytest.approx(twice.loss, abs=1e-10)
    assert once.log_likelihood == pytest.approx(twice.log_likelihood, abs=1e-8)


def test_posteriors_by_hand():
    fit = npmle(np.array([-2.0, 2.0]))
    found = fit.posteriors(np.array([0.3]))
    (a, b), (p, q) = fit.atoms[:, 0], found.probabilities[0]
    assert found.mean[0, 0] == pytest.approx(p * a + q * b)
    assert found.sd[0, 0] == pytest.approx((b - a) * np.sqrt(p * q))
    assert found.false_sign_rate()[0, 0] == pytest.approx(min(p, q))
    low, high = found.interval(0.9)
    assert p > 0.05 and low[0, 0] == a and high[0, 0] == b
    assert found.quantile(0.5)[0, 0] == b
    with pytest.raises(InputError, match="level"):
        found.interval(1.5)


def test_intervals_cover():
    """On data from the model, 90 % intervals hold nearly 90 % of the truth or more."""
    rng = np.random.default_rng(5)
    sd = rng.uniform(0.5, 1.5, 400)
    truth = rng.choice([-3.0, 0.0, 3.0], 400)
    fit = npmle(truth + sd * rng.normal(size=400), likelihood=GaussianErrors(sd))
    low, high = fit.posteriors().interval(0.9)
    near = 0.4  # atoms are estimates of the three places
    inside = (low[:, 0] - near <= truth) & (truth <= high[:, 0] + near)
    assert inside.mean() > 0.85


def test_the_noise_is_estimated_where_the_data_tell():
    rng = np.random.default_rng(3)
    x = rng.choice([0.0, 9.0], 120) + 0.8 * rng.normal(size=120)
    found = estimated_noise(x, folds=3)
    assert 0.65 < np.sqrt(found.covariance) < 0.95
    scaled = estimated_noise(1000 * x, folds=3)  # units do not matter
    assert scaled.covariance == pytest.approx(1e6 * found.covariance, rel=1e-6)
    assert "held out" in found.words
    for wrong in ({"folds": 1}, {"most": 2}):
        with pytest.raises(InputError, match="must be"):
            estimated_noise(x, **wrong)
    with pytest.raises(InputError, match="rows to hold out"):
        estimated_noise(x[:5])


def test_a_scale_that_contradicts_the_noise_is_said():
    rng = np.random.default_rng(4)
    x = rng.choice([0.0, 6.0], 60) + rng.normal(size=60)
    assert npmle(x).doubts == ()
    assert "assumed because nothing was said" in npmle(x).assumption
    assert "too large" in npmle(x / 1000).doubts[0]
    assert "too small" in npmle(x * 1000).doubts[0]
    assert "doubt: " in str(npmle(x * 1000))
    assert npmle(x / 1000, covariance=1e-6).doubts == ()


def test_an_even_grid_says_what_it_costs():
    fit = npmle(LINE, likelihood=GaussianErrors(SD), method=EvenGrid(30))
    best = npmle(LINE, likelihood=GaussianErrors(SD))
    assert 1e-9 < fit.loss - best.loss <= fit.gap
    grid = npmle(RATES, likelihood=PoissonCounts(), method=EvenGrid(50))
    assert grid.gap >= grid.loss - npmle(RATES, likelihood=PoissonCounts()).loss >= 0


def test_the_best_place_of_one_binomial_observation():
    """One observation alone: its share, by direct maximization."""
    for k, n in itertools.product((0, 3, 10), (10,)):
        fit = npmle(np.array([k]), likelihood=BinomialCounts(n))
        goal = minimize_scalar(
            lambda p, k=k: -binom.logpmf(k, 10, p), bounds=(0, 1), method="bounded"
        )
        assert fit.atoms[0, 0] == pytest.approx(k / n, abs=1e-9)
        assert fit.loss <= goal.fun + 1e-12


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (LINE, {"likelihood": GaussianErrors(SD[:5])}, "`errors` must be standard"),
        (LINE, {"likelihood": GaussianErrors(-SD)}, "positive standard deviations"),
        (LINE, {"likelihood": GaussianErrors(np.full(60, np.inf))}, "row 0 has none"),
        (np.full(60, np.nan), {"likelihood": GaussianErrors(SD)}, "infinite error"),
        (PLANE, {"likelihood": GaussianErrors(-np.ones((60, 2, 2)))}, "definite"),
        (LINE, {"likelihood": GaussianErrors(1e-9 * SD)}, "right units"),
        (LINE, {"likelihood": PoissonCounts()}, "whole numbers"),
        (RATES, {"likelihood": PoissonCounts(-1.0)}, "positive number"),
        (WINS, {"likelihood": BinomialCounts(2)}, "must not exceed `trials`"),
        (WINS, {"likelihood": BinomialCounts(29.5)}, "whole numbers"),
        (LINE, {"likelihood": 1.0}, "`likelihood` must be one"),
        (LINE, {"likelihood": GaussianNoise(), "covariance": 1.0}, "left out"),
        (LINE, {"likelihood": GaussianErrors(SD), "method": wfr(3)}, "descents know"),
        (WINS, {"likelihood": BinomialCounts(30), "method": FixedGrid([0.0])}, "nodes"),
    ],
)
def test_bad_input_is_named(data, options, message):
    with pytest.raises(InputError, match=message):
        npmle(data, **options)


def test_new_rows_bring_their_errors():
    fit = npmle(LINE, likelihood=GaussianErrors(SD))
    with pytest.raises(InputError, match="of their own"):
        fit.denoise(LINE[:3])
    again = fit.denoise(LINE[:3], GaussianErrors(SD[:3]))
    np.testing.assert_allclose(again, fit.posterior_means[:3], atol=1e-13)


def test_thumbtacks_of_the_package_rebayes():
    """320 tacks of nine flips: the atoms of Liu (Annals of Statistics 24, 1996).

    REBayes draws its `Bmix` over his .4385, .6013, .8144 (demo Bmix1). Those are EM's,
    stopped in the fourth digit: the certified optimum is .0003 away, and better.
    """
    times = [3, 13, 18, 48, 47, 67, 54, 51, 19]  # Beckett and Diaconis 1994
    ups = np.repeat(np.arange(1, 10), times)
    published = [0.4385, 0.6013, 0.8144]
    fit = npmle(ups, likelihood=BinomialCounts(9))
    np.testing.assert_allclose(fit.atoms[:, 0], published, atol=4e-4)
    assert fit.proven and fit.gap < 1e-9
    his = npmle(ups, likelihood=BinomialCounts(9), method=FixedGrid(published))
    assert 0 <= fit.log_likelihood - his.log_likelihood < 1e-3
    assert fit.log_likelihood == pytest.approx(-640.275681, abs=1e-6)


def test_eight_schools_of_the_package_ebnm():
    """Rubin's eight schools: nothing tells them apart, and all get the pooled mean.

    7.7 with standard error 4.1 in Gelman et al., Bayesian Data Analysis, 5.5.
    """
    effects = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    errors = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    fit = npmle(effects, likelihood=GaussianErrors(errors))
    precision = 1 / errors**2
    assert fit.atoms[:, 0] == pytest.approx([precision @ effects / precision.sum()])
    assert round(float(fit.atoms[0, 0]), 1) == 7.7
    assert round(float(precision.sum() ** -0.5), 1) == 4.1
    assert fit.proven and fit.gap < 1e-9
