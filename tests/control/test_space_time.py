"""Space-time networks: exact solutions on any grid, and mesh-independent training."""

import jax
import numpy as np
import pytest

from pushforward.control.neural.targets import moons
from pushforward.control.space_time import (
    SpaceTimeProblem,
    cosine_lift,
    linear_interpolation,
    march,
    train_space_time,
    trapezoid_weights,
    width_profile,
)
from pushforward.errors import InputError
from pushforward.theory import depth


def kernel(zeta, xi):
    return (1 + 0.5 * np.sin(2 * np.pi * zeta)) * np.exp(-xi)


def start(zeta):
    return 1.5 + np.cos(3 * zeta)


def relu(x):
    return np.maximum(x, 0.0)


def error(grids, **options):
    x = march(kernel, start, grids, 1.0, activation=relu, **options)
    return np.max(np.abs(x - depth.rank_one_network(1.0, grids[-1])))


def test_c3_10_rank_one_kernel_on_a_fixed_grid():
    assert float(depth.rank_one_network(1.0, np.array(0.25))) == pytest.approx(
        4.5967033199, abs=1e-10
    )
    errors = [error([np.linspace(0, 1, n)] * 400) for n in (11, 21, 41, 81)]
    assert errors == pytest.approx([2.3e-3, 5.9e-4, 1.5e-4, 3.7e-5], rel=0.06)


def moving(scale):
    """12 + 10 sin(pi t) nodes, warped by 0.2 back and forth; all refined by scale."""
    grids = []
    for t in np.linspace(0, 1, 40 * scale + 1):
        s = np.linspace(0, 1, round(scale * (12 + 10 * np.sin(np.pi * t))))
        grids.append(s + 0.2 * np.sin(2 * np.pi * t) * np.sin(np.pi * s) / np.pi)
    return grids


def test_c3_11_moving_grids_keep_second_order_only_with_splines():
    cubic = [error(moving(s)) for s in (1, 2, 4)]
    assert cubic == pytest.approx([7.5e-4, 1.9e-4, 4.9e-5], rel=0.05)
    linear = [error(moving(s), interpolate=linear_interpolation) for s in (1, 2, 4)]
    assert np.log2(linear[0] / linear[1]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(linear[1] / linear[2]) == pytest.approx(1.0, abs=0.1)


def problem(widths):
    points, labels = moons(1, 20)
    return SpaceTimeProblem(
        cosine_lift(points), labels, width_profile(widths), lam=0.01, horizon=4.0
    )


@pytest.mark.slow
def test_objective_is_nearly_independent_of_the_width():
    values = []
    up = [6, 7, 8, 9, 10, 11, 12, 13]
    for widths in ([9] * 17, [*up, 13, *up[::-1]]):  # constant and diamond
        case = problem(widths)
        weights, value, _ = train_space_time(case, key=jax.random.key(0), steps=300)
        values.append(value)
        outputs = np.asarray(case.outputs(weights))[-1]
        assert np.all(np.sign(outputs) == np.asarray(case.labels))
        rank = np.linalg.matrix_rank(np.asarray(weights.W[3]), tol=1e-3)
        assert rank <= 20
    assert values[0] == pytest.approx(0.0353, abs=8e-4)
    assert values[1] == pytest.approx(values[0], rel=0.05)


def test_penalty_is_the_norm_of_the_kernel():
    """Doubling the resolution of a smooth kernel hardly changes the scaled norm."""
    sizes = []
    for n in (41, 81):
        z = np.linspace(0, 1, n)
        root = np.sqrt(trapezoid_weights(z))
        scaled = root[:, None] * kernel(z[:, None], z[None, :]) * root[None, :]
        sizes.append(np.sum(scaled**2))
    exact = (1 + 1 / 8) * (1 - np.exp(-2)) / 2
    assert sizes[1] == pytest.approx(exact, abs=1e-4)
    assert (sizes[0] - exact) / (sizes[1] - exact) == pytest.approx(4.0, abs=0.1)


def test_bad_grids_are_refused():
    with pytest.raises(InputError, match="must increase"):
        trapezoid_weights(np.array([0.0, 0.5, 0.5]))
    with pytest.raises(InputError, match="widths"):
        width_profile([3])
