"""A training problem: data, form, loss, penalty and horizon, as one objective.

One layer as one step of an explicit Runge-Kutta scheme with frozen control.
"""

import abc
import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import above_zero, not_negative
from pushforward.control._checks import count, finite, instance
from pushforward.control.neural.families import (
    AbstractFamily,
    Readout,
    coordinate_readout,
    require_readout,
)
from pushforward.control.neural.losses import (
    L1,
    L2,
    AbstractLoss,
    AbstractPenalty,
    Squared,
)
from pushforward.errors import InputError

Slope = Callable[[Array], Array]


class AbstractScheme(eqx.Module):
    """x_{k+1} from x_k for x' = f(x) over dt; a control never jumps inside a step."""

    @abc.abstractmethod
    def step(
        self, f: Slope, x: Float[Array, "n d"], dt: Float[Array, ""]
    ) -> Float[Array, "n d"]:
        """One step."""


class Euler(AbstractScheme):
    """x + dt f(x): the residual block. As an ODE solver it is of first order."""

    def step(self, f, x, dt):
        """One evaluation of f."""
        return x + dt * f(x)


class Midpoint(AbstractScheme):
    """x + dt f(x + dt/2 f(x)), of second order."""

    def step(self, f, x, dt):
        """Two evaluations of f."""
        return x + dt * f(x + 0.5 * dt * f(x))


class RungeKutta(AbstractScheme):
    """The classical scheme of fourth order."""

    def step(self, f, x, dt):
        """Four evaluations of f."""
        k1 = f(x)
        k2 = f(x + 0.5 * dt * k1)
        k3 = f(x + 0.5 * dt * k2)
        k4 = f(x + dt * k3)
        return x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


class Parameters(NamedTuple):
    """What training chooses: controls (k, p), and the readout when it is trained."""

    controls: Float[Array, "k p"]
    readout: Readout | None


class TrainingProblem(eqx.Module):
    """J(u) = final E(X(T)) + tracking int_0^T E(X(t)) dt + penalty(u).

    Particles obey x_i' = f(x_i, u(t)), x_i(0) = inputs_i, with u constant on each
    of `layers` equal intervals of (0, horizon); E is the mean of
    loss(readout(x_i), label_i). Tracking is integrated by the trapezoid rule on
    the layers. A fixed target for the whole state is the `Squared` loss with the
    identity as readout. `chunk` bounds memory: that many samples at a time.

    >>> from pushforward.control.neural.families import WeightsOutside
    >>> form = WeightsOutside(2)
    >>> problem = TrainingProblem(form, np.eye(2), [-1.0, 1.0], horizon=1.0, layers=4)
    >>> problem.zero().controls.shape
    (4, 6)
    """

    family: AbstractFamily
    inputs: Float[Array, "n d"]
    labels: Array
    weights: Float[Array, "n"]
    readout: Readout
    loss: AbstractLoss
    penalty: AbstractPenalty
    horizon: Float[Array, ""]
    final: Float[Array, ""]
    tracking: Float[Array, ""]
    scheme: AbstractScheme
    layers: int = eqx.field(static=True)
    chunk: int | None = eqx.field(static=True)

    def __init__(
        self,
        family: AbstractFamily,
        inputs: object,
        labels: object,
        *,
        readout: Readout | None = None,
        loss: AbstractLoss = Squared(),
        penalty: AbstractPenalty | None = None,
        horizon: float = 1.0,
        layers: int = 16,
        final: float = 1.0,
        tracking: float = 0.0,
        scheme: AbstractScheme = Midpoint(),
        chunk: int | None = None,
    ):
        instance("family", family, AbstractFamily, "WeightsOutside(d)")
        instance("loss", loss, AbstractLoss, "SquaredHinge()")
        instance("scheme", scheme, AbstractScheme, "Midpoint()")
        points = _states(inputs, family.d)
        if len(points) == 0:
            raise InputError("`inputs` is empty; at least one sample is needed.")
        self.family = family
        self.inputs = jnp.asarray(points)
        self.readout = coordinate_readout(family.d) if readout is None else readout
        require_readout(self.readout, family.d)
        self.loss = loss
        self.labels = jnp.asarray(loss.labels(labels, len(points), self.readout.m))
        self.weights = jnp.full(len(points), 1.0 / len(points))
        self.penalty = L2(0.01) if penalty is None else penalty
        instance("penalty", self.penalty, AbstractPenalty, "L2(0.01)")
        self.horizon = jnp.asarray(above_zero("horizon", horizon, "It is the depth T."))
        self.final = jnp.asarray(not_negative("final", final))
        self.tracking = jnp.asarray(not_negative("tracking", tracking))
        if self.final == 0 and self.tracking == 0:
            raise InputError(
                "`final` and `tracking` are both zero: nothing asks for a fit. Set "
                "final=1.0, or tracking=1.0 to ask for it at every depth."
            )
        self.scheme = scheme
        self.layers = count("layers", layers)
        self.chunk = None if chunk is None else count("chunk", chunk)

    @property
    def dt(self) -> Float[Array, ""]:
        """Length of a layer."""
        return self.horizon / self.layers

    def zero(self) -> Parameters:
        """Controls that do nothing."""
        controls = jnp.zeros((self.layers, self.family.size))
        return Parameters(controls, self.readout if self.readout.trained else None)

    def random(self, key: Array, scale: float = 0.1) -> Parameters:
        """Gaussian controls of standard deviation `scale`."""
        start = self.zero()
        shape = start.controls.shape
        return start._replace(controls=scale * jax.random.normal(key, shape))

    def flow(
        self, controls: Float[Array, "k p"], x: Float[Array, "n d"]
    ) -> Float[Array, "k1 n d"]:
        """States before the first layer and after each one."""

        def layer(x, u):
            x = self.scheme.step(lambda s: self.family.velocity(s, u), x, self.dt)
            return x, x

        _, states = jax.lax.scan(layer, x, controls)
        return jnp.concatenate([x[None], states])

    def losses(
        self, parameters: Parameters, states: Float[Array, "k n d"], labels: Array
    ) -> Float[Array, "k n"]:
        """Loss of every sample at every layer."""
        readout = self.readout if parameters.readout is None else parameters.readout
        one = jax.vmap(lambda x, y: self.loss(readout(x), y))
        return jax.vmap(lambda x: one(x, labels))(states)

    def quadrature(self) -> Float[Array, "k1"]:
        """Weight of E at each layer: trapezoid for tracking, plus the final term."""
        ends = jnp.ones(self.layers + 1).at[jnp.array([0, -1])].set(0.5)
        weight = self.tracking * self.dt * ends
        return weight.at[-1].add(self.final)

    def misfit(self, parameters: Parameters) -> Float[Array, ""]:
        """final E(X(T)) + tracking int E, over all samples or chunk by chunk."""

        def part(data):
            x, labels, weights = data
            losses = self.losses(parameters, self.flow(parameters.controls, x), labels)
            return self.quadrature() @ (losses @ weights)

        data = (self.inputs, self.labels, self.weights)
        n = len(self.inputs)
        if self.chunk is None or self.chunk >= n:
            return part(data)
        # samples of weight zero fill the last chunk
        pad = -n % self.chunk
        padded = [jnp.concatenate([a, a[:1].repeat(pad, 0)]) for a in data]
        padded[2] = padded[2].at[n:].set(0.0)
        blocks = [a.reshape(-1, self.chunk, *a.shape[1:]) for a in padded]
        return jnp.sum(jax.lax.map(jax.checkpoint(part), tuple(blocks)))

    def objective(self, parameters: Parameters) -> Float[Array, ""]:
        """J, readout weights not penalized."""
        return self.misfit(parameters) + self.penalty(parameters.controls, self.dt)

    def risk(self, parameters: Parameters) -> Float[Array, "k1"]:
        """E(X(t)) at every layer."""
        states = self.flow(parameters.controls, self.inputs)
        return self.losses(parameters, states, self.labels) @ self.weights

    def sampled(self, rows: Array) -> "TrainingProblem":
        """The same problem on some of the samples, with equal weights."""
        weights = jnp.full(len(rows), 1.0 / len(rows))
        return eqx.tree_at(
            lambda p: (p.inputs, p.labels, p.weights),
            self,
            (self.inputs[rows], self.labels[rows], weights),
        )

    def with_horizon(
        self, horizon: float | Array, layers: int | None = None
    ) -> "TrainingProblem":
        """The same problem at another depth T, on as many layers or on `layers`."""
        new = object.__new__(TrainingProblem)
        for field in dataclasses.fields(self):
            object.__setattr__(new, field.name, getattr(self, field.name))
        t = above_zero("horizon", float(horizon), "It is the depth T.")
        object.__setattr__(new, "horizon", jnp.asarray(t))
        if layers is not None:
            object.__setattr__(new, "layers", count("layers", layers))
        return new


def require_smooth(problem: TrainingProblem) -> None:
    """Refuse the L1 penalty where a gradient method would only blur its zeros."""
    if isinstance(problem.penalty, L1):
        raise InputError(
            "the L1 penalty needs the proximal solver: call `control.train_sparse`. "
            "Gradient methods never reach exact zeros."
        )


def _states(inputs: object, d: int) -> np.ndarray:
    points = finite("inputs", inputs, (None, None))
    if points.shape[1] == d:
        return points
    fix = "Change d of the form, or add zero coordinates with `lifted`."
    if len(points) == d:
        fix = "Its transpose would fit."
    raise InputError(
        f"`inputs` must have shape (any, {d}), one row per sample, got "
        f"{points.shape}. {fix}"
    )
