"""Where hidden states live: what is divided out before tokens are compared.

The theory puts tokens on the unit sphere; a trained model does not say how. Each
choice here names itself, and every trajectory carries the name in its outcome.
"""

import abc
import dataclasses
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.spaces import AbstractSpace, Euclidean, Sphere

Points = Float[np.ndarray, "l n d"]


@dataclasses.dataclass(frozen=True)
class AbstractNormalization(abc.ABC):
    """A map from hidden states (layers, tokens, dim) to points of a space."""

    label: ClassVar[str]
    on_sphere: ClassVar[bool] = True
    meaning: ClassVar[str]  # after "The normalization is ...:"

    @abc.abstractmethod
    def points(self, hidden: Points, inputs: Points | None) -> Points:
        """The points, layer by layer; `inputs` are the states through trained norms."""

    def space(self, d: int) -> AbstractSpace:
        """The space they lie in: the unit sphere, or R^d."""
        return Sphere(d) if self.on_sphere else Euclidean(d)


@dataclasses.dataclass(frozen=True)
class Raw(AbstractNormalization):
    """Hidden states as they are, in R^d."""

    label: ClassVar[str] = "raw"
    on_sphere: ClassVar[bool] = False
    meaning: ClassVar[str] = (
        "tokens stay where they are, off the sphere, "
        "and are compared by their directions"
    )

    def points(self, hidden: Points, inputs: Points | None) -> Points:
        """Unchanged."""
        return hidden


@dataclasses.dataclass(frozen=True)
class Rms(AbstractNormalization):
    """x / |x|: directions as seen from the origin, on the unit sphere.

    RMSNorm without its gain, up to the factor sqrt(d).
    """

    label: ClassVar[str] = "rms"
    meaning: ClassVar[str] = "every token is divided by its length"

    def points(self, hidden: Points, inputs: Points | None) -> Points:
        """Unit vectors."""
        return _directions(hidden)


@dataclasses.dataclass(frozen=True)
class Centered(AbstractNormalization):
    """(x - m) / |x - m|, m the mean token of the layer: what tokens share is removed.

    Trained tokens share a large common vector; without it cosines tell them apart.
    """

    label: ClassVar[str] = "centered"
    meaning: ClassVar[str] = (
        "the mean token of the layer is taken away, "
        "then tokens are divided by their lengths"
    )

    def points(self, hidden: Points, inputs: Points | None) -> Points:
        """Unit vectors around the mean token of each layer."""
        x = np.asarray(hidden, float)
        return _directions(x - x.mean(axis=1, keepdims=True))


@dataclasses.dataclass(frozen=True)
class LayerNormalized(AbstractNormalization):
    """LayerNorm without gain and bias, over sqrt(d): unit vectors with sum x = 0."""

    label: ClassVar[str] = "layernorm"
    meaning: ClassVar[str] = (
        "the mean coordinate of a token is taken away, then it is divided by its length"
    )

    def points(self, hidden: Points, inputs: Points | None) -> Points:
        """Coordinates of a token minus their mean, then unit vectors."""
        x = np.asarray(hidden, float)
        return _directions(x - x.mean(axis=2, keepdims=True))


@dataclasses.dataclass(frozen=True)
class TrainedNorm(AbstractNormalization):
    """The model's own norm with its trained gain: what the next attention reads.

    Not on a sphere, since the gain stretches it into an ellipsoid.
    """

    label: ClassVar[str] = "trained norm"
    on_sphere: ClassVar[bool] = False
    meaning: ClassVar[str] = (
        "tokens as the next attention reads them, "
        "through the norm of the model, compared by their directions"
    )

    def points(self, hidden: Points, inputs: Points | None) -> Points:
        """The states through the norm of the next layer (the last norm at the end)."""
        if inputs is None:
            raise InputError(
                "TrainedNorm() needs the weights of the model, and these hidden states "
                "came without them. Use LayerNormalized() or Rms()."
            )
        return inputs


NORMALIZATIONS: dict[str, AbstractNormalization] = {
    choice.label: choice
    for choice in (Raw(), Rms(), Centered(), LayerNormalized(), TrainedNorm())
}


def _directions(x: Points) -> Points:
    """Unit tokens; a token without a direction is refused."""
    if not lengths(x).all():
        layer, token = np.argwhere(lengths(x) == 0)[0]
        raise InputError(
            f"token {token} of layer {layer} is the zero vector and has no direction. "
            "Use Raw(), or leave that token out."
        )
    return unit(x)


def lengths(x: Float[np.ndarray, "*any d"]) -> Float[np.ndarray, "*any"]:
    """|x| of every vector, in float64, with no array of its squares."""
    return np.sqrt(np.einsum("...d,...d->...", x, x, dtype=float))


def unit(x: Float[np.ndarray, "*any d"]) -> Float[np.ndarray, "*any d"]:
    """x / |x| of every vector, in float64; zero stays zero."""
    return x / np.maximum(lengths(x), 1e-300)[..., None]
