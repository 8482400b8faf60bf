"""The three forms of a neural ODE: x' = f(x, u), one control u for all particles.

The output map of a network: affine, fixed or trained, possibly clipped.
"""

import abc
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite, instance
from pushforward.errors import InputError

Activation = Callable[[Array], Array]


def relu(x: Array) -> Array:
    """max(x, 0) with derivative zero at zero; a plain function, so that it pickles."""
    return jnp.where(x > 0, x, 0.0)


def positively_homogeneous(activation: Activation) -> bool:
    """Whether sigma(a x) = a sigma(x) for a > 0, as for ReLU; tested on numbers."""
    x = jnp.linspace(-3.0, 3.0, 25)
    return bool(jnp.allclose(activation(2.5 * x), 2.5 * activation(x)))


def _require_function(activation: object) -> None:
    if not callable(activation):
        raise InputError(
            f"`activation` must be a function such as jnp.tanh or jax.nn.relu, got "
            f"{activation!r}."
        )


class AbstractFamily(eqx.Module):
    """A velocity f(x, u) on R^d whose control u is a flat vector of `size` numbers."""

    d: eqx.AbstractVar[int]

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Number of entries of one layer's control."""

    @property
    @abc.abstractmethod
    def homogeneous(self) -> bool:
        """Whether f(x, a u) = a f(x, u) for every a > 0."""

    @abc.abstractmethod
    def velocity(
        self, x: Float[Array, "n d"], u: Float[Array, "p"]
    ) -> Float[Array, "n d"]:
        """f(x_i, u) for every particle."""

    @abc.abstractmethod
    def matrices(self, u: Float[Array, "p"]) -> tuple[Array, Array, Array, Array]:
        """(W, A, b, c) with f(x, u) = W s(A x + b) + c, s the activation or identity.

        For `WeightsOutside` A = I, b = 0; for `WeightsInside` W = I, c = 0.
        """


class WeightsOutside(AbstractFamily):
    """f(x, u) = w sigma(x) + b: linear in the control, homogeneous for any sigma.

    Called "inside" in the authors' code. [esteveyague2020large]
    """

    d: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True, default=jnp.tanh)

    def __check_init__(self):
        count("d", self.d)
        _require_function(self.activation)

    @property
    def size(self) -> int:
        """d (d + 1)."""
        return self.d * (self.d + 1)

    @property
    def homogeneous(self) -> bool:
        """Always: the field is linear in (w, b)."""
        return True

    def velocity(self, x, u):
        """W sigma(x) + b."""
        w, b = u[: self.d**2].reshape(self.d, self.d), u[self.d**2 :]
        return self.activation(x) @ w.T + b[None, :]

    def matrices(self, u):
        """(w, I, 0, b)."""
        d = self.d
        w, b = u[: d**2].reshape(d, d), u[d**2 :]
        return w, jnp.eye(d), jnp.zeros(d), b


class WeightsInside(AbstractFamily):
    """f(x, u) = sigma(w x + b): homogeneous only if sigma is (ReLU, leaky ReLU).

    Called "outside" in the authors' code. Use the `H1` penalty: the field is not
    linear in w, and minimizers need compactness of the weights.
    """

    d: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True, default=relu)

    def __check_init__(self):
        count("d", self.d)
        _require_function(self.activation)

    @property
    def size(self) -> int:
        """d (d + 1)."""
        return self.d * (self.d + 1)

    @property
    def homogeneous(self) -> bool:
        """Iff the activation is positively homogeneous."""
        return positively_homogeneous(self.activation)

    def velocity(self, x, u):
        """Sigma(w x + b)."""
        w, b = u[: self.d**2].reshape(self.d, self.d), u[self.d**2 :]
        return self.activation(x @ w.T + b[None, :])

    def matrices(self, u):
        """(I, w, b, 0)."""
        d = self.d
        w, b = u[: d**2].reshape(d, d), u[d**2 :]
        return jnp.eye(d), w, b, jnp.zeros(d)


class Bottleneck(AbstractFamily):
    """f(x, u) = w1 sigma(w2 x + b2) + b1 with `hidden` neurons (BOT).

    With ReLU it is of degree two in (w1, w2, b2): an L2 penalty is then blind to
    the speed along a path, and activity squeezes into few layers.
    """

    d: int = eqx.field(static=True)
    hidden: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True, default=relu)

    def __check_init__(self):
        count("d", self.d)
        count("hidden", self.hidden)
        _require_function(self.activation)

    @property
    def size(self) -> int:
        """2 d h + h + d."""
        return 2 * self.d * self.hidden + self.hidden + self.d

    @property
    def homogeneous(self) -> bool:
        """Never of degree one in all its entries."""
        return False

    def velocity(self, x, u):
        """W1 sigma(w2 x + b2) + b1."""
        w1, w2, b2, b1 = self.matrices(u)
        return self.activation(x @ w2.T + b2[None, :]) @ w1.T + b1[None, :]

    def matrices(self, u):
        """(w1, w2, b2, b1), stored in u in this order."""
        d, h = self.d, self.hidden
        cuts = np.cumsum([d * h, h * d, h])
        w1, w2, b2, b1 = jnp.split(u, cuts)
        return w1.reshape(d, h), w2.reshape(h, d), b2, b1


class Readout(eqx.Module):
    """P x + c, then clipped to [-clip, clip] when `clip` is given.

    `trained` asks the optimizer to choose P and c as well.
    """

    P: Float[Array, "m d"]
    c: Float[Array, "m"]
    clip: float | None = eqx.field(static=True)
    trained: bool = eqx.field(static=True)

    def __init__(self, P, c=None, *, clip: float | None = None, trained: bool = False):
        P = finite("P", P, (None, None))
        self.P = jnp.asarray(P)
        c = jnp.zeros(len(P)) if c is None else finite("c", c, (len(P),))
        self.c = jnp.asarray(c)
        if clip is not None:
            clip = above_zero("clip", clip, "Outputs are clipped to [-clip, clip].")
        self.clip, self.trained = clip, trained

    @property
    def m(self) -> int:
        """Number of outputs."""
        return self.P.shape[0]

    def __call__(self, x: Float[Array, "d"]) -> Float[Array, "m"]:
        """Output of one state."""
        y = self.P @ x + self.c
        return y if self.clip is None else jnp.clip(y, -self.clip, self.clip)


def coordinate_readout(d: int, outputs: int = 1) -> Readout:
    """The last `outputs` coordinates of the state."""
    d, outputs = count("d", d), count("outputs", outputs)
    if outputs > d:
        raise InputError(f"`outputs` must be at most d = {d}, got {outputs}.")
    return Readout(jnp.eye(d)[d - outputs :])


def identity_readout(d: int) -> Readout:
    """The whole state: with the squared loss, labels are then targets in R^d."""
    return Readout(jnp.eye(count("d", d)))


def require_readout(readout: Readout, d: int) -> None:
    """Refuse a readout that does not take states of dimension d."""
    instance("readout", readout, Readout, "Readout(P)")
    if readout.P.shape[1] != d:
        raise InputError(
            f"`readout` must read states of dimension {d}, got P of shape "
            f"{readout.P.shape}; pass a matrix with {d} columns."
        )
