"""Separated clusters and the energy staircase."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from pushforward.errors import InputError, NumericalError
from pushforward.theory import metastability, staircase

OFFICIAL = 0.5 * np.array([0, 0.5, 2, 4, 7]) * np.log(2000) / np.sqrt(2000)


def test_instance_of_the_main_theorem():
    """P4-O8: three orthonormal centers, n = 6, epsilon = 0.01, beta = 30."""
    beta, epsilon, n = 30.0, 0.01, 6
    alpha = metastability.configuration_overlap(np.eye(3), epsilon)
    assert alpha == pytest.approx(0.390035, abs=5.1e-7)
    gamma = metastability.separation(beta, alpha, epsilon, n)
    assert gamma == pytest.approx(0.233904, abs=5.1e-7)
    exponent = 0.95 * metastability.contraction_exponent(beta, alpha, epsilon, n)
    assert exponent == pytest.approx(0.365399, abs=5.1e-7)
    entry = metastability.entry_time(beta, epsilon, n, exponent)
    assert entry == pytest.approx(317.23, abs=5.1e-3)
    leave = metastability.exit_time(beta, alpha, epsilon, n)
    assert leave == pytest.approx(1.4756e5, rel=5e-5)
    assert 2 * np.exp(-exponent * beta) == pytest.approx(3.47e-5, rel=2e-3)


def test_overlap_is_the_largest_product_between_caps():
    """alpha by brute force over boundary points of two caps on the circle."""
    angle, epsilon = 1.2, 0.03
    radius = np.arccos(1 - 2 * epsilon)
    offsets = np.linspace(-radius, radius, 2001)
    products = np.cos(angle + offsets[:, None] - offsets[None, :])
    assert metastability.cap_overlap(angle, epsilon) == pytest.approx(products.max())
    assert metastability.cap_overlap(0.01, epsilon) == 1.0


def test_separation_of_configurations():
    rng = np.random.default_rng(0)
    points = np.repeat(np.eye(3), 2, axis=0) + 0.02 * rng.standard_normal((6, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    assert metastability.is_separated(points, np.eye(3), 30.0, 0.01)
    assert not metastability.is_separated(points, np.eye(3), 15.0, 0.01)
    astray = points.copy()
    astray[0] = [0.8, 0.6, 0.0]
    assert not metastability.is_separated(astray, np.eye(3), 30.0, 0.01)


def test_no_contraction_without_separation():
    assert metastability.contraction_exponent(5.0, 0.39, 0.01, 6) == 0.0


@pytest.mark.parametrize("u_0, beta, c", [(0.3, 4.0, 1.0), (0.8, 20.0, 0.5)])
def test_contraction_time_bounds_the_scalar_equation(u_0, beta, c):
    target = np.exp(-c * beta)

    def slowness(log_gap):  # d t / d log(1-u)
        gap = np.exp(log_gap)
        return np.exp(beta * gap) / (1 - gap)

    exact, _ = quad(slowness, np.log(target), np.log(1 - u_0), limit=200)
    bound = metastability.contraction_time(u_0, beta, c)
    assert 0.05 * bound < exact < bound


def test_plateau_values():
    """P4-O1."""
    values = [
        staircase.plateau(sizes)
        for sizes in ([1] * 5, [2, 1, 1, 1], [3, 1, 1], [3, 2], [5])
    ]
    assert values == pytest.approx([0.20, 0.28, 0.44, 0.52, 1.0])
    found = [m.plateau for m in staircase.mergers(OFFICIAL)]
    assert found == pytest.approx([0.28, 0.44, 0.52, 1.0])


def test_arclengths_and_jump_times():
    """P4-O2: the published angles."""
    assert OFFICIAL[1:] == pytest.approx(
        [0.04249034, 0.16996135, 0.33992269, 0.59486471], abs=5.1e-9
    )
    found = [m.arclength for m in staircase.mergers(OFFICIAL)]
    printed = [0.03004521, 0.15147146, 0.33174269, 0.76617045]
    assert found == pytest.approx(printed, abs=5.1e-9)
    times = staircase.jump_times(OFFICIAL, [4000.0, 500.0])
    assert times[0] == pytest.approx([0.003623, 0.018263, 0.039998, 0.092376], abs=6e-7)
    assert times[1] == pytest.approx([0.004835, 0.024373, 0.053381, 0.123285], abs=6e-7)


def test_one_merger_of_the_normalized_gradient_flow():
    """P4-O2: arclength of two weighted clusters, by stepping |d theta| = ds."""
    m, theta, spent, step = np.array([3.0, 2.0]), np.array([0.0, 0.4]), 0.0, 1e-5
    while theta[1] - theta[0] > 2 * step:
        # per token of a cluster the force is proportional to the mass of the other
        force = np.array([m[1], -m[0]])
        force /= np.sqrt((m * force**2).sum())
        theta, spent = theta + step * force, spent + step
    (merger,) = staircase.mergers([0.0, 0.4], [3, 2])
    assert spent == pytest.approx(merger.arclength, abs=5e-5)
    assert theta.mean() == pytest.approx(merger.angle, abs=5e-5)
    assert merger.arclength == pytest.approx(staircase.merging_arclength(0.4, 3, 2))


def test_order_of_the_input_does_not_matter():
    shuffled = OFFICIAL[[3, 0, 4, 2, 1]]
    assert staircase.mergers(shuffled) == staircase.mergers(OFFICIAL)


def test_physical_time_of_the_last_merger():
    """P4-O4: log10 of the time, out of reach of any stepping."""
    last = staircase.mergers(OFFICIAL)[-1]
    assert last.distance == pytest.approx(0.396577, abs=1e-6)
    found = staircase.log10_merging_time([500.0, 4000.0], last.distance, 3, 2, 5)
    assert found == pytest.approx([15.7, 132.7], abs=0.05)


def test_physical_time_of_a_merger_that_can_be_integrated():
    """P4-O4: the flow with 1/n^2 at beta = 60, D = 0.8, within its 1/beta."""
    beta, m_1, m_2, n = 60.0, 3, 2, 5

    def closing(_, gap):
        pull = np.exp(beta * (np.cos(gap) - 1)) * np.sin(gap)
        return -(m_1 + m_2) / n**2 * pull

    def met(_, gap):
        return gap[0] - 1e-3

    met.terminal = True
    run = solve_ivp(
        closing, (0, 1e12), [0.8], method="LSODA", events=met, rtol=1e-10, atol=1e-12
    )
    predicted = staircase.log10_merging_time(beta, 0.8, m_1, m_2, n)
    assert np.log10(run.t[-1]) == pytest.approx(predicted, abs=0.05)


def test_energy_of_a_plateau():
    """P4-O7: 13/25 + (12/25) e^{-beta (1 - cos phi)}, excess 3.24e-4 at 145.6 deg."""
    found = staircase.plateau_energy(4.0, [0.0, np.deg2rad(145.6)], [3, 2])
    assert found == pytest.approx(0.520323723, abs=1e-6)
    assert found - 13 / 25 == pytest.approx(3.24e-4, abs=1e-6)
    crowd = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    mean = np.exp(4.0 * (np.cos(crowd[:, None] - crowd[None, :]) - 1)).mean()
    assert staircase.plateau_energy(4.0, [0.0, 1.0], [3, 2]) == pytest.approx(mean)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: metastability.cap_overlap(1.0, 0.1), "`epsilon` must be strictly"),
        (lambda: metastability.separation(0.5, 0, 0.01, 6), "`beta` must be strictly"),
        (lambda: metastability.separation(30.0, 0, 0.01, 1), "`n` must be at least 2"),
        (
            lambda: metastability.configuration_overlap(2 * np.eye(3), 0.01),
            "`centers` must be unit vectors",
        ),
        (
            lambda: metastability.configuration_overlap([[1.0, 0.0]], 0.01),
            "`centers` must have at least 2 rows",
        ),
        (lambda: staircase.mergers([0.0, 4.0]), "`angles` must span at most pi"),
        (lambda: staircase.mergers([]), "`angles` must"),
        (lambda: staircase.mergers([0.0, 1.0], [1.0]), "`masses` must have one entry"),
        (lambda: staircase.plateau([1.0, -1.0]), "`masses` must be positive"),
        (lambda: staircase.jump_times([0.0, 1.0], 1.0), "`beta` must be strictly"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_overflow_carries_the_logarithm():
    with pytest.raises(NumericalError, match="exit time is e") as caught:
        metastability.exit_time(4000.0, 0.0, 0.01, 6)
    logarithm = metastability.log_exit_time(4000.0, 0.0, 0.01, 6)
    assert caught.value.partial == logarithm
