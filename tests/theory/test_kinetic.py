"""Ordered tokens in closed form: oracles M4-1 to M4-5, M4-9 and M4-10."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.special import iv

from pushforward.errors import InputError, NumericalError
from pushforward.studies.lost_in_the_middle.claims import two_wells
from pushforward.theory import kinetic, kinetic_lattice, kinetic_mean_field

I1 = iv(1, 1.0)


@pytest.mark.parametrize(
    "beta, time",
    [(1.0, 2.457488980328), (2.0, 0.600716224277), (3.0, 0.174018393869)],
)
def test_m4_1_critical_time(beta, time):
    assert kinetic.critical_time(beta, 1.0) == pytest.approx(time, abs=1e-10)
    before, after = (
        kinetic.retrieval_slope(1.0, c * time, beta, 1.0) for c in (0.999, 1.001)
    )
    assert before > 0 > after


@pytest.mark.parametrize(
    "t, source, value",
    [
        (1.0, 0.25927554, 1.1953063758),
        (1.2, 0.31880954, 1.5455243077),
        (1.5, 0.41832500, 2.1193050953),
        (2.0, 0.63292107, 3.1464661175),
    ],
)
def test_m4_2_minimum(t, source, value):
    well = kinetic.minimum(t, 1.0, 1.0)
    assert well.source == pytest.approx(source, abs=1e-7)
    assert well.value == pytest.approx(value, abs=1e-7)


def test_m4_2_value_and_no_minimum_after_the_critical_time():
    assert kinetic.retrieval(0.5, 1.0, 1.0, 1.0) == pytest.approx(
        1.2655236928, abs=1e-10
    )
    assert kinetic.minimum(5.0, 1.0, 1.0) is None


def test_m4_3_smallness_times():
    one, two = kinetic.mode_rates(1.0), kinetic.mode_rates(2.0)
    assert (one.argmax(), two.argmax()) == (0, 1)
    assert one.max() == pytest.approx(0.565159104, abs=1e-9)
    assert two.max() == pytest.approx(2.755793791, abs=1e-9)
    assert kinetic.smallness_time(1.0, 1.0) == pytest.approx(2.236964969, abs=1e-9)
    assert kinetic.smallness_time(2.0, 1.0) == pytest.approx(0.458757517, abs=1e-9)


def test_m4_4_two_wells_of_four_heads():
    low, high = kinetic.wells(two_wells), kinetic.wells(lambda s: -two_wells(s))
    assert [w.source for w in low] == pytest.approx([0.12934, 0.79497], abs=1e-5)
    assert [w.value for w in low] == pytest.approx([-5.5010587, -5.5010605], abs=1e-7)
    assert [w.source for w in high] == pytest.approx([0.36363], abs=1e-5)
    assert -high[0].value == pytest.approx(-5.4552253, abs=1e-7)


def test_m4_5_closed_form_and_lattice():
    exact = kinetic.correlation(I1, 1.0, 0.5, decay=1.0)
    assert exact == pytest.approx(0.7058859999777, abs=1e-12)
    found = {
        n: kinetic_lattice.lattice_correlations([I1], 1.0, n, 1.0)[0, n // 2 - 1]
        for n in (64, 512, 1024)
    }
    assert found[64] == pytest.approx(0.71565796, abs=1e-8)
    assert found[1024] == pytest.approx(0.70649086, abs=1e-8)
    ratio = (found[512] - exact) / (found[1024] - exact)
    assert ratio == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize("decay", [0.0, 1.0, 20.0])
def test_last_row_is_that_of_the_matrix_exponential(decay):
    W = kinetic_lattice.position_weights(40, decay)
    assert W.sum(1) == pytest.approx(np.append(0.0, np.ones(39)), abs=1e-14)
    rates = np.array([-0.7, 0.5, 3.0])
    rows = kinetic_lattice.lattice_correlations(rates, 1.3, 40, decay)
    expected = [40 * expm(1.3 * a * W)[-1] for a in rates]
    assert rows == pytest.approx(np.array(expected), rel=1e-12, abs=1e-12)


def test_m4_9_mean_field():
    f = kinetic_mean_field.density_modes(1.0, 0.1, 1.0)
    assert f[1] == pytest.approx(0.1754477641, abs=1e-10)
    assert f[2] == pytest.approx(0.0262357022, abs=1e-10)
    later = kinetic_mean_field.density_modes(1.5, 0.1, 1.0)
    assert later[1] == pytest.approx(0.2312883233, abs=1e-10)


def test_m4_10_poisson_identity():
    assert kinetic.score_by_images(0.7, 8) == pytest.approx(0.204187587823, abs=1e-12)
    gaps = np.linspace(-7, 7, 29)
    for m in (1, 2, 8):
        images, modes = (
            kinetic.score_by_images(gaps, m),
            kinetic.score_by_modes(gaps, m),
        )
        assert images == pytest.approx(modes, abs=1e-13)


@pytest.mark.parametrize("decay", [0.0, 0.5, 3.0])
def test_kernel_has_mass_one_and_correlation_vanishes_in_the_past(decay):
    mass, _ = quad(lambda s: kinetic.position_kernel(0.7, s, decay), 0, 0.7)
    assert mass == pytest.approx(1.0, abs=1e-12)
    assert kinetic.correlation(1.0, 1.0, 0.8, 0.7, decay=decay) == 0.0


def test_slope_is_the_derivative_of_the_profile():
    s, h = np.array([0.05, 0.3, 0.9]), 1e-6
    for decay in (0.0, 1.0):
        up, down = (kinetic.retrieval(s + e, 1.3, 2.0, decay) for e in (h, -h))
        slope = kinetic.retrieval_slope(s, 1.3, 2.0, decay)
        assert slope == pytest.approx((up - down) / (2 * h), rel=1e-7)


def test_without_decay_there_is_no_recency():
    """The edge lambda = 0: the limit of small lambda, decreasing, no critical time."""
    s = np.linspace(0.02, 0.99, 50)
    flat = kinetic.retrieval(s, 1.0, 1.0, 0.0)
    assert flat == pytest.approx(kinetic.retrieval(s, 1.0, 1.0, 1e-9), rel=1e-7)
    assert (np.diff(flat) < 0).all()
    assert kinetic.critical_time(1.0, 0.0) == 0.0
    assert kinetic.smallness_time(1.0, 0.0) == 0.0
    assert kinetic.minimum(0.1, 1.0, 0.0) is None


def test_expected_score_is_noise_plus_signal():
    base = kinetic.expected_score(0.0, 100)
    assert base == pytest.approx(np.sqrt(np.pi / 2) / 8)
    rise = kinetic.expected_score(1.2, 100) - base
    assert rise == pytest.approx(np.sqrt(2 * np.pi) * 1.2 / 800)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: kinetic.correlation(1.0, 1.0, 0.0, decay=1.0), "`source` must be"),
        (lambda: kinetic.correlation(1.0, 1.0, 1.5, decay=1.0), "`source` must lie"),
        (lambda: kinetic.correlation(1.0, -1.0, 0.5, decay=1.0), "`t` must be zero"),
        (lambda: kinetic.retrieval(0.5, 1.0, 1.0, -1.0), "`decay` must be zero or"),
        (lambda: kinetic.critical_time(0.0, 1.0), "`beta` must be positive"),
        (lambda: kinetic.retrieval_of_heads(0.5, 1.0, []), "`heads` must be"),
        (lambda: kinetic.codeword_weights(0), "`codewords` must be at least 1"),
        (lambda: kinetic_lattice.position_weights(1, 1.0), "`n` must be at least 2"),
        (
            lambda: kinetic_lattice.lattice_correlations([1e3], 1.0, 8, 1.0),
            "`rates` times `t`",
        ),
        (lambda: kinetic_mean_field.density_modes(1.0, 0.7, 1.0), "`first` must be"),
    ],
)
def test_bad_parameters_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_overflow_is_said():
    with pytest.raises(NumericalError, match="smaller beta"):
        kinetic.mode_rates(1e3)


def test_modes_that_do_not_resolve_the_density_are_refused():
    with pytest.raises(NumericalError, match="24 modes are too few.*more `modes`"):
        kinetic_mean_field.density_modes(4.0, 0.3, 1.0)
    with pytest.raises(NumericalError, match="smaller t, beta or `modes`"):
        kinetic_mean_field.density_modes(1e6, 0.1, -1.0)
