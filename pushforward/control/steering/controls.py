"""The four controls of the construction: each an ordinary field, and how it moves.

A control has a `field` (what the schedule is made of) and `move`, which integrates the
same equation for planning: in closed form, by one scalar equation, or point by point.

One leg: a cluster travels a geodesic and arrives exactly when the gate closes.
"""

import abc
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad, solve_ivp

from pushforward.control.steering.targets import Cloud, angles, tangent, unit
from pushforward.errors import InputError
from pushforward.fields import AbstractField, Attention, Perceptron

RTOL, ATOL = 1e-11, 1e-13  # of planning: far below the errors that are reported
NEAREST = 1 - 1e-15  # artanh of one is infinite


class AbstractControl(abc.ABC):
    """Constant weights (V, B, W, U, b) for a while."""

    @abc.abstractmethod
    def field(self, speed: float = 1.0) -> AbstractField:
        """The field P_x(V A_B[mu](x) + W (U x + b)_+), times speed."""

    @abc.abstractmethod
    def move(self, cloud: Cloud, duration: float) -> Cloud:
        """The cloud after this long."""


@dataclass(frozen=True)
class Pull(AbstractControl):
    """P_x w everywhere: tan(theta/2) falls like e^{-|w| t}, theta the angle to w."""

    w: np.ndarray

    def field(self, speed: float = 1.0) -> AbstractField:
        """U = 0, b = 1, W = w 1^T / d."""
        d = len(self.w)
        return _perceptron(speed * self.w, np.zeros((d, d)), np.ones(d))

    def move(self, cloud: Cloud, duration: float) -> Cloud:
        """Closed form: artanh <w, x> / |w| grows linearly, longitudes stay."""
        k = float(np.linalg.norm(self.w))
        return Cloud(shifted(cloud.points, self.w / k, k * duration), cloud.weights)


@dataclass(frozen=True)
class Gate(AbstractControl):
    """(<a, x> - c)_+ P_x w: moves the open cap {<a, x> > c} and nothing else.

    The cap is where the ReLU is on, hence U = 1 a^T and b = -c 1. (Lemma B.2 of the
    paper prints the opposite sign, which moves the complement.)
    """

    a: np.ndarray
    c: float
    w: np.ndarray

    def field(self, speed: float = 1.0) -> AbstractField:
        """U = 1 a^T, b = -c 1, W = w 1^T / d."""
        ones = np.ones(len(self.a))
        return _perceptron(speed * self.w, np.outer(ones, self.a), -self.c * ones)

    def move(self, cloud: Cloud, duration: float) -> Cloud:
        """Point by point; points outside the cap do not change by a single bit."""
        points = cloud.points.copy()
        inside = points @ self.a > self.c
        if inside.any():
            points[inside] = _integrated(self._velocity, points[inside], duration)
        return Cloud(points, cloud.weights)

    def _velocity(self, x: np.ndarray) -> np.ndarray:
        open_by = np.maximum(x @ self.a - self.c, 0.0)[:, None]
        return open_by * (self.w - (x @ self.w)[:, None] * x)


@dataclass(frozen=True)
class BarycenterGate(AbstractControl):
    """k (<alpha, m(mu)> - c) P_x alpha: every measure goes its own way along alpha.

    B = 0, V = k alpha alpha^T, and a constant pull -k c alpha. With s = <alpha, x>,
    s = tanh(artanh s_0 + tau) for every point of a measure, with one tau per measure.
    """

    alpha: np.ndarray
    c: float
    k: float = 1.0

    def field(self, speed: float = 1.0) -> AbstractField:
        """Attention without temperature, and the pull that sets the threshold."""
        d, k = len(self.alpha), speed * self.k
        gate = Attention(0.0, V=k * np.outer(self.alpha, self.alpha))
        pull = -k * self.c * self.alpha
        return gate + _perceptron(pull, np.zeros((d, d)), np.ones(d))

    def move(self, cloud: Cloud, duration: float) -> Cloud:
        """One scalar equation for the whole measure."""
        tau = self.rapidity(cloud, duration)
        return Cloud(shifted(cloud.points, self.alpha, tau), cloud.weights)

    def rapidity(self, cloud: Cloud, duration: float) -> float:
        """tau at the end: tau' = k (int tanh(artanh s_0 + tau) dmu_0 - c)."""
        start = np.arctanh(np.clip(cloud.points @ self.alpha, -NEAREST, NEAREST))

        def rate(t: float, tau: np.ndarray) -> np.ndarray:
            mean = cloud.weights @ np.tanh(start + tau[0])
            return np.array([self.k * (mean - self.c)])

        span = (0.0, duration)
        done = solve_ivp(rate, span, [0.0], method="DOP853", rtol=1e-12, atol=1e-13)
        return float(done.y[0, -1])


@dataclass(frozen=True)
class Consensus(AbstractControl):
    """V = I, B = beta I: every measure contracts toward a point of its own."""

    beta: float
    d: int

    def field(self, speed: float = 1.0) -> AbstractField:
        """Plain self-attention."""
        return Attention(self.beta, V=None if speed == 1.0 else speed * np.eye(self.d))

    def move(self, cloud: Cloud, duration: float) -> Cloud:
        """All points together: each sees the average of the others."""
        x, w = cloud

        def velocity(x: np.ndarray) -> np.ndarray:
            seen = np.broadcast_to(w @ x, x.shape)
            if self.beta:
                kernel = np.exp(self.beta * (x @ x.T - 1.0)) * w
                seen = kernel @ x / kernel.sum(axis=1, keepdims=True)
            return seen - np.sum(seen * x, axis=1, keepdims=True) * x

        return Cloud(_integrated(velocity, x, duration), w)


def shifted(x: np.ndarray, axis: np.ndarray, tau: float) -> np.ndarray:
    """Points moved along meridians of `axis`: artanh of the height grows by tau."""
    s = np.clip(x @ axis, -1.0, 1.0)
    # (1 + s) e^tau and (1 - s) e^-tau: nothing cancels at the poles
    up, down = (1 + s) * np.exp(tau) / 2, (1 - s) * np.exp(-tau) / 2
    scale, height = up + down, (up - down) / (up + down)
    across = x - s[:, None] * axis
    return unit(across / scale[:, None] + height[:, None] * axis)


def _integrated(velocity, x: np.ndarray, duration: float) -> np.ndarray:
    def rate(t: float, flat: np.ndarray) -> np.ndarray:
        return velocity(flat.reshape(x.shape)).ravel()

    span = (0.0, duration)
    done = solve_ivp(rate, span, x.ravel(), method="DOP853", rtol=RTOL, atol=ATOL)
    return unit(done.y[:, -1].reshape(x.shape))


def _perceptron(w: np.ndarray, U: np.ndarray, b: np.ndarray) -> Perceptron:
    # every hidden unit has the same value: W averages them, so that w is the pull
    return Perceptron(np.outer(w, np.ones(len(w))) / len(w), U, b)


LONGEST = 2.6  # legs closer to pi have a badly determined great circle
SLOWEST = 10.0  # time units; slower legs get a stronger pull instead


def leg_time(length: float, radius: float, beyond: float) -> float:
    """The time from one end of a leg to the other.

    T = int_{-L/2}^{L/2} dpsi / ((cos psi - cos R) sin(L/2 + e - psi)), where the cap of
    radius R sits on the middle of the leg and the pull, of size one, is at the angle e
    beyond its end.

    >>> round(leg_time(1.1, 0.9, 0.15), 9)
    7.314540939
    """
    half = length / 2
    if not (0 < length and half < radius < np.pi and 0 < beyond and half < np.pi / 2):
        raise InputError(
            f"a leg needs 0 < length/2 < radius < pi and beyond > 0, got length "
            f"{length:g}, radius {radius:g}, beyond {beyond:g}."
        )

    def slowness(psi: float) -> float:
        # cos psi - cos R without cancellation
        opening = 2 * np.sin((radius + psi) / 2) * np.sin((radius - psi) / 2)
        return float(1 / (opening * np.sin(half + beyond - psi)))

    return float(quad(slowness, -half, half, epsabs=1e-13, epsrel=1e-13, limit=200)[0])


def leg(start: np.ndarray, end: np.ndarray, others: np.ndarray) -> tuple[Gate, float]:
    """The gate that takes start to end and touches no other point, and its duration."""
    middle = unit(start + end)
    length = float(angles(start[None], end[None])[0, 0])
    room = angles(middle[None], others).min() if len(others) else np.pi
    radius = float(min((length / 2 + room) / 2, length / 2 + 0.8, 2.8))
    beyond = min(0.5 * (radius - length / 2), 0.4)
    onward = unit(tangent(end, end - start))
    w = np.cos(beyond) * end + np.sin(beyond) * onward
    duration = leg_time(length, radius, beyond)
    strength = max(1.0, duration / SLOWEST)
    return Gate(middle, float(np.cos(radius)), strength * w), duration / strength


def clearance(p: np.ndarray, q: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Room between the cap that a leg from p to q needs and the nearest other point.

    Negative where the leg is not possible. p and q are (k, d).
    """
    length = 2 * np.arcsin(np.minimum(np.linalg.norm(p - q, axis=1) / 2, 1.0))
    total = p + q
    size = np.linalg.norm(total, axis=1, keepdims=True)
    middle = total / np.maximum(size, 1e-300)
    room = np.full(len(p), np.pi)
    if len(others):
        room = np.arccos(np.clip((middle @ others.T).max(axis=1), -1.0, 1.0))
    return np.where(length < LONGEST, room - length / 2, -1.0)
