"""The low-rank sum: its error is measured, said, and never passed over."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pushforward.errors import InputError
from pushforward.sums import Auto, Exact, Kernel, Nystrom, Spectral, choose
from pushforward.sums._exact import dense


def kernel(n=600, d=8, beta=9.0, width=0.01, seed=0, outlier=False) -> Kernel:
    """Five clusters of tokens that see themselves; or uniform when the width is big."""
    rng = np.random.default_rng(seed)
    center = rng.normal(size=(5, d))
    center /= np.linalg.norm(center, axis=1, keepdims=True)
    x = center[np.arange(n) % 5] + width * rng.normal(size=(n, d))
    if outlier:
        x[n // 2] = -center.sum(axis=0)
    x = jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    log_w = jnp.asarray(np.log(rng.dirichlet(np.full(n, 9.0))))
    return Kernel(x, x, x, log_w, jnp.asarray(beta), own=True, unit=True)


def direct(problem: Kernel):
    return dense(problem, problem.queries, jnp.arange(len(problem.queries)))


def true_error(method, problem: Kernel) -> float:
    found, exact = method(problem), direct(problem)
    error = jnp.abs(found.average() - exact.average()).max()
    return max(float(error), float(jnp.abs(found.log_total - exact.log_total).max()))


@pytest.mark.parametrize("beta", [0.0, 1.0, 9.0, -1.0])
def test_clusters_are_summed_to_the_error_that_is_measured(beta):
    problem, method = kernel(beta=beta), Nystrom(200, check=600)
    assert true_error(method, problem) < 1e-4
    # With all rows checked, the error that is said is the error there is.
    said, there_is = method.error(problem), true_error(method, problem)
    assert_allclose(said, there_is, rtol=1e-6, atol=1e-14)


@pytest.mark.slow
def test_more_landmarks_are_better():
    errors = [float(Nystrom(r).error(kernel())) for r in (20, 200)]
    assert errors[0] > 100 * errors[1]


@pytest.mark.parametrize("d", [8, 16])
def test_a_spread_out_cloud_is_refused(d):
    problem = kernel(d=d, beta=4.0, width=100.0)
    assert Nystrom(100).error(problem) > 1e-2
    with pytest.raises(Exception, match="rank 100 is off by more than 0.001"):
        jax.block_until_ready(Nystrom(100)(problem))


def test_an_isolated_token_is_recomputed_exactly():
    problem = kernel(n=2000, beta=30.0, outlier=True)
    method = Nystrom(30, tol=0.9)  # few candidates: the outlier is not among them
    found, exact = method(problem), direct(problem)
    assert_allclose(found.average()[1000], exact.average()[1000], atol=1e-12)
    assert_allclose(found.log_total[1000], exact.log_total[1000], rtol=1e-12)


def test_other_queries_other_values_and_lengths():
    rng = np.random.default_rng(1)
    keys = kernel().keys * jnp.linspace(0.9, 1.2, 600)[:, None]
    queries = 0.8 * keys[::3] + 0.01 * rng.normal(size=(200, 8))
    values = jnp.asarray(rng.normal(size=(600, 3)))
    problem = Kernel(queries, keys, values, kernel().log_weights, jnp.asarray(3.0))
    assert true_error(Nystrom(300, tol=1e-4), problem) < 1e-4


def test_gradient_is_that_of_the_exact_sum():
    def loss(method, x, log_w, beta):
        total = method(Kernel(x, x, x, log_w, beta, own=True, unit=True))
        return jnp.sum(jnp.sin(3 * total.average())) + jnp.sum(total.log_total**2)

    problem = kernel(n=150, beta=4.0)
    arguments = (problem.keys, problem.log_weights, problem.beta)
    found = jax.grad(loss, argnums=(1, 2, 3))(Nystrom(150), *arguments)
    exact = jax.grad(loss, argnums=(1, 2, 3))(direct, *arguments)
    for a, b in zip(found, exact, strict=True):
        assert_allclose(a, b, atol=1e-6 * float(jnp.abs(b).max()))


def test_float32_stays_float32():
    single = jax.tree_util.tree_map(lambda a: a.astype(jnp.float32), kernel())
    found = Nystrom(200)(single)
    assert found.moment.dtype == jnp.float32
    assert_allclose(found.average(), direct(kernel()).average(), atol=1e-4)


def test_it_is_chosen_only_by_name():
    for d in (2, 3, 8, 16):
        assert isinstance(choose(10**5, 10**5, d, plain=True), Exact | Spectral)
    problem = kernel(n=1500, width=100.0, beta=4.0)  # refused by name
    assert true_error(Auto(), problem) < 1e-12


def test_same_seed_same_bits_and_another_seed_other_landmarks():
    problem = kernel(n=2000)
    first, again, other = (Nystrom(20, tol=0.9, seed=s)(problem) for s in (0, 0, 1))
    assert np.array_equal(first.moment, again.moment)
    assert not np.array_equal(first.moment, other.moment)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"rank": 0}, "`rank` must be an integer of at least 1, got 0"),
        ({"rank": 2.5}, "`rank` must be an integer"),
        ({"tol": 0.0}, "`tol` must be a number between 0 and 1"),
        ({"check": 0}, "`check` must be an integer of at least 1"),
        ({"seed": -1}, "`seed` must be an integer of at least 0"),
    ],
)
def test_bad_options_are_refused(options, text):
    with pytest.raises(InputError, match=text):
        Nystrom(**options)


def test_a_causal_mask_is_refused():
    x = kernel(n=20)
    masked = Kernel(x.keys, x.keys, x.keys, x.log_weights, x.beta, causal=True)
    with pytest.raises(InputError, match="causal mask"):
        Nystrom()(masked)
