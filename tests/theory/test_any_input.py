"""Any number gives a finite answer or one of our errors: no NaN, no other exception."""

import numpy as np
import pytest

from pushforward.errors import PushforwardError
from pushforward.theory import (
    causal,
    circle,
    equiangular,
    hemisphere,
    homogenized,
    homogenized_pair,
    kinetic,
    kinetic_mean_field,
    kuramoto,
    leaders,
    long_context,
    metastability,
    noisy,
    normalization,
    parking,
    stability,
    staircase,
    two_tokens,
    uniform,
)

NUMBERS = [
    *[0.0, -1.0, 5e-324, 1e-300, 1e-12, 0.3, 0.999, 1 - 1e-16, 1.0, np.pi, 50.0, 700.0],
    *[1e4, 1e6, -1e6, -30.0, 1e300, -1e300, np.nan, np.inf],
]
COUNTS = [-1, 0, 1, 2, 3, 8, 32, 1000, 10**6]
FEW = [-1, 0, 1, 2, 3, 8, 32]  # where the answer is a list of that length

# what each function takes: x a number, n a count, m a small count
FUNCTIONS = [
    (two_tokens.angle_rate, "xx"),
    (two_tokens.angle_rate_unnormalized, "xx"),
    (two_tokens.angle_at_zero_beta, "xx"),
    (two_tokens.merging_time, "xxx"),
    (two_tokens.merging_time_unnormalized, "xxx"),
    (two_tokens.log10_merging_time, "xxx"),
    (equiangular.rate, "xxn"),
    (equiangular.rate_unnormalized, "xxn"),
    (equiangular.gamma, "xxnx"),
    (equiangular.gamma_unnormalized, "xxnx"),
    (equiangular.gamma_at_zero_beta, "xn"),
    (equiangular.log_merging_time, "xnxx"),
    (equiangular.log_merging_time_asymptote, "xx"),
    (equiangular.window_exit, "xnx"),
    (circle.fourier_coefficients, "xn"),
    (circle.attraction, "xx"),
    (circle.attraction_slope, "xx"),
    (circle.peak_angle, "xn"),
    (circle.equispaced_energy, "xm"),
    (circle.scaled_equispaced_energy, "xm"),
    (circle.equispaced_spectrum, "xm"),
    (circle.equispaced_spectrum_unnormalized, "xm"),
    (kuramoto.order_parameter, "xx"),
    (kuramoto.poisson_kernel, "xx"),
    (kuramoto.quantile_points, "mx"),
    (noisy.order_parameter, "xn"),
    (noisy.synchronization_rate, "xn"),
    (uniform.log_partition, "xn"),
    (uniform.energy, "xn"),
    (uniform.scaled_energy, "xn"),
    (uniform.sample_energy, "xnn"),
    (stability.funk_hecke, "xnm"),
    (stability.growth_rates, "xnm"),
    (stability.growth_rates_unnormalized, "xnm"),
    (stability.noise_threshold, "xn"),
    (hemisphere.probability, "nn"),
    (long_context.output_overlap, "xxn"),
    (long_context.output_overlap_limit, "xx"),
    (normalization.pre_norm, "xxnxx"),
    (leaders.escape_radius, "n"),
    (leaders.pair_square, "xx"),
    (leaders.collapsing_pair_square, "xx"),
    (parking.cap_measure, "xn"),
    (parking.parked_cars, "x"),
    (parking.expected_centers, "x"),
    (parking.expected_centers_asymptotic, "x"),
    (parking.expected_strong_centers, "xnn"),
    (parking.expected_strong_centers_limit, "xn"),
    (parking.center_scale, "xx"),
    (causal.center_lifetime, "xxxn"),
    (causal.center_lifetime_bound, "xxxn"),
    (metastability.cap_overlap, "xx"),
    (metastability.contraction_exponent, "xxxn"),
    (metastability.entry_time, "xxnx"),
    (metastability.exit_time, "xxxn"),
    (metastability.contraction_time, "xxx"),
    (staircase.log10_merging_time, "xxxxx"),
    (kinetic.mode_rates, "xm"),
    (kinetic.position_kernel, "xxx"),
    (lambda a, t, s, c: kinetic.correlation(a, t, s, decay=c), "xxxx"),
    (kinetic.retrieval, "xxxxmm"),
    (kinetic.retrieval_slope, "xxxxmm"),
    (kinetic.critical_time, "xxmm"),
    (kinetic.smallness_time, "xxm"),
    (kinetic.expected_score, "xnm"),
    (kinetic.score_by_images, "xn"),
    (kinetic.score_by_modes, "xm"),
    (kinetic_mean_field.density_modes, "xxxm"),
    (homogenized.simplex_drift, "xxxn"),
    (homogenized.simplex_drift_limit, "xxx"),
    (homogenized.logistic, "xx"),
    (homogenized.collapse_layers, "nxn"),
    (homogenized_pair.pair_mean, "xnx"),
    (homogenized_pair.hard_overlap, "xn"),
    (homogenized_pair.slow_coefficient, "nn"),
    (homogenized_pair.slow_artanh_square, "xxx"),
    (homogenized_pair.absorption_published, "x"),
]


@pytest.mark.parametrize(
    "function, kinds", FUNCTIONS, ids=lambda f: getattr(f, "__qualname__", f)
)
def test_answers_or_says_why_not(function, kinds):
    values = {"x": NUMBERS, "n": COUNTS, "m": FEW}
    rng = np.random.default_rng(0)
    for _ in range(100):
        arguments = [values[k][rng.integers(len(values[k]))] for k in kinds]
        try:
            answer = function(*arguments)
        except PushforwardError as error:
            assert len(str(error)) > 20
            continue
        for part in answer if isinstance(answer, tuple) else (answer,):
            assert np.isfinite(part).all(), arguments
