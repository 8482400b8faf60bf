"""Measures described by one coordinate: angles on the circle, parallels on S^2.

On either, F(mu) = (1/2) sum_ij m_i m_j k(s_i, s_j) + sum_i m_i V(s_i), and the first
variation at s is sum_j m_j k(s, s_j) + V(s).
"""

import abc
import dataclasses
from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.functionals._terms import Neurons, Terms

RING = 64  # points on a parallel: a trapezoidal rule, exact to rounding for beta < 30


class PairDerivatives(NamedTuple):
    """k(s, t) for all pairs, with its derivatives."""

    value: np.ndarray
    s: np.ndarray
    t: np.ndarray
    ss: np.ndarray
    st: np.ndarray


@dataclasses.dataclass(frozen=True)
class AbstractReduced(abc.ABC):
    """A functional on measures of one coordinate."""

    terms: Terms

    @property
    @abc.abstractmethod
    def bounds(self) -> tuple[float, float] | None:
        """The ends of the interval; None on the circle."""

    @abc.abstractmethod
    def kernel(
        self, s: Float[np.ndarray, "m"], t: Float[np.ndarray, "k"]
    ) -> PairDerivatives:
        """All pairs."""

    @abc.abstractmethod
    def arguments(
        self, neurons: Neurons, s: Float[np.ndarray, "m"]
    ) -> tuple[Float[np.ndarray, "m h"], ...]:
        """u_j(s) = <a_j, x(s)> + b_j with its first and second derivative, (m, h)."""

    @abc.abstractmethod
    def grid(self, n: int) -> Float[np.ndarray, "n"]:
        """n points that cover the domain."""

    @abc.abstractmethod
    def kinks(self) -> Float[np.ndarray, "c"]:
        """Where V'' jumps: the zeros of u_j for activations with a corner."""

    def wrapped(self, s: Float[np.ndarray, "m"]) -> Float[np.ndarray, "m"]:
        """The same points, inside the domain."""
        if self.bounds is not None:
            return np.clip(s, *self.bounds)
        return np.mod(s + np.pi, 2 * np.pi) - np.pi

    def potential(
        self, s: Float[np.ndarray, "m"]
    ) -> tuple[Float[np.ndarray, "m"], ...]:
        """V, V' and V'' at s."""
        V, V1, V2 = (np.zeros(len(s)) for _ in range(3))
        for neurons in self.terms.neurons:
            u, u1, u2 = self.arguments(neurons, s)
            phi, sigma, slope = neurons.values(u)
            V += phi @ neurons.omega / 2
            V1 += (sigma * u1) @ neurons.omega
            V2 += (slope * u1**2 + sigma * u2) @ neurons.omega
        return V, V1, V2

    def variation(
        self,
        x: Float[np.ndarray, "m"],
        s: Float[np.ndarray, "k"],
        m: Float[np.ndarray, "k"],
    ) -> tuple[Float[np.ndarray, "m"], ...]:
        """F_mu, F_mu' and F_mu'' at x, for mu = sum_i m_i delta_{s_i}."""
        k, (V, V1, V2) = self.kernel(x, s), self.potential(x)
        return k.value @ m + V, k.s @ m + V1, k.ss @ m + V2

    @abc.abstractmethod
    def points(
        self, s: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n"]]:
        """Points of the space that stand for the atoms, and their weights."""

    def value(self, s: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]) -> float:
        """F(mu)."""
        return float(m @ self.kernel(s, s).value @ m / 2 + m @ self.potential(s)[0])


class Angles(AbstractReduced):
    """The circle: k(s, t) = sum_k 2 c_k e^{beta_k (cos(s - t) - 1)}."""

    @property
    def bounds(self) -> None:
        """The circle has no ends."""
        return None

    def kernel(
        self, s: Float[np.ndarray, "m"], t: Float[np.ndarray, "k"]
    ) -> PairDerivatives:
        """All pairs of angles."""
        delta = s[:, None] - t[None, :]
        cos, sin = np.cos(delta), np.sin(delta)
        far = 2 * np.sin(delta / 2) ** 2  # 1 - cos, without cancellation
        value, first, second = (np.zeros_like(delta) for _ in range(3))
        for c, beta in self.terms.interactions:
            k = 2 * c * np.exp(-beta * far)
            value += k
            first -= beta * sin * k
            second += (beta**2 * sin**2 - beta * cos) * k
        return PairDerivatives(value, first, -first, second, -second)

    def arguments(
        self, neurons: Neurons, s: Float[np.ndarray, "m"]
    ) -> tuple[Float[np.ndarray, "m h"], ...]:
        """<a_j, x> + b_j, <a_j, x^perp>, -<a_j, x>."""
        x = np.stack([np.cos(s), np.sin(s)])
        u = (neurons.A @ x).T
        return u + neurons.b, (neurons.A @ np.stack([-x[1], x[0]])).T, -u

    def points(
        self, s: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
    ) -> tuple[Float[np.ndarray, "k 2"], Float[np.ndarray, "k"]]:
        """The atoms themselves."""
        return np.stack([np.cos(s), np.sin(s)], axis=1), m

    def grid(self, n: int) -> Float[np.ndarray, "n"]:
        """Equispaced angles in [-pi, pi)."""
        return -np.pi + 2 * np.pi * np.arange(n) / n

    def kinks(self) -> Float[np.ndarray, "c"]:
        """arg a_j +- arccos(-b_j/|a_j|), sorted, in [-pi, pi)."""
        found = []
        for neurons in self.terms.neurons:
            size = np.linalg.norm(neurons.A, axis=1)
            cut = neurons.kinked & (np.abs(neurons.b) < size) & (neurons.omega != 0)
            A = neurons.A[cut]
            half = np.arccos(-neurons.b[cut] / size[cut])
            center = np.arctan2(A[:, 1], A[:, 0])
            found += [center - half, center + half]
        return np.unique(self.wrapped(np.concatenate([np.zeros(0), *found])))


@dataclasses.dataclass(frozen=True)
class Parallels(AbstractReduced):
    """S^2 around an axis: heights z = <x, axis>.

    k(z, z') = 2 c e^{beta(z z' - 1)} I_0(beta r r') with r^2 = 1 - z^2.

    The mean of the kernel over two parallels; entire in z, also at the poles.
    """

    axis: np.ndarray

    @property
    def bounds(self) -> tuple[float, float]:
        """From pole to pole."""
        return -1.0, 1.0

    def kernel(
        self, s: Float[np.ndarray, "m"], t: Float[np.ndarray, "k"]
    ) -> PairDerivatives:
        """All pairs of heights."""
        z, y = s[:, None], t[None, :]
        total = [np.zeros((len(s), len(t))) for _ in range(5)]
        for c, beta in self.terms.interactions:
            for sum_, part in zip(total, _bessel_kernel(beta, z, y), strict=True):
                sum_ += 2 * c * part
        return PairDerivatives(*total)

    def arguments(
        self, neurons: Neurons, s: Float[np.ndarray, "m"]
    ) -> tuple[Float[np.ndarray, "m h"], ...]:
        """<a_j, axis> z + b_j, <a_j, axis>, 0."""
        slope = np.broadcast_to(neurons.A @ self.axis, (len(s), len(neurons.A)))
        return slope * s[:, None] + neurons.b, slope, np.zeros(slope.shape)

    def points(
        self, s: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
    ) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n"]]:
        """RING points on every parallel; one at a pole."""
        spare = np.eye(3)[int(np.argmin(np.abs(self.axis)))]
        e1 = np.cross(self.axis, spare)
        e1 /= np.linalg.norm(e1)
        e2 = np.cross(self.axis, e1)
        angle = 2 * np.pi * np.arange(RING) / RING
        around = np.cos(angle)[:, None] * e1 + np.sin(angle)[:, None] * e2
        points, weights = [], []
        for z, mass in zip(s, m, strict=True):
            center = z * self.axis
            ring = center + np.sqrt(1 - z**2) * around if abs(z) < 1 else center[None]
            points.append(ring)
            weights.append(np.full(len(ring), mass / len(ring)))
        return np.concatenate(points), np.concatenate(weights)

    def grid(self, n: int) -> Float[np.ndarray, "n"]:
        """Heights, denser near the poles."""
        return np.sin(np.linspace(-np.pi / 2, np.pi / 2, n))

    def kinks(self) -> Float[np.ndarray, "c"]:
        """The heights -b_j / <a_j, axis> inside (-1, 1)."""
        found = []
        for neurons in self.terms.neurons:
            slope = neurons.A @ self.axis
            cut = neurons.kinked & (np.abs(neurons.b) < np.abs(slope))
            found.append(-neurons.b[cut] / slope[cut])
        return np.unique(np.concatenate([np.zeros(0), *found]))


def _bessel_kernel(beta: float, z: np.ndarray, y: np.ndarray) -> tuple:
    """k, k_z, k_y, k_zz, k_zy of e^{beta(zy - 1)} G(w), G(w) = I_0(2 sqrt w).

    w = beta^2 (1-z^2)(1-y^2)/4; G' = I_1(2 sqrt w)/sqrt w, G'' = I_2(2 sqrt w)/w.
    """
    q, p = 1 - z**2, 1 - y**2
    r = beta * np.sqrt(np.maximum(q * p, 0.0))
    near = r < 1e-6
    safe = np.where(near, 1.0, r)
    G = scipy.special.ive(0, r)
    G1 = np.where(near, 1.0, 2 * scipy.special.ive(1, safe) / safe)
    G2 = np.where(near, 0.5, 4 * scipy.special.ive(2, safe) / safe**2)
    w_z, w_y = -(beta**2) * z * p / 2, -(beta**2) * y * q / 2
    e = np.exp(beta * (z * y - 1) + r)
    first = beta * y * G + G1 * w_z
    second = beta**2 * y**2 * G + 2 * beta * y * G1 * w_z + G2 * w_z**2
    second = second - G1 * beta**2 * p / 2
    cross = beta * (1 + beta * z * y) * G + beta * G1 * (z * w_z + y * w_y)
    cross = cross + G2 * w_z * w_y + G1 * beta**2 * z * y
    return e * G, e * first, e * (beta * z * G + G1 * w_y), e * second, e * cross


def parallels(terms: Terms) -> Parallels:
    """The reduction to heights; needs all neurons on one axis."""
    rows = [n.A[n.omega != 0] for n in terms.neurons]
    A = np.concatenate([np.zeros((0, 3)), *rows])
    A = A[np.linalg.norm(A, axis=1) > 0]
    axis = A[0] / np.linalg.norm(A[0]) if len(A) else np.array([0.0, 0.0, 1.0])
    off = np.linalg.norm(np.cross(A, axis), axis=1) / np.linalg.norm(A, axis=1)
    if np.any(off > 1e-12):
        raise InputError(
            f"`F` must be axisymmetric on Sphere(3): neurons {int(np.argmax(off)) + 1} "
            f"and 1 are not parallel (sine {off.max():.3g}). Pass neurons along one "
            "axis, or use Circle()."
        )
    return Parallels(terms, axis)
