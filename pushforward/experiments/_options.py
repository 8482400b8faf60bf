"""The short way to common experiments: the options of `simulate`, by name.

The names of models and starts stand here and nowhere else.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from pushforward.errors import InputError
from pushforward.experiments._changed_starts import Scaled
from pushforward.experiments._experiment import Experiment
from pushforward.experiments._names import unknown
from pushforward.experiments._random_heads import RandomHeads, weights_of_file
from pushforward.experiments._start import (
    AbstractStart,
    Clustered,
    Equispaced,
    FromFile,
    Normal,
    Orthonormal,
    Uniform,
    VonMisesFisher,
)
from pushforward.fields import (
    Attention,
    CausalAttention,
    HardAttention,
    Heads,
    RescaledAttention,
    UnnormalizedAttention,
)
from pushforward.flows import AbstractSolver, Adaptive, Brownian, Layers, Merge
from pushforward.functionals import InteractionEnergy
from pushforward.observables import (
    CLUSTER_RADIUS,
    ClusterCount,
    LargestMass,
    mean_cosine,
)


class Named(NamedTuple):
    """A constructor that people know by a short name."""

    make: Callable[..., Any]
    label: str
    formula: str = ""

    def __call__(self, *values, **more) -> Any:
        """What the name stands for."""
        return self.make(*values, **more)


def _unnormalized(beta, **weights) -> UnnormalizedAttention:
    return UnnormalizedAttention(beta, log_scale=-abs(beta), **weights)


# (beta, Q=, K=, V=) -> field
MODELS = {
    "sa": Named(
        Attention,
        "Self-attention (SA)",
        "dx_i/dt = P_{x_i}[ sum_j w_j e^{beta<x_i,x_j>} x_j / Z_i ]",
    ),
    "usa": Named(
        _unnormalized,
        "Unnormalized self-attention (USA)",
        "dx_i/dt = P_{x_i}[ e^{-|beta|} sum_j w_j e^{beta<x_i,x_j>} x_j ]",
    ),
    "causal": Named(
        CausalAttention,
        "Causal self-attention",
        "dx_k/dt = P_{x_k}[ sum_{j<=k} w_j e^{beta<x_k,x_j>} x_j / Z_k ]",
    ),
    "hardmax": Named(
        lambda beta, **weights: HardAttention(**weights),
        "Hard attention (beta infinite)",
        "dx_i/dt = P_{x_i}[ mean of x_j over the best matches of x_i ]",
    ),
    "rescaled": Named(
        lambda beta, **weights: RescaledAttention(beta=beta, **weights),
        "Attention in R^d without layer norm, rescaled",
        "dz_i/dt = sum_j P_ij V (z_j - z_i),  z = e^{-tV} x",
    ),
}
# (n, d) -> start
STARTS = {
    "uniform": Named(Uniform, "uniform"),
    "clustered": Named(Clustered, "four clusters"),
    "equispaced": Named(lambda n, d: Equispaced(n), "equal angles (circle)"),
    "orthonormal": Named(Orthonormal, "orthonormal vectors"),
    "gaussian": Named(Normal, "a Gaussian cap"),
    "vonmises_fisher": Named(VonMisesFisher, "von Mises-Fisher"),
}
SIDE = 5.0  # rescaled tokens start in [-5, 5]^d of R^d, as in [geshkovski2023emergence]


def options(
    n: int = 64,
    d: int = 3,
    beta: float = 9.0,
    t1: float = 20.0,
    *,
    model: str = "sa",
    heads: int = 1,
    noise: float = 0.0,
    seed: int = 0,
    weights: Any = None,
    tokens: Any = None,
    start: str = "uniform",
    frames: int = 101,
    layers: float = 0.0,
    merge: bool = False,
    rtol: float | None = None,
) -> Experiment:
    """The experiment that the options of `pushforward simulate` mean.

    >>> options(n=8, beta=4.0, t1=1.0).field
    Attention(beta=4.0)
    """
    made = _chosen("model", model, MODELS)
    if noise < 0 or layers < 0:
        raise InputError(
            f"`noise` and `layers` must not be negative, got {noise} and {layers}."
        )
    solver: AbstractSolver | None = Layers(layers) if layers else None
    if rtol is not None and not layers and not noise:
        solver = Adaptive(rtol, rtol / 100)
    return Experiment(
        start=named_start(start, n, d, model=model)
        if tokens is None
        else FromFile(tokens),
        field=_field(made, beta, heads, weights),
        t1=t1,
        save=frames,
        solver=solver,
        merge=Merge() if merge else None,
        noise=Brownian(noise) if noise else None,
        observe=readings(beta, flat=model == "rescaled"),
        seed=seed,
    )


def readings(
    beta: float, radius: float = CLUSTER_RADIUS, *, flat: bool = False
) -> dict:
    """The numbers that are shown of a run; energy and cosine on the sphere only."""
    clusters = {"clusters": ClusterCount(radius), "largest_mass": LargestMass(radius)}
    if flat:
        return clusters
    energy = {"energy": InteractionEnergy(beta)}
    return energy | clusters | {"mean_cosine": mean_cosine}


def _chosen(name: str, word: object, known: dict) -> Any:
    if not isinstance(word, str) or word not in known:
        raise InputError(unknown(word, tuple(known), f"`{name}`"))
    return known[word]


def named_start(start: str, n: int, d: int, *, model: str = "sa") -> AbstractStart:
    """The start of a name, in the space where the model lives."""
    made = _chosen("start", start, STARTS)
    if _chosen("model", model, MODELS) is not MODELS["rescaled"]:
        return made(n, d)
    return Scaled(made(n, d, space="euclidean"), SIDE)


def _field(made: Callable, beta: float, heads: int, weights):
    if weights is not None:
        found = [made(beta, **one) for one in weights_of_file(pathlib.Path(weights))]
        return found[0] if len(found) == 1 else Heads(found)
    return made(beta) if heads == 1 else RandomHeads(made(beta), heads)
