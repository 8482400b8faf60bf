"""P1-O1 to O9: pointwise values, trajectories and symmetries of SA and USA.

Numbers are those of "A mathematical perspective on Transformers" as recomputed in the
project's notes with two independent integrators.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf

TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-12)
MODELS = {"SA": pf.Attention, "USA": pf.UnnormalizedAttention}


def velocity(field, mu):
    return np.asarray(jax.jit(lambda f, m: f(0.0, m).v)(field, mu))


@pytest.fixture
def tokens(sine):
    return pf.Particles(pf.Sphere(3), sine(8, 3))


@pytest.fixture
def twenty(sine):
    return pf.Particles(pf.Sphere(4), sine(20, 4))


def test_sine_data_are_those_of_the_notes(sine):
    row = sine(8, 3)
    first = [0.579323070808, 0.681138230445, 0.447700224096]
    last = [-0.008627547212, -0.966706574308, -0.255741988376]
    np.testing.assert_allclose(row[0], first, atol=1e-11)
    np.testing.assert_allclose(row[7], last, atol=1e-11)


def test_p1_o1_velocities(tokens):
    sa = velocity(pf.Attention(4.0), tokens)
    usa = velocity(pf.UnnormalizedAttention(4.0), tokens)
    expected = [
        (sa[0], (-0.117983717862, -0.012080290962, 0.171049808834)),
        (usa[0], (-1.325973168634, -0.135765696960, 1.922362349008)),
        (sa[7], (0.180144462942, 0.010565177596, -0.046013685805)),
    ]
    for measured, oracle in expected:
        np.testing.assert_allclose(measured, oracle, atol=1e-11, rtol=0)


def test_p1_o2_general_weights(tokens):
    a, b = np.arange(3)[:, None], np.arange(3)[None, :]
    Q, K, V = np.cos(a + 2 * b), np.sin(2 * a + b + 1), np.cos(a * b + 1)
    v = velocity(pf.Attention(4.0, Q, K, V), tokens)
    oracle = (0.454710002821, -0.333668353810, -0.080745376362)
    np.testing.assert_allclose(v[0], oracle, atol=1e-11, rtol=0)


@pytest.mark.parametrize(
    ("model", "times", "energies", "x7"),
    [
        (
            "SA",
            [1.0, 5.0, 20.0],
            [1.4478460411, 1.7665296085, 2.7779303071, 3.5266140034],
            [0.180843012270, -0.938990491907, -0.292562234443],
        ),
        (
            "USA",
            [0.05, 0.2, 1.0],
            [1.4478460411, 1.6128086763, 2.4858813061, 2.7827600338],
            [0.114954652686, -0.952498104634, -0.282015582006],
        ),
    ],
)
def test_p1_o3_trajectory(tokens, model, times, energies, x7):
    run = pf.flow(MODELS[model](4.0), tokens, times[-1], save=times, solver=TIGHT)
    measured = run.observe(pf.InteractionEnergy(4.0).plain)
    np.testing.assert_allclose(measured, energies, atol=1e-9, rtol=0)
    np.testing.assert_allclose(run.points[1, 7], x7, atol=1e-9, rtol=0)


@pytest.mark.parametrize("model", MODELS)
def test_p1_o4_dissipation_identity(twenty, model):
    beta, h = 3.0, 1e-5
    field = MODELS[model](beta)
    run = pf.flow(field, twenty, 2 * h, save=[h, 2 * h], solver=TIGHT)
    before, _, after = run.observe(pf.InteractionEnergy(beta).plain)
    x, v = np.asarray(run[1].points), velocity(field, run[1])
    z = np.exp(beta * x @ x.T).mean(axis=1)
    metric = z if model == "SA" else np.ones_like(z)
    formula = np.mean(metric * (v**2).sum(axis=1))
    assert (after - before) / (2 * h) == pytest.approx(formula, rel=1e-8)


def test_p1_o5_no_net_rotation(twenty):
    beta = 3.0
    x = np.asarray(twenty.points)
    wedge = lambda w, v: np.einsum("i,ia,ib->ab", w, x, v)  # noqa: E731
    skew = lambda m: np.abs(m - m.T).max()  # noqa: E731
    ones, z = np.ones(len(x)), np.exp(beta * x @ x.T).mean(axis=1)
    usa, sa = (velocity(MODELS[name](beta), twenty) for name in ("USA", "SA"))
    assert skew(wedge(ones, usa)) / len(x) < 1e-13
    assert skew(wedge(z, sa)) / len(x) < 1e-13
    assert skew(wedge(ones, sa)) > 1e-3


def test_p1_o5_usa_conserves_the_sum_of_angles_on_the_circle():
    circle = pf.Circle()
    theta = np.sin(1.0 + 3 * np.arange(8)) * 2.5
    mu = pf.Particles(circle, circle.points(theta))
    run = pf.flow(pf.UnnormalizedAttention(1.0), mu, 20.0, save=41, solver=TIGHT)
    angles = np.unwrap(np.asarray(circle.angles(run.points)), axis=0)
    assert np.abs(angles[-1] - angles[0]).max() > 0.5
    drift = np.abs(angles.sum(axis=1) - angles[0].sum()).max()
    assert drift < 1e-9  # the scheme works in coordinates, not in angles


@pytest.mark.parametrize("model", MODELS)
def test_p1_o6_equivariance(twenty, model):
    field = MODELS[model](3.0)
    x = np.asarray(twenty.points)
    rotation, _ = np.linalg.qr(np.sin(1.0 + np.arange(16.0) ** 2).reshape(4, 4))
    order = np.random.default_rng(0).permutation(20)
    end = lambda y: np.asarray(  # noqa: E731
        pf.flow(
            field, twenty.moved(jnp.asarray(y)), 5.0, save=2, solver=TIGHT
        ).final.points
    )
    plain = end(x)
    assert np.abs(end(x @ rotation.T) - plain @ rotation.T).max() < 1e-11
    assert np.abs(end(x[order]) - plain[order]).max() < 1e-12


def test_p1_o7_mean_shift_identity(twenty):
    beta = 3.0
    x = np.asarray(twenty.points)

    def log_kde(y):  # y complex, so that one imaginary step is an exact derivative
        return np.log(np.exp(-beta * ((y - x) ** 2).sum(axis=1) / 2).sum())

    v = velocity(pf.Attention(beta), twenty)
    for i in range(len(x)):
        step = 1e-30j * np.eye(4)
        gradient = np.array([log_kde(x[i] + e).imag / 1e-30 for e in step]) / beta
        tangent = gradient - (x[i] @ gradient) * x[i]
        assert np.abs(v[i] - tangent).max() < 1e-9


@pytest.mark.parametrize("beta", [0.0, 2.0, 6.0])
def test_p1_o8_hemisphere_only_closes(beta):
    mu = pf.Particles.uniform(pf.Sphere(6), 6, key=jax.random.key(3))
    w = np.linalg.solve(np.asarray(mu.points), np.ones(6))
    w /= np.linalg.norm(w)
    run = pf.flow(pf.Attention(beta), mu, 3.0, save=13, solver=TIGHT)
    r = (np.asarray(run.points) @ w).min(axis=1)
    assert r[0] > 0
    assert (np.diff(r) > 0).all()


def test_p1_o8_hemisphere_collapses_for_any_queries_and_keys():
    keys = jax.random.split(jax.random.key(5), 3)
    mu = pf.Particles.uniform(pf.Sphere(5), 5, key=keys[0])
    Q, K = (jax.random.normal(key, (5, 5)) for key in keys[1:])
    run = pf.flow(pf.Attention(1.0, Q, K), mu, 60.0, save=13, solver=TIGHT)
    x = np.asarray(run.points)
    w = np.linalg.solve(x[0], np.ones(5))
    r = (x @ w).min(axis=1)
    assert (np.diff(r)[:4] > 0).all() and (np.diff(r) > -1e-11).all()
    assert np.abs(x[-1] - x[-1][:1]).max() < 1e-10


def test_p1_o9_energy_with_indefinite_weights(tokens):
    beta = 1.5
    B = np.array([[1.0, 0.4, -0.2], [0.4, -0.8, 0.3], [-0.2, 0.3, 0.1]])
    assert np.linalg.eigvalsh(B)[0] < 0 < np.linalg.eigvalsh(B)[-1]
    field = pf.Attention(beta, K=B, V=B)
    run = pf.flow(field, tokens, 10.0, save=41, solver=TIGHT)
    x = np.asarray(run.points)
    energy = np.exp(beta * np.einsum("tia,ab,tjb->tij", x, B, x)).sum(axis=(1, 2))
    assert (np.diff(energy) > -1e-9).all()
    assert energy[-1] > 1.5 * energy[0]
