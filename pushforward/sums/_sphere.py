"""The sum on S^2 by spherical harmonics at scattered points, on the host.

e^{beta <x, y> - |beta|} = sum_l (2l + 1) b_l P_l(<x, y>) with b_l = e^{-|beta|} i_l(beta),
the modified spherical Bessel functions. ducc0 takes the points to harmonics and back.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import ive

ACCURACY = 1e-12  # of the non-uniform transforms
HIGHEST = 2000  # degree, reached near beta = 4e4; the grid then has 3e7 points


def coefficients(beta: float, count: int) -> np.ndarray:
    """b_0, ..., b_{count - 1}."""
    l = np.arange(count)
    size = abs(float(beta))
    if size < 1e-8:  # i_l(x) ~ x^l / (2l + 1)!!
        b = np.zeros(count)
        b[:2] = ((1.0 - size), size / 3)[:count]
    else:
        b = np.sqrt(np.pi / (2 * size)) * ive(l + 0.5, size)
    return b if beta >= 0 else b * (-1.0) ** l


def degree(beta: float, tail: float) -> tuple[int, float]:
    """The least L with sum_{l > L} (2l + 1) |b_l| <= tail, and that sum."""
    count = int(40 + 12 * np.sqrt(abs(beta)))
    terms = (2 * np.arange(count) + 1) * np.abs(coefficients(beta, count))
    beyond = np.append(np.cumsum(terms[::-1])[::-1][1:], 0.0)
    L = int(np.argmax(beyond <= tail))
    return max(L, 2), float(beyond[max(L, 2)])


@partial(jax.custom_vjp, nondiff_argnums=(4, 5))
def transform(
    q: Float[Array, "m 3"],
    k: Float[Array, "n 3"],
    u: Float[Array, "n c"],
    beta: Float[Array, ""],
    tail: float,
    of_keys: bool,
) -> Float[Array, "m c"]:
    """sum_j e^{beta <q_i, k_j> - |beta|} u_j; `of_keys` promises u_j = w_j (1, k_j)."""
    shape = jax.ShapeDtypeStruct((q.shape[0], u.shape[1]), jnp.float64)
    host = _of_keys if of_keys else _by_channel
    call = partial(host, tail=tail)
    return jax.pure_callback(call, shape, q, k, u, beta, vmap_method="sequential")


def _forward(q, k, u, beta, tail, of_keys):
    y = transform(q, k, u, beta, tail, of_keys)
    return y, (q, k, u, beta, y)


def _backward(tail, of_keys, saved, dy):
    q, k, u, beta, y = saved
    outer = lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)  # noqa: E731
    seen = transform(q, k, outer(u, k), beta, tail, False)
    seen = jnp.einsum("mc,mcd->md", dy, seen.reshape(*dy.shape, 3))
    back = transform(k, q, jnp.concatenate([dy, outer(dy, q)], axis=1), beta, tail, False)
    c = dy.shape[1]
    du, felt = back[:, :c], back[:, c:].reshape(len(k), c, 3)
    dk = beta * jnp.einsum("nc,ncd->nd", u, felt)
    dbeta = jnp.sum(q * seen) - jnp.sign(beta) * jnp.sum(dy * y)
    return beta * seen, dk, du, dbeta


transform.defvjp(_forward, _backward)


def _by_channel(q, k, u, beta, tail: float) -> np.ndarray:
    q, k, u, beta = _on_host(q, k, u, beta)
    L, _ = degree(beta, tail)
    scale = 4 * np.pi * coefficients(beta, L + 1)
    at_k = _angles(k)
    at_q = at_k if np.array_equal(q, k) else _angles(q)
    out = np.empty((len(q), u.shape[1]))
    for c in range(u.shape[1]):
        alm = _modes(u[:, c], at_k, L) * _per_degree(scale, L)
        out[:, c] = _values(alm, at_q, L)
    return out


def _of_keys(q, k, u, beta, tail: float) -> np.ndarray:
    """w_j (1, k_j): the moment is grad / beta, tangent, plus a radial part.

    i_l / beta = (i_{l-1} - i_{l+1}) / (2l + 1) and
    i_l' = (l i_{l-1} + (l + 1) i_{l+1}) / (2l + 1) need no division by beta.
    """
    q, k, u, beta = _on_host(q, k, u, beta)
    L, _ = degree(beta, tail)
    L += 1
    b = coefficients(beta, L + 2)
    l = np.arange(L + 1)
    before, after = np.append(0.0, b[:L]), b[1:]
    slope = np.where(l > 0, (before - after) / (2 * l + 1), 0.0)
    radial = (l * before + (l + 1) * after) / (2 * l + 1)
    at_k = _angles(k)
    at_q = at_k if np.array_equal(q, k) else _angles(q)
    alm = 4 * np.pi * _modes(u[:, 0], at_k, L)
    out = np.empty((len(q), 4))
    out[:, 0] = _values(alm * _per_degree(b[: L + 1], L), at_q, L)
    along = _values(alm * _per_degree(radial, L), at_q, L)
    across = _gradient(alm * _per_degree(slope, L), q, at_q, L)
    out[:, 1:] = along[:, None] * q + across
    return out


def _on_host(q, k, u, beta):
    as_array = partial(np.asarray, dtype=np.float64)
    return as_array(q), as_array(k), as_array(u), float(beta)


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


def _gradient(alm: np.ndarray, x: np.ndarray, loc: np.ndarray, L: int) -> np.ndarray:
    """The tangent gradient at x, in the coordinates of R^3."""
    import ducc0

    south, east = ducc0.sht.synthesis_general(
        alm=alm, spin=1, mode="DERIV1", **_options(loc, L)
    )
    sine = np.hypot(x[:, 0], x[:, 1])
    pole = sine == 0  # longitude zero there, as atan2 has it
    a = np.where(pole, 1.0, x[:, 0] / np.where(pole, 1.0, sine))
    b = np.where(pole, 0.0, x[:, 1] / np.where(pole, 1.0, sine))
    down = south * x[:, 2]
    return np.column_stack([down * a - east * b, down * b + east * a, -south * sine])
