"""One leg: a cluster travels a geodesic and arrives exactly when the gate closes."""

import numpy as np
from scipy.integrate import quad

from pushforward.control.steering.controls import Gate
from pushforward.control.steering.geometry import angles, tangent, unit
from pushforward.errors import InputError

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
