"""Flows of Gaussians: attention moves mean and covariance exactly (N4)."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

import pushforward as pf
from pushforward.errors import InputError
from pushforward.theory import gaussian_tokens as theory

CHEAP = diffrax.Bosh3()  # compiles in half the time
FINE = pf.Adaptive(1e-11, 1e-13, scheme=CHEAP)
V = np.array([[-1.0, 0.3], [0.2, -0.7]])
A = np.array([[0.8, 0.5], [-0.3, 0.6]])
S = np.array([[0.5, 0.1], [0.1, 0.3]])
M = np.array([0.3, -0.2])
TWO = pf.Gaussian(M, S)
ONE = pf.Gaussian([0.5], [[0.8]])


def ends(field, mu, t1, **more):
    return pf.flow(field, mu, t1, save=2, solver=FINE, **more).final


def variance(field, t1, mu=ONE):
    return ends(field, mu, t1).covariance[0, 0].item()


def moments(mu):
    found = pf.Gaussian.from_particles(mu)
    return np.asarray(found.center), np.asarray(found.covariance)


def test_one_coordinate():
    """N4-O1."""
    run = pf.flow(
        pf.Attention(1.0, V=[[-1.0]]), ONE, 3.0, save=[0.5, 1.0, 3.0], solver=FINE
    )
    centers = np.asarray(run.measures.center)[1:, 0]
    spreads = np.asarray(run.measures.covariance)[1:, 0, 0]
    np.testing.assert_allclose(
        centers, [0.2260406309, 0.1140745721, 0.0103364775], atol=1e-9
    )
    np.testing.assert_allclose(
        spreads, [0.4444444444, 0.3076923077, 0.1379310345], atol=1e-9
    )


def test_growing_variance():
    """N4-O2, with the time at which it becomes infinite."""
    mu = pf.Gaussian([0.5], [[0.2]])
    end = ends(pf.Attention(1.0), mu, 1.0)
    assert abs(end.center[0].item() - 1.7546433753) < 1e-9
    assert abs(end.covariance[0, 0].item() - 1 / 3) < 1e-9
    run = pf.flow(pf.Attention(1.0), mu, 4.0, save=3)
    assert run.outcome.kind == "diverged" and "blow-up" in run.outcome.message
    assert abs(run.times[-1] - 2.5) < 1e-6
    with pytest.raises(InputError, match="no particles"):
        _ = run.points


def test_general_matrices():
    """N4-O3: a rank-two head, and the closed equations of the theory."""
    field = pf.Attention(2.0, Q=A / 2, V=V)
    end = ends(field, TWO, 1.0)
    np.testing.assert_allclose(end.center, [0.075622460178, -0.062294164678], atol=1e-9)
    upper = np.asarray(end.covariance)[np.triu_indices(2)]
    expected = [0.269911786497, 0.052723509401, 0.256407415277]
    np.testing.assert_allclose(upper, expected, atol=1e-9)
    closed = theory.moments(1.0, V, A, M, S)
    np.testing.assert_allclose(end.covariance, closed.covariance, atol=1e-9)
    factored = pf.Attention(2.0, Q=A / 2, V=(V, np.eye(2)))
    other = ends(factored, TWO, 1.0)
    np.testing.assert_allclose(other.covariance, end.covariance, atol=1e-12)


def test_blow_up_of_a_matrix():
    """N4-O4."""
    Q = np.array([[0.3, 0.7], [-0.2, -0.5]])
    end = ends(pf.Attention(1.0, Q=Q), TWO, 1.0)
    upper = np.asarray(end.covariance)[np.triu_indices(2)]
    expected = [0.819462227913, 0.217669654289, 0.276568501921]
    np.testing.assert_allclose(upper, expected, atol=1e-9)
    np.testing.assert_allclose(end.center, [0.742780055360, -0.533383677967], atol=1e-9)
    run = pf.flow(pf.Attention(1.0, Q=Q), TWO, 9.0, save=2)
    assert abs(run.times[-1] - theory.blow_up(Q, S)) < 1e-5
    assert abs(run.times[-1] - 2.5089790013) < 1e-5


def test_limit_of_lower_rank():
    """N4-O5: the covariance of what attention does not see, given what it does."""
    run = pf.flow(pf.Attention(1.0, Q=np.diag([-1.0, 0.0])), TWO, 200.0, save=2)
    found = np.diag(run.final.covariance)
    np.testing.assert_allclose(found, [0.00248756, 0.28009950], atol=1e-7)


def test_linear_layer():
    """N4-O6."""
    beside = lambda va: pf.Attention(1.0, V=[[va]]) + pf.Linear([[0.5]])  # noqa: E731
    assert abs(variance(beside(-1.0), 1.0) - 0.5800159834) < 1e-9
    assert abs(variance(beside(-1.0), 4.0) - 0.5034579326) < 1e-9
    run = pf.flow(beside(1.0), ONE, 2.0, save=2)
    assert abs(run.times[-1] - 0.4855078158) < 1e-6


def test_other_attentions():
    """N4-O7: by distance no variance becomes infinite."""
    found = [variance(pf.DistanceAttention(1.0, V=[[v]]), 1.0) for v in (1.0, -1.0)]
    np.testing.assert_allclose(found, [2.5189592146, 0.3935918816], atol=1e-8)
    far = variance(pf.DistanceAttention(1.0), 20.0)
    assert abs(far / theory.squared_distance_attention(20.0, 1.0, 0.8) - 1) < 1e-7


def test_linear_attention_of_one_coordinate():
    """M = M_0 / (1 - 2 v a M_0 t) and m = m_0 (1 - 2 v a M_0 t)^{-1/2}."""
    end = ends(pf.LinearAttention(2.0, V=[[-0.5]]), ONE, 1.5)
    left = 1 + 2 * 1.05 * 1.5
    m, second = end.center[0], end.covariance[0, 0] + end.center[0] ** 2
    assert abs(m.item() - 0.5 / np.sqrt(left)) < 1e-9
    assert abs(second.item() - 1.05 / left) < 1e-9


@pytest.mark.parametrize(
    "field",
    [
        pf.Attention(0.7, Q=A, V=V),
        pf.DistanceAttention(0.7, A, V, V),
        pf.LinearAttention(0.7, A, V, -np.eye(2)),
        pf.Heads([pf.Attention(0.5, V=V), pf.DistanceAttention(1.0, V=-V)]),
    ],
    ids=lambda field: type(field).__name__,
)
def test_particles_at_the_nodes_move_alike(field):
    """Affine maps keep Gauss and Hermite nodes: an independent way, by sums."""
    nodes = TWO.quadrature(16)
    B, c = field.on_gaussian(0.0, TWO)
    with jax.disable_jit():
        v = field(0.0, nodes).v
    near = nodes.weights > 1e-9  # sums over nodes cannot see farther
    expected = (nodes.points @ B.T + c[None])[near]
    np.testing.assert_allclose(v[near], expected, atol=1e-7)


def test_layers_are_the_map_of_a_layer():
    """S <- (I + h V S A) S (I + h V S A)^T; two sublayers one after the other."""
    field, h = pf.Attention(1.0, Q=A, V=V), 0.1
    end = pf.flow(field, TWO, 0.2, save=2, solver=pf.Layers(h)).final
    m, C = M, S
    for _ in range(2):
        step = np.eye(2) + h * V @ C @ A
        m, C = step @ m + h * V @ m, step @ C @ step.T
    np.testing.assert_allclose(end.covariance, C, atol=1e-13)
    np.testing.assert_allclose(end.center, m, atol=1e-13)
    twice = pf.flow(field + field, TWO, h, save=2, solver=pf.Layers(h)).final
    np.testing.assert_allclose(twice.covariance, C, atol=1e-13)


def test_rank_is_kept_and_a_point_stays_a_point():
    flat = pf.Gaussian(M, np.outer(M, M))
    assert flat.rank == 1
    end = ends(pf.Attention(1.0, Q=A, V=V), flat, 1.0)
    assert end.rank == 1
    assert abs(np.linalg.det(np.asarray(end.covariance))) < 1e-16
    dirac = ends(pf.Attention(1.0, V=V), pf.Gaussian(M, 0 * S), 1.0)
    assert not np.asarray(dirac.covariance).any()


def test_a_mask_changes_nothing_for_one_law():
    found = ends(pf.CausalAttention(0.7, Q=A, V=V), TWO, 0.5)
    plain = ends(pf.Attention(0.7, Q=A, V=V), TWO, 0.5)
    np.testing.assert_array_equal(found.covariance, plain.covariance)


def test_switched_and_multiples():
    """In the first half attention is in force, at twice the speed."""
    twice = 2.0 * pf.Attention(1.0, V=V)
    field = pf.Switched([twice, pf.Linear(V)], [0.0, 0.5, 1.0])
    half = theory.moments(1.0, V, np.eye(2), M, S)
    turned = expm(0.5 * V)
    end = ends(field, TWO, 1.0)
    expected = turned @ half.covariance @ turned.T
    np.testing.assert_allclose(end.covariance, expected, atol=1e-9)


def test_noise_is_a_rate_of_the_covariance():
    """Ornstein and Uhlenbeck: dS/dt = -2 S + sigma^2, whatever the start."""
    pull, noise = pf.Linear(-np.eye(2)), pf.Brownian(0.6)
    end = ends(pull, TWO, 0.7, noise=noise)
    left = np.exp(-1.4)
    expected = left * S + (1 - left) * 0.18 * np.eye(2)
    np.testing.assert_allclose(end.covariance, expected, atol=1e-9)
    np.testing.assert_allclose(end.center, np.exp(-0.7) * M, atol=1e-9)
    with pytest.raises(InputError, match="regular covariance"):
        ends(pull, pf.Gaussian(M, np.outer(M, M)), 0.7, noise=noise)


def test_common_noise_moves_the_center_alone():
    key, noise = jax.random.key(0), pf.CommonNoise(0.5)
    field = 0.0 * pf.Attention(0.0)
    end = pf.flow(field, TWO, 1.0, save=2, noise=noise, key=key).final
    np.testing.assert_allclose(end.covariance, S, atol=1e-13)
    assert np.abs(np.asarray(end.center) - M).max() > 0.01
    with pytest.raises(InputError, match="needs a `key`"):
        pf.flow(field, TWO, 1.0, noise=noise)


@pytest.mark.slow
def test_derivatives_and_batches():
    """Of the variance in its start: 1/s = 1/s_0 - 2 v t, and in beta."""
    field = pf.Attention(1.0, V=[[-1.0]])

    def end(s, beta=1.0):
        mu = pf.Gaussian(jnp.zeros(1), jnp.reshape(s, (1, 1)))
        field = pf.Attention(beta, V=[[-1.0]])
        return pf.flow(field, mu, 1.0, save=2).final.covariance[0, 0]

    s = jnp.asarray(0.8)
    assert abs(jax.grad(end)(s) - 1 / (1 + 2 * 0.8) ** 2) < 1e-7
    slope = jax.jvp(lambda b: end(s, b), (1.0,), (1.0,))[1]
    assert abs(slope + 2 * 0.8**2 / (1 + 2 * 0.8) ** 2) < 1e-7
    several = jax.vmap(end)(jnp.array([0.8, 0.4]))
    np.testing.assert_allclose(several, [0.8 / 2.6, 0.4 / 1.8], atol=1e-8)
    single = pf.flow(field, ONE.astype("float32"), 1.0, save=2).final
    assert single.covariance.dtype == jnp.float32
    assert abs(single.covariance[0, 0] - 0.8 / 2.6) < 1e-5


def test_store_load_resume_and_experiment(tmp_path):
    """An interrupted run goes on from its frames, bit by bit."""
    field, path = pf.Attention(1.0, V=V), tmp_path / "run"
    calls = []

    def stop(t, mu, steps):
        calls.append(t)
        if len(calls) == 3:
            raise KeyboardInterrupt

    whole = pf.flow(field, TWO, 1.0, save=5)
    part = pf.flow(field, TWO, 1.0, save=5, progress=stop, store=path)
    assert len(part) < 5
    again = pf.flow(field, TWO, 1.0, save=5, store=path)
    loaded = pf.load(path)
    for run in (again, loaded):
        for name in ("center", "covariance", "factor"):
            found, expected = getattr(run.measures, name), getattr(whole.measures, name)
            np.testing.assert_array_equal(found, expected)
    e = pf.Experiment(pf.GivenGaussian(M, S), field, 1.0, save=5)
    read = pf.Experiment.from_toml(e.to_toml())
    np.testing.assert_array_equal(read.run().final.covariance, whole.final.covariance)
    assert read.vary(dtype="float32").run().final.center.dtype == jnp.float32
    middle = whole.at(0.9).covariance
    assert np.abs(middle - ends(field, TWO, 0.9).covariance).max() < 5e-3


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: pf.flow(pf.Attention(1.0), TWO, 1.0, merge=pf.Merge()), "merge"),
        (lambda: pf.flow(pf.UnnormalizedAttention(1.0), TWO, 1.0), "affine"),
        (lambda: pf.flow(pf.PreNorm(pf.Attention(1.0)), TWO, 1.0), "affine"),
        (lambda: pf.flow(pf.Attention(1.0, V=np.eye(3)), TWO, 1.0), "dimension 2"),
        (lambda: pf.Gaussian(M, S + np.eye(2, k=1)), "symmetric"),
        (lambda: pf.Gaussian(M, -S), "negative"),
        (lambda: pf.Gaussian(M, np.eye(3)), "shape"),
        (lambda: pf.Gaussian.from_particles(pf.Particles(pf.Sphere(2), [[1, 0]])), "E"),
        (lambda: pf.Gaussian(np.zeros(9), np.eye(9)).quadrature(12), "nodes"),
        (lambda: pf.InteractionEnergy(1.0)(TWO), "Gaussian"),
        (lambda: pf.observables.mean_cosine(TWO), "Gaussian"),
    ],
)
def test_what_does_not_apply_is_refused(call, match):
    with pytest.raises(InputError, match=match):
        call()


def test_a_gaussian_as_a_measure():
    """Its points integrate cubics; samples and nodes have its moments."""
    mu = pf.Gaussian(M, S)
    np.testing.assert_allclose(mu.integrate(lambda x: x), M, atol=1e-15)
    center, covariance = moments(mu.quadrature(3))
    np.testing.assert_allclose(center, M, atol=1e-14)
    np.testing.assert_allclose(covariance, S, atol=1e-14)
    third = lambda x: (x[:, 0] - M[0]) ** 2 * x[:, 1]  # noqa: E731
    assert abs(mu.integrate(third) - S[0, 0] * M[1]) < 1e-14
    drawn = mu.sample(jax.random.key(1), 4000)
    np.testing.assert_allclose(moments(drawn)[1], S, atol=0.05)
