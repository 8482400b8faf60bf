"""What figures and claims share: chains of random layers, two tokens, equal layers."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.studies.homogenized import runs
from pushforward.studies.homogenized.runs import ETAS, FIELD, start
from pushforward.theory import homogenized_pair


def pairs(mu: pf.Particles):
    """All overlaps <x_i, x_j>, i < j."""
    return (mu.points @ mu.points.T)[jnp.triu_indices(mu.n, 1)]


def mean_overlap(mu: pf.Particles):
    """m = n^{-2} sum_ij <x_i, x_j>."""
    return jnp.mean(mu.points @ mu.points.T)


def simplex(n: int, d: int, gamma: float) -> pf.Particles:
    """n tokens of R^d with all overlaps gamma."""
    root = np.linalg.cholesky((1 - gamma) * np.eye(n) + gamma)
    return pf.Particles(pf.Sphere(d), np.pad(root, ((0, 0), (0, d - n))))


def mean_and_error(samples: np.ndarray) -> tuple[float, float]:
    """Of one number for each replica."""
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    return float(samples.mean()), float(error)


@functools.cache
def pair_run(d: int, replicas: int, seed: int, eta: float, clock: float):
    """Overlap of two orthogonal tokens at beta = 0: (replicas, frames to s = clock)."""
    layers = round(clock / eta**2)
    return pf.ensemble(
        pf.GramNoise(0.0, 1.0, draws=1),
        pf.Particles.orthonormal(pf.Sphere(d), 2),
        layers,
        h=eta**2,
        every=max(1, layers // 10),
        observe=lambda mu: mu.points[0] @ mu.points[1],
        replicas=replicas,
        key=pf.key_for(seed, f"pair {d}"),
    )


@functools.cache
def soft_chain(eta: float, replicas: int, seed: int) -> np.ndarray:
    """Overlaps of d = 8, n = 4, beta = 4, sigma_A^2 = 1/8 from .2, at s = 0 to 4."""
    return pf.ensemble(
        pf.RandomWeights(4.0, 8**-0.5),
        simplex(4, 8, 0.2),
        round(4 / eta**2),
        h=eta,
        every=round(1 / eta**2),
        observe=pairs,
        replicas=replicas,
        key=pf.key_for(seed, f"chain {eta}"),
    )


@functools.cache
def soft_diffusion(replicas: int, seed: int, step: float = 0.04) -> np.ndarray:
    """The same model by the diffusion, K = 16."""
    return pf.ensemble(
        pf.GramNoise(4.0, 8**-0.5, draws=16),
        simplex(4, 8, 0.2),
        round(4 / step),
        h=step,
        every=round(1 / step),
        observe=pairs,
        replicas=replicas,
        key=pf.key_for(seed, "diffusion"),
    )


@functools.cache
def warm_mean(d: int, replicas: int, seed: int) -> np.ndarray:
    """m at s = 0, .2, .. 1 for beta = 0, n = 8, all overlaps .3, steps of .02."""
    return pf.ensemble(
        pf.GramNoise(0.0, 1.0, draws=1),
        simplex(8, d, 0.3),
        50,
        h=0.02,
        every=10,
        observe=mean_overlap,
        replicas=replicas,
        key=pf.key_for(seed, f"warm {d}"),
    )


@functools.cache
def collapse(d: int, beta: float, replicas: int, seed: int) -> np.ndarray:
    """m at s = 3.06 from 6 orthonormal tokens, eta = .3, sigma_A^2 = 1/d."""
    seen = pf.ensemble(
        pf.GramNoise(beta, d**-0.5, draws=1),
        pf.Particles.orthonormal(pf.Sphere(d), 6),
        34,
        h=0.09,
        every=34,
        observe=mean_overlap,
        replicas=replicas,
        key=pf.key_for(seed, f"collapse {d}"),
    )
    return seen[:, -1]


def exact_pair(d: int, clocks) -> np.ndarray:
    """E of the overlap of `pair_run` from the generator."""
    return np.array([homogenized_pair.pair_mean(float(s), d) for s in clocks])


def pair_from_gram(overlap: np.ndarray, columns: int, rng) -> np.ndarray:
    """Two Gaussian vectors of R^columns for each overlap: (replicas, 2, columns)."""
    z = rng.standard_normal((len(overlap), 2, columns))
    side = np.sqrt(np.maximum(1 - overlap**2, 0.0))
    z[:, 1] = overlap[:, None] * z[:, 0] + side[:, None] * z[:, 1]
    return z


def cosine(pair: np.ndarray) -> np.ndarray:
    """The cosine of each pair."""
    a, b = pair[:, 0], pair[:, 1]
    size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return (a * b).sum(1) / size


def product_cosine(overlap: np.ndarray, d: int, k: int, rng) -> np.ndarray:
    """cos(Ax, Ay) for A = W W'^T with W, W' of shape (d, k), one A for each overlap.

    W'^T x and W'^T y are Gaussian with the Gram matrix of x, y; so is W of them.
    """
    inner = cosine(pair_from_gram(overlap, k, rng))
    return cosine(pair_from_gram(inner, d, rng))


@functools.cache
def slow_pair(
    replicas: int, seed: int, d: int = 64, step: float = 0.1, slow: float = 0.25
) -> np.ndarray:
    """artanh of the overlap of two tokens at slow time s/d, from orthogonal ones."""
    rng = np.random.default_rng(seed)
    x = np.zeros((replicas, 2, d))
    x[:, 0, 0] = x[:, 1, 1] = 1.0
    for _ in range(round(slow * d / step)):
        r = (x[:, 0] * x[:, 1]).sum(1)
        c = product_cosine(r, d, d, rng)
        x = x + np.sqrt(step / d) * pair_from_gram(c, d, rng)
        x /= np.linalg.norm(x, axis=2, keepdims=True)
    return np.arctanh((x[:, 0] * x[:, 1]).sum(1))


def flowed(inertia: float, radial: float) -> float:
    """m(1) along the corrected equation."""
    return float(mean_overlap(runs.corrected(inertia, radial).run().final))


@eqx.filter_jit
def _tangential(mu: pf.Particles, eta, steps: int):
    def step(_, mu):
        return mu.moved(mu.space.project(mu.points + eta * FIELD(0.0, mu).v))

    return jax.lax.fori_loop(0, steps, step, mu)


@functools.cache
def errors() -> dict[str, np.ndarray]:
    """m(1) of the chain minus that of each equation, for eta = .2, .1, .05."""
    layers = [float(mean_overlap(runs.layers(e).run().final)) for e in ETAS]
    tangential = [
        float(mean_overlap(_tangential(start()(0), jnp.asarray(e), round(1 / e))))
        for e in ETAS
    ]
    plain = [flowed(0.0, 0.0) for _ in ETAS[:1]] * len(ETAS)
    euler = [flowed(e / 2, 0.0) for e in ETAS]
    both = [flowed(e / 2, e) for e in ETAS]
    gap = lambda chain, flow: np.array(chain) - np.array(flow)  # noqa: E731
    return {
        "ODE": gap(layers, plain),
        "published": gap(layers, euler),
        "corrected": gap(layers, both),
        "tangential": gap(tangential, euler),
        "m": np.array(plain[:1]),
    }


@functools.cache
def lag(share: float) -> np.ndarray:
    """Angle between the rotation at t = 1 + share eta and the layers, left at t = 1."""
    gaps = []
    for eta in ETAS:
        ends = (
            runs.turning(1.0 + share * eta).run().final.points[0],
            runs.turning(1.0, pf.Layers(eta)).run().final.points[0],
        )
        (x, y), (a, b) = (np.asarray(end) for end in ends)
        gaps.append(abs(np.arctan2(y * a - x * b, x * a + y * b)))
    return np.array(gaps)
