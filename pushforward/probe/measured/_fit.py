"""The theory against the model: one attention field per layer, fitted to the motion.

Layer l moves unit tokens x to y. The theory's layer is

    y = normalize(x_i + V sum_j A_ij x_j),  A_ij = softmax_j beta <x_i, x_j>,

with one beta and one matrix V. Everything reported is on tokens that were held out.

A perceptron added to fitted attention, by gradient descent through the layer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, PRNGKeyArray
from scipy.optimize import minimize

from pushforward._checks import whole
from pushforward._threads import side_by_side
from pushforward.errors import InputError
from pushforward.fields import Attention, CausalAttention, Multiple
from pushforward.flows import Trajectory
from pushforward.probe._recording import Recording
from pushforward.probe.measured._normalization import unit
from pushforward.probe.measured._regression import (
    Points,
    Regression,
    Split,
    attention_descent,
    plain_descent,
)
from pushforward.spaces import Sphere

STEPS = 120  # of a descent
WATCHED = 5  # one training token in so many decides when to stop


def fitted_perceptron(
    split: Split, push: Points, width: int, *, key: PRNGKeyArray
) -> Points:
    """W relu(A x + b) such that normalize(x + push + W relu(A x + b)) is near y.

    `push` is what attention predicts, for training tokens by a fit without them.
    Descends the error of the training tokens and keeps the weights of the smallest
    error on a fifth of them, which the descent does not see; W starts at zero, so that
    at worst nothing is added.
    """
    train, d = split.train, split.x.shape[1]
    watched, used = train[::WATCHED], np.delete(train, slice(0, None, WATCHED))
    A = jax.random.normal(key, (width, d)) * np.sqrt(2.0)
    start, unravel = ravel_pytree((jnp.zeros((d, width)), A, jnp.zeros(width)))
    from_, end, data = map(jnp.asarray, (split.x + push, split.y, split.x))

    def added(parameters):
        W, A, b = unravel(parameters)
        return jax.nn.relu(data @ A.T + b[None, :]) @ W.T

    def error(parameters, rows):
        z = from_ + added(parameters)
        z = z / jnp.linalg.norm(z, axis=1, keepdims=True)
        return jnp.mean(jnp.sum((z - end) ** 2, axis=1)[rows])

    slope = jax.jit(jax.value_and_grad(lambda p: error(p, used)))
    kept = [(float(error(start, watched)), np.asarray(start))]
    keep = lambda p: kept.append((float(error(p, watched)), p))  # noqa: E731
    descend: Any = minimize
    descend(slope, start, jac=True, callback=keep, options={"maxiter": STEPS})
    return np.asarray(added(min(kept, key=lambda one: one[0])[1]))


ROUNDS = 5  # of lengths before normalizing; later ones change shares by 1e-3
HELD_OUT = 4  # one token in so many is kept for the report
FEWEST = 2 * HELD_OUT  # tokens
SHARES = {  # what explains motion, in words
    "plain": "attention with V = step · I",
    "attention": "attention with any V",
    "shuffled": "attention with averages shuffled",
    "linear": "a linear map that sees no other token",
    "both": "the linear map and attention",
}


@dataclasses.dataclass(frozen=True)
class LayerFit:
    """One layer of the theory, and how much held-out motion each model explains.

    A share is 1 - sum |prediction - y|^2 / sum |y - x|^2: one is exact, zero is no
    better than standing still, and below zero is worse.

    - `plain`: V = step I, the model of the theorems; two numbers, `plain_beta` one.
    - `attention`: `beta`, `V` and `step` fitted; |V|_F = sqrt(d).
    - `shuffled`: the same, but each token gets the average that another token saw.
    - `linear`: y = normalize(x + W x); no other token is seen. It is the limit of
      `attention` at infinite beta, so `attention` must beat it to mean anything.
    - `both`: attention and W x together, at `beta_beside`.
    - `perceptron`: attention and W relu(A x + b) together.
    """

    beta: float
    step: float
    V: Float[np.ndarray, "d d"]
    plain_beta: float
    beta_beside: float
    plain: float
    attention: float
    shuffled: float
    linear: float
    both: float
    perceptron: float | None
    causal: bool

    @property
    def field(self) -> Multiple:
        """step * Attention(beta, V=V); one `Layers(1.0)` step of it is the layer."""
        kind = CausalAttention if self.causal else Attention
        return Multiple(self.step, kind(self.beta, V=self.V))


@dataclasses.dataclass(frozen=True)
class Fit:
    """The layers of the theory fitted to a recorded trajectory; `indices` say which."""

    layers: tuple[LayerFit, ...]
    indices: tuple[int, ...]

    def shares(self, name: str) -> Float[np.ndarray, "l"]:
        """One of SHARES, or "perceptron", for every fitted layer."""
        return np.array([getattr(layer, name) for layer in self.layers], float)

    @property
    def betas(self) -> Float[np.ndarray, "l"]:
        """The fitted inverse temperature of every fitted layer, beside W x."""
        return np.array([layer.beta_beside for layer in self.layers])


def fit(
    trajectory: Trajectory,
    *,
    key: PRNGKeyArray,
    causal: bool = False,
    layers: tuple[int, ...] | None = None,
    perceptron: int = 0,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Fit:
    """Fit the attention field of the theory to each layer of a recorded trajectory.

    `key` draws the tokens that are held out (one in four) and the shuffle. `layers`
    are indices of layers, all by default; layer l moves frame l to frame l + 1.
    `perceptron` > 0 also fits a perceptron with that many hidden units.

    >>> mu = Particles.uniform(Sphere(3), 40, key=jax.random.key(0))
    >>> traj = flow(Attention(4.0), mu, 1.0, solver=Layers(0.5), save=3)
    >>> found = fit(traj, key=jax.random.key(1), layers=(0,)).layers[0]
    >>> print(f"{found.plain_beta:.2f} {found.plain:.4f}")
    4.00 1.0000
    """
    if not isinstance(trajectory.final.space, Sphere):
        raise InputError(
            "`trajectory` must lie on a sphere, where the theory lives; got "
            f"{trajectory.final.space!r}. Record with Rms() or LayerNormalized()."
        )
    n = trajectory.final.n
    if n < FEWEST:
        raise InputError(
            f"a fit needs at least {FEWEST} tokens, got {n}. Take a longer text."
        )
    whole("perceptron", perceptron, 0, "It is a number of hidden units.")
    chosen = tuple(range(len(trajectory) - 1)) if layers is None else tuple(layers)
    points = np.asarray(trajectory.points, float)
    for k in chosen:
        if not 0 <= k < len(points) - 1:
            raise InputError(f"`layers` has {k}; layers are 0 ... {len(points) - 2}.")

    def fitted(k: int) -> LayerFit:
        keys = jax.random.split(jax.random.fold_in(key, k), 3)
        split = _split(points[k], points[k + 1], causal, keys[0])
        return _fit_layer(split, keys[1], keys[2], perceptron)

    found: list[LayerFit] = []
    for layer in side_by_side(fitted, chosen):
        found.append(layer)
        progress(len(found), len(chosen))
    return Fit(tuple(found), chosen)


def _split(x: np.ndarray, y: np.ndarray, causal: bool, key: PRNGKeyArray) -> Split:
    order = np.asarray(jax.random.permutation(key, len(x)))
    train = np.sort(np.delete(order, slice(0, None, HELD_OUT)))
    return Split(x, y, train, np.sort(order[::HELD_OUT]), causal, np.ones(len(x)))


def _fit_layer(
    split: Split, key_shuffle: PRNGKeyArray, key_net: PRNGKeyArray, width: int
) -> LayerFit:
    x = split.x
    other = np.asarray(jax.random.permutation(key_shuffle, len(x)))
    plain_beta, plain_step = plain_descent(split)
    beta, seen, V, push = _attention(split, linear=False)
    step = float(np.linalg.norm(V) / np.sqrt(len(V))) or 1.0
    beside, pair, M, _ = _attention(split, linear=True)
    net = None
    if width:
        net = split.share(push + fitted_perceptron(split, push, width, key=key_net))
    return LayerFit(
        beta=beta,
        step=step,
        V=V / step,
        plain_beta=plain_beta,
        beta_beside=beside,
        plain=split.share(plain_step * split.seen(plain_beta)),
        attention=split.share(seen @ V.T),
        shuffled=_linear_share(split, seen[other]),
        linear=_linear_share(split, x),
        both=split.share(pair @ M.T),
        perceptron=net,
        causal=split.causal,
    )


def _attention(split: Split, *, linear: bool):
    """beta, features, their matrix, and predictions (of training tokens left out)."""
    near = None
    for _ in range(ROUNDS):
        near = beta, ridge = attention_descent(split, linear=linear, near=near)
        features = split.seen(beta)
        if linear:
            features = np.concatenate([features, split.x], axis=1)
        regression = Regression.of(features, split.train)
        push = regression.left_out(split, ridge)
        split = split.stretched(push)
    return beta, features, regression.matrix(split, ridge), push


def _linear_share(split: Split, features: np.ndarray) -> float:
    """The share of the best linear map of given features."""
    regression = Regression.of(features, split.train)
    for _ in range(ROUNDS):
        ridge = regression.ridge(split)
        split = split.stretched(regression.left_out(split, ridge))
    return split.share(features @ regression.matrix(split, ridge).T)


def own_attention(recording: Recording) -> Float[np.ndarray, "l"]:
    """The share of each layer's motion that the model's own attention explains.

    Unit tokens move from x to y; the attention update of the layer alone, with the
    trained weights and without perceptron, moves them to normalize(x + update). No
    attention model with weights frozen at training can be closer to the truth.
    """
    if recording.update is None:
        raise InputError(
            f"{recording.name} is a file of hidden states: what attention added is not "
            "known. Probe a model instead."
        )
    x, y = recording.hidden[:-1], recording.hidden[1:]
    start, end, alone = unit(x), unit(y), unit(x.astype(float) + recording.update)
    error = ((alone - end) ** 2).sum(axis=(1, 2))
    return 1 - error / ((start - end) ** 2).sum(axis=(1, 2))
