"""P1-O10 to O20 and CX-O2: simulations against closed forms and quadratures."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import iv

import pushforward as pf

TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-12)
MODELS = {"SA": pf.Attention, "USA": pf.UnnormalizedAttention}


def pair(theta):
    circle = pf.Circle()
    return pf.Particles(circle, circle.points(np.array([0.0, theta])))


def met(mu):
    return mu.points[0] @ mu.points[1] >= 0.999


@pytest.mark.parametrize("theta", [0.3, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("beta", [0.0, 2.0, 7.0])
def test_p1_o10_two_tokens_rates(theta, beta):
    mu = pair(theta)
    x = np.asarray(mu.points)
    rate = {
        "SA": -2 * np.sin(theta) / (1 + np.exp(beta * (1 - np.cos(theta)))),
        "USA": -np.exp(beta * np.cos(theta)) * np.sin(theta),
    }
    for name, model in MODELS.items():
        v = np.asarray(model(beta)(0.0, mu).v)
        measured = (v[0] @ x[1] + x[0] @ v[1]) / -np.sin(theta)
        assert measured == pytest.approx(rate[name], rel=1e-11)


@pytest.mark.parametrize("model", MODELS)
def test_p1_o10_two_tokens_without_temperature(model):
    run = pf.flow(MODELS[model](0.0), pair(2.0), 1.5, save=2, solver=TIGHT)
    x = np.asarray(run.final.points)
    oracle = 0.784504214427
    assert oracle == pytest.approx(np.tanh(1.5 + np.arctanh(np.cos(2.0))), abs=1e-12)
    assert x[0] @ x[1] == pytest.approx(oracle, abs=1e-11)


@pytest.mark.parametrize(
    ("model", "beta", "oracle"),
    [
        ("SA", 1.0, 4.271067680309),
        ("SA", 3.0, 6.970371028907),
        ("SA", 5.0, 19.425650496767),
        ("SA", 8.0, 196.716190273),
        ("USA", 1.0, 1.744460101128),
        ("USA", 3.0, 0.504867802606),
        ("USA", 5.0, 0.236172452889),
        ("USA", 8.0, 0.130707034810),
    ],
)
def test_p1_o11_meeting_time(model, beta, oracle):
    run = pf.flow(
        MODELS[model](beta), pair(np.pi / 2), 200.0, save=2, solver=TIGHT, until=met
    )
    assert run.outcome.kind == "until"
    assert run.times[-1] == pytest.approx(oracle, rel=1e-9)
    assert bool(met(run.final))


def test_p1_o12_equiangular_without_temperature():
    mu = pf.Particles.orthonormal(pf.Sphere(8), 8)
    times = np.array([0.5, 1.0, 2.0])
    run = pf.flow(pf.Attention(0.0), mu, 2.0, save=times, solver=TIGHT)
    gram = np.einsum("tia,tja->tij", *[np.asarray(run.points)] * 2)
    off = gram[:, ~np.eye(8, dtype=bool)]
    oracle = [0.176809219859, 0.444021904912, 0.870125969762]
    closed = (np.exp(2 * times) - 1) / (np.exp(2 * times) + 7)
    np.testing.assert_allclose(oracle, closed, atol=1e-11)
    np.testing.assert_allclose(off[1:].mean(axis=1), oracle, atol=1e-9, rtol=0)
    assert np.ptp(off, axis=1).max() < 2e-15


@pytest.mark.parametrize(
    ("model", "beta", "times", "oracle"),
    [
        ("SA", 1.0, [0.5, 1.0, 2.0], [0.1407779958, 0.3625868798, 0.8163423586]),
        ("SA", 4.0, [0.5, 1.0, 2.0], [0.0175929354, 0.0383792759, 0.0936521340]),
        ("USA", 1.0, [0.5, 1.0, 2.0], [0.1981099393, 0.6005850651, 0.9954092946]),
        ("USA", 4.0, [0.5], [0.3696865801]),
    ],
)
def test_p1_o13_equiangular(model, beta, times, oracle):
    mu = pf.Particles.orthonormal(pf.Sphere(8), 8)
    run = pf.flow(MODELS[model](beta), mu, times[-1], save=times, solver=TIGHT)
    x = np.asarray(run.points)
    gamma = np.einsum("ta,ta->t", x[1:, 0], x[1:, 5])
    np.testing.assert_allclose(gamma, oracle, atol=1e-9, rtol=0)


@pytest.mark.parametrize("n", [3, 4, 6, 32])
def test_p1_o16_equispaced_points_stand_still(n):
    mu = pf.Particles.equispaced(pf.Circle(), n)
    for beta in (0.5, 2.0, 4.0):
        for model in MODELS.values():
            assert np.abs(model(beta)(0.0, mu).v).max() < 1e-12


@pytest.mark.parametrize(
    ("n", "beta", "oracle"),
    [
        (3, 2.0, 0.677067915106),
        (4, 4.0, 1.769264552251),
        (6, 9.0, 76.695745662771),
        (32, 9.0, 60.754908583965),
    ],
)
def test_p1_o16_equispaced_energy(n, beta, oracle):
    mu = pf.Particles.equispaced(pf.Circle(), n)
    closed = sum(iv(abs(k), beta) for k in range(-40 * n, 40 * n + 1, n)) / (2 * beta)
    assert closed == pytest.approx(oracle, rel=1e-11)
    energy = pf.InteractionEnergy(beta).plain(mu)
    assert energy == pytest.approx(oracle, rel=1e-10)


@pytest.mark.parametrize(
    ("n", "beta", "oracle", "cosines"),
    [
        (4, 2.0, 0.558081716002, [-1 / 3]),
        (6, 2.0, 0.480182974257, [-1.0, 0.0]),
        (12, 5.0, 1.631138598007, [-1.0, -(5**-0.5), 5**-0.5]),
    ],
)
def test_p1_o18_repulsion_finds_optimal_codes(n, beta, oracle, cosines):
    """V = -I reaches the tetrahedron, the octahedron, the icosahedron."""
    field = pf.Attention(beta, V=-np.eye(3))
    energy = pf.InteractionEnergy(beta).plain
    starts = [
        pf.Particles.uniform(pf.Sphere(3), n, key=jax.random.key(seed))
        for seed in range(4)
    ]
    ends = [pf.flow(field, mu, 150.0, save=2).final for mu in starts]
    best = min(ends, key=energy)
    assert float(energy(best)) == pytest.approx(oracle, abs=1e-10)
    x = np.asarray(best.points)
    products = (x @ x.T)[~np.eye(n, dtype=bool)]
    gap = np.abs(products[:, None] - np.array(cosines)).min(axis=1)
    assert gap.max() < 1e-5


@pytest.mark.parametrize(
    ("h", "published", "projected"),
    [(0.1, 1.103, 1.0035), (0.05, 1.052, 1.0022), (0.01, 1.0104, 1.0004)],
)
def test_p1_o20_published_step_has_a_slow_clock(h, published, projected):
    """normalize(x + h A x) needs 1 + h as much time; the projected step does not."""
    exact, _ = quad(
        lambda g: (1 + np.exp(6 * (1 - g))) / (2 * (1 - g**2)), 0, 0.999, epsabs=1e-11
    )
    assert exact == pytest.approx(39.16256306, abs=1e-8)
    run = pf.flow(
        pf.Attention(6.0), pair(np.pi / 2), 60.0, save=2, solver=pf.Layers(h), until=met
    )
    layers = run.times[-1] / h
    assert layers == pytest.approx(round(layers), abs=1e-6)  # no part of a layer
    assert run.times[-1] / exact == pytest.approx(published, abs=6e-4 + h / exact)
    tangent = _projected_euler_time(h)
    assert tangent / exact == pytest.approx(projected, abs=6e-4 + h / exact)


def _projected_euler_time(h):
    """The same step with tangent projection, from the field itself."""
    field, mu = pf.Attention(6.0), pair(np.pi / 2)

    def body(state):
        k, x = state
        x = x + h * field(0.0, mu.moved(x)).v
        return k + 1, x / jnp.linalg.norm(x, axis=1, keepdims=True)

    k, _ = jax.jit(
        lambda x: jax.lax.while_loop(lambda s: s[1][0] @ s[1][1] < 0.999, body, (0, x))
    )(mu.points)
    return h * int(k)


def test_p1_o20_first_layers_time_is_the_published_one():
    run = pf.flow(
        pf.Attention(6.0),
        pair(np.pi / 2),
        60.0,
        save=2,
        solver=pf.Layers(0.1),
        until=met,
    )
    assert run.times[-1] == pytest.approx(43.2, abs=1e-9)


def test_cx_o2_prenorm_clusters_like_the_inverse_square_of_time():
    space = pf.Euclidean(16)
    mu = pf.Particles.orthonormal(space, 16)
    times = [1e1, 1e2, 1e3, 1e4]
    run = pf.flow(
        pf.PreNorm(pf.Attention(2.0)), mu, times[-1], save=times, solver=TIGHT
    )
    x = np.asarray(run.points)[1:]
    theta = x / np.linalg.norm(x, axis=-1, keepdims=True)
    one_minus_rho = ((theta[:, 0] - theta[:, 9]) ** 2).sum(axis=-1) / 2
    oracle = [3.2215, 2.4500, 2.3764, 2.3692]
    np.testing.assert_allclose(one_minus_rho * np.square(times), oracle, atol=6e-5)
