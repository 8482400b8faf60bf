"""V = -I: the tokens themselves collapse, algebraically; theorem C.5."""

import functools

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies import Claim
from pushforward.studies.clusters._systems import TIGHT, Path, followed
from pushforward.studies.clusters.study import Parameters, at_most, paper, within

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


CLAIMS = (collapse, algebraic, mean_decays, pair_law)
