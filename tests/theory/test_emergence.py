"""Tokens in R^d without layer norm: limit shapes, polytopes, leaders."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pushforward.errors import InputError
from pushforward.theory import leaders, limit_shapes, polytope
from pushforward.theory.flat.limit_shapes import Regime

PERRON = np.array(
    [
        [0.18608476, 0.34391026, 0.13905949],
        [0.35244288, 0.6694859, 0.39992145],
        [0.46685606, 0.17094454, 0.42092308],
    ]
)
CODIMENSION_2 = np.array(
    [
        [0.92761287, 0.94333073, 0.3827744],
        [0.94333073, 0.59991396, 0.47825472],
        [0.3827744, 0.47825472, 0.46668605],
    ]
)


def rescaled_flow(z0, V, t):
    """z' = sum_j P_ij V (z_j - z_i), P = softmax(<e^{tV} z_i, e^{tV} z_j>)."""
    values, basis = np.linalg.eig(V)
    inverse = np.linalg.inv(basis)

    def field(s, flat):
        z = flat.reshape(z0.shape)
        x = z @ ((basis * np.exp(s * values)) @ inverse).real.T
        logits = x @ x.T
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        return ((p @ z - z) @ V.T).ravel()

    run = solve_ivp(field, (0, t), z0.ravel(), method="LSODA", rtol=1e-8, atol=1e-10)
    return run.y[:, -1].reshape(z0.shape)


@pytest.mark.parametrize(
    "V, regime, codimension, proven",
    [
        (np.eye(3), Regime.POLYTOPE, 0, True),
        (2.5 * np.eye(2), Regime.POLYTOPE, 0, True),
        (-np.eye(2), Regime.COLLAPSE, 0, True),
        (PERRON, Regime.HYPERPLANES, 1, True),
        (CODIMENSION_2, Regime.HYPERPLANES, 1, True),
        (np.diag([1.0, 1.0, -0.5]), Regime.PRODUCT, 2, True),
        (np.diag([1.0, 0.5, -2.0]), Regime.SUBSPACES, 2, False),
        (np.diag([-1.0, -2.0]), Regime.OPEN, 0, False),
        (np.array([[1.0, -3.0], [3.0, 1.0]]), Regime.SUBSPACES, 2, False),
        (np.array([[1.0, 1.0], [0.0, 1.0]]), Regime.SUBSPACES, 2, False),  # Jordan
    ],
)
def test_regime_is_read_off_the_spectrum(V, regime, codimension, proven):
    shape = limit_shapes.predict_limit(V)
    assert (shape.regime, shape.codimension, shape.proven) == (
        regime,
        codimension,
        proven,
    )


def test_published_spectra():
    """The eigenvalues the notes list for the stored matrices of the second paper."""
    values = limit_shapes.predict_limit(PERRON).eigenvalues
    printed = [1.078327, 0.099083 + 0.081917j, 0.099083 - 0.081917j]
    assert np.sort_complex(values) == pytest.approx(np.sort_complex(printed), abs=1e-6)
    values = limit_shapes.predict_limit(CODIMENSION_2).eigenvalues.real
    assert values == pytest.approx([1.963445, 0.252872, -0.222104], abs=1e-6)
    assert len(limit_shapes.growing_forms(CODIMENSION_2)) == 2


def test_wrong_sign_of_the_quadratic_form_is_not_a_good_triple():
    shape = limit_shapes.predict_limit(np.diag([2.0, 1.0]), Q=-np.eye(2))
    assert shape.regime is Regime.SUBSPACES


def test_forms_are_left_eigenvectors():
    shape = limit_shapes.predict_limit(PERRON)
    top = shape.eigenvalues[0].real
    assert shape.forms @ PERRON == pytest.approx(top * shape.forms)
    forms = limit_shapes.growing_forms(CODIMENSION_2)
    image = forms @ CODIMENSION_2  # invariant: the image stays in their span
    assert image @ forms.T @ forms == pytest.approx(image)


def test_hyperplanes_of_the_flow_are_those_predicted():
    """P2-O6: the predicted form takes at most three values on the limit."""
    z0 = np.random.default_rng(5).uniform(-1, 1, (12, 3))
    z = rescaled_flow(z0, PERRON, 12.0)
    levels = np.sort((limit_shapes.predict_limit(PERRON).forms @ z.T)[0])
    groups = np.split(levels, np.flatnonzero(np.diff(levels) > 0.05) + 1)
    assert 2 <= len(groups) <= 3
    assert max(np.ptp(group) for group in groups) < 1e-4
    assert np.ptp(z[:, 0]) > 0.3  # the tokens themselves do not meet


def test_limit_set_of_symmetric_polytopes():
    """Vertices, face centers and 0: counted by hand for square, cube and triangle."""
    cube = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    assert len(polytope.limit_set(cube)) == 8 + 12 + 6 + 1
    triangle = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])
    assert len(polytope.limit_set(triangle)) == 3 + 3 + 1
    away = triangle + [5.0, 0.0]  # 0 outside; the nearest edge is not a support
    assert polytope.limit_set(away).tolist() == [[6.0, 0.0]]


def test_limit_set_obeys_its_definition_and_misses_nothing():
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, (9, 2))
    A = rng.standard_normal((2, 2))
    B = A.T @ A
    S = polytope.limit_set(points, B)
    gap = (points @ B @ S.T).max(0) - np.einsum("ij,jk,ik->i", S, B, S)
    assert gap == pytest.approx(np.zeros(len(S)), abs=1e-9)
    hull = points[polytope.hull_vertices(points)]
    center = hull.mean(0)
    hull = hull[np.argsort(np.arctan2(*(hull - center).T))]
    edge = np.linspace(hull, np.roll(hull, -1, axis=0), 4001).reshape(-1, 2)
    slack = (edge @ B @ points.T).max(1) - np.einsum("ij,jk,ik->i", edge, B, edge)
    near = edge[slack < 1e-6]  # every boundary point that almost obeys is near S
    assert np.abs(near[:, None] - S[None]).max(-1).min(1).max() < 5e-3


def test_limit_set_attracts_the_flow():
    """P2-O5: rescaled tokens with V = I satisfy |z|^2 = max_v <z, v> at late times."""
    z0 = np.random.default_rng(5).uniform(-3, 3, (8, 2))
    z = rescaled_flow(z0, np.eye(2), 6.0)
    S = polytope.limit_set(z[polytope.hull_vertices(z)])
    assert np.abs(z[:, None] - S[None]).max(-1).min(1).max() < 0.05


def test_flat_and_tiny_hulls():
    assert polytope.hull_vertices([[1.0, 2.0]]).tolist() == [0]
    assert polytope.hull_vertices([[0.0, 0], [1, 1], [2, 2]]).tolist() == [0, 2]
    line = polytope.limit_set([[-1.0, 1.0], [1.0, 1.0]])  # ends and the middle
    assert np.sort(line[:, 0]) == pytest.approx([-1, 0, 1])


def test_hardmax_is_the_limit_of_large_beta():
    """P2-O8: five unit vertices and inner points; the error falls with beta."""
    angles = 2 * np.pi * np.arange(5) / 5
    vertices = np.stack([np.cos(angles), np.sin(angles)], 1)
    inner = np.array([[0.5, 0.1], [-0.2, 0.55], [0.1, -0.4]])
    z0 = np.vstack([vertices, inner])

    def error(beta):
        def field(_, flat):
            z = flat.reshape(z0.shape)
            logits = beta * z @ z.T
            p = np.exp(logits - logits.max(1, keepdims=True))
            return (p @ z / p.sum(1, keepdims=True) - z).ravel()

        run = solve_ivp(field, (0, 1), z0.ravel(), rtol=1e-11, atol=1e-13)
        z = run.y[:, -1].reshape(z0.shape)
        return np.abs(z - polytope.hardmax_tokens(1.0, z0)).max()

    errors = [error(beta) for beta in (50.0, 200.0, 800.0)]
    assert errors[0] < 0.05 and errors[2] < 1e-9
    assert errors[0] > errors[1] > errors[2]
    assert polytope.hardmax_cells(inner, vertices).tolist() == [0, 2, 4]


def test_hardmax_refuses_moving_leaders():
    with pytest.raises(InputError, match="token 1 is the leader of others"):
        polytope.hardmax_tokens(1.0, [[0.1, -0.1], [1.0, 0.0], [1.1, 1.0]])


def test_escape_radius():
    """The constant A of the one-dimensional theorem: A^2 = n^2 e^{-A^2}."""
    assert leaders.escape_radius(5) == pytest.approx(1.536278, abs=5.1e-7)
    assert leaders.escape_radius(40) == pytest.approx(2.376276, abs=5.1e-7)
    A = leaders.escape_radius(17)
    assert A**2 == pytest.approx(17**2 * np.exp(-(A**2)))


def test_symmetric_pair():
    """P2-O3, and the particles +-u themselves."""
    w = leaders.pair_square([1.0, 2.0], 0.25)
    assert w == pytest.approx([0.48158131, 1.93421825], abs=1e-8)

    def field(_, x):
        p = np.exp(np.outer(x, x))
        return p @ x / p.sum(1)

    run = solve_ivp(field, (0, 2), [0.5, -0.5], rtol=1e-11, atol=1e-12)
    assert run.y[0, -1] ** 2 == pytest.approx(w[1], rel=1e-8)
    assert leaders.pair_rate(0.25) == pytest.approx(0.5 * np.tanh(0.25))
    assert np.log(leaders.pair_square(300.0, 4.0)) == pytest.approx(600, rel=0.01)


def test_algebraic_collapse_of_a_pair():
    """P2-O7: u^2 t tends to 1/2 from u = 0.5."""
    t = np.array([10.0, 1e2, 1e3, 1e4])
    found = leaders.collapsing_pair_square(t, 0.25) * t
    assert found == pytest.approx([0.417873, 0.490392, 0.499023, 0.499902], abs=5.1e-7)
    back = leaders.pair_square(3.0, leaders.collapsing_pair_square(3.0, 0.7))
    assert back == pytest.approx(0.7, rel=1e-10)
    variance = leaders.collapse_covariance(1e4)
    assert leaders.collapsing_pair_square(1e4, 0.25) == pytest.approx(
        variance, rel=1e-3
    )


def test_leaders_of_escaped_tokens():
    """P2-O2: rows e1, e1, e5, e5, e5; all positive, every row is the largest token."""
    x = [-3.8101, -2.0755, 2.4112, 3.1003, 3.4951]
    assert leaders.attention_limit(x).tolist() == [0, 0, 4, 4, 4]
    assert leaders.attention_limit([0.1, 0.3, 0.2, 0.55, 0.8]).tolist() == [4] * 5


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: limit_shapes.predict_limit(np.ones((2, 3))),
            r"`V` must be a \(d, d\)",
        ),
        (
            lambda: limit_shapes.predict_limit(np.eye(2), Q=np.eye(3)),
            "`Q` must be a fi",
        ),
        (lambda: polytope.limit_set([1.0, 2.0]), "`vertices` must have shape"),
        (lambda: polytope.limit_set(np.eye(2), np.eye(3)), "`B` must have shape"),
        (lambda: polytope.hull_vertices([[np.nan, 0.0]]), "`points` must be finite"),
        (lambda: leaders.escape_radius(0), "`n` must be at least 1"),
        (lambda: leaders.pair_square(1.0, 0.0), "`w_0` must be strictly"),
        (lambda: leaders.pair_square(-1.0, 1.0), "`t` must be zero or positive"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
