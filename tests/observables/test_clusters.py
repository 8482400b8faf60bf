import jax
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

import pushforward as pf
from pushforward.measures import _close_pairs, _components
from pushforward.observables import ClusterCount, Clusters, LargestMass


def brute_force(mu, radius):
    angle = 2 * np.arcsin(np.clip(cdist(mu.points, mu.points) / 2, 0, 1))
    distance = cdist(mu.points, mu.points)
    flat = isinstance(mu.space, pf.Euclidean)
    graph = (distance if flat else angle) <= radius
    return connected_components(graph, directed=False)[1]


def same_partition(a, b):
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize(
    "space", [pf.Circle(), pf.Sphere(3), pf.Sphere(6), pf.Euclidean(3)]
)
@pytest.mark.parametrize("radius", [0.01, 0.1, 0.3])
def test_clusters_agree_with_the_full_distance_matrix(space, radius):
    mu = pf.Particles.uniform(space, 400, key=jax.random.key(1))
    found = Clusters(radius)(mu)
    assert same_partition(found.labels, brute_force(mu, radius))
    assert found.masses.sum() == pytest.approx(1.0)


@pytest.fixture(params=["compiled", "numpy"])
def cells(request, monkeypatch):
    """Both programs for few dimensions, whatever the number of points."""
    monkeypatch.setattr(_components, "FEW", 0)
    if request.param == "numpy":
        monkeypatch.setattr(_components, "loaded", lambda *library: None)
    else:
        assert _components.loaded(*_components.LIBRARY), "a compiler is on this machine"


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("spread", [1e-14, 1e-4, 0.03, 1.0, 1e8])
@pytest.mark.parametrize("radius", [1e-15, 1e-3, 0.05, 0.7])
def test_clusters_in_few_dimensions_agree_with_all_pairs(cells, d, spread, radius):
    """Also of equal points, of points on a lattice, and where cells are uncountable."""
    rng = np.random.default_rng(d)
    x = rng.normal(size=(3, d))[rng.integers(3, size=300)]
    x += spread * rng.normal(size=(300, d))
    x[::7] = x[3]
    x[1::5] = np.round(x[1::5], 1)
    mu = pf.Particles(pf.Euclidean(d), x)
    found = mu.labels(radius)
    assert same_partition(found, brute_force(mu, radius * (1 + 1e-12)))
    first = np.unique(found, return_index=True)[1]
    assert (np.diff(first) > 0).all(), "numbered by first appearance"


def test_a_point_that_flew_away_is_alone_in_both_programs(cells):
    """A flow that blew up is still counted instead of ending the process."""
    x = np.vstack([np.zeros((5, 3)), np.full((1, 3), 1e100), np.ones((3, 3))])
    assert (
        pf.Particles(pf.Euclidean(3), x).labels(0.1).tolist() == [0] * 5 + [1] + [2] * 3
    )


def test_cells_with_several_points_touch_only_through_the_nearest():
    """Two tight groups whose first members are far and whose nearest are close."""
    theta = np.r_[np.linspace(0, 0.05, 40), np.linspace(0.149, 0.2, 40)[::-1]]
    x = np.stack([np.cos(theta), np.sin(theta), 0 * theta], axis=1)
    mu = pf.Particles(pf.Sphere(3), x)
    assert Clusters(0.1)(mu).count == 1
    assert Clusters(0.098)(mu).count == 2


def test_the_arc_through_pi_is_one_cluster():
    theta = np.array([np.pi - 0.01, -np.pi + 0.01, 0.0])
    mu = pf.Particles(pf.Circle(), pf.Circle().points(theta))
    assert Clusters(0.05)(mu).labels.tolist() == [0, 0, 1]


def test_labels_are_numbered_by_first_appearance_and_masses_add():
    x = np.eye(3)[[2, 0, 2, 1]]
    part = Clusters(0.1)(pf.Particles(pf.Sphere(3), x, [0.1, 0.2, 0.3, 0.4]))
    assert part.labels.tolist() == [0, 1, 0, 2]
    np.testing.assert_allclose(part.masses, [0.4, 0.2, 0.4])
    assert part.sizes.tolist() == [2, 1, 1]


def test_a_hundred_thousand_tokens_in_five_clusters():
    centers = np.vstack([np.eye(3), -np.eye(3)[:2]])
    mu = pf.Particles.clustered(
        pf.Sphere(3), 100_000, centers=centers, scale=0.02, key=jax.random.key(2)
    )
    assert ClusterCount(0.05)(mu) == 5
    assert LargestMass(0.05)(mu) == pytest.approx(0.2)


def test_radius_must_be_positive():
    with pytest.raises(pf.errors.InputError, match="radius.*positive.*-0.1"):
        Clusters(-0.1)


def clustered(n, d, centers, spread, seed):
    """Tokens around a few centers of a sphere, in a random order."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(centers, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x = x[rng.integers(centers, size=n)] + spread * rng.normal(size=(n, d)) / np.sqrt(d)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("d", [5, 12, 64])
@pytest.mark.parametrize("spread", [1e-9, 3e-3, 0.1, 0.4, 3.0])
@pytest.mark.parametrize("radius", [1e-8, 2e-3, 0.1, 0.45])
def test_clusters_in_many_dimensions_agree_with_all_pairs(
    d, spread, radius, monkeypatch
):
    monkeypatch.setattr(_close_pairs, "ROWS", 32)  # several blocks, and crowds
    monkeypatch.setattr(_close_pairs, "COLUMNS", 64)
    monkeypatch.setattr(_close_pairs, "MANY", 40)
    x = clustered(300, d, 7, spread, seed=d)
    mu = pf.Particles(pf.Sphere(d), x)
    assert same_partition(mu.labels(radius), brute_force(mu, radius))


def test_chains_hold_together_however_the_projections_cut():
    # A long chain of steps just below the radius, and one step just above it.
    steps = np.full(200, 0.1 * (1 - 1e-9))
    steps[77] = 0.1 * (1 + 1e-9)
    x = np.zeros((201, 6))
    x[1:, 2] = np.cumsum(steps)
    order = np.random.default_rng(0).permutation(201)
    labels = pf.Particles(pf.Euclidean(6), x[order]).labels(0.1)
    assert same_partition(labels, (order > 77).astype(int))


def test_several_observables_of_a_measure_look_once(monkeypatch):
    looked = []
    search = _components._found
    monkeypatch.setattr(
        _components, "_found", lambda *args: looked.append(args) or search(*args)
    )
    mu = pf.Particles.uniform(pf.Sphere(3), 50, key=jax.random.key(4))
    first = mu.labels(0.3)
    first[:] = -1  # what a caller does with his labels is his own affair
    assert ClusterCount(0.3)(mu) == Clusters(0.3)(mu).labels.max() + 1
    assert LargestMass(0.3)(mu) > 0 and len(looked) == 1
    flat = pf.Particles(pf.Euclidean(3), mu.points)
    mu.labels(0.2), flat.labels(0.3), mu.moved(mu.points[::-1]).labels(0.3)
    assert len(looked) == 4, "another radius, space or cloud is another question"
