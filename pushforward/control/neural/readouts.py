"""The output map of a network: affine, fixed or trained, possibly clipped."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.control._checks import count, finite, instance, positive
from pushforward.errors import InputError


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
            clip = positive("clip", clip, "Outputs are clipped to [-clip, clip].")
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
