"""The sum on S^2 by spherical harmonics at scattered points, on the host.

e^{beta <x, y> - |beta|} = sum_l (2l + 1) b_l P_l(<x, y>) with scaled modified spherical
Bessel functions b_l = e^{-|beta|} i_l(beta). ducc0 takes points to harmonics and back.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from pushforward.sums.modes._transform import AbstractTransform

ACCURACY = 1e-12  # of the non-uniform transforms
LOW_ROUNDING, ROUNDING = 1.2e-12, 6e-14  # measured below and above beta = 2, doubled
LARGEST_BETA = 4e4  # degree near 1700: beyond, the grid alone takes seconds


def coefficients(beta: float, count: int) -> Float[np.ndarray, "k"]:
    """b_0, ..., b_{count - 1}."""
    l = np.arange(count)
    size = abs(float(beta))
    if size < 1e-8:  # i_l(x) ~ x^l / (2l + 1)!!
        b = np.zeros(count)
        b[:2] = ((1.0 - size), size / 3)[:count]
    else:
        b = np.sqrt(np.pi / (2 * size)) * scipy.special.ive(l + 0.5, size)
    return b if beta >= 0 else b * (-1.0) ** l


def degree(beta: float, tail: float) -> int:
    """The least L (of 2 or more) with sum_{l > L} (2l + 1) |b_l| <= tail."""
    count = int(40 + 12 * np.sqrt(abs(beta)))
    terms = (2 * np.arange(count) + 1) * np.abs(coefficients(beta, count))
    beyond = np.append(np.cumsum(terms[::-1])[::-1][1:], 0.0)
    return max(int(np.argmax(beyond <= tail)), 2)


class Harmonics(AbstractTransform):
    """The transform on S^2 by spherical harmonics."""

    def evaluate(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        u: Float[Array, "n c"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m c"]:
        """Channel by channel."""
        return self._on_host(_by_channel, q, k, u, beta).T

    def of_points(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        w: Float[Array, "n 1"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m e"]:
        """From one transform: the moment is a gradient plus a radial part."""
        total, along, south, east = self._on_host(_of_points, q, k, w, beta)
        sine = jnp.hypot(q[:, 0], q[:, 1])
        pole = sine == 0  # longitude zero there, as atan2 has it
        a = jnp.where(pole, 1.0, q[:, 0] / jnp.where(pole, 1.0, sine))
        b = jnp.where(pole, 0.0, q[:, 1] / jnp.where(pole, 1.0, sine))
        down = south * q[:, 2]
        across = [down * a - east * b, down * b + east * a, -south * sine]
        moment = along[:, None] * q + jnp.stack(across, axis=1)
        return jnp.concatenate([total[:, None], moment], axis=1)

    def error(
        self, beta: Float[Array, ""], largest: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Rounding is relative to the largest value, and worse at low degree."""
        rounding = jnp.where(jnp.abs(beta) < 2.0, LOW_ROUNDING, ROUNDING)
        return rounding * largest + self.tail

    def _on_host(self, work, q, k, u, beta):
        columns = u.shape[1] if work is _by_channel else 4
        shape = jax.ShapeDtypeStruct((columns, q.shape[0]), jnp.float64)
        call = partial(_called, work, self.tail, self.limit, columns)
        return jax.pure_callback(call, shape, q, k, u, beta, vmap_method="sequential")


def _called(work, tail: float, limit: float, columns: int, q, k, u, beta) -> np.ndarray:
    q, k, u = (np.asarray(a, dtype=np.float64) for a in (q, k, u))
    beta = float(beta)
    if abs(beta) > limit:
        return np.zeros((columns, len(q)))
    return work(q, k, u, beta, degree(beta, tail))


def _by_channel(q, k, u, beta: float, L: int) -> np.ndarray:
    scale = 4 * np.pi * coefficients(beta, L + 1)
    at_k = _angles(k)
    at_q = at_k if np.array_equal(q, k) else _angles(q)
    out = np.empty((u.shape[1], len(q)))
    for c in range(u.shape[1]):
        alm = _modes(u[:, c], at_k, L) * _per_degree(scale, L)
        out[c] = _values(alm, at_q, L)
    return out


def _of_points(
    q: Float[np.ndarray, "m d"],
    k: Float[np.ndarray, "n d"],
    w: Float[np.ndarray, "n 1"],
    beta: float,
    L: int,
) -> Float[np.ndarray, "4 m"]:
    """The sum of w_j, of w_j <q, k_j>, and the two parts of grad / beta, to the south
    and to the east: the moment, w_j k_j, is the gradient, tangent, and a radial part.

    i_l / beta = (i_{l-1} - i_{l+1}) / (2l + 1) and
    i_l' = (l i_{l-1} + (l + 1) i_{l+1}) / (2l + 1) need no division by beta.
    """
    L += 1
    b = coefficients(beta, L + 2)
    l = np.arange(L + 1)
    before, after = np.append(0.0, b[:L]), b[1:]
    slope = np.where(l > 0, (before - after) / (2 * l + 1), 0.0)
    radial = (l * before + (l + 1) * after) / (2 * l + 1)
    at_k = _angles(k)
    at_q = at_k if np.array_equal(q, k) else _angles(q)
    alm = 4 * np.pi * _modes(w[:, 0], at_k, L)
    out = np.empty((4, len(q)))
    out[0] = _values(alm * _per_degree(b[: L + 1], L), at_q, L)
    out[1] = _values(alm * _per_degree(radial, L), at_q, L)
    out[2:] = _gradient(alm * _per_degree(slope, L), at_q, L)
    return out


def _angles(x: np.ndarray) -> np.ndarray:
    """Colatitude in [0, pi] and longitude in [0, 2 pi)."""
    colatitude = np.arctan2(np.hypot(x[:, 0], x[:, 1]), x[:, 2])
    longitude = np.arctan2(x[:, 1], x[:, 0])
    longitude[longitude < 0] += 2 * np.pi
    return np.column_stack([colatitude, longitude])


def _per_degree(a: np.ndarray, L: int) -> np.ndarray:
    """a_l in the order of the coefficients: m = 0, 1, ... and l = m, ..., L."""
    return np.concatenate([a[m:] for m in range(L + 1)])[None, :]


def _options(loc: np.ndarray, L: int) -> dict:
    return {"loc": loc, "lmax": L, "mmax": L, "epsilon": ACCURACY, "nthreads": 0}


def _modes(w: np.ndarray, loc: np.ndarray, L: int) -> np.ndarray:
    """sum_j w_j conj Y_lm(x_j)."""
    import ducc0

    w = np.ascontiguousarray(w)[None, :]
    return ducc0.sht.adjoint_synthesis_general(map=w, spin=0, **_options(loc, L))


def _values(alm: np.ndarray, loc: np.ndarray, L: int) -> np.ndarray:
    import ducc0

    return ducc0.sht.synthesis_general(alm=alm, spin=0, **_options(loc, L))[0]


def _gradient(alm: np.ndarray, loc: np.ndarray, L: int) -> np.ndarray:
    """The tangent gradient, to the south and to the east."""
    import ducc0

    options = _options(loc, L)
    return ducc0.sht.synthesis_general(alm=alm, spin=1, mode="DERIV1", **options)
