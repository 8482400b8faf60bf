"""From a state to the objects of the library: tokens, field, solver, saved times."""

import dataclasses
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.web import _caps
from pushforward.web._state import State

CENTERS, SPREAD = 4, 0.2  # of clustered tokens
SIDE = 5.0  # rescaled tokens of R^d start in [-5, 5]^d, as in the paper
CAP = 0.5  # standard deviation of Gaussian tokens about the first axis
RADIUS, ATOM = 0.05, 1e-5  # at which clusters are counted; ATOM with merging


@dataclasses.dataclass(frozen=True)
class Setup:
    """What `pf.flow` is called with; the first `n` particles of `mu` are the tokens."""

    field: Any
    mu: pf.Particles
    n: int
    options: dict[str, Any]
    radius: float


def space_of(d: int) -> pf.Circle | pf.Sphere:
    """The circle for d = 2, else the sphere."""
    return pf.Circle() if d == 2 else pf.Sphere(d)


def home_of(state: State) -> pf.Circle | pf.Sphere | pf.Euclidean:
    """The space in which the tokens of a state live."""
    return pf.Euclidean(state.d) if state.model == "rescaled" else space_of(state.d)


def setup(state: State, files: pathlib.Path | None = None) -> Setup:
    """Everything for the run; `files` is the folder of uploads."""
    size = bucket(state)
    points, weights = start(state, files)
    mu = padded(state, points, weights, size)
    options: dict[str, Any] = {"save": times(state), "solver": solver(state)}
    if state.noise > 0:
        options |= {
            "noise": pf.Brownian(state.noise),
            "key": pf.key_for(state.seed, "noise"),
        }
    if state.merge:
        options["merge"] = pf.Merge()
    radius = ATOM if state.merge else RADIUS
    return Setup(field(state, files), mu, state.n, options, radius)


def bucket(state: State) -> int:
    """The number of particles to compile for: n, or the next of a few sizes.

    Particles beyond n are copies of the last token without mass: they follow it and
    move nobody. Where tokens repel, a copy would be driven off by rounding; noise draws
    one number per particle, and merging has sizes of its own: there n stays n.
    """
    attracts = state.beta >= 0 and state.heads == 1 and state.V is None
    if state.n == 1 or state.noise > 0 or state.merge or not attracts:
        return state.n
    return next((b for b in _caps.BUCKETS if b >= state.n), state.n)


def padded(state: State, points, weights, size: int) -> pf.Particles:
    """The tokens, and copies of the last one without mass up to `size`."""
    extra = size - state.n
    points = np.concatenate([points, np.repeat(points[-1:], extra, axis=0)])
    if weights is None:
        weights = np.full(state.n, 1 / state.n)
    weights = np.concatenate([weights, np.zeros(extra)])
    exact = None if extra == 0 and state.weights == "equal" else weights
    mu = pf.Particles(home_of(state), points, exact)
    return mu.astype("float32") if state.dtype == "float32" else mu


def start(state: State, files: pathlib.Path | None) -> tuple[np.ndarray, Any]:
    """Points (n, d), moved by hand where asked, and weights or None."""
    points = np.array(_initial(state, files))
    if state.model == "rescaled":
        points *= SIDE
    for index, point in state.moved:
        length = 1.0 if state.model == "rescaled" else np.linalg.norm(point)
        points[index] = np.array(point) / length
    if state.weights == "equal":
        return points, None
    draw = jax.random.exponential(pf.key_for(state.seed, "weights"), (state.n,))
    return points, np.asarray(draw / draw.sum())


def _initial(state: State, files: pathlib.Path | None):
    space, n = home_of(state), state.n
    key = pf.key_for(state.seed, "tokens")
    if state.init == "uniform":
        # A draw of more tokens begins with the same ones: one shape per size. Cut by
        # numpy, which compiles nothing for a new n.
        drawn = pf.Particles.uniform(space, bucket(state), key=key).points
        return np.asarray(drawn)[:n]
    if state.init == "gaussian":
        mean = np.eye(state.d)[0]
        cap = pf.Particles.gaussian(space, n, mean=mean, scale=CAP, key=key)
        return cap.points
    if state.init == "clustered":
        made = pf.Particles.clustered(space, n, centers=CENTERS, scale=SPREAD, key=key)
        return made.points
    if state.init == "orthonormal":
        return pf.Particles.orthonormal(space, n).points
    if state.init == "equispaced":
        return pf.Particles.equispaced(space, n).points
    assert files is not None and state.file is not None
    raw = np.load(files / f"{state.file}.npy", allow_pickle=False)
    return pf.Particles.normalized(space, raw).points


def field(state: State, files: pathlib.Path | None = None):
    """The field of the model; several heads draw Q, K, V of their own."""
    made = [_head(state, **weights) for weights in head_weights(state, files)]
    return made[0] if len(made) == 1 else pf.Heads(made)


def _head(state: State, Q=None, K=None, V=None):
    if state.model == "usa":
        scale = -abs(state.beta)
        return pf.UnnormalizedAttention(state.beta, Q, K, V, log_scale=scale)
    if state.model == "causal":
        return pf.CausalAttention(state.beta, Q, K, V)
    if state.model == "hard":
        return pf.HardAttention(Q, K, V)
    if state.model == "rescaled":
        return pf.RescaledAttention(Q, K, V, beta=state.beta)
    return pf.Attention(state.beta, Q, K, V)


def head_weights(state: State, files: pathlib.Path | None = None) -> list[dict]:
    """Q, K, V of every head; what is left out is the identity."""
    if isinstance(state.V, str) and state.V.startswith("file:"):
        assert files is not None
        name = state.V.removeprefix("file:")
        with np.load(files / f"{name}.npz", allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        count = max(len(a) for a in arrays.values())
        return [{k: a[h % len(a)] for k, a in arrays.items()} for h in range(count)]
    V = value_matrix(state)
    if state.heads == 1:
        return [{} if V is None else {"V": V}]
    heads = [_ginibre(state, h) for h in range(state.heads)]
    return heads if V is None else [{**h, "V": V} for h in heads]


def value_matrix(state: State) -> np.ndarray | None:
    """The matrix V of a state, None for the identity."""
    if state.V == "minus":
        return -np.eye(state.d)
    if not isinstance(state.V, tuple):
        return None
    given = np.array(state.V)
    return np.diag(given) if given.ndim == 1 else given


def _ginibre(state: State, head: int) -> dict:
    """Entries of variance 1/d from the seed, as on the command line."""
    d = state.d
    return {
        name: jax.random.normal(pf.key_for(state.seed, f"head {head} {name}"), (d, d))
        / np.sqrt(d)
        for name in ("Q", "K", "V")
    }


def solver(state: State):
    """Layers and Heun take the step h; the adaptive solver its defaults."""
    if state.solver == "layers":
        return pf.Layers(state.h)
    return pf.Heun(state.h) if state.solver == "heun" else pf.Adaptive()


def times(state: State) -> int | pf.LogTimes:
    """Frames equally spaced in time, or in its logarithm."""
    if state.clock == "linear":
        return state.frames
    return pf.LogTimes(first_time(state), max(state.frames - 1, 2))


def first_time(state: State) -> float:
    """The first time after the start on the logarithmic clock."""
    least = state.h if state.solver != "adaptive" else 0.01
    return min(least, state.t1 / 100)


def energy_and_cosine(beta: float, mu: pf.Particles) -> tuple[float, float]:
    """2 beta e^{-beta} E, and the mean cosine between two tokens."""
    energy, cosine = _numbers(pf.InteractionEnergy(beta), mu)
    return float(energy), 1.0 if mu.n == 1 else float(cosine)


@jax.jit
def _numbers(energy, mu: pf.Particles):
    return energy(mu), pf.observables.mean_cosine(mu) if mu.n > 1 else jnp.ones(())
