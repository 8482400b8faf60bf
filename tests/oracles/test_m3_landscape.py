"""M3: perceptrons and the attention landscape, oracles 1 to 9 of the notes."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward import functionals as fn
from pushforward.theory import landscape


@functools.cache
def best(beta, omega):
    return fn.minimize(energy(beta, omega))


def energy(beta, omega):
    """One neuron along e_1, the papers' scaling."""
    return fn.paper_energy(beta) + pf.PerceptronPotential([omega], [[1.0, 0.0]])


def positive_half(found):
    on = found.positions > 0
    return found.positions[on], found.masses[on]


def test_m3_o1_three_atoms_at_omega_5():
    found = best(1.0, 5.0)
    assert found.count == 3 and found.gap <= 1e-11 and found.slope <= 1e-13
    at_pi = np.abs(np.abs(found.positions) - np.pi) < 1e-9
    assert found.masses[at_pi] == pytest.approx([0.252504051352], abs=1e-9)
    rest = found.positions[~at_pi]
    np.testing.assert_allclose(rest, [-1.525061407083, 1.525061407083], atol=1e-9)
    np.testing.assert_allclose(found.masses[~at_pi], 0.373747974324, atol=1e-9)
    assert found.value == pytest.approx(0.70218695293030, abs=1e-11)
    assert found.multiplier == pytest.approx(1.40046781923, abs=1e-9)


def test_m3_o2_four_atoms_at_omega_1_and_2():
    found = best(1.0, 1.0)
    angles, masses = positive_half(found)
    assert found.count == 4
    np.testing.assert_allclose(angles, [1.362473194148, 2.796349265665], atol=1e-9)
    np.testing.assert_allclose(masses, [0.342582738636, 0.157417261364], atol=1e-9)
    assert found.value == pytest.approx(0.68902767059505, abs=1e-11)
    assert best(1.0, 2.0).count == 4
    assert best(1.0, 2.0).value == pytest.approx(0.69681654055753, abs=1e-11)


def test_m3_o3_atoms_appear_as_omega_falls():
    counts = [best(1.0, omega).count for omega in (5.0, 2.0, 1.0, 0.3, 0.1)]
    assert counts == [3, 4, 4, 5, 7]
    assert best(1.0, 0.1).value == pytest.approx(0.644472863717, abs=1e-11)
    uniform = float(landscape.uniform_energy(1.0, 0.1))
    assert uniform == pytest.approx(0.645532938876, abs=1e-12)
    assert best(1.0, 0.1).value < uniform
    many, more = best(5.0, 20.0), best(5.0, 1.0)
    assert (many.count, more.count) == (9, 13)
    assert many.value == pytest.approx(3.852462544994, abs=1e-10)
    assert more.value == pytest.approx(2.844904583401, abs=1e-10)


def test_m3_o4_ascent_ends_in_one_atom_at_the_maximum_of_the_potential():
    E = energy(1.0, 5.0)
    mu = pf.Particles.uniform(pf.Circle(), 40, key=jax.random.key(3))
    run = pf.flow(pf.GradientFlow(-E), mu, 20.0, save=2)
    assert float(E(run.final)) == pytest.approx(3.8591409142, abs=1e-9)
    assert np.abs(pf.Circle().angles(run.final.points)).max() < 1e-6
    assert float(landscape.max_energy(1.0, 5.0)) == pytest.approx(3.8591409142295)


def descended(t1):
    mu = pf.Particles.equispaced(pf.Circle(), 400)
    solver = pf.Adaptive(1e-6, 1e-8)
    flow = pf.GradientFlow(energy(1.0, 5.0))
    return pf.flow(flow, mu, t1, save=2, solver=solver).final


def check_frozen(final):
    """Groups of mass 0.3475, 0.305, 0.3475, above the certified minimum."""
    masses = np.bincount(final.labels(0.5), np.asarray(final.weights))
    np.testing.assert_allclose(np.sort(masses), [0.305, 0.3475, 0.3475], atol=1e-12)
    value = float(energy(1.0, 5.0)(final))
    assert value == pytest.approx(0.7044, abs=1e-4)
    assert value - best(1.0, 5.0).value > 2e-3


@pytest.mark.slow
def test_m3_o5_descent_of_equal_masses_stops_above_the_minimum():
    check_frozen(descended(60.0))  # by then no mass changes basin any more


@pytest.mark.slow
def test_m3_o5_at_the_time_of_the_notes():
    """At t = 400 the group at pi is seen to be two atoms, near pi +- 0.298."""
    final = descended(400.0)
    check_frozen(final)
    angles = np.asarray(pf.Circle().angles(final.points)) % (2 * np.pi)
    middle = np.abs(angles[np.abs(angles - np.pi) < 1.0] - np.pi)
    assert np.median(middle) == pytest.approx(0.298, abs=0.01)


def test_m3_o6_constant_of_the_mass_bound():
    assert landscape.MASS_LIMIT == pytest.approx(0.5741922784, abs=1e-10)
    assert landscape.mass_bound(60.0, 1.0) == pytest.approx(0.5741922784, abs=1e-10)


@functools.cache
def official():
    """The S^1 weights of the published code, from its seed."""
    rng = np.random.default_rng(777)
    A = rng.normal(size=(2, 2))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return pf.PerceptronPotential(rng.normal(size=(2, 1))[:, 0], A)


def test_m3_o7_weights_of_the_published_code():
    P = official()
    angle = np.degrees(np.arctan2(P.A[:, 1], P.A[:, 0])) % 360
    np.testing.assert_allclose(angle, [175.376, 231.695], atol=1e-3)
    np.testing.assert_allclose(P.omega, [0.6324576, -0.4696754], atol=1e-7)
    grid = np.linspace(0, 2 * np.pi, 200_001)
    v = P.potential(pf.Circle().points(jnp.asarray(grid)))
    assert np.degrees(grid[int(jnp.argmax(v))]) == pytest.approx(161.3466, abs=2e-3)


def test_m3_o7_minimizer_in_the_code_scaling():
    found = fn.minimize(fn.code_energy(1.0) + official())
    angles = np.degrees(found.positions) % 360
    order = np.argsort(angles)
    assert found.certified
    np.testing.assert_allclose(angles[order], [6.791, 90.146, 249.696], atol=1e-3)
    masses = found.masses[order]
    np.testing.assert_allclose(masses, [0.193476, 0.271074, 0.535450], atol=1e-6)
    assert found.value == pytest.approx(0.1647873461, abs=1e-10)


def test_m3_o7_euler_particles_stay_above():
    """Energy and the two groups that every start reaches (N = 200 of the 1000)."""
    E = fn.code_energy(1.0) + official()
    mu = pf.Particles.equispaced(pf.Circle(), 200)
    run = pf.flow(pf.GradientFlow(E), mu, 300.0, save=2, solver=pf.Layers(0.1))
    assert float(E(run.final)) == pytest.approx(0.17068, abs=3e-4)
    atoms = run.final.merge(0.05)
    angles = np.degrees(np.asarray(pf.Circle().angles(atoms.points))) % 360
    for expected in (91.7, 248.4):
        assert np.abs(angles - expected).min() < 0.3


def test_m3_o8_parallels_on_the_two_sphere():
    P = pf.PerceptronPotential([1.0], [[0.0, 0.6, 0.8]])
    F = fn.paper_energy(1.0) + P
    found = fn.minimize(F, pf.Sphere(3))
    np.testing.assert_allclose(found.positions, [-0.974217, 0.100945], atol=1e-6)
    assert found.masses[0] == pytest.approx(0.178253, abs=1e-6)
    assert found.value == pytest.approx(0.609585740938, abs=1e-8)
    rings = found.measure  # the reduction to heights against the sphere itself
    assert float(F(rings)) == pytest.approx(found.value, abs=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["descent", "ascent"])
def test_m3_o9_energy_is_monotone(sign):
    E = energy(1.0, 5.0)
    mu = pf.Particles.uniform(pf.Circle(), 30, key=jax.random.key(1))
    run = pf.flow(pf.GradientFlow(sign * E), mu, 5.0, save=41)
    assert (sign * np.diff(run.observe(E)) < 1e-9).all()


@pytest.mark.parametrize(
    "activation", [jax.nn.relu, jnp.tanh, jax.nn.silu, fn.exact_gelu, jax.nn.softplus]
)
def test_m3_o9_half_the_gradient_of_v_is_the_perceptron(activation):
    A = np.sin(1.0 + np.arange(12.0)).reshape(4, 3)
    omega, b = np.cos(np.arange(4.0)), np.array([0.1, -0.4, 0.0, 0.3])
    P = pf.PerceptronPotential(omega, A, b, activation)
    mu = pf.Particles.uniform(pf.Sphere(3), 8, key=jax.random.key(0))
    of_v = jax.grad(lambda x: P.potential(x).sum())(mu.points) / 2
    u = pf.Perceptron(A.T * omega, A, b, activation).at(0.0, mu.points, mu)
    np.testing.assert_allclose(P.gradient(mu.points, mu), u, atol=1e-14)
    np.testing.assert_allclose(of_v, u, atol=1e-12)
