"""What happens to the tokens, layer by layer, in numbers."""

import dataclasses

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse.csgraph import minimum_spanning_tree

from pushforward._checks import positive
from pushforward.flows import Trajectory
from pushforward.functionals import InteractionEnergy
from pushforward.measures import Particles
from pushforward.observables import (
    effective_rank,
    hemisphere_margin,
    mean_cosine,
    pair_cosines,
)
from pushforward.spaces import Sphere

RADII = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)


@dataclasses.dataclass(frozen=True)
class LayerTable:
    """One row per layer; index 0 are the embeddings.

    `quantiles` are the 5, 50 and 95 percent points of the pairwise cosines;
    `clusters[l, r]` the number of clusters at geodesic radius `radii[r]`; `energy` is
    E_beta in (0, 1]; `anisotropy` the share of the first principal direction through
    the origin, 1/d for an isotropic cloud and one after collapse; `margin` the largest
    cosine that some direction has with all tokens (zero: no common hemisphere).
    """

    normalization: str
    beta: float
    radii: tuple[float, ...]
    mean_cosine: Float[np.ndarray, "l"]
    quantiles: Float[np.ndarray, "l 3"]
    clusters: Int[np.ndarray, "l r"]
    energy: Float[np.ndarray, "l"]
    effective_rank: Float[np.ndarray, "l"]
    anisotropy: Float[np.ndarray, "l"]
    margin: Float[np.ndarray, "l"]
    norm: Float[np.ndarray, "l"]

    def as_dict(self) -> dict:
        """Plain lists, for JSON."""
        return {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in dataclasses.asdict(self).items()
        }


def layer_table(
    trajectory: Trajectory, *, beta: float = 1.0, radii: tuple[float, ...] = RADII
) -> LayerTable:
    """The observables of a recorded trajectory on the sphere.

    Points off the sphere are compared by their directions.
    """
    radii = tuple(float(positive("radii", r, "Geodesic distances.")) for r in radii)
    beta = float(positive("beta", beta, "It is an inverse temperature."))
    rows = [_row(trajectory[k], beta, radii) for k in range(len(trajectory))]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    lengths = trajectory.observed.get("norm", np.ones((len(rows), 1)))
    said = "" if trajectory.outcome is None else trajectory.outcome.message
    return LayerTable(
        normalization=said.rstrip(".").split(", ")[-1],
        beta=beta,
        radii=radii,
        norm=np.asarray(lengths).mean(axis=1),
        **columns,
    )


def _row(mu: Particles, beta: float, radii: tuple[float, ...]) -> dict:
    mu = Particles.normalized(Sphere(mu.d), mu.points, mu.weights)
    x = np.asarray(mu.points)
    spectrum = np.linalg.svd(x, compute_uv=False) ** 2
    return {
        "mean_cosine": float(mean_cosine(mu)),
        "quantiles": np.percentile(np.asarray(pair_cosines(mu)), [5, 50, 95]),
        "clusters": cluster_counts(x, radii),
        "energy": float(InteractionEnergy(beta)(mu)),
        "effective_rank": float(effective_rank(mu)),
        "anisotropy": float(spectrum[0] / spectrum.sum()),
        "margin": hemisphere_margin(mu),
    }


def cluster_counts(
    points: Float[np.ndarray, "n d"], radii: tuple[float, ...]
) -> Int[np.ndarray, "r"]:
    """Clusters of unit vectors at every radius at once, from the minimal tree.

    Chains at radius r are cut where an edge of the minimal spanning tree of geodesic
    distances is longer than r: the same counts as `Clusters(r)`.
    """
    gram = points @ points.T
    chord = np.sqrt(np.maximum(2 - 2 * gram, 0.0))
    geodesic = 2 * np.arcsin(np.minimum(chord / 2, 1.0))
    # zero means "no edge" to the graph routine; a common shift keeps the tree
    edges = minimum_spanning_tree(1.0 + geodesic).data - 1.0
    return np.array([1 + int((edges > r).sum()) for r in radii])
