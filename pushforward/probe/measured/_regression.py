"""Regression of a layer's motion on what its tokens see, by leave-one-out gradients.

A layer y = normalize(x + V s_i(beta) + W x_i), s_i the softmax average that token i
sees, is linear once the length r_i before normalizing is known: r y - x = V s + W x.
For given beta and r the best V and W with a ridge are linear algebra, so beta and the
ridge descend along the gradient of the leave-one-out error, through the softmax and
the solve; lengths start at one and are taken from the last prediction.

Gradients are written out: two numbers descend, and compiling a program for every
length of text took ten times as long as the descent.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
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

    @property
    def trained(self) -> Points:
        """The motion of the training tokens."""
        return self.motion[self.train]

    def stretched(self, push: Points) -> Split:
        """The same layer with the lengths that a prediction gives."""
        return dataclasses.replace(self, lengths=np.linalg.norm(self.x + push, axis=1))

    @property
    def mask(self) -> Bool[np.ndarray, "n n"]:
        """Which tokens each token sees."""
        n = len(self.x)
        return np.tri(n, dtype=bool) if self.causal else np.ones((n, n), bool)

    def share(self, push: Points) -> float:
        """1 - sum |normalize(x + push) - y|^2 / sum |y - x|^2 over held-out tokens."""
        end = self.x + push
        end = end / np.linalg.norm(end, axis=1, keepdims=True)
        error = ((end - self.y)[self.test] ** 2).sum()
        moved = ((self.y - self.x)[self.test] ** 2).sum()
        return float(1 - error / moved) if moved > 0 else 0.0

    def seen(self, beta: float) -> Points:
        """sum_j softmax_j (beta <x_i, x_j>) x_j."""
        return _softmax(beta * (self.x @ self.x.T), self.mask) @ self.x


def attention_descent(
    split: Split, *, linear: bool, near: tuple[float, float] | None = None
) -> tuple[float, float]:
    """beta and ridge of the smallest leave-one-out error; `linear` adds W x.

    `near` is where to start, when an earlier descent has been there.
    """
    gram, motion, mask = split.x @ split.x.T, narrowed(split.trained), split.mask
    slope = lambda p: _attention_error(p, gram, motion, split.train, mask, linear)  # noqa: E731
    starts = (
        [np.log([beta, 1e-3]) for beta in BETAS] if near is None else [np.log(near)]
    )
    best = _minimum(slope, starts, (LOG_BETA, LOG_RIDGE))
    return float(np.exp(best[0])), float(np.exp(best[1]))


def plain_descent(split: Split) -> tuple[float, float]:
    """beta and step of the theory's simplest layer, V = step I."""
    inner = (split.x @ split.x.T, split.y @ split.x.T)
    slope = lambda p: _plain_error(p, *inner, split.train, split.mask)  # noqa: E731
    starts = [np.array([np.log(beta), 0.1]) for beta in BETAS]
    best = _minimum(slope, starts, (LOG_BETA, STEPS))
    return float(np.exp(best[0])), float(best[1])


@dataclasses.dataclass(frozen=True)
class Regression:
    """Motion as a linear map of given features, with every ridge at once.

    `cross` is f f_train^T / n, whose rows of training tokens are U diag(s) U^T: then
    the fit at a ridge is U diag(1 / (s + ridge)) U^T, and one decomposition serves all.
    """

    features: Features
    train: Int[np.ndarray, "a"]
    cross: Float[np.ndarray, "n a"]
    s: Float[np.ndarray, "a"]
    U: Float[np.ndarray, "a a"]

    @classmethod
    def of(cls, features: Features, train: Int[np.ndarray, "a"]) -> Regression:
        """The regression on these features of all tokens."""
        cross = features @ features[train].T / len(train)
        return cls(features, train, cross, *np.linalg.eigh(cross[train]))

    def ridge(self, split: Split) -> float:
        """The ridge of the smallest leave-one-out error."""
        turned = self.U.T @ narrowed(split.trained)

        def error(log_ridge: float) -> float:
            left = self._left(turned, np.exp(log_ridge))
            return float(np.log(max((left**2).sum(), 1e-300)))

        found: Any = minimize_scalar(error, bounds=LOG_RIDGE, method="bounded")
        return float(np.exp(found.x))

    def left_out(self, split: Split, ridge: float) -> Points:
        """Predicted motion; that of a training token by the fit without it."""
        turned = self.U.T @ split.trained
        push = self.cross @ (self.U @ (turned / (self.s + ridge)[:, None]))
        push[self.train] = split.trained - self._left(turned, ridge)
        return push

    def matrix(self, split: Split, ridge: float) -> Float[np.ndarray, "d k"]:
        """M of the least squares |M f - motion|^2 / n + ridge |M|^2."""
        weights = self.U.T @ split.trained / (self.s + ridge)[:, None]
        return (self.U @ weights).T @ self.features[self.train] / len(self.train)

    def _left(self, turned: np.ndarray, ridge: float) -> np.ndarray:
        """Residuals of the training tokens, each by the fit without it."""
        kept = ridge / (self.s + ridge)
        return self.U @ (kept[:, None] * turned) / (self.U**2 @ kept)[:, None]


def narrowed(motion: Points) -> Features:
    """The same lengths of all combinations of rows, in no more columns than rows."""
    n, d = motion.shape
    lower: Any = motion if d <= n else np.linalg.qr(motion.T, mode="r")
    return lower if d <= n else lower.T


def _softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    logits = np.where(mask, logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _attention_error(parameters, gram, motion, train, mask, linear):
    """log sum_i |r_i / (1 - H_ii)|^2 of ridge regression, and its gradient.

    With the Gram matrix K of the features and B = (K + n ridge)^{-1} the residual of
    token i when it is left out is (B m)_i / B_ii, m the motion.
    """
    beta, ridge = np.exp(parameters)
    n = len(train)
    A = _softmax(beta * gram, mask)[train]
    seen = A @ gram
    K = seen @ A.T
    if linear:
        K = K + gram[np.ix_(train, train)]
    B = np.linalg.inv(K + n * ridge * np.eye(n))
    C, own = B @ motion, np.diag(B)
    left = (C**2).sum(axis=1) / own**2
    total = max(left.sum(), 1e-300)  # zero where nothing moved
    # d total = <slope, dK>, since dB = -B dK B
    slope = 2 * B @ ((left / own)[:, None] * B - (C @ C.T) / own[:, None] ** 2)
    tilt = gram[train] - (A * gram[train]).sum(axis=1, keepdims=True)
    by_beta = ((slope + slope.T) * ((A * tilt) @ seen.T)).sum()
    by_ridge = n * np.trace(slope)
    return np.log(total), np.array([beta * by_beta, ridge * by_ridge]) / total


def _plain_error(parameters, gram, ahead, train, mask):
    """Mean |normalize(x + step s) - y|^2 and its gradient, from inner products.

    `gram` are those of the x, and `ahead` is <y_i, x_j>.
    """
    beta, step = np.exp(parameters[0]), parameters[1]
    A = _softmax(beta * gram, mask)[train]
    near, ahead = gram[train], ahead[train]
    seen = A @ gram  # <s_i, x_j>
    size, toward = (A * seen).sum(axis=1), (A * ahead).sum(axis=1)
    along = (A * near).sum(axis=1)  # <x_i, s_i>
    length = np.sqrt(1 + 2 * step * along + step**2 * size)
    top = ahead[np.arange(len(train)), train] + step * toward
    D = beta * A * (near - along[:, None])  # of A by log beta
    tops = np.stack([step * (D * ahead).sum(axis=1), toward])
    squares = np.stack(
        [
            2 * step * (D * near).sum(axis=1) + 2 * step**2 * (D * seen).sum(axis=1),
            2 * along + 2 * step * size,
        ]
    )
    slopes = -2 * (tops / length - top * squares / (2 * length**3))
    return np.mean(2 - 2 * top / length), slopes.mean(axis=1)


def _minimum(slope: Any, starts: list, bounds: tuple) -> np.ndarray:
    """The best end of L-BFGS descents; `slope` gives a value and its gradient."""
    descend: Any = minimize
    options = {"maxiter": 25, "ftol": 1e-6}
    ends = [descend(slope, s, jac=True, bounds=bounds, options=options) for s in starts]
    return min(ends, key=lambda end: end.fun).x
