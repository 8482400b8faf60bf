"""Starts made from another one: tokens moved, weighted, scaled, or set to move."""

from __future__ import annotations

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, listed, positive, whole
from pushforward._seeds import key_for
from pushforward.errors import InputError
from pushforward.experiments._start import AbstractStart
from pushforward.fields import at_rest
from pushforward.measures import Particles
from pushforward.spaces import Euclidean


class AtRest(AbstractStart):
    """The tokens of another start with velocities, all zero: for `Momentum`.

    >>> e = Experiment(AtRest(Uniform(8, 3)), Momentum(Attention(4.0)), 2.0)
    """

    start: AbstractStart

    def __init__(self, start: AbstractStart):
        _check_start(start)
        self.start = start

    def __call__(self, seed):
        """The start, on the tangent bundle of its space."""
        return at_rest(self.start(seed))


class Moved(AbstractStart):
    """Another start with some tokens put elsewhere by hand."""

    start: AbstractStart
    tokens: tuple[int, ...] = eqx.field(static=True)
    points: Float[Array, "k d"]

    def __init__(self, start: AbstractStart, tokens, points):
        _check_start(start)
        self.start = start
        self.tokens = tuple(
            whole("tokens", i, 0) for i in listed("tokens", tokens, "indices")
        )
        self.points = as_float_array("points", points)
        if self.points.ndim != 2 or len(self.points) != len(self.tokens):
            raise InputError(
                f"`points` must have one row for each of the {len(self.tokens)} "
                f"`tokens`, got shape {self.points.shape}."
            )

    def __call__(self, seed):
        """The start, with the rows replaced and put on the space."""
        mu = self.start(seed)
        if max(self.tokens, default=0) >= mu.n:
            raise InputError(f"`tokens` must be below n = {mu.n}, got {self.tokens}.")
        if self.points.shape[1] != mu.d:
            raise InputError(
                f"`points` must have {mu.d} coordinates like the tokens, got "
                f"{self.points.shape[1]}."
            )
        index = np.asarray(self.tokens, int)
        rows = mu.space.project(self.points.astype(mu.points.dtype))
        return mu.moved(mu.points.at[index].set(rows))


class UnequalWeights(AbstractStart):
    """Another start whose tokens get random masses, normalized exponential draws."""

    start: AbstractStart

    def __init__(self, start: AbstractStart):
        _check_start(start)
        self.start = start

    def __call__(self, seed):
        """The start with masses from the key of the weights."""
        mu = self.start(seed)
        draw = jax.random.exponential(key_for(seed, "weights"), (mu.n,))
        return Particles(mu.space, mu.points, draw / draw.sum())


class Scaled(AbstractStart):
    """Another start in R^d with every token multiplied by `factor`."""

    start: AbstractStart
    factor: Float[Array, ""]

    def __init__(self, start: AbstractStart, factor=1.0):
        _check_start(start)
        self.start = start
        self.factor = positive("factor", factor, "Tokens are multiplied by it.")

    def __call__(self, seed):
        """The start, scaled."""
        mu = self.start(seed)
        if not (isinstance(mu, Particles) and isinstance(mu.space, Euclidean)):
            raise InputError(
                f"`start` must live in R^d to be scaled, got {mu!r}. "
                'Use space="euclidean".'
            )
        return mu.moved(self.factor * mu.points)


def _check_start(start: object) -> None:
    if not isinstance(start, AbstractStart):
        raise InputError(
            f"`start` must be a start such as starts.Uniform(64, 3), got {start!r}."
        )
