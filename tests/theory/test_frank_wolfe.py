"""Hardmax layers as Frank-Wolfe steps (N8)."""

import numpy as np
import pytest

from pushforward.errors import NumericalError
from pushforward.theory import frank_wolfe

STEPS = [2 / (t + 2) for t in range(600)]


def test_a_counterexample_to_the_printed_rate():
    """N8-O1: the origin leaves the hull, and J stops at 1/18."""
    line, B = [[3.0], [-1.0]], [[-1.0]]
    after = lambda t: frank_wolfe.hardmax_layers(line, STEPS[:t], B).ravel()  # noqa: E731
    np.testing.assert_allclose(after(1), [-1, 3], atol=1e-14)
    np.testing.assert_allclose(after(2), [5 / 3, 1 / 3], atol=1e-14)
    np.testing.assert_allclose(after(11), [13 / 33, 1 / 3], atol=1e-12)
    J = after(576)[1] ** 2 / 2
    assert abs(J - 1 / 18) < 1e-12 and J > 32 / 577  # the bound 32 / (t + 1)


def test_tokens_go_to_the_vertex_of_their_cell():
    """N8-O2."""
    vertices = [(1, 0), (0.2, 0.9), (-0.8, 0.5), (-0.7, -0.6), (0.3, -0.95)]
    tokens = [(0.3, 0.1), (-0.2, 0.3), (0.1, -0.4), (-0.3, -0.2)]
    x, B = np.array([*vertices, *tokens]), np.diag([1.0, 2.0])
    for metric, cells in ((B, [0, 1, 4, 3]), (None, [0, 2, 4, 3])):
        best = frank_wolfe.hardmax_layers(x, [1.0], metric)[5:]
        np.testing.assert_allclose(best, x[cells], atol=1e-14)
    end = frank_wolfe.hardmax_layers(x, [0.5, 0.3, 0.2], B)
    known = [(0.804, 0.028), (0.088, 0.732), (0.244, -0.796), (-0.588, -0.488)]
    np.testing.assert_allclose(end[5:], known, atol=1e-12)
    np.testing.assert_allclose(end[:5], vertices, atol=1e-14)
    limit = frank_wolfe.hull_limit(x, [0.5, 0.3, 0.2], B)
    np.testing.assert_allclose(end, limit, atol=1e-14)


def test_how_long_a_pair_stays_apart():
    """N8-O3 and O4."""
    layers = [frank_wolfe.pair_layers(beta, 0.5) for beta in (2.0, 4.0, 8.0)]
    assert layers == [14, 226, 297_790]
    assert abs(frank_wolfe.pair_lifetime(8.0, 0.5) - 277_690.95) < 0.01
    jumps = [frank_wolfe.expected_first_jump(beta) for beta in (2.0, 4.0)]
    np.testing.assert_allclose(jumps, [28.0513437, 1491.2290354], atol=1e-7)
    with pytest.raises(NumericalError, match="pair_lifetime"):
        frank_wolfe.pair_layers(10.0, 0.01)
