"""The order of the transition (N1): folds, jumps, and what the softmax does to them."""

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.theory import noisy, stability, transition

# d, beta, kappa_fold, r_fold, kappa_c, r_c, kappa_#, r at kappa_# (N1-O2)
USA = np.array(
    """
    2 2.5 0.9932200706 0.13824 0.9932541481 0.1693665000 0.9933579142 0.1959866000
    2 4.0 0.3870689960 0.54713 0.3914751008 0.6688055210 0.4098585257 0.7873066784
    2 9.0 0.0065848424 0.71171 0.0068778920 0.8588218441 0.0087301110 0.9710120147
    3 2.5 1.6128270512 0.54275 1.6280872952 0.6552526336 1.6836342486 0.7535314841
    3 4.0 0.6182725550 0.72955 0.6453500381 0.8585805598 0.7810305816 0.9458427519
    3 9.0 0.0104335782 0.83786 0.0116573007 0.9588331246 0.0224914364 nan
    8 4.0 1.6577336040 0.85284 1.9155752751 0.9356248289 3.7657451191 0.9786228996
    """.split(),
    float,
).reshape(-1, 8)


def test_beta_star_by_dimension():
    """N1-O1."""
    known = {2: 2.4469183113, 3: 1.8161545254, 4: 1.5752571501}
    known |= {8: 1.2665530245, 16: 1.1289715755, 64: 1.0314944262}
    for d, value in known.items():
        assert transition.beta_star(d) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("row", USA, ids=lambda row: f"d={row[0]},beta={row[1]}")
def test_fold_jump_and_threshold_of_usa(row):
    """N1-O2: three values of kappa in order, and the free energy that decides."""
    d, (beta, fold, r_fold, jump, r_jump, threshold, r_upper) = int(row[0]), row[1:]
    printed = 5e-11  # half a unit of the last digit that is printed
    least = transition.fold(beta, d)
    assert least.kappa == pytest.approx(fold, rel=1e-9, abs=printed)
    assert least.r == pytest.approx(r_fold, abs=1e-4)
    found = transition.transition(beta, d)
    assert found.kappa == pytest.approx(jump, rel=1e-9, abs=printed)
    assert found.r == pytest.approx(r_jump, abs=1e-8)
    assert abs(found.free_energy) < 1e-12
    exact = stability.noise_threshold(beta, d)
    assert exact == pytest.approx(threshold, rel=1e-9, abs=printed)
    if np.isnan(r_upper):
        return  # narrower than r = 0.995, where branches end
    upper = transition.ordered_state(beta, d, exact)
    assert upper.r == pytest.approx(r_upper, abs=2e-8)
    lower = transition.ordered_state(beta, d, (fold + exact) / 2, stable=False)
    assert 0 < lower.r < r_fold < r_jump < r_upper
    assert lower.free_energy > 0 > upper.free_energy


def test_free_energy_at_the_threshold():
    """N1-O5."""
    for d, value in ((2, -0.0363454099), (3, -0.4948671323)):
        kappa = stability.noise_threshold(4.0, d)
        state = transition.ordered_state(4.0, d, kappa)
        assert state.free_energy == pytest.approx(value, abs=1e-8)


def test_below_beta_star_the_transition_is_continuous():
    """N1-O3: no fold; the branch leaves with the slope of the expansion."""
    for d, slope in ((2, 0.3419375), (3, 0.3101902), (8, 0.1834529)):
        assert transition.initial_slope(1.0, d) == pytest.approx(slope, abs=1e-6)
        threshold = stability.noise_threshold(1.0, d)
        assert transition.kappa_fold(1.0, d) == transition.kappa_c(1.0, d) == threshold
        kappas = [transition.branch(1.0, d, r).kappa for r in (0.01, 0.3, 0.6, 0.9)]
        assert (np.diff([threshold, *kappas]) > 0).all()
        assert (kappas[0] / threshold - 1) / 1e-4 == pytest.approx(slope, abs=1e-4)
    assert transition.initial_slope(4.0, 2) == pytest.approx(-0.4621904, abs=1e-6)
    assert transition.initial_slope(transition.beta_star(3), 3) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("d", "beta", "threshold", "r"),
    [
        (2, 1, 2.2401937239, 0.7188884262),
        (2, 4, 4.6321890694, 0.8265699418),
        (2, 9, 9.5471477666, 0.9060433189),
        (3, 1, 3.1945280495, 0.6576508281),
        (3, 4, 5.3285649753, 0.7353303353),
        (3, 9, 10.1249996530, 0.8369952109),
    ],
)
def test_the_softmax_keeps_the_transition_continuous(d, beta, threshold, r):
    """N1-O6: SA with noise, also above beta_star."""
    found = transition.critical_kappa_softmax(beta, d)
    assert found == pytest.approx(threshold, abs=1e-9)
    above = transition.ordered_state(beta, d, 1.5 * found, softmax=True)
    assert above.r == pytest.approx(r, abs=1e-9)
    assert transition.ordered_state(beta, d, 0.9 * found, softmax=True).r == 0.0
    slope = transition.initial_slope(beta, d, softmax=True)
    near = transition.branch(beta, d, 0.01, softmax=True).kappa / found - 1
    assert slope > 0 and near / 1e-4 == pytest.approx(slope, rel=1e-3)


def test_the_circle_by_modes_is_the_same_branch():
    """N1-O4: states that a density reaches at beta = 4."""
    for kappa, r in ((0.38, 0.0), (0.388, 0.6063904596), (0.40, 0.7399203240)):
        assert transition.ordered_state(4.0, 2, kappa).r == pytest.approx(r, abs=1e-9)
        assert noisy.stationary_modes(4.0, kappa, 1)[1] == pytest.approx(r, abs=1e-8)


def test_at_beta_zero_the_branch_is_that_of_von_mises_and_fisher():
    for d in (2, 3, 5):
        state = transition.ordered_state(0.0, d, 2.0 * d)
        assert state.r == pytest.approx(noisy.order_parameter(2.0 * d, d), abs=1e-10)


def test_the_bifurcation_jumps_at_kappa_c():
    jump = transition.transition(4.0, 3)
    below, above = noisy.bifurcation([0.999 * jump.kappa, 1.001 * jump.kappa], 4.0, 3)
    assert below == 0.0 and above == pytest.approx(jump.r, abs=0.01)


def test_both_models_have_their_critical_noise_by_one_call():
    sa, usa, unscaled = stability.critical_noises(4.0, 3)
    assert sa == pytest.approx(0.6126, abs=5e-5)
    assert unscaled == pytest.approx(1.600, abs=5e-4)
    assert 2 / unscaled**2 == pytest.approx(stability.noise_threshold(4.0, 3))
    assert usa == pytest.approx(unscaled * np.exp(-2.0), rel=1e-12)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="`beta` must lie in"):
        transition.kappa_c(100.0, 2)
    with pytest.raises(InputError, match="`r` must lie in"):
        transition.branch(1.0, 2, 1.5)
    with pytest.raises(InputError, match="`kappa` must be positive"):
        transition.ordered_state(1.0, 2, 0.0)
