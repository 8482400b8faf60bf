"""One equation for every field: whatever a field is combined with, (v, g) is carried.

Rows are the exported fields, and fields of one's own; columns are what can be done with
a field. A cell either carries the field through (it is checked against the field by
itself) or refuses with an error of ours, and then it is listed in `REFUSED`. To add a
column write a function of (field, mu) and put it into COLUMNS.

Nearly all runs operation by operation: fields share the compiled operations, where a
program for each would take seconds.
"""

import tempfile

import contract_examples as examples
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import PushforwardError
from pushforward.fields import AbstractField, AbstractMeanField, Drive
from pushforward.flows.solvers._exponential import rate_of_coefficients

T = jnp.asarray(0.5)
SHORT = 1e-3  # a time over which motions are constant to 1e-2 of their size
BASIS = pf.Harmonics(3)
ORDER = np.array([3, 0, 5, 1, 4, 2])
TURN = np.linalg.qr(np.sin(np.arange(9.0) ** 2).reshape(3, 3))[0]  # a reflection in it


class Drift(AbstractMeanField):
    """A field of one's own, by its value anywhere: everything drifts and grows."""

    a: jax.Array

    def at(self, t, x, mu):
        return jnp.broadcast_to(self.a.astype(x.dtype), x.shape)

    def growth(self, t, mu):
        return mu.points @ self.a.astype(mu.points.dtype)


class Numbered(AbstractField):
    """A field of one's own, by its drive: token i swells and grows at the rate i."""

    rate: jax.Array

    def drive(self, t, mu):
        i = self.rate.astype(mu.points.dtype) * jnp.arange(mu.n, dtype=mu.points.dtype)
        return Drive(jnp.flip(mu.points, axis=1), i, i)


OWN = {
    "Drift": [Drift(jnp.array([0.3, -1.0, 0.5]))],
    "Numbered": [Numbered(jnp.asarray(0.2))],
}
# One of each kind, and where kinds within a class differ in what they do, the last too.
ROWS = [
    row
    for row in examples.examples({**examples.FIELDS, **OWN})
    if row[2].endswith("-0") or row[2] in ("GradientFlow-3", "Heads-1", "Attention-1")
]
OTHER = Drift(jnp.array([1.0, 0.2, -0.4]))  # a partner with velocity and growth


def partner(mu):
    """A field with velocity and growth for the same tokens."""
    moving = isinstance(mu.space, pf.TangentBundle)
    return pf.Momentum(OTHER, pf.Friction(0.1)) if moving else OTHER


def motion(field, mu):
    v, g = field(T, mu)
    return np.asarray(v), np.zeros(mu.n) if g is None else np.asarray(g)


def same(found, expected, atol=1e-12):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=atol * (1 + np.abs(b).max()))


def flows(field, mu):
    """Over a short time: x moves by v, log w by g less its mean, mass stays one."""
    heun = pf.Heun(SHORT)
    end = pf.flow(field, mu, 0.5 + SHORT, t0=0.5, save=2, solver=heun).final
    assert abs(float(end.weights.sum()) - 1.0) < 1e-12
    v, g = motion(field, mu)
    if field(T, mu).g is None:
        np.testing.assert_array_equal(end.log_weights, mu.log_weights)
    moved = (np.asarray(end.points) - mu.points) / SHORT
    grown = np.asarray(end.log_weights - mu.log_weights) / SHORT
    same((moved, grown), (v, g - np.asarray(mu.weights) @ g), atol=2e-2)


def adds(field, mu):
    other = partner(mu)
    (v, g), (w, k) = motion(field, mu), motion(other, mu)
    same(motion(field + other, mu), (v + w, g + k))
    same(motion(other - field, mu), (w - v, k - g))


def multiplies(field, mu):
    v, g = motion(field, mu)
    same(motion(-2.5 * field, mu), (-2.5 * v, -2.5 * g))


def makes_heads(field, mu):
    other = partner(mu)
    (v, g), (w, k) = motion(field, mu), motion(other, mu)
    same(motion(pf.Heads([field, other]), mu), (v + w, g + k))
    same(motion(pf.Heads([field, field]), mu), (2 * v, 2 * g))


def switches(field, mu):
    other = partner(mu)
    for fields, times in [([field, other], [0, 1, 2]), ([other, field], [0, 0.25, 2])]:
        same(motion(pf.Switched(fields, times), mu), motion(field, mu))
    v, g = motion(pf.Switched([field], [0.0, 0.4]), mu)
    assert not v.any() and not g.any()


def stands_in_a_background(field, mu):
    """A token that is held where it is, and the others as if it were free."""
    log_w = mu.log_weights
    free = mu.moved(mu.points[1:], log_w[1:] - jnp.log1p(-jnp.exp(log_w[0])))
    whole = mu.moved(mu.points, log_w - jnp.log1p(-jnp.exp(log_w[0])))
    held = pf.Background(field, mu.points[:1], jnp.exp(whole.log_weights[:1]))
    same(motion(held, free), [a[1:] for a in motion(field, whole)])


def acts_on_a_density(field, mu):
    """As on the grid with weights; the mass of the density stays one."""
    rho = pf.Density.from_function(BASIS, 0, lambda x: 1.0 + 0.2 * x[:, 0])
    found = field.on_density(BASIS)(T, rho)
    slope = rate_of_coefficients(rho, found, None)
    assert abs(float(slope[0])) < 1e-12 * (1 + float(jnp.abs(slope).max()))
    grid = rho.quadrature()
    v, g = motion(field, grid)
    across = np.einsum("nq,nqd->nd", found.v, BASIS.frame)
    kept = np.zeros(grid.n) if found.g is None else np.asarray(found.g)
    same((across, kept), (v, g), atol=0.05)  # modes of a grid this coarse


def acts_on_a_gaussian(field, mu):
    """As on nodes of Gauss and Hermite, where sums see as far as the nodes."""
    law = pf.Gaussian([0.1, -0.2, 0.3], 0.02 * (np.eye(3) + 0.3))
    B, c = field.on_gaussian(T, law)
    if field.ordered:  # one law at all positions: that without a mask
        field = pf.Attention(field.beta, field.Q, field.K, field.V)
    nodes = law.quadrature(7)
    v, near = np.asarray(field(T, nodes).v), np.asarray(nodes.weights) > 1e-6
    expected = np.asarray(nodes.points) @ np.asarray(B).T + np.asarray(c)
    same([v[near]], [expected[near]], atol=1e-5)


def vectorises(field, mu):
    """A batch of measures is a loop over measures."""
    other = mu.moved(mu.points[::-1], mu.log_weights)
    both = jax.tree_util.tree_map(lambda *leaf: jnp.stack(leaf), mu, other)
    together = jax.vmap(lambda mu: field(T, mu))(both)
    for row, one in enumerate((mu, other)):
        alone = field(T, one)
        assert (together.g is None) == (alone.g is None)
        parts = jax.tree_util.tree_map(lambda a, row=row: a[row], together)
        same(jax.tree_util.tree_leaves(parts), jax.tree_util.tree_leaves(alone))


def differentiates(field, mu):
    """Forward, backward and by differences in all numbers and tokens at once.

    That flows pass derivatives on is in test_derivatives_contract.py.
    """
    real = lambda leaf: eqx.is_array(leaf) and leaf.dtype == jnp.float64  # noqa: E731
    numbers, rest = eqx.partition(field, real)
    wave = lambda a: jnp.cos(1.0 + jnp.arange(float(a.size))).reshape(a.shape)  # noqa: E731

    def seen(at):
        v, g = eqx.combine(at[0], rest)(T, mu.moved(at[1]))
        return jnp.sum(wave(v) * v) + (0.0 if g is None else jnp.sum(wave(g) * g))

    at = numbers, mu.points
    # Numbers in proportion: a tolerance of 1e-12 must not turn negative.
    way = jax.tree_util.tree_map(lambda a: a * wave(a), numbers), wave(mu.points)
    _, forward = jax.jvp(seen, (at,), (way,))
    dots = jax.tree_util.tree_map(jnp.vdot, jax.grad(seen)(at), way)
    backward = sum(jax.tree_util.tree_leaves(dots))
    h = 1e-5
    ahead, behind = (
        seen(jax.tree_util.tree_map(lambda a, d, s=s: a + s * d, at, way))
        for s in (h, -h)
    )
    same([backward, forward], [forward, (ahead - behind) / (2 * h)], atol=1e-6)
    assert abs(forward) > 1e-4
    together = numbers, jnp.broadcast_to(mu.points[:1], mu.points.shape)  # at rest
    slopes = jax.tree_util.tree_leaves(jax.grad(seen)(together))
    assert all(jnp.isfinite(slope).all() for slope in slopes)


def works_in_float32(field, mu):
    found = field(T, mu.astype("float32"))
    assert all(a.dtype == jnp.float32 for a in jax.tree_util.tree_leaves(found))
    v, g = found
    same((v, np.zeros(mu.n) if g is None else g), motion(field, mu), atol=2e-5)


def says_whether_order_matters(field, mu):
    v, g = motion(field, mu)
    shuffled = mu.moved(mu.points[ORDER], mu.log_weights[ORDER])
    w, k = motion(field, shuffled)
    apart = max(np.abs(w - v[ORDER]).max(), np.abs(k - g[ORDER]).max())
    assert (apart > 1e-6) if field.ordered else (apart < 1e-12 * (1 + np.abs(v).max()))


def says_whether_directions_matter(field, mu):
    """An isotropic field turns with its tokens, and does not see a further axis."""
    if not field.isotropic:
        return
    v, g = motion(field, mu)
    same(motion(field, mu.moved(mu.points @ TURN.T)), (v @ TURN.T, g))
    flat = mu.space == pf.Euclidean(3)
    pad = lambda a: np.pad(a, ((0, 0), (0, 1)))  # noqa: E731
    space = pf.Euclidean(4) if flat else pf.Sphere(4)
    wider = pf.Particles(space, pad(mu.points), mu.weights)
    same(motion(field, wider), (pad(v), g))


def scales(field, mu):
    """The scaled drive is the drive over e^{log_unit}, up to what the space removes."""
    plain, scaled = field.drive(T, mu), field.scaled_drive(T, mu, jnp.asarray(-3.0))
    assert (plain.growth is None) == (scaled.growth is None)
    felt = lambda drive: mu.space.tangent(mu.points, drive.beside_normal(mu))  # noqa: E731
    same([felt(scaled)], [np.exp(3.0) * felt(plain)])
    if plain.growth is not None:
        same([scaled.growth], [np.exp(3.0) * plain.growth])


def pays_attention(field, mu):
    """Rows sum to one, and what they see is what the field drives tokens by."""
    A = field.attention_matrix(T, mu)
    np.testing.assert_allclose(A.sum(axis=1), 1.0, atol=1e-14)
    assert (A >= 0).all()
    seen = A @ mu.points - (mu.points if mu.space == pf.Euclidean(3) else 0.0)
    inner = getattr(field, "attention", field)  # before a perceptron
    seen = seen if inner.V is None else seen @ inner.V.T
    _parallel(mu.space.tangent(mu.points, seen), motion(inner, mu)[0])


def _parallel(a, b):
    """Every row a multiple of the other by a positive number."""
    length = lambda x: np.linalg.norm(x, axis=1)  # noqa: E731
    size = length(a) * length(b)
    np.testing.assert_allclose(np.sum(a * b, axis=1), size, rtol=1e-12, atol=1e-14)


def merges(field, mu):
    """As without merging, where nothing is close: the same motion, mass and time."""
    end = pf.flow(field, mu, 0.5 + SHORT, t0=0.5, save=2, merge=pf.Merge()).final
    assert abs(float(end.weights.sum()) - 1.0) < 1e-12
    v, g = motion(field, mu)
    moved = (np.asarray(end.points) - mu.points) / SHORT
    grown = np.asarray(end.log_weights - mu.log_weights) / SHORT
    same((moved, grown), (v, g - np.asarray(mu.weights) @ g), atol=2e-2)


def is_stored(field, mu):
    """A run on disk gives back its field and its frames, bit by bit."""
    run = pf.flow(field, mu, 0.5 + SHORT, t0=0.5, save=2, solver=pf.Heun(SHORT))
    own = [Drift, Numbered]
    with tempfile.TemporaryDirectory() as folder:
        run.save(f"{folder}/run")
        again = pf.load(f"{folder}/run", classes=own)
    assert np.array_equal(again.points, run.points)
    assert np.array_equal(again.measures.log_weights, run.measures.log_weights)
    same(motion(again.field, mu), motion(field, mu), atol=0.0)
    text = pf.Experiment(pf.Uniform(4, 3), field, 1.0).to_toml()
    read = pf.Experiment.from_toml(text, classes=own)
    same(motion(read.field, mu), motion(field, mu), atol=0.0)


def runs_in_an_ensemble(field, mu):
    """A copy is the layer of the field under the noise of its key."""
    key, faint = jax.random.key(0), pf.Brownian(1e-9)
    seen = pf.ensemble(
        field, mu, 1, h=SHORT, noise=faint, observe=_points, replicas=1, key=key
    )
    layers, own = pf.Layers(SHORT), jax.random.split(key, 1)[0]
    alone = pf.flow(field, mu, SHORT, save=2, solver=layers, noise=faint, key=own)
    same([seen[0, -1]], [alone.final.points])


def _points(mu):
    return mu.points


COLUMNS = {
    "flow": flows,
    "merge": merges,
    "store": is_stored,
    "ensemble": runs_in_an_ensemble,
    "+": adds,
    "*": multiplies,
    "Heads": makes_heads,
    "Switched": switches,
    "Background": stands_in_a_background,
    "Density": acts_on_a_density,
    "Gaussian": acts_on_a_gaussian,
    "vmap": vectorises,
    "grad": differentiates,
    "float32": works_in_float32,
    "ordered": says_whether_order_matters,
    "isotropic": says_whether_directions_matter,
    "scaled_drive": scales,
    "attention_matrix": pays_attention,
}
AT_TOKENS_ONLY = """
    Background CausalAttention DecayingAttention DepthScaledNorm MixNorm Momentum
    Numbered PeriNorm PositionAttention PreNorm RescaledAttention RescaledPerceptron
    UnitNorm
""".split()
ORDERED = {"CausalAttention", "DecayingAttention", "Numbered", "PositionAttention"}
AFFINE = """
    Attention CausalAttention DistanceAttention Heads Linear LinearAttention Multiple
    SinkhornAttention Switched
""".split()
PAYS_ATTENTION = """
    Attention CausalAttention DistanceAttention HardAttention HardRelaxation
    PositionAttention RescaledAttention RescaledPerceptron SinkhornAttention
    UnnormalizedAttention
""".split()
REFUSED = {
    "attention_matrix": {row[0] for row in ROWS} - set(PAYS_ATTENTION),
    "Density": set(AT_TOKENS_ONLY),
    "Gaussian": {row[0] for row in ROWS} - set(AFFINE),
    "merge": ORDERED | examples.WITH_VELOCITIES,
    "ensemble": examples.WITH_VELOCITIES,  # noise would move places, too
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    ("name", "field"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS]
)
def test_carried_or_refused(name, field, column):
    mu = examples.tokens(name)
    with jax.disable_jit(column != "Density"):  # recurrences of modes need a program
        if name in REFUSED.get(column, ()):
            with pytest.raises(PushforwardError):
                COLUMNS[column](field, mu)
        else:
            COLUMNS[column](field, mu)
