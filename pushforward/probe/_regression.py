"""Regression of a layer's motion on what its tokens see, by leave-one-out gradients.

A layer y = normalize(x + V s_i(beta) + W x_i), s_i the softmax average that token i
sees, is linear once the length r_i before normalizing is known: r y - x = V s + W x.
For given beta and r the best V and W with a ridge are linear algebra, so beta and the
ridge descend along the gradient of the leave-one-out error, through the softmax and
the solve; lengths start at one and are taken from the last prediction.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.optimize import minimize, minimize_scalar

Points = Float[np.ndarray, "n d"]
Features = Float[np.ndarray, "n k"]
BETAS = (1.0, 8.0)  # where descents start; the error has several valleys
LOG_BETA, LOG_RIDGE = (np.log(1e-2), np.log(1e3)), (np.log(1e-7), np.log(1e1))
STEPS = (-10.0, 10.0)


@dataclasses.dataclass(frozen=True)
class Split:
    """One layer, from unit tokens x to unit tokens y; `test` took no part in fits."""

    x: Points
    y: Points
    train: Int[np.ndarray, "a"]
    test: Int[np.ndarray, "b"]
    causal: bool
    lengths: Float[np.ndarray, "n"]

    @property
    def motion(self) -> Points:
        """r y - x: what must be added to x."""
        return self.lengths[:, None] * self.y - self.x

    def stretched(self, push: Points) -> Split:
        """The same layer with the lengths that a prediction gives."""
        return dataclasses.replace(self, lengths=np.linalg.norm(self.x + push, axis=1))

    @property
    def mask(self) -> Array:
        """Which tokens each token sees."""
        n = len(self.x)
        return jnp.tri(n, dtype=bool) if self.causal else jnp.ones((n, n), bool)

    def share(self, push: Points) -> float:
        """1 - sum |normalize(x + push) - y|^2 / sum |y - x|^2 over held-out tokens."""
        end = self.x + push
        end = end / np.linalg.norm(end, axis=1, keepdims=True)
        error = ((end - self.y)[self.test] ** 2).sum()
        return float(1 - error / ((self.y - self.x)[self.test] ** 2).sum())

    def seen(self, beta: float) -> Points:
        """sum_j softmax_j (beta <x_i, x_j>) x_j."""
        return np.asarray(_averages(jnp.asarray(self.x), beta, self.mask))


def attention_descent(
    split: Split, *, linear: bool, near: tuple[float, float] | None = None
) -> tuple[float, float]:
    """beta and ridge of the smallest leave-one-out error; `linear` adds W x.

    `near` is where to start, when an earlier descent has been there.
    """
    data = (split.x, split.motion, split.train, split.mask, float(linear))
    starts = (
        [np.log([beta, 1e-3]) for beta in BETAS] if near is None else [np.log(near)]
    )
    best = _minimum(_attention_slope, starts, (LOG_BETA, LOG_RIDGE), data)
    return float(np.exp(best[0])), float(np.exp(best[1]))


def plain_descent(split: Split) -> tuple[float, float]:
    """beta and step of the theory's simplest layer, V = step I."""
    data = (split.x, split.y, split.train, split.mask)
    starts = [np.array([np.log(beta), 0.1]) for beta in BETAS]
    best = _minimum(_plain_slope, starts, (LOG_BETA, STEPS), data)
    return float(np.exp(best[0])), float(best[1])


def ridge_descent(split: Split, features: Features) -> float:
    """The ridge of the smallest leave-one-out error for given features.

    With f f^T / n = U diag(s) U^T the hat matrix is U diag(s / (s + ridge)) U^T, so
    that one decomposition serves all ridges.
    """
    f, motion = features[split.train], split.motion[split.train]
    s, U = np.linalg.eigh(f @ f.T / len(f))
    turned = U.T @ motion

    def error(log_ridge: float) -> float:
        shrink = s / (s + np.exp(log_ridge))
        residual = motion - U @ (shrink[:, None] * turned)
        left = residual / (1 - U**2 @ shrink)[:, None]
        return float(np.log((left**2).sum()))

    found: Any = minimize_scalar(error, bounds=LOG_RIDGE, method="bounded")
    return float(np.exp(found.x))


def solved(split: Split, features: Features, ridge: float) -> Float[np.ndarray, "d k"]:
    """M of the least squares |M f - motion|^2 + ridge |M|^2, through a Gram matrix."""
    f, motion = features[split.train], split.motion[split.train]
    n = len(f)
    gram = f @ f.T / n + ridge * np.eye(n)
    return np.linalg.solve(gram, motion / n).T @ f


def left_out(split: Split, features: Features, ridge: float) -> Points:
    """Predicted motion; that of a training token by the fit without it."""
    M = solved(split, features, ridge)
    push = features @ M.T
    f = features[split.train]
    gram = f @ f.T
    n = len(gram)
    hat = gram @ np.linalg.inv(gram / n + ridge * np.eye(n)) / n
    residual = (split.motion - push)[split.train]
    push[split.train] = (
        split.motion[split.train] - residual / (1 - np.diag(hat))[:, None]
    )
    return push


def _averages(x, beta, mask):
    logits = jnp.where(mask, beta * (x @ x.T), -jnp.inf)
    return jax.nn.softmax(logits, axis=1) @ x


def _left_out_error(gram, motion, ridge):
    """sum_i |r_i / (1 - H_ii)|^2 of ridge regression with this Gram matrix."""
    n = len(gram)
    inverse = jnp.linalg.inv(gram / n + ridge * jnp.eye(n)) / n
    hat = gram @ inverse
    residual = motion - hat @ motion
    return jnp.sum((residual / (1 - jnp.diag(hat))[:, None]) ** 2)


def _attention_error(parameters, x, motion, train, mask, linear):
    beta, ridge = jnp.exp(parameters)
    seen, own = _averages(x, beta, mask)[train], x[train]
    gram = seen @ seen.T + linear * (own @ own.T)
    return jnp.log(_left_out_error(gram, motion[train], ridge))


def _plain_error(parameters, x, y, train, mask):
    end = x + parameters[1] * _averages(x, jnp.exp(parameters[0]), mask)
    end = end / jnp.linalg.norm(end, axis=1, keepdims=True)
    return jnp.mean(jnp.sum((end - y) ** 2, axis=1)[train])


_attention_slope = jax.jit(jax.value_and_grad(_attention_error))
_plain_slope = jax.jit(jax.value_and_grad(_plain_error))


def _minimum(slope: Any, starts: list, bounds: tuple, data: tuple) -> np.ndarray:
    """The best end of L-BFGS descents along gradients of JAX."""
    data = tuple(jnp.asarray(part) for part in data)

    def value_and_slope(parameters):
        value, gradient = slope(jnp.asarray(parameters), *data)
        return float(value), np.asarray(gradient, float)

    descend: Any = minimize
    options = {"maxiter": 25, "ftol": 1e-6}
    ends = [
        descend(value_and_slope, s, jac=True, bounds=bounds, options=options)
        for s in starts
    ]
    return min(ends, key=lambda end: end.fun).x
