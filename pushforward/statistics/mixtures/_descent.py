"""Particle descents on the mixture likelihood: WFR, its two halves, and EM.

Particles rho = sum_j w_j delta_{mu_j}, with D_j = D(mu_j):

    reweight (Fisher-Rao)   w_j  <- w_j (1 - eta (1 - D_j))
    move (Wasserstein)      mu_j <- mu_j + eta grad D(mu_j)

WFR descent reweights, then moves using the reweighted measure. The sum over
components in f carries the weight of the component summed over (some printed forms
of the update have the wrong index). Weights sum to one exactly at every step, and
stay non-negative for eta <= 1. [yan2024npmle]

The mixture likelihood as a functional, ready for `flow(GradientFlow(...))`.
"""

from functools import partial
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.errors import InputError
from pushforward.functionals import AbstractFunctional
from pushforward.measures import AbstractMeasure, Particles
from pushforward.spaces import AbstractSpace, Euclidean
from pushforward.statistics.mixtures._column_generation import MixtureProblem
from pushforward.statistics.mixtures._likelihood import Sample
from pushforward.statistics.mixtures._whitening import as_data, as_sample

Table = Float[Array, "n m"]
State = tuple[Float[Array, "m d"], Float[Array, "m"]]


@runtime_checkable
class Step(Protocol):
    """One update (data, data weights, (atoms, weights)) -> (atoms, weights)."""

    def __call__(
        self, x: Float[Array, "n d"], p: Float[Array, "n"], state: State
    ) -> State:
        """The particles after one step."""


def kernel_table(x: Float[Array, "n d"], atoms: Float[Array, "m d"]) -> Table:
    """phi(x_i - mu_j) up to a factor per row, which cancels in every ratio L / f.

    The factor is the row maximum, so a datum far from every atom is not 0 / 0.
    """
    logs = -0.5 * squared_distances(x, atoms)
    return jnp.exp(logs - jnp.max(logs, axis=1, keepdims=True))


def squared_distances(x: Float[Array, "n d"], y: Float[Array, "m d"]) -> Table:
    """|x_i - y_j|^2 from differences, one coordinate at a time: nothing cancels."""
    columns = [(x[:, k : k + 1] - y[:, k : k + 1].T) ** 2 for k in range(x.shape[1])]
    return sum(columns[1:], start=columns[0])


def _ratio(table: Table, p: Float[Array, "n"], w: Float[Array, "m"]) -> Array:
    return p / (table @ w)


def _reweight(table: Table, p: Array, w: Array, eta: Array) -> Array:
    return w * (1 - eta * (1 - table.T @ _ratio(table, p, w)))


def _move(
    table: Table, x: Array, p: Array, atoms: Array, w: Array, eta: Array
) -> Array:
    q = _ratio(table, p, w)
    mass = (table.T @ q)[:, None]
    return atoms + eta * (table.T @ (q[:, None] * x) - mass * atoms)


class WassersteinFisherRaoStep(eqx.Module):
    """Reweight, then move the reweighted particles."""

    eta: Float[Array, ""] = eqx.field(converter=jnp.asarray, default=1.0)

    def __call__(self, x: Array, p: Array, state: State) -> State:
        """One step of WFR descent."""
        atoms, w = state
        table = kernel_table(x, atoms)
        w = _reweight(table, p, w, self.eta)
        return _move(table, x, p, atoms, w, self.eta), w


class FisherRaoStep(eqx.Module):
    """Reweight only; the atoms never move. With eta = 1 this is EM on the weights."""

    eta: Float[Array, ""] = eqx.field(converter=jnp.asarray, default=1.0)

    def __call__(self, x: Array, p: Array, state: State) -> State:
        """One step of Fisher-Rao descent."""
        atoms, w = state
        return atoms, _reweight(kernel_table(x, atoms), p, w, self.eta)


class WassersteinStep(eqx.Module):
    """Move only; the weights never change."""

    eta: Float[Array, ""] = eqx.field(converter=jnp.asarray, default=1.0)

    def __call__(self, x: Array, p: Array, state: State) -> State:
        """One step of Wasserstein descent."""
        atoms, w = state
        return _move(kernel_table(x, atoms), x, p, atoms, w, self.eta), w


class ExpectationMaximizationStep(eqx.Module):
    """EM for m components of identity covariance: both updates from the same f."""

    def __call__(self, x: Array, p: Array, state: State) -> State:
        """One step of expectation-maximization."""
        atoms, w = state
        table = kernel_table(x, atoms)
        q = _ratio(table, p, w)
        mass = table.T @ q
        moved = (table.T @ (q[:, None] * x)) / jnp.where(mass > 0, mass, 1.0)[:, None]
        return jnp.where(mass[:, None] > 0, moved, atoms), w * mass


def log_likelihood_loss(
    x: Float[Array, "n d"], p: Float[Array, "n"], state: State
) -> Float[Array, ""]:
    """l(rho) = -sum_i p_i log f(X_i), differentiable in the particles."""
    atoms, w = state
    logs = -0.5 * squared_distances(x, atoms)
    constant = 0.5 * x.shape[1] * jnp.log(2 * jnp.pi)
    return constant - p @ jax.nn.logsumexp(logs, axis=1, b=w[None, :])


@partial(jax.jit, static_argnames="iterations")
def descend(
    step: Step,
    x: Float[Array, "n d"],
    p: Float[Array, "n"],
    state: State,
    *,
    iterations: int,
) -> tuple[State, Float[Array, "t"]]:
    """Particles after `iterations` steps, and the loss before each of them."""

    def body(state: State, _: None) -> tuple[State, Array]:
        return step(x, p, state), log_likelihood_loss(x, p, state)

    return jax.lax.scan(body, state, None, length=iterations)


class MixtureLikelihood(AbstractFunctional):
    """l(rho) = -mean_i log (rho * phi)(X_i), phi the standard Gaussian density.

    Its first variation is -D(x) = -mean_i phi(x - X_i) / f(X_i). The Wasserstein
    gradient flow moves atoms, the Fisher-Rao flow reweights them, and the
    Wasserstein-Fisher-Rao flow does both: in time t it goes where t / eta steps of
    `wfr(..., eta)` go, up to O(eta). The noise has unit covariance: whiten first.

    >>> import numpy as np
    >>> from pushforward import Euclidean, GradientFlow, Particles, WassersteinFisherRao
    >>> x = np.array([[-2.0], [2.0]])
    >>> field = GradientFlow(MixtureLikelihood(x), WassersteinFisherRao())

    `functionals.minimize(MixtureLikelihood(x), Euclidean(1))` is the NPMLE.

    [yan2024npmle]
    """

    data: Float[Array, "n d"]
    weights: Float[Array, "n"]

    def __init__(
        self,
        data: Float[np.ndarray, "n d"],
        weights: Float[np.ndarray, "n"] | None = None,
    ):
        sample, _ = as_sample(as_data("data", data, None), weights)
        self.data = jnp.asarray(sample.points)
        self.weights = jnp.asarray(sample.weights)

    def __call__(self, mu: Particles) -> Float[Array, ""]:
        """l(mu)."""
        return log_likelihood_loss(self.data, self.weights, (mu.points, mu.weights))

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """-D(x); int D dmu = 1 always, and D <= 1 everywhere at the optimum."""
        if not isinstance(mu, Particles):
            raise InputError(
                f"`mu` must be Particles, got {type(mu).__name__}; a mixing law "
                "is discrete."
            )
        logs = -0.5 * squared_distances(self.data, mu.points)
        top = jnp.max(logs, axis=1)
        f = jnp.exp(logs - top[:, None]) @ mu.weights
        ratio = jnp.log(self.weights) - top - jnp.log(f)
        seen = -0.5 * squared_distances(self.data, x) + ratio[:, None]
        return -jnp.sum(jnp.exp(seen), axis=0)

    def problem(self, space: AbstractSpace) -> MixtureProblem:
        """Maximum likelihood over all mixing laws, on the space of the data."""
        d = self.data.shape[1]
        if not (isinstance(space, Euclidean) and space.d == d):
            raise InputError(f"`space` must be Euclidean({d}), got {space!r}.")
        return MixtureProblem(Sample(np.asarray(self.data), np.asarray(self.weights)))
