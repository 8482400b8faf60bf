"""What happens to the tokens, layer by layer, in numbers.

Which tokens stand together, and for how many layers they do.

Lost in the middle: how much the last token feels each position of the prompt.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from scipy.sparse.csgraph import minimum_spanning_tree

from pushforward._checks import positive, whole
from pushforward._threads import side_by_side
from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.observables import (
    Clusters,
    cluster_life,
    hemisphere_margin,
)
from pushforward.probe._recording import Recording, Text, load_any, read_by
from pushforward.probe.measured._collapse import (
    spectral_rank,
    squared_singular_values,
)
from pushforward.probe.measured._normalization import lengths, unit
from pushforward.probe.models._layer import About, Layer, Norm, apply
from pushforward.probe.models._transformer import Transformer, steps
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


def layer_table(
    trajectory: Trajectory, *, beta: float = 1.0, radii: tuple[float, ...] = RADII
) -> LayerTable:
    """The observables of a recorded trajectory on the sphere.

    Points off the sphere are compared by their directions.
    """
    radii = tuple(float(positive("radii", r, "Geodesic distances.")) for r in radii)
    beta = float(positive("beta", beta, "It is an inverse temperature."))
    points, w = np.asarray(trajectory.points, float), np.asarray(trajectory[0].weights)
    rows = list(side_by_side(lambda layer: _row(layer, w, beta, radii), points))
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    norms = trajectory.observed.get("norm", np.ones((len(rows), 1)))
    said = "" if trajectory.outcome is None else trajectory.outcome.message
    return LayerTable(
        normalization=said.rstrip(".").split(", ")[-1],
        beta=beta,
        radii=radii,
        norm=np.asarray(norms).mean(axis=1),
        **columns,
    )


def _row(x: np.ndarray, w: np.ndarray, beta: float, radii: tuple[float, ...]) -> dict:
    """The numbers of one layer, as the observables define them.

    In numpy, by one Gram matrix: a page has a hundred of these clouds, and sending each
    through six compiled programs took longer than the arithmetic.
    """
    x = unit(x)
    gram = x @ x.T
    pairs = gram[np.triu_indices(len(x), k=1)]
    spectrum = squared_singular_values(x * np.sqrt(w)[:, None])
    alone, mean = (w**2).sum(), w @ x
    return {
        "mean_cosine": float((mean @ mean - alone) / (1 - alone)),
        "quantiles": np.percentile(pairs, [5, 50, 95]),
        "clusters": cluster_counts(x, radii),
        "energy": float(w @ np.exp(beta * (gram - 1)) @ w),
        "effective_rank": spectral_rank(spectrum),
        "anisotropy": float(spectrum[0] / spectrum.sum()),
        "margin": hemisphere_margin(Particles(Sphere(x.shape[1]), x)),
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


@dataclasses.dataclass(frozen=True)
class Lifetimes:
    """Clusters of at least two tokens at a radius, through the layers.

    `alive[l]` is how many there are in frame l, `longest` the largest number of layers
    that one of them keeps the same tokens, `mean` the average.
    """

    radius: float
    alive: tuple[int, ...]
    longest: float
    mean: float


def lifetimes(trajectory: Trajectory, radius: float) -> Lifetimes:
    """How long clusters of a recorded trajectory keep the same tokens, in layers."""
    life = cluster_life(trajectory, radius)
    n, end = trajectory.final.n, float(trajectory.times[-1] - trajectory.times[0])
    spans = []
    alive = np.zeros(len(trajectory), int)
    for one in life.lives:
        if one.mass < 1.5 / n:
            continue
        birth = np.exp(one.birth)
        death = end + 1 if np.isinf(one.death) else np.exp(one.death)
        spans.append(min(death, end) - birth)
        first, last = round(birth), round(death)
        alive[first:last] += 1
    longest = max(spans, default=0.0)
    mean = float(np.mean(spans)) if spans else 0.0
    return Lifetimes(radius, tuple(alive.tolist()), float(longest), mean)


def gathered(
    recording: Recording, trajectory: Trajectory, layer: int, radius: float
) -> list[list[str]]:
    """The tokens of each cluster of two or more in a layer, largest cluster first."""
    labels = Clusters(radius)(trajectory[layer]).labels
    sizes = np.bincount(labels)
    strings = recording.tokens.strings
    order = [k for k in np.argsort(-sizes, kind="stable") if sizes[k] > 1]
    return [[strings[i] for i in np.flatnonzero(labels == k)] for k in order]


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """|d x_last / d x_i| for each position i, and its standard error.

    The derivative of the direction of the last token after the last layer with
    respect to the embedding of token i, in the Frobenius norm, per unit of relative
    change |dx_i| / |x_i|. `positions` are (i + 1/2) / n in (0, 1).
    """

    positions: Float[np.ndarray, "n"]
    values: Float[np.ndarray, "n"]
    errors: Float[np.ndarray, "n"]

    @property
    def share(self) -> Float[np.ndarray, "n"]:
        """Values divided by their mean over positions: one is average."""
        return self.values / self.values.mean()


def sensitivity(
    model: Any,
    text: Text | Recording,
    *,
    key: PRNGKeyArray,
    probes: int = 8,
    depth: int | None = None,
    tokenizer: Any = None,
) -> Sensitivity:
    """The sensitivity of the last token to every position, by backpropagation.

    For a random unit vector u, E |J^T u|^2 = |J|_F^2 / d: each of `probes` vectors
    costs one backward pass through the model and gives all positions at once. The
    recording of a text saves the forward pass.
    """
    probes = whole("probes", probes, 2, "Two at least, for a standard error.")
    found = load_any(model)
    transformer = found.transformer
    if isinstance(text, Recording):
        frames = list(text.hidden)
    else:
        _, given = read_by(found, text, tokenizer)
        frames = [np.asarray(frame) for frame, _ in steps(transformer, given, depth)]
    n, d = frames[0].shape
    directions = np.asarray(jax.random.normal(key, (probes, d), np.float32))
    directions = unit(directions).astype(np.float32)
    squares = _pulled_back(transformer, frames, directions)
    squares = d * np.asarray(squares, float) * lengths(frames[0]) ** 2
    values = np.sqrt(squares.mean(axis=0))
    spread = squares.std(axis=0, ddof=1) / np.sqrt(probes)
    errors = spread / (2 * np.maximum(values, 1e-300))
    return Sensitivity((np.arange(n) + 0.5) / n, values, errors)


def _pulled_back(
    transformer: Transformer, frames: list[np.ndarray], directions: np.ndarray
) -> np.ndarray:
    """|J_i^T u|^2 for every probe u and place i, back through one layer at a time."""
    x: Any = [np.asarray(frame, np.float32) for frame in frames]
    slopes = _at_the_end(transformer.norm, x[-1], jnp.asarray(directions))
    for k in reversed(range(len(frames) - 1)):
        layer = transformer.layers[0 if transformer.shared else k]
        slopes = _back(transformer.about, layer, x[k], slopes)
        slopes.block_until_ready()  # one layer at a time in memory
        del layer
    return np.sum(np.asarray(slopes, float) ** 2, axis=2)


@eqx.filter_jit
def _at_the_end(norm: Norm | None, x: Array, directions: Array) -> Array:
    """Cotangents of the tokens after the last layer: of the direction of the last."""

    def end(x: Array) -> Array:
        last = (x if norm is None else norm(x))[-1]
        return last / jnp.linalg.norm(last)

    _, pull = jax.vjp(end, x)
    return jax.vmap(lambda u: pull(u)[0])(directions)


@eqx.filter_jit
def _back(about: About, layer: Layer, x: Array, slopes: Array) -> Array:
    """Cotangents of the tokens before a layer from those after it, probe by probe."""
    _, pull = jax.vjp(lambda x: apply(about, layer, x)[0], x)
    return jax.lax.map(lambda slope: pull(slope)[0], slopes)
