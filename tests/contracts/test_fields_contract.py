"""Contracts of every field."""

import contract_examples as examples
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.io import from_json, to_json

ALL = examples.examples(examples.FIELDS)
WITH_IDS = pytest.mark.parametrize(
    ("name", "field"), [item[:2] for item in ALL], ids=[item[2] for item in ALL]
)
UNORDERED = [item for item in ALL if item[0] not in examples.ORDERED]
WITH_IDS_UNORDERED = pytest.mark.parametrize(
    ("name", "field"),
    [item[:2] for item in UNORDERED],
    ids=[item[2] for item in UNORDERED],
)
E, F = pf.InteractionEnergy(2.0), pf.InteractionEnergy(-1.0)
# Rotation about the origin commutes with these: no matrix, no coordinate is special.
ISOTROPIC = {
    "SA": ("sphere", pf.Attention(4.0)),
    "repulsive SA": ("sphere", pf.Attention(-3.0)),
    "USA": ("sphere", pf.UnnormalizedAttention(2.0)),
    "causal": ("sphere", pf.CausalAttention(4.0)),
    "hard": ("flat", pf.HardRelaxation()),
    "heads": ("sphere", pf.Heads([pf.Attention(1.0), pf.Attention(4.0)])),
    "sum": ("sphere", pf.Attention(1.0) - 0.5 * pf.UnnormalizedAttention(1.0)),
    "gradient": ("sphere", pf.GradientFlow(E + F, pf.WassersteinFisherRao())),
    "softmax metric": ("sphere", pf.GradientFlow(-E, pf.SoftmaxWeighted(2.0))),
    "Pre-LN": ("flat", pf.PreNorm(pf.Attention(4.0))),
    "Mix-LN": ("flat", pf.MixNorm(pf.Attention(4.0), 1.0)),
    "Peri-LN": ("flat", pf.PeriNorm(pf.Attention(4.0))),
    "LN-scaling": ("flat", pf.DepthScaledNorm(pf.Attention(4.0))),
    "nGPT": ("sphere", pf.UnitNorm(pf.Attention(4.0))),
    "flat SA": ("flat", pf.Attention(1.0)),
}


@eqx.filter_jit
def motion(field, t, mu):
    return field(t, mu)


def at(field, mu, t=0.5):
    v, g = motion(field, jnp.asarray(t, float), mu)
    return np.asarray(v), None if g is None else np.asarray(g)


def moved(mu, points, weights):
    return mu.moved(jnp.asarray(points), jnp.log(jnp.asarray(weights)))


def close(a, b):
    (v, g), (w, k) = a, b
    np.testing.assert_allclose(v, w, atol=1e-13)
    assert (g is None) == (k is None)
    if g is not None:
        np.testing.assert_allclose(g, k, atol=1e-13)


@WITH_IDS
def test_velocity_is_tangent_finite_and_not_zero(name, field):
    mu = examples.tokens(name)
    v, g = at(field, mu)
    assert v.shape == mu.points.shape and np.isfinite(v).all()
    tangent = mu.space.tangent(mu.points, jnp.asarray(v))
    np.testing.assert_allclose(tangent, v, atol=1e-14)
    assert np.abs(v).max() + (0.0 if g is None else np.abs(g).max()) > 1e-3


@WITH_IDS
def test_mass_is_kept(name, field):
    mu = examples.tokens(name)
    _, g = at(field, mu)
    if g is not None:
        assert abs(np.asarray(mu.weights) @ g) < 1e-14


@WITH_IDS_UNORDERED
def test_permutation(name, field):
    mu = examples.tokens(name)
    order = np.array([3, 0, 5, 1, 4, 2])
    v, g = at(field, mu)
    shuffled = moved(mu, mu.points[order], mu.weights[order])
    close(at(field, shuffled), (v[order], None if g is None else g[order]))


@WITH_IDS_UNORDERED
def test_duplicated_tokens_are_doubled_weights(name, field):
    mu = examples.tokens(name)
    v, g = at(field, mu)
    halves = np.asarray(mu.weights).copy()
    halves[2] /= 2
    twin = moved(
        mu,
        np.concatenate([mu.points, mu.points[2:3]]),
        np.concatenate([halves, halves[2:3]]),
    )
    pad = lambda a: None if a is None else np.concatenate([a, a[2:3]])  # noqa: E731
    close(at(field, twin), (pad(v), pad(g)))


@pytest.mark.parametrize("name", sorted(examples.ORDERED))
def test_a_prefix_never_depends_on_what_follows(name):
    for field in examples.FIELDS[name]:
        mu = examples.tokens(name)
        other = examples.tokens(name, seed=9)
        x = np.concatenate([mu.points[:4], other.points[4:]])
        v, w = at(field, mu)[0], at(field, moved(mu, x, mu.weights))[0]
        np.testing.assert_array_equal(v[:4], w[:4])
        assert np.abs(v[4:] - w[4:]).max() > 1e-3
        swapped = np.array([1, 0, 2, 3, 4, 5])
        u = at(field, moved(mu, mu.points[swapped], mu.weights[swapped]))[0]
        assert np.abs(u - v[swapped]).max() > 1e-3  # order matters
        if name not in examples.BY_POSITION:
            assert np.abs(u[2:] - v[2:]).max() < 1e-14  # but not the order of the past


@pytest.mark.parametrize("case", ISOTROPIC)
def test_rotation(case):
    where, field = ISOTROPIC[case]
    mu = examples.tokens("PreNorm" if where == "flat" else "Attention")
    turn, _ = np.linalg.qr(np.sin(np.arange(9.0) ** 2).reshape(3, 3))
    v, g = at(field, mu)
    x = np.asarray(mu.points)
    close(at(field, moved(mu, x @ turn.T, mu.weights)), (v @ turn.T, g))


@WITH_IDS
def test_changing_a_number_does_not_compile_again(name, field):
    traces = []

    @eqx.filter_jit
    def counted(field, t, mu):
        traces.append(1)
        return field(t, mu)

    mu = examples.tokens(name)
    perturbed = jax.tree_util.tree_map(lambda leaf: leaf * 1.01, field)
    before = counted(field, jnp.asarray(0.5, float), mu)
    after = counted(perturbed, jnp.asarray(0.6, float), mu)
    assert len(traces) == 1
    unchanged = np.array_equal(before.v, after.v)
    leaves = jax.tree_util.tree_leaves(field)
    depends = [leaf for leaf in leaves if not (leaf.ndim == 0 and leaf < 1e-9)]
    assert depends == [] or not unchanged or before.g is not None


@pytest.mark.parametrize("name", ["Attention", "UnnormalizedAttention"])
@pytest.mark.parametrize("beta", [3, 3.0, np.float64(3), np.array(3), jnp.array(3.0)])
def test_a_number_is_the_same_in_every_costume(name, beta):
    """Integers, floats and arrays make one and the same compiled program."""
    field = getattr(pf, name)(beta)
    assert field.beta.dtype == jnp.float64 and not field.beta.weak_type
    assert field.beta.shape == ()


@WITH_IDS
def test_json_round_trip_gives_equal_velocities(name, field):
    mu = examples.tokens(name)
    v, g = at(field, mu)
    w, k = at(from_json(to_json(field)), mu)
    np.testing.assert_array_equal(v, w)
    if g is not None:
        np.testing.assert_array_equal(g, k)


@WITH_IDS
def test_a_batch_of_fields_is_a_loop_over_fields(name, field):
    mu = examples.tokens(name)
    scales = jnp.array([1.0, 1.1, 0.9])
    family = [
        jax.tree_util.tree_map(lambda a, s=s: a * s.astype(a.dtype), field)
        for s in scales
    ]
    batch = jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *family)
    if not jax.tree_util.tree_leaves(field):
        pytest.skip("a field without numbers has no batch")
    together = eqx.filter_jit(
        eqx.filter_vmap(lambda f: f(jnp.asarray(0.5, float), mu).v)
    )
    for one, row in zip(family, np.asarray(together(batch)), strict=True):
        np.testing.assert_allclose(row, at(one, mu)[0], atol=1e-14)


@WITH_IDS
def test_float32_in_float32_out(name, field):
    mu = examples.tokens(name)
    v, g = motion(field, jnp.asarray(0.5, float), mu.astype(jnp.float32))
    assert v.dtype == jnp.float32
    assert g is None or g.dtype == jnp.float32
    np.testing.assert_allclose(v, at(field, mu)[0], atol=2e-5)


@pytest.mark.parametrize("name", [n for n in examples.FIELDS if n != "HardAttention"])
def test_value_anywhere_agrees_with_the_value_at_particles(name):
    for field in examples.FIELDS[name]:
        if not hasattr(field, "at"):
            continue
        mu = examples.tokens(name)
        anywhere = field.at(jnp.asarray(0.5, float), mu.points, mu)
        tangent = mu.space.tangent(mu.points, anywhere)
        np.testing.assert_allclose(tangent, at(field, mu)[0], atol=1e-13)


def test_algebra_of_fields():
    mu = examples.tokens("Attention")
    a, p = pf.Attention(4.0), pf.Perceptron(examples.W, examples.A, examples.b)
    va, vp = at(a, mu)[0], at(p, mu)[0]
    np.testing.assert_allclose(at(a + p, mu)[0], va + vp, atol=1e-15)
    np.testing.assert_allclose(at(a - p, mu)[0], va - vp, atol=1e-15)
    np.testing.assert_allclose(at(2.5 * a, mu)[0], 2.5 * va, atol=1e-15)
    np.testing.assert_allclose(at(-a, mu)[0], -va, atol=1e-15)
    twice = at(pf.Heads([a, a]), mu)[0]
    np.testing.assert_allclose(twice, 2 * va, atol=1e-15)


def test_switched_is_piecewise_and_silent_outside():
    mu = examples.tokens("Attention")
    one, two = pf.Attention(1.0), pf.Attention(9.0)
    field = pf.Switched([one, two], [0.0, 1.0, 2.0])
    for t, expected in [(0.0, one), (0.99, one), (1.0, two), (1.99, two)]:
        v = at(field, mu, t)[0]
        np.testing.assert_allclose(v, at(expected, mu)[0], atol=1e-15)
    for t in (-0.1, 2.0, 3.0):
        assert np.abs(at(field, mu, t)[0]).max() == 0.0


def test_hard_attention_is_the_limit_of_infinite_beta():
    mu = examples.tokens("Attention")
    hard = pf.HardAttention(Q=examples.Q, V=examples.V)
    soft = pf.Attention(1e6, Q=examples.Q, V=examples.V)
    np.testing.assert_allclose(at(hard, mu)[0], at(soft, mu)[0], atol=1e-12)


def test_chunks_do_not_change_the_sum(monkeypatch):
    import pushforward.sums._exact as exact

    mu = examples.tokens("Attention")
    whole = pf.Attention(4.0)(0.0, mu).v
    causal = pf.CausalAttention(4.0)(0.0, mu).v
    monkeypatch.setattr(exact, "FEW_PAIRS", 0)
    monkeypatch.setattr(exact, "DENSE_PAIRS", 0)
    for chunk in (1, 4, 6, 100):
        sums = pf.Exact(chunk=chunk)
        v = pf.Attention(4.0, sums=sums)(0.0, mu).v
        np.testing.assert_allclose(v, whole, atol=1e-15)
        v = pf.CausalAttention(4.0, sums=sums)(0.0, mu).v
        np.testing.assert_allclose(v, causal, atol=1e-15)
