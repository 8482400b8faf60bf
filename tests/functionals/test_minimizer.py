"""Certificates, the second-order test, atomicity and bad input of the landscape."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward import functionals as fn
from pushforward.errors import InputError
from pushforward.functionals._one_coordinate import simplex_weights
from pushforward.functionals._reduced import Angles, Parallels
from pushforward.functionals._terms import Terms
from pushforward.theory import landscape

E1 = [[1.0, 0.0]]
ONE = fn.paper_energy(1.0) + pf.PerceptronPotential([5.0], E1)


@pytest.fixture(scope="module")
def best():
    return fn.minimize(ONE)


def test_first_variation_touches_its_minimum_only_at_the_atoms(best):
    touch = fn.contact(best)
    assert touch.isolated
    assert touch.away > 1e-6 and touch.lowest >= -1e-14
    assert best.excess(best.positions) == pytest.approx(0.0, abs=1e-14)


def test_the_minimizer_says_what_the_functional_says(best):
    assert float(ONE(best.measure)) == pytest.approx(best.value, abs=1e-14)
    s = np.linspace(-3, 3, 7)
    seen = ONE.variation(pf.Circle().points(jnp.asarray(s)), best.measure)
    np.testing.assert_allclose(best.variation(s), seen, atol=1e-13)


def test_the_gap_bounds_what_is_missing():
    """Cut short, the answer is not certified and its gap is honest."""
    F = fn.paper_energy(1.0) + pf.PerceptronPotential([0.1], E1)
    rough, fine = fn.minimize(F, rounds=1), fn.minimize(F)
    assert not rough.certified and "NOT certified" in repr(rough)
    assert 0 < rough.value - fine.value <= rough.gap
    assert fine.certified and "7 atoms" in repr(fine)


def test_no_other_measure_is_lower(best):
    for seed in range(5):
        mu = pf.Particles.uniform(pf.Circle(), 5, key=jax.random.key(seed))
        mixed = pf.Particles(
            pf.Circle(),
            jnp.concatenate([best.measure.points, mu.points]),
            jnp.concatenate([0.99 * best.measure.weights, 0.01 * mu.weights]),
        )
        assert float(ONE(mixed)) > best.value


def test_turning_the_neuron_turns_the_minimizer(best):
    """The kink of ReLU and the cut of the angle at pi are nowhere special."""
    for turn in (0.3, 2.0, np.pi):
        a = [[np.cos(turn), np.sin(turn)]]
        turned = fn.minimize(fn.paper_energy(1.0) + pf.PerceptronPotential([5.0], a))
        assert turned.value == pytest.approx(best.value, abs=1e-13)
        apart = np.exp(1j * turned.positions) @ turned.masses
        assert np.angle(apart) == pytest.approx(
            np.angle(np.exp(1j * (np.pi + turn))), abs=1e-9
        )


def test_scalings_agree():
    """E_paper(omega) e^{-beta} = E_code(omega e^{-beta})."""
    beta, P = 3.0, pf.PerceptronPotential([5.0], E1)
    paper = fn.minimize(fn.paper_energy(beta) + P)
    code = fn.minimize(fn.code_energy(beta) + np.exp(-beta) * P)
    assert paper.value * np.exp(-beta) == pytest.approx(code.value, abs=1e-14)
    np.testing.assert_allclose(paper.positions, code.positions, atol=1e-9)


def test_without_perceptron_the_minimum_is_that_of_the_uniform_measure():
    found = fn.minimize(fn.paper_energy(1.0))
    assert found.value == pytest.approx(float(landscape.uniform_energy(1.0, 0.0)))
    assert found.gap < 1e-10


def test_without_attention_the_minimum_is_an_atom():
    P = pf.PerceptronPotential([1.0, 0.7], [[1.0, 0.0], [0.0, 1.0]], [0.9, 0.8])
    found = fn.minimize(P)
    grid = pf.Circle().points(jnp.linspace(0, 2 * np.pi, 100_001))
    assert found.value == pytest.approx(float(P.potential(grid).min() / 2), abs=1e-9)


@pytest.mark.parametrize(
    "F",
    [
        fn.code_energy(1.0) + pf.PerceptronPotential([1.0], E1, activation=jnp.tanh),
        fn.code_energy(60.0) + pf.PerceptronPotential([1.0], E1),
    ],
    ids=["tanh", "large beta"],
)
def test_smooth_activations_and_large_beta(F):
    found = fn.minimize(F, rounds=8, tol=1e-6)
    assert found.certified
    assert found.masses.sum() == pytest.approx(1.0, abs=1e-14)


def test_mass_reaches_the_pole_when_the_neuron_is_strong():
    P = pf.PerceptronPotential([-5.0], [[0.0, 0.0, 1.0]])
    found = fn.minimize(fn.paper_energy(1.0) + P, pf.Sphere(3))
    assert found.positions[-1] == 1.0  # attracted to the neuron, held by the end
    assert found.certified


@pytest.mark.parametrize("make", [Angles, lambda t: Parallels(t, np.eye(3)[2])])
def test_derivatives_of_the_kernels(make):
    problem = make(
        Terms.of(pf.InteractionEnergy(2.0) + 0.5 * pf.InteractionEnergy(7.0))
    )
    s, t, h = np.array([-0.8, 0.1, 0.9]), np.array([-0.3, 0.5]), 1e-5
    k = problem.kernel(s, t)
    up, down = problem.kernel(s + h, t), problem.kernel(s - h, t)
    right, left = problem.kernel(s, t + h), problem.kernel(s, t - h)
    np.testing.assert_allclose(k.s, (up.value - down.value) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(k.t, (right.value - left.value) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(k.ss, (up.s - down.s) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(k.st, (right.s - left.s) / (2 * h), atol=1e-8)


def test_masses_solve_their_quadratic_program():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4))
    K, V = X @ X.T, rng.normal(size=12)  # singular: four of twelve directions
    K /= K.max()
    m = simplex_weights(K, V, np.full(12, 1 / 12))
    F = K @ m + V
    assert m.min() >= 0 and m.sum() == pytest.approx(1.0, abs=1e-14)
    assert (F - m @ F).min() > -1e-9


def test_second_order_on_the_circle_is_the_formula_of_the_paper(best):
    theta, m = best.positions, best.masses
    delta = theta[:, None] - theta[None, :]
    curvature = (np.sin(delta) ** 2 - np.cos(delta)) * np.exp(np.cos(delta))
    H = -np.outer(m, m) * curvature
    np.fill_diagonal(H, 0.0)
    v2 = np.where(np.cos(theta) > 0, -10.0 * np.cos(2 * theta), 0.0)
    others = curvature @ m - m * np.diag(curvature)
    H += np.diag(m * (others + v2 / 2))
    root = np.sqrt(np.outer(m, m))
    test = fn.second_order(ONE, best.measure)
    np.testing.assert_allclose(
        test.eigenvalues, np.linalg.eigvalsh(H / root), atol=1e-9
    )
    assert test.holds() and test.kappa > 0.01


def test_second_order_on_the_sphere_is_the_second_difference():
    A = np.sin(1.0 + np.arange(9.0)).reshape(3, 3)
    P = pf.PerceptronPotential([0.3, -0.2, 0.5], A, None, jnp.tanh)
    F = fn.code_energy(2.0) + P
    x = pf.Particles.uniform(pf.Sphere(3), 3, key=jax.random.key(2)).points
    mu = pf.Particles(pf.Sphere(3), x, [0.2, 0.5, 0.3])
    bases = jnp.stack([jnp.linalg.svd(row[None])[2][1:] for row in x])

    @jax.jit
    def energy(xi):
        tangent = jnp.einsum("ib,iba->ia", xi.reshape(3, 2), bases)
        return F(mu.moved(mu.space.exp(x, tangent)))

    h, e = 1e-3, np.eye(6)
    of = lambda a, b: float(energy(jnp.asarray(h * (a + b))))  # noqa: E731
    H = [
        [of(a, b) - of(a, -b) - of(-a, b) + of(-a, -b) for b in e] for a in e
    ] / np.asarray(4 * h**2)
    root = np.repeat(np.sqrt(mu.weights), 2)
    expected = np.linalg.eigvalsh(H / np.outer(root, root))
    seen = fn.second_order(F, mu).eigenvalues
    np.testing.assert_allclose(seen, expected, atol=1e-5)


def test_antipodal_atoms_refute_the_bound_for_every_beta():
    """beta <= 1/(4 pi^2): mass one within the arc, at a second-order point."""
    beta = landscape.ANTIPODAL_BETA
    two = pf.Particles(pf.Circle(), [[1.0, 0.0], [-1.0, 0.0]])
    test = fn.second_order(fn.paper_energy(beta), two)
    assert test.holds()
    assert test.eigenvalues[-1] == pytest.approx(landscape.antipodal_curvature(beta))
    assert landscape.arc(beta) == pytest.approx(np.pi)
    assert landscape.mass_bound(beta, 0.0) < 1.0


def test_clusters_that_shrink_are_atoms():
    run = pf.flow(
        pf.GradientFlow(-ONE),
        pf.Particles.uniform(pf.Circle(), 20, key=jax.random.key(0)),
        10.0,
        save=11,
    )
    seen = fn.localization([run[k] for k in range(-3, 0)], 0.3)
    assert seen.atomic and seen.counts.tolist() == [1, 1, 1]
    assert not fn.localization([run[-3], run[-4]], 0.3).atomic  # it grows backward


def test_settled_keeps_masses_and_stops_motion(best):
    moved = pf.Particles(
        pf.Circle(), pf.Circle().points(jnp.asarray(best.positions + 0.01)), best.masses
    )
    again = fn.settled(ONE, moved)
    assert fn.second_order(ONE, again).slope < 1e-14
    np.testing.assert_allclose(again.points, best.measure.points, atol=1e-9)


BAD = [
    (lambda: fn.minimize(-ONE), "convex"),
    (lambda: fn.minimize(pf.InteractionEnergy(-2.0)), "convex"),
    (lambda: fn.minimize(ONE, pf.Sphere(3)), "rows of dimension 3"),
    (lambda: fn.minimize(ONE, pf.Sphere(5)), "Circle"),
    (lambda: fn.minimize(ONE, tol=0.0), "tol"),
    (lambda: fn.minimize(ONE, rounds=0), "rounds"),
    (
        lambda: fn.minimize(
            pf.PerceptronPotential([1.0, 1.0], [[1.0, 0, 0], [0, 1.0, 0]]), pf.Sphere(3)
        ),
        "not parallel",
    ),
    (lambda: pf.PerceptronPotential([1.0, 2.0], E1), "omega"),
    (lambda: pf.PerceptronPotential([np.nan], E1), "omega"),
    (lambda: pf.PerceptronPotential([1.0], None), "`A`"),
    (lambda: pf.PerceptronPotential([1.0], E1, [0.0, 1.0]), "`b`"),
    (lambda: fn.paper_energy(1e4), "code_energy"),
    (lambda: fn.paper_energy(0.0), "beta"),
    (lambda: fn.code_energy(-1.0), "beta"),
    (lambda: fn.localization([], 0.1), "two or more"),
    (lambda: landscape.mass_bound(2.0, -1.0), "weight_size"),
    (lambda: landscape.weight_size([1.0, 2.0], E1), "one row per entry"),
    (lambda: landscape.strictness_threshold(1e4), "at most 700"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_the_printed_primitive_of_gelu_is_refused():
    """s^2 Phi + s p lacks -Phi: its derivative is off by p(s), 0.399 at s = 0."""

    def printed(s):
        normal = jax.scipy.stats.norm
        return s * s * normal.cdf(s) + s * normal.pdf(s)

    with pytest.raises(InputError, match="derivative 2"):
        pf.PerceptronPotential([1.0], E1, None, fn.exact_gelu, printed)
    right = lambda s: printed(s) - jax.scipy.stats.norm.cdf(s)  # noqa: E731
    pf.PerceptronPotential([1.0], E1, None, fn.exact_gelu, right)
    slope = jax.grad(printed)(0.0) - 2 * fn.exact_gelu(jnp.asarray(0.0))
    assert float(slope) == pytest.approx(0.3989422804, abs=1e-10)
