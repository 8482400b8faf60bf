"""Causal attention and random parking."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from pushforward.errors import InputError
from pushforward.theory import causal, circle, parking
from pushforward.theory.ordered.causal import FinalConfiguration


def geodesic(x, y):
    return np.arccos(np.clip(x @ y.T, -1, 1))


def test_consensus_rates_are_those_of_the_linearized_flow():
    """P3-O3: eigenvalues of lower-triangular averaging minus the identity."""
    n = 7
    averaging = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    rates = np.sort(-np.linalg.eigvals(averaging - np.eye(n)).real)[1:]
    assert causal.consensus_rates(n) == pytest.approx(rates)
    assert causal.consensus_rates(n)[0] == 0.5


def test_first_token_follows_oja():
    """P3-O7: closed form against integration, random 5 x 5 matrix, t = 2."""
    rng = np.random.default_rng(0)
    V, x = rng.standard_normal((5, 5)), rng.standard_normal(5)
    x /= np.linalg.norm(x)
    run = solve_ivp(
        lambda _, y: V @ y - (y @ V @ y) * y,
        (0, 2),
        x,
        method="DOP853",
        rtol=1e-12,
        atol=1e-14,
    )
    assert causal.first_token(2.0, x, V) == pytest.approx(run.y[:, -1], abs=1e-10)
    far = causal.first_token(1e5, x, np.diag([2.0, 1, 0, -1, -2]))
    assert np.abs(far) == pytest.approx([1, 0, 0, 0, 0])


@pytest.mark.parametrize(
    "V, expected",
    [
        (np.eye(3), FinalConfiguration.FIRST_TOKEN),
        (np.diag([1.0, 1.0, 0.3]), FinalConfiguration.ONE_POINT),
        (np.diag([2.0, 1.0, 0.5]), FinalConfiguration.TWO_POINTS),
        (np.diag([-1.0, -1.0, -3.0]), FinalConfiguration.CLOUD),
        (-np.eye(3), FinalConfiguration.CLOUD),
        (np.diag([-1.0, -2.0, -3.0]), FinalConfiguration.TWO_CLOUDS),
        (np.array([[0.0, 1.0], [-1.0, 0.0]]), FinalConfiguration.OPEN),
    ],
)
def test_atlas_of_final_configurations(V, expected):
    """Table 1 of the third paper, with the matrices of P3-O6."""
    assert causal.final_configuration(V) is expected


def test_lifetime_of_a_strong_center():
    """P3-O12: both forms; the sufficient one is shorter and both fall like 1/index."""
    assert circle.attraction(0.5, 64.0) == pytest.approx(1.897349e-4, rel=1e-6)
    exact = causal.center_lifetime(64.0, 4.0, 0.1, 1)
    bound = causal.center_lifetime_bound(64.0, 4.0, 0.1, 1)
    assert exact == pytest.approx(263.5256, abs=5.1e-5)
    assert bound == pytest.approx(252.3326, abs=5.1e-5)
    assert causal.center_lifetime(64.0, 4.0, 0.1, 5) == pytest.approx(exact / 5)
    assert causal.center_lifetime_bound(64.0, 4.0, 0.1, 5) == pytest.approx(bound / 5)


def test_conditions_for_frozen_centers():
    """P3-O13: the example epsilon = 0.1, c = 6.5, and the run with 100 free tokens."""
    example = causal.frozen_centers(64.0, 6.5, 0.1, 100)
    assert example.least_beta == pytest.approx(14.045)
    assert example.most_free_tokens == pytest.approx(700, rel=0.05)
    assert example.most_free_tokens == pytest.approx(0.1 / 5.5 * np.exp(3 * 5.3**2 / 8))
    assert not example.holds  # epsilon must stay below 0.1
    assert causal.frozen_centers(64.0, 6.5, 0.099, 100).holds
    assert not causal.frozen_centers(64.0, 6.5, 0.099, 800).holds
    assert not causal.frozen_centers(13.0, 6.5, 0.099, 100).holds
    assert not causal.frozen_centers(64.0, 5.6, 0.099, 1).holds


def test_renyi_constant():
    """P3-O9, and the defining integral by plain quadrature of both integrals."""
    assert parking.renyi_constant() == pytest.approx(0.7475979202534, abs=2e-13)

    def inner(x):
        return quad(lambda y: -np.expm1(-y) / y, 0, x)[0]

    def density(s):  # x = s/(1-s) brings infinity to 1
        return np.exp(-2 * inner(s / (1 - s))) / (1 - s) ** 2

    direct, _ = quad(density, 0, 1 - 1e-6)
    missing = np.exp(-2 * np.euler_gamma) * 1e-6  # the density tends to e^{-2 gamma}
    assert direct + missing == pytest.approx(parking.renyi_constant(), abs=1e-7)


def test_saturated_centers_on_the_circle():
    """P3-O9: delta = 4 beta^{-1/2}."""
    delta = parking.center_scale(np.array([16.0, 64.0, 256.0, 1024.0]))
    printed = [4.697296, 9.394593, 18.789185, 37.578370]
    law = parking.expected_centers_asymptotic(delta)
    assert law == pytest.approx(printed, abs=1e-6)
    assert parking.expected_centers(delta[1:]) == pytest.approx(printed[1:], abs=1e-5)


def test_few_centers_are_counted_exactly():
    """Renyi's equation in closed form: 2 for 2 < L < 3, then up to L = 5."""
    assert parking.expected_centers(2 * np.pi / 2.5) == pytest.approx(2, abs=1e-14)
    L = np.array([3.0001, 3.5, 3.9999])
    exact = 2 + 2 * (L - 3) / (L - 2)
    assert parking.expected_centers(2 * np.pi / L) == pytest.approx(exact, abs=1e-13)
    L = np.array([4.0001, 4.5, 4.9999])
    exact = 2 + 2 * (3 * (L - 2) - 5 - 2 * np.log(L - 3)) / (L - 2)
    assert parking.expected_centers(2 * np.pi / L) == pytest.approx(exact, abs=1e-13)
    assert parking.expected_centers(2 * np.pi / 4.5) == pytest.approx(
        3.351256, abs=1e-6
    )


def test_the_mean_of_parked_cars_solves_renyis_equation():
    """x M(x + 1) = x + 2 int_0^x M, by quadrature that stops at the jumps of M."""
    for x in (2.3, 3.7, 5.5, 8.25):
        ends = [*range(int(x) + 1), x]
        pieces = zip(ends[:-1], ends[1:], strict=True)
        integral = sum(
            quad(parking.parked_cars, a, b, epsabs=1e-12)[0] for a, b in pieces
        )
        right = 1 + 2 * integral / x
        assert parking.parked_cars(x + 1) == pytest.approx(right, abs=1e-11)


def test_no_second_car_fits_where_there_is_no_room():
    roads = np.array([0.0, 0.5, 1.0, 1.5, 1.999])
    assert parking.parked_cars(roads).tolist() == [0, 0, 0, 1, 1]


def test_exact_and_asymptotic_centers_agree_for_small_delta():
    """The difference falls faster than exponentially, to rounding from L = 15 on."""
    L = np.array([4.5, 7.5, 10.5, 15.0, 15.9, 16.1, 1e3, 1e9])
    exact, law = (
        f(2 * np.pi / L)
        for f in (parking.expected_centers, parking.expected_centers_asymptotic)
    )
    gap = np.abs(exact / law - 1)
    assert 3e-3 < gap[0] < 5e-3
    assert 1e-6 < gap[1] < 3e-6
    assert 1e-10 < gap[2] < 4e-10
    assert (gap[3:] < 4e-15).all()


def test_saturated_centers_by_monte_carlo():
    """Park arcs one at a time on the free part of the circle: 2000 fillings."""
    delta, rng, counts = 0.5, np.random.default_rng(7), []

    def fill(length):
        """Centers that still fit in an open gap of this length between two others."""
        room = length - 2 * delta
        if room <= 0:
            return 0
        at = delta + room * rng.uniform()
        return 1 + fill(at) + fill(length - at)

    counts = np.array([1 + fill(2 * np.pi) for _ in range(2000)])
    error = counts.std() / np.sqrt(len(counts))
    assert abs(counts.mean() - parking.expected_centers(delta)) < 5 * error


def test_strong_centers():
    """P3-O8: finite n on the circle and on S^2."""
    found = parking.expected_strong_centers(0.5, 2, 200)
    assert found == pytest.approx(6.283185, abs=5.1e-7)
    found = parking.expected_strong_centers(0.6, 3, 400)
    assert found == pytest.approx(11.450531, abs=5.1e-7)
    limit = parking.expected_strong_centers_limit(0.6, 3)
    assert limit == pytest.approx(1 / np.sin(0.3) ** 2)
    assert parking.expected_strong_centers_limit(0.5, 2) == pytest.approx(2 * np.pi)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_strong_centers_by_monte_carlo(d):
    """300 sequences of 60 tokens, within five errors."""
    rng, delta, counts = np.random.default_rng(d), 0.9, []
    for _ in range(300):
        x = rng.standard_normal((60, d))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        near = np.tril(geodesic(x, x) <= delta, -1)
        counts.append((~near.any(1)).sum())
    expected = parking.expected_strong_centers(delta, d, 60)
    assert abs(np.mean(counts) - expected) < 5 * np.std(counts) / np.sqrt(300)


def test_cap_measures():
    delta = np.array([0.01, 0.5, 2.0, 3.0])
    assert parking.cap_measure(delta, 2) == pytest.approx(delta / np.pi)
    assert parking.cap_measure(delta, 3) == pytest.approx(np.sin(delta / 2) ** 2)
    assert parking.cap_measure(np.pi / 2, 11) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: causal.consensus_rates(1), "`n` must be at least 2"),
        (lambda: causal.first_token(1.0, [0.0, 0.0], np.eye(2)), "`x_0` must be a non"),
        (lambda: causal.first_token(1.0, [1.0], np.eye(2)), "`x_0` must be a non-zero"),
        (lambda: causal.center_lifetime(64.0, 0.5, 0.1, 1), "`c` must be strictly"),
        (lambda: causal.center_lifetime(1.0, 4.0, 0.1, 1), "`c` must be below pi"),
        (lambda: causal.center_lifetime(-1.0, 4.0, 0.1, 1), "`beta` must be positive"),
        (lambda: causal.center_lifetime(64.0, 4.0, 0.1, 0), "`index` must be at least"),
        (lambda: causal.frozen_centers(64.0, 6.5, 0.1, 0), "`n_free` must be at least"),
        (lambda: parking.cap_measure(0.0, 3), "`delta` must be strictly"),
        (lambda: parking.cap_measure(0.5, 1), "`d` must be at least 2"),
        (lambda: parking.expected_strong_centers(0.5, 2, 0), "`n` must be at least 1"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
