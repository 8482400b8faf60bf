"""A perceptron after attention, dx_i/dt = W sigma(V sum_j P_ij x_j), seen rescaled."""

import functools
from collections.abc import Callable

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
from pushforward.studies.clusters._polytope import cloud
from pushforward.studies.clusters._systems import PLANE, Path, cube, followed
from pushforward.studies.clusters.study import Parameters, at_least, at_most, paper

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


CLAIMS = (
    hyperplanes_kept,
    positive,
    _collapses("tanh", "tanh with W = I"),
    _collapses("random", "ReLU with random W"),
)
