"""Jacobians of fields and Hessians of functionals against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import iv

import pushforward as pf
from pushforward.fields import AbstractField, Drive, Motion
from pushforward.functionals import second_order


def cloud(space, n, seed=0, weighted=False):
    points, weights = jax.random.split(jax.random.key(seed))
    x = jax.random.normal(points, (n, space.d))
    w = jax.nn.softmax(jax.random.normal(weights, (n,))) if weighted else None
    return pf.Particles.normalized(space, x, w)


def equispaced_spectrum(n, beta):
    """P1-O22: the eigenvalues of attention at n equispaced tokens of the circle."""
    k = np.arange(-40 - 6 * n, 41 + 6 * n)
    bessel = iv(np.abs(k), beta)
    own = (k**2 * bessel)[k % n == 0].sum()
    modes = [((k**2 * bessel)[(k + m) % n == 0].sum() - own) / beta for m in range(n)]
    return np.sort(modes)[::-1] / bessel[k % n == 0].sum()


@pytest.mark.parametrize("space", [pf.Circle(), pf.Sphere(2)], ids=repr)
def test_equispaced_tokens_have_the_known_spectrum(space):
    mu = pf.Particles(space, pf.Particles.equispaced(pf.Circle(), 6).points)
    jacobian = pf.linearize(pf.Attention(4.0), mu)
    expected = equispaced_spectrum(6, 4.0)
    assert jacobian.size == 6
    np.testing.assert_allclose(jacobian.spectrum(), expected, atol=1e-12)
    modes = jacobian.unstable()
    assert modes.directions.shape == (5, 6, 2) and modes.growths is None
    for value, v in zip(modes.values, modes.directions, strict=True):
        np.testing.assert_allclose(jacobian.mv(v), value * v, atol=1e-12)


def test_one_cluster_is_stable_at_rate_one_and_causally_at_one_minus_one_over_k():
    n, d = 5, 3
    one = pf.Particles(pf.Sphere(d), np.tile([[0.6, 0.0, 0.8]], (n, 1)))
    spectrum = pf.linearize(pf.Attention(7.0), one).spectrum()
    np.testing.assert_allclose(spectrum, [0.0] * 2 + [-1.0] * 8, atol=1e-12)
    causal = pf.linearize(pf.CausalAttention(7.0), one).matrix()
    rates = [1 / k - 1 for k in range(1, n + 1) for _ in range(d - 1)]
    np.testing.assert_allclose(np.diag(np.tril(causal)), rates, atol=1e-12)
    np.testing.assert_allclose(np.triu(causal, 1), 0.0, atol=1e-12)


def test_orthonormal_tokens_leave_along_their_mean():
    # x_i' = P_i sum_j a_ij x_j with a_ii = e^b / Z, a_ij = 1 / Z, Z = e^b + n - 1.
    # A common cosine c of all pairs obeys c' = 2 (1 - c)(a(c) (n - 1) c + a(c)) ...
    n, beta = 3, 2.0
    mu = pf.Particles.orthonormal(pf.Sphere(n), n)
    matrix = pf.linearize(pf.Attention(beta), mu).matrix()
    x, h = mu.points, 1e-5
    step = lambda c, s: pf.Attention(beta)(  # noqa: E731
        0.0, mu.moved(mu.space.exp(x, s * mu.space.vectors(x, c.reshape(n, n - 1))))
    )
    for k, c in enumerate(jnp.eye(n * (n - 1))):
        slope = (step(c, h).v - step(c, -h).v) / (2 * h)
        column = mu.space.coordinates(x, mu.space.tangent(x, slope)).ravel()
        np.testing.assert_allclose(matrix[:, k], column, atol=1e-9)


@pytest.mark.parametrize(
    "space",
    [pf.Sphere(4), pf.Circle(), pf.Product([pf.Sphere(3), pf.Euclidean(2)])],
    ids=repr,
)
def test_tangent_coordinates_are_orthonormal_and_invertible(space):
    x = cloud(space, 5).points
    v, w = (
        space.tangent(x, jax.random.normal(jax.random.key(k), x.shape)) for k in (1, 2)
    )
    c, e = space.coordinates(x, v), space.coordinates(x, w)
    np.testing.assert_allclose(space.vectors(x, c), v, atol=1e-14)
    np.testing.assert_allclose(jnp.sum(c * e, -1), jnp.sum(v * w, -1), atol=1e-14)


def test_the_adjoint_and_leading_modes_agree_with_the_matrix():
    mu = cloud(pf.Sphere(3), 16)
    jacobian = pf.linearize(pf.CausalAttention(3.0), mu)
    v, w = (mu.space.tangent(mu.points, cloud(mu.space, 16, k).points) for k in (1, 2))
    left, right = jnp.sum(jacobian.mv(v) * w), jnp.sum(v * jacobian.vjp(w))
    assert float(left) == pytest.approx(float(right), rel=1e-12)
    assert abs(float(left)) > 1e-3
    leading = jacobian.leading(3)
    np.testing.assert_allclose(
        leading.values.real, jacobian.spectrum()[:3].real, rtol=1e-8
    )
    value, mode = leading.values[0], leading.directions[0]
    parts = (np.asarray(jacobian.mv(jnp.asarray(a))) for a in (mode.real, mode.imag))
    moved = next(parts) + 1j * next(parts)
    np.testing.assert_allclose(moved, value * mode, atol=1e-8)


class Logistic(AbstractField):
    """Growth by a number of its own for every token: replicator dynamics."""

    rates: jax.Array

    def drive(self, t, mu):
        return Drive(jnp.zeros_like(mu.points), growth=self.rates)


def test_weights_are_coordinates_too_where_they_grow():
    # The replicator equation w_i' = w_i (r_i - mean) rests at a pure state, from which
    # token i grows at the rate r_i - r_0.
    rates = jnp.array([1.0, 3.0, 0.5])
    w = [1 - 2e-9, 1e-9, 1e-9]
    mu = pf.Particles(pf.Circle(), pf.Circle().points(jnp.arange(3.0)), w)
    jacobian = pf.linearize(Logistic(rates), mu)
    assert jacobian.size == 3 + 2
    # Roots of weights grow at half the rate; tokens do not move.
    expected = [1.0, 0.0, 0.0, 0.0, -0.25]
    np.testing.assert_allclose(jacobian.spectrum(), expected, atol=1e-3)
    modes = jacobian.unstable(1e-3)
    assert modes.growths is not None and modes.growths.shape == (1, 3)
    assert isinstance(jacobian.mv(jnp.zeros((3, 2))), Motion)


@pytest.mark.parametrize("beta", [1.0, 4.0])
def test_hessian_is_the_hand_written_one_and_minus_the_jacobian_of_descent(beta):
    mu = cloud(pf.Sphere(3), 5, weighted=True)
    F = -pf.InteractionEnergy(beta)
    H = pf.hessian(F, mu)
    np.testing.assert_allclose(H.matrix(), H.matrix().T, atol=1e-13)
    np.testing.assert_allclose(
        H.spectrum(), second_order(F, mu).eigenvalues, atol=1e-12
    )
    descent = pf.linearize(pf.GradientFlow(F), mu).spectrum().real
    np.testing.assert_allclose(np.sort(-descent), H.spectrum(), atol=1e-10)


def test_hessian_of_equispaced_tokens_on_the_circle():
    """P1: n^2 d_i d_j E = g(theta_i - theta_j), g(x) = (cos x - b sin^2 x) e^{b cos x}.

    E here is e^{-b} times the double mean, whose second derivatives are 2 b g / n^2.
    """
    n, beta = 5, 2.0
    theta = 2 * np.pi * np.arange(n) / n
    x = theta[:, None] - theta[None, :]
    g = (np.cos(x) - beta * np.sin(x) ** 2) * np.exp(beta * (np.cos(x) - 1))
    np.fill_diagonal(g, 0.0)
    g -= np.diag(g.sum(axis=1))
    mu = pf.Particles.equispaced(pf.Circle(), n)
    H = pf.hessian(pf.InteractionEnergy(beta), mu)
    np.testing.assert_allclose(
        H.spectrum(), np.linalg.eigvalsh(2 * beta * g / n), atol=1e-12
    )
    assert H.index() == int(np.sum(np.linalg.eigvalsh(g) < -1e-9))


def test_lowest_modes_without_the_matrix():
    mu = cloud(pf.Sphere(3), 16, weighted=True)
    H = pf.hessian(pf.InteractionEnergy(3.0), mu)
    modes = H.lowest(3)
    np.testing.assert_allclose(modes.values, H.spectrum()[:3], rtol=1e-8)
    np.testing.assert_allclose(
        H.mv(modes.directions[0]), modes.values[0] * modes.directions[0], atol=1e-8
    )


def test_refusals_name_the_argument():
    mu = cloud(pf.Sphere(3), 3)
    with pytest.raises(pf.errors.InputError, match="`field`"):
        pf.linearize(3.0, mu)
    with pytest.raises(pf.errors.InputError, match="Particles, got Density"):
        pf.linearize(pf.Attention(1.0), pf.Density.uniform(pf.Circle(), 4))
    with pytest.raises(pf.errors.InputError, match="`F`"):
        pf.hessian(pf.Attention(1.0), mu)
    massless = pf.Particles(mu.space, mu.points, [0.5, 0.5, 0.0])
    with pytest.raises(pf.errors.InputError, match="mass"):
        pf.hessian(pf.InteractionEnergy(1.0), massless)
    with pytest.raises(pf.errors.InputError, match="`count`"):
        pf.linearize(pf.Attention(1.0), mu).leading(100)
    with pytest.raises(pf.errors.InputError, match="`v`"):
        pf.linearize(pf.Attention(1.0), mu).mv(np.zeros(3))
