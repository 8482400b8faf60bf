"""Kernels, equispaced tokens and thresholds on the circle."""

import numpy as np
import pytest
from scipy.special import iv, ive

from pushforward.errors import InputError, NumericalError
from pushforward.theory import circle, kuramoto


def velocity(theta, beta, normalized):
    gaps = theta[:, None] - theta[None, :]
    kernel = np.exp(beta * np.cos(gaps))
    total = kernel.sum(1) if normalized else len(theta)
    return -(kernel * np.sin(gaps)).sum(1) / total


def jacobian(n, beta, normalized, h=1e-5):
    """Centered differences of fourth order at the equispaced configuration."""
    theta, columns = 2 * np.pi * np.arange(n) / n, []
    for e in np.eye(n):
        f = [velocity(theta + s * h * e, beta, normalized) for s in (-2, -1, 1, 2)]
        columns.append((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h))
    return np.array(columns).T


def test_fourier_series_of_the_kernel():
    theta, k = 0.7, np.arange(-40, 41)
    series = circle.fourier_coefficients(3.0, k) @ np.exp(1j * k * theta)
    assert series == pytest.approx(np.exp(3.0 * (np.cos(theta) - 1)), rel=1e-13)
    assert circle.fourier_coefficients(1e6, 2) == pytest.approx(ive(2, 1e6))


def test_slope_is_the_derivative_of_the_pull():
    x, h = np.linspace(-3, 3, 13), 1e-5
    found = circle.attraction(x + h, 5.0) - circle.attraction(x - h, 5.0)
    assert circle.attraction_slope(x, 5.0) == pytest.approx(found / (2 * h), abs=1e-8)


def test_peak_angle():
    """The angle tau* of the notes, and its bounds for beta >= 1."""
    printed = [0.904557, 0.489044, 0.124837]
    assert circle.peak_angle([1.0, 4.0, 64.0]) == pytest.approx(printed, abs=5.1e-7)
    beta = np.geomspace(1, 1e12, 30)
    tau = circle.peak_angle(beta)
    assert np.all((beta + 0.5) ** -0.5 < tau * (1 + 1e-13))
    assert np.all(tau < beta**-0.5)
    assert circle.attraction_slope(circle.peak_angle(3.0), 3.0) == pytest.approx(0)
    cos = np.cos(circle.peak_angle(3.0, d=5))  # (d-1) cos = beta sin^2
    assert 4 * cos == pytest.approx(3.0 * (1 - cos**2))


def test_thresholds_of_the_collapse_theorem():
    """T5.1 of the notes: (n-1) tau* below pi and below pi/2."""
    for n, whole, half in [
        (5, 1.41421, 6.30864),
        (10, 8.0331, 32.6596),
        (32, 97.2024, 389.31),
    ]:
        assert circle.half_circle_threshold(n) == pytest.approx(whole, rel=1e-5)
        assert circle.collapse_threshold(n) == pytest.approx(half, rel=1e-5)
        tau = circle.peak_angle(circle.half_circle_threshold(n))
        assert (n - 1) * tau == pytest.approx(np.pi)


def test_equispaced_energy():
    """P1-O16, and the aliased Bessel sum."""
    for n, beta, printed in [
        (3, 2.0, 0.677067915106),
        (4, 4.0, 1.769264552251),
        (6, 9.0, 76.695745662771),
        (32, 9.0, 60.754908583965),
    ]:
        found = circle.equispaced_energy(beta, n)
        assert found == pytest.approx(printed, rel=1e-10)
        sums = iv(n * np.arange(-40, 41), beta).sum() / (2 * beta)
        assert found == pytest.approx(sums, rel=1e-12)


@pytest.mark.parametrize(
    "n, beta, printed",
    [
        (2, 1.0, [0.238405844]),
        (3, 2.0, [0.271671] * 2),
        (4, 3.0, [0.5421199] + [0.2755584] * 2),
        (6, 4.0, [1.0611775] + [0.8158866] * 2 + [0.2860866] * 2),
        (12, 4.0, [0.6680589] * 2 + [0.5690579] * 2 + [0.5150642] * 2),
    ],
)
def test_equispaced_spectrum(n, beta, printed):
    """P1-O22: printed eigenvalues, finite differences, and the Bessel sums."""
    found = circle.equispaced_spectrum(beta, n)
    largest = np.sort(found)[::-1][: len(printed)]
    assert largest == pytest.approx(printed, abs=5.1e-7)
    for normalized, values in [
        (True, found),
        (False, circle.equispaced_spectrum_unnormalized(beta, n)),
    ]:
        eigenvalues = np.sort(np.linalg.eigvals(jacobian(n, beta, normalized)).real)
        tolerance = 1e-9 * max(1.0, np.abs(values).max())
        assert np.sort(values) == pytest.approx(eigenvalues, abs=tolerance)
    k = np.arange(-120, 121)
    weights = k**2 * iv(k, beta) / beta
    sums = [
        weights[(k + m) % n == 0].sum() - weights[k % n == 0].sum() for m in range(n)
    ]
    found = circle.equispaced_spectrum_unnormalized(beta, n)
    assert found == pytest.approx(sums, abs=1e-11)


def test_pair_spectrum_closed_form():
    """P1-O22: two antipodal tokens separate at rate 2/(1 + e^{2 beta})."""
    assert circle.equispaced_spectrum(1.0, 2)[1] == pytest.approx(2 / (1 + np.exp(2.0)))


def test_order_parameter():
    """P1-O24."""
    printed = [0.460303404969, 0.649790537600, 0.918556222005]
    found = kuramoto.order_parameter([1.0, 2.0, 4.0], 0.3)
    assert found == pytest.approx(printed, abs=1e-12)


def test_order_parameter_obeys_its_equation():
    r, h = kuramoto.order_parameter([1.0 - 1e-5, 1.0, 1.0 + 1e-5], 0.4), 1e-5
    assert (r[2] - r[0]) / (2 * h) == pytest.approx(r[1] * (1 - r[1] ** 2) / 2)


def test_quantile_points_carry_the_order_parameter():
    """P1-O24: the points are those of the Poisson kernel, spectrally accurate."""
    theta = kuramoto.quantile_points(200, 0.3)
    moments = [np.exp(1j * k * theta).mean() for k in (1, 2, 3)]
    assert np.allclose(moments, [0.3, 0.09, 0.027], atol=1e-14)
    grid = 2 * np.pi * np.arange(256) / 256
    density = kuramoto.poisson_kernel(grid, 0.3)
    assert density.mean() * 2 * np.pi == pytest.approx(1)
    assert (density * np.cos(grid)).mean() * 2 * np.pi == pytest.approx(0.3)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="`n` must be at least 2, got 1"):
        circle.half_circle_threshold(1)
    with pytest.raises(InputError, match="`beta` must be zero or positive"):
        circle.peak_angle(-1.0)
    with pytest.raises(InputError, match="`r_0` must be strictly between 0 and 1"):
        kuramoto.order_parameter(1.0, 1.0)
    with pytest.raises(NumericalError, match="scaled_equispaced_energy"):
        circle.equispaced_energy(1e4, 5)
