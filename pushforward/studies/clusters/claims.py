"""Every claim of the study; here: V = -I, a perceptron after attention, and rank."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

import pushforward as pf
from pushforward import theory
from pushforward.fields import AbstractField, Drive
from pushforward.observables import ParallelSubspaces
from pushforward.studies import Claim
from pushforward.studies.clusters import _hardmax, _hyperplanes, _line, _polytope
from pushforward.studies.clusters._polytope import cloud
from pushforward.studies.clusters._systems import (
    PLANE,
    TIGHT,
    Path,
    attention,
    cube,
    followed,
    rank_of,
    rescaled,
)
from pushforward.studies.clusters.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)

TIMES = (0.0, *np.geomspace(0.1, 1e4, 26).tolist())
FIELD = pf.Attention(1.0, np.eye(3), np.eye(3), -np.eye(3))
THEOREM = paper("theorem C.5")


@functools.lru_cache
def repelled(p: Parameters) -> Path:
    """Tokens of space under V = -I, Q = K = I, not rescaled."""
    return followed(FIELD, start(p), TIMES, solver=TIGHT)


def start(p: Parameters) -> np.ndarray:
    """Gaussian tokens of space."""
    key = pf.key_for(p.seed, "collapse")
    return np.asarray(pf.Particles.gaussian(pf.Euclidean(3), p.tokens, key=key).points)


@functools.lru_cache
def repelled_pair() -> Path:
    """Two tokens +-1/2 under V = -1."""
    times = (0.0, 10.0, 100.0, 1e3, 1e4)
    return followed(FIELD, np.array([[-0.5], [0.5]]), times, solver=TIGHT)


def covariance(x: np.ndarray) -> np.ndarray:
    """Eigenvalues of the covariance of tokens (n, d)."""
    return np.linalg.eigvalsh(np.cov(x.T, bias=True))


def collapse(p: Parameters) -> Claim:
    """TC.5: V = -I, Q^T K = I: every token goes to 0."""
    size = np.linalg.norm(repelled(p).points, axis=-1).max(axis=1)
    note = f"largest |x| at t = 1e4 over that at 0; {p.tokens} Gaussian tokens in space"
    ratio = size[-1] / size[0]
    return at_most(str(collapse.__doc__), THEOREM, "theorem", ratio, 0.01, note)


def algebraic(p: Parameters) -> Claim:
    """V = -I: the covariance of the tokens becomes I / (2 t)."""
    scaled = 2 * TIMES[-1] * covariance(repelled(p).end)
    worst = scaled[np.abs(scaled - 1).argmax()]
    note = "the eigenvalue of 2 t Cov farthest from 1, at t = 1e4"
    where = paper("appendix C")
    return within(str(algebraic.__doc__), where, "identity", worst, 1.0, 1e-3, note)


def mean_decays(p: Parameters) -> Claim:
    """V = -I: the mean of the tokens decays like t^-5/2, faster than their spread."""
    # By cumulants dm/dt = -(m + (third cumulant : Cov) / 2 + ...), where tokens of size
    # t^-1/2 make the second term t^-5/2: the mean follows it once e^-t is smaller.
    run = repelled(p)
    window = (run.times >= 20.0) & (run.times <= 200.0)
    mean = np.linalg.norm(run.points[window].mean(axis=1), axis=1)
    slope = np.polyfit(np.log(run.times[window]), np.log(mean), 1)[0]
    note = "slope of log |mean| in log t, t = 20 to 200; e^-t only to t = 4 or so"
    where = paper("appendix C")
    return within(str(mean_decays.__doc__), where, "identity", slope, -2.5, 0.1, note)


def pair_law(p: Parameters) -> Claim:
    """V = -1, two tokens +-u: u^2 obeys dw/dt = -2 w tanh w, to t = 1e4."""
    run = repelled_pair()
    w = run.points[1:, 1, 0] ** 2
    law = np.asarray(theory.leaders.collapsing_pair_square(run.times[1:], 0.25))
    error = np.abs(w / law - 1).max()
    note = f"relative, worst of t = 10 to 1e4; u^2 t = {w[-1] * run.times[-1]:.6f}"
    where = paper("appendix C")
    return at_most(str(pair_law.__doc__), where, "identity", error, 1e-7, note)


T1 = 6.0
FORMS = theory.limit_shapes.predict_limit(PLANE).forms


class AfterAttention(AbstractField):
    """W sigma(V sum_j P_ij x_j) in the coordinates of the tokens themselves."""

    attention: pf.Attention
    W: Float[Array, "d d"]
    activation: Callable = eqx.field(static=True)

    def drive(self, t, mu: pf.Particles) -> Drive:
        """The perceptron of what attention returns."""
        inner = self.attention.at(t, mu.points, mu)
        return Drive(self.activation(inner) @ self.W.T)


def random_weights(p: Parameters) -> np.ndarray:
    """W with entries uniform in [-1, 1]."""
    key = pf.key_for(p.seed, "perceptron")
    return np.asarray(jax.random.uniform(key, (2, 2), minval=-1.0, maxval=1.0))


@functools.lru_cache
def rescaled_after(p: Parameters, name: str) -> Path:
    """z = e^-tV x over time; the stored matrix V of the plane, tokens of the paper."""
    W, activation = {
        "relu": (np.eye(2), jax.nn.relu),
        "tanh": (np.eye(2), jnp.tanh),
        "random": (random_weights(p), jax.nn.relu),
    }[name]
    wide = [np.pad(M, ((0, 1), (0, 1))) for M in (PLANE, W)]
    inner = pf.Attention(1.0, np.eye(3), np.eye(3), wide[0])
    field = AfterAttention(inner, jnp.asarray(wide[1]), activation)
    times = np.linspace(0.0, T1, p.frames)
    # Tokens that slide along a tie between two leaders are stiff: a fixed step.
    solver = pf.Heun(0.01)
    run = followed(field, cube(p, "perceptron", 2)[0], times, solver=solver)
    back = [scipy.linalg.expm(-t * PLANE) for t in times]
    return Path(times, np.einsum("tij,tnj->tni", back, run.points))


def hyperplanes_kept(p: Parameters) -> Claim:
    """ReLU with W = I: still at most three parallel lines."""
    end = cloud(rescaled_after(p, "relu").end)
    planes = ParallelSubspaces(FORMS, 0.1)
    note = f"t = {T1:g}; tokens at most {planes.distance(end):.1e} from their line"
    claim, where = str(hyperplanes_kept.__doc__), paper("figure on perceptrons")
    return at_most(claim, where, "experiment", planes.count(end), 3, note)


def positive(p: Parameters) -> Claim:
    """ReLU with W = I: the lines lie on the positive side of the growing form."""
    values = rescaled_after(p, "relu").end @ FORMS[0]
    note = "least value of the form; lines at 0 and above"
    claim, where = str(positive.__doc__), paper("figure on perceptrons")
    return at_least(claim, where, "experiment", values.min(), -0.05, note)


def _collapses(name: str, words: str) -> Callable[[Parameters], Claim]:
    def claim(p: Parameters) -> Claim:
        values = np.abs(rescaled_after(p, name).points @ FORMS[0]).max(axis=1)
        note = f"largest value of the growing form at t = {T1:g} over that at 0"
        where, ratio = paper("figure on perceptrons"), values[-1] / values[0]
        return at_most(text, where, "experiment", ratio, 0.01, note)

    text = f"{words}: the growing coordinate of rescaled tokens collapses to 0."
    claim.__doc__ = text
    return claim


# In units of 1 / lambda, the growth rate of V. Double precision ends at 18.
RANK_TIMES = np.array([0.0, 2.0, 5.0, 10.0, 18.0])
N = 40


class Fade(NamedTuple):
    """Times, attention matrices (t, n, n), and the growth rate of V."""

    times: np.ndarray
    matrices: np.ndarray
    growth: float


@functools.lru_cache
def fading(p: Parameters) -> Fade:
    """n = 40 tokens in dimension `width`, V = M M^T, attention fed back."""
    d = p.width
    key_M, key_x = jax.random.split(pf.key_for(p.seed, "low rank"))
    M = np.asarray(jax.random.uniform(key_M, (d, d), minval=-1.0, maxval=1.0))
    start = np.asarray(jax.random.uniform(key_x, (N, d), minval=-1.0, maxval=1.0))
    V = M @ M.T
    growth = float(np.linalg.eigvalsh(V)[-1])
    run = rescaled(V, start, RANK_TIMES / growth)
    pairs = zip(run.times, run.points, strict=True)
    matrices = np.array([attention(V, t, z) for t, z in pairs])
    return Fade(run.times, matrices, growth)


def rank_falls(p: Parameters) -> Claim:
    """Attention of 40 tokens in high dimension falls to rank at most 7."""
    run = fading(p)
    ranks = [rank_of(P) for P in run.matrices]
    note = (
        f"d = {p.width}, growth rate {run.growth:.0f}, t = {run.times[-1]:.2g}, where "
        f"double precision ends; ranks {ranks}. The published picture moves tokens by "
        "dx/dt = V x; here attention acts on them"
    )
    claim, where = str(rank_falls.__doc__), paper("figure on low rank")
    return at_most(claim, where, "experiment", ranks[-1], 7, note)


def albert(p: Parameters) -> Claim:
    """ALBERT: spectra of the value matrices of 16 heads, and key-query forms."""
    why = (
        "needs the weights of a trained model, which are not distributed with the "
        "library; with them, theory.limit_shapes.predict_limit reads off the regime"
    )
    where = paper("appendix on ALBERT")
    return open_claim(str(albert.__doc__), where, "experiment", why)


CLAIMS = (
    *_line.CLAIMS,
    *_polytope.CLAIMS,
    *_hyperplanes.CLAIMS,
    collapse,
    algebraic,
    mean_decays,
    pair_law,
    *_hardmax.CLAIMS,
    hyperplanes_kept,
    positive,
    _collapses("tanh", "tanh with W = I"),
    _collapses("random", "ReLU with random W"),
    rank_falls,
    albert,
)
