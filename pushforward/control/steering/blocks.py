"""A schedule as stacked arrays: pieces of one shape, ready to be trained."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward.errors import InputError
from pushforward.fields import AbstractField, Attention, Perceptron, Sum, Switched

NOTHING = 1e-12  # a piece that lasts this share of the whole is left out


class LayerStack(eqx.Module):
    """k pieces P_x(V A_B[mu](x) + W (U x + b)_+), each with its duration."""

    V: Float[Array, "k d d"]
    B: Float[Array, "k d d"]
    W: Float[Array, "k d h"]
    U: Float[Array, "k h d"]
    b: Float[Array, "k h"]
    durations: Float[Array, "k"]

    @classmethod
    def random(
        cls, k: int, d: int, horizon: float, *, key: PRNGKeyArray, scale: float = 0.5
    ) -> LayerStack:
        """Small Gaussian weights and equal durations: where plain training starts."""
        names = jax.random.split(key, 5)
        shapes = ((k, d, d), (k, d, d), (k, d, d), (k, d, d), (k, d))
        pairs = zip(names, shapes, strict=True)
        V, B, W, U, b = (scale * jax.random.normal(*pair) for pair in pairs)
        return cls(V, B, W, U, b, jnp.full(k, horizon / k))

    @classmethod
    def of(cls, schedule: Switched) -> LayerStack:
        """The weights of a schedule of attention and perceptrons."""
        if not isinstance(schedule, Switched):
            raise InputError(
                f"`field` must be a Switched field, such as steer(...).field, got "
                f"{type(schedule).__name__}."
            )
        d = _dimension(schedule)
        pieces = [_weights(field, d) for field in schedule.fields]
        width = max(d, *(len(piece[4]) for piece in pieces))
        padded = [_padded(piece, width) for piece in pieces]
        arrays = zip(*padded, strict=True)
        V, B, W, U, b = (jnp.asarray(np.stack(array)) for array in arrays)
        return cls(V, B, W, U, b, jnp.diff(schedule.times))

    @property
    def count(self) -> int:
        """Pieces that last; those merged into another have no duration."""
        return int(np.sum(self._lasting()))

    def schedule(self) -> Switched:
        """The same as an ordinary field; what does nothing is left out."""
        fields, times = [], [0.0]
        for k in np.flatnonzero(self._lasting()):
            parts: list[AbstractField] = []
            if np.any(self.V[k]):
                parts.append(Attention(1.0, Q=self.B[k], V=self.V[k]))
            if np.any(self.W[k]) or not parts:
                used = np.flatnonzero(np.any(np.asarray(self.W[k]) != 0, axis=0))
                used = used if len(used) else np.array([0])
                parts.append(
                    Perceptron(self.W[k][:, used], self.U[k][used], self.b[k][used])
                )
            fields.append(parts[0] if len(parts) == 1 else Sum(parts))
            times.append(times[-1] + float(self.durations[k]))
        return Switched(fields, times)

    def _lasting(self) -> np.ndarray:
        lasts = np.asarray(self.durations)
        return lasts > NOTHING * lasts.sum()

    def merged(self, k: int, other: int) -> LayerStack:
        """Pieces k and other at the same time, for as long as both took together.

        Velocities are averaged over the two durations; hidden units stand side by side.
        The other piece stays in place without duration, so that shapes do not change.
        """
        T, S = self.durations[k], self.durations[other]
        p, q = T / (T + S), S / (T + S)
        u, v = p * jnp.linalg.norm(self.V[k]), q * jnp.linalg.norm(self.V[other])
        share = u / jnp.maximum(u + v, 1e-300)
        free = _free_units(self, k, other)
        W = p * self.W[k] + q * jnp.where(free >= 0, self.W[other][:, free], 0.0)
        own = jnp.any(self.W[k] != 0, axis=0)
        U = jnp.where(own[:, None], self.U[k], self.U[other][free])
        b = jnp.where(own, self.b[k], self.b[other][free])
        new = (
            self.V.at[k].set(p * self.V[k] + q * self.V[other]),
            self.B.at[k].set(share * self.B[k] + (1 - share) * self.B[other]),
            self.W.at[k].set(W),
            self.U.at[k].set(U),
            self.b.at[k].set(b),
            self.durations.at[k].set(T + S).at[other].set(0.0),
        )
        return LayerStack(*new)

    def widened(self, width: int) -> LayerStack:
        """Room for more hidden units, all of them off."""
        more = max(width - self.b.shape[1], 0)
        return LayerStack(
            self.V,
            self.B,
            jnp.pad(self.W, ((0, 0), (0, 0), (0, more))),
            jnp.pad(self.U, ((0, 0), (0, more), (0, 0))),
            jnp.pad(self.b, ((0, 0), (0, more))),
            self.durations,
        )


def _free_units(blocks: LayerStack, k: int, other: int) -> np.ndarray:
    """For each hidden unit of piece k, the unit of the other that moves in, or -1."""
    taken = np.any(np.asarray(blocks.W[k]) != 0, axis=0)
    moving = np.flatnonzero(np.any(np.asarray(blocks.W[other]) != 0, axis=0))
    free = np.flatnonzero(~taken)
    if len(moving) > len(free):
        raise InputError("no room for the hidden units of both pieces; widen first.")
    chosen = np.full(len(taken), -1)
    chosen[free[: len(moving)]] = moving
    return chosen


def _dimension(schedule: Switched) -> int:
    for field in schedule.fields:
        for part in field.sublayers():
            if isinstance(part, Perceptron):
                return int(part.W.shape[0])
            if isinstance(part, Attention) and part.V is not None:
                return int(part.V.shape[0])
    raise InputError(
        "`field` has no matrix from which its dimension could be read: give V, as in "
        "Attention(1.0, V=np.eye(d))."
    )


def _weights(field: AbstractField, d: int) -> list[np.ndarray]:
    zero = np.zeros((d, d))
    out = [zero, zero, np.zeros((d, 0)), np.zeros((0, d)), np.zeros(0)]
    seen = set()
    for part in field.sublayers():
        known = isinstance(part, Attention) or (
            isinstance(part, Perceptron) and part.activation is jax.nn.relu
        )
        if not known or type(part) in seen:
            raise InputError(
                "`field` must switch between sums of one Attention and one Perceptron "
                f"with relu, got {part!r}."
            )
        seen.add(type(part))
        if isinstance(part, Attention):
            eye = np.eye(d)
            Q = eye if part.Q is None else np.asarray(part.Q)
            K = eye if part.K is None else np.asarray(part.K)
            out[0] = eye if part.V is None else np.asarray(part.V)
            out[1] = float(part.beta) * K.T @ Q  # <B x, y> = beta <Q x, K y>
        elif isinstance(part, Perceptron):
            out[2:] = _distinct_units(part)
    return out


def _distinct_units(part: Perceptron) -> list[np.ndarray]:
    """Equal hidden units counted once, with the sum of their columns of W."""
    part = part.without_output_bias()
    W, U, b = np.asarray(part.W), np.asarray(part.A), np.asarray(part.b)
    rows, place = np.unique(np.column_stack([U, b]), axis=0, return_inverse=True)
    columns = np.zeros((len(W), len(rows)))
    np.add.at(columns.T, place.ravel(), W.T)
    return [columns, rows[:, :-1], rows[:, -1]]


def _padded(piece: list[np.ndarray], width: int) -> list[np.ndarray]:
    V, B, W, U, b = piece
    more = width - len(b)
    wide = np.pad(W, ((0, 0), (0, more))), np.pad(U, ((0, more), (0, 0)))
    return [V, B, *wide, np.pad(b, (0, more))]
