"""A box around a maximum of D in which D has no other one.

With unit noise, log D is concave in the box |y - x|_inf <= rho as soon as at all
corners c of the unit box

    E_R[(X - m)(X - m)^T e^{rho <c, X - m>}] < I ,      m = E_R[X],

R the law on the data proportional to p_i L_i(x) / f_i: the left side is convex in the
tilt, and above the covariance of R tilted to any point of the box.

With any noise, let v_i be the slope and J_i the information -Hess log L_i at x. Then

    Hess D(y) / D(x) = E_R[e^{a_i} ((v_i + u_i)(v_i + u_i)^T - J_i(y))],

where |a_i| <= b_i = |v_i|_1 rho + |J_i| d rho^2 g / 2 and |u_i| <= |J_i| sqrt(d) rho g;
g = e^{c rho} bounds how much J_i grows over the box (c = 0 for Gaussian noise, c = 1 in
the natural parameter of counts). So D is concave there as soon as

    max eigenvalue E_R[v v^T - J] + E_R[(e^b - 1)(|v|^2 + |J|)
        + e^b (2 |v| |u| + |u|^2 + (g - 1) |J|)]  <  0 .
"""

from itertools import product

import numpy as np
from jaxtyping import Float

HALVINGS = 14  # of the box around a maximum


def tilted_radius(
    logs: Float[np.ndarray, "m n"],
    points: Float[np.ndarray, "n d"],
    modes: Float[np.ndarray, "m d"],
) -> Float[np.ndarray, "m"]:
    """Half the side of a box where log D of unit noise is concave, or zero.

    `logs` are log p_i L_i / f_i at each mode.
    """
    radius = np.zeros(len(modes))
    corners = np.array(list(product((-1.0, 1.0), repeat=modes.shape[1])))
    for j, x in enumerate(modes):
        shares = _normalized(logs[j])
        mean = np.exp(shares) @ points
        offset = points - mean
        for rho in 0.5 ** np.arange(HALVINGS):
            tilts = [np.exp(np.minimum(shares + rho * offset @ c, 99)) for c in corners]
            bends = [(tilt[:, None] * offset).T @ offset for tilt in tilts]
            room = 1 - float(np.linalg.eigvalsh(bends)[:, -1].max())
            if is_top(mean - x, room):
                radius[j] = rho
                break
    return radius


def bounded_radius(
    logs: Float[np.ndarray, "n"],
    v: Float[np.ndarray, "n d"],
    J: Float[np.ndarray, "n d d"],
    growth: float,
) -> float:
    """Half the side of a box where D is concave around one maximum, or zero."""
    R = np.exp(_normalized(logs))
    d = v.shape[1]
    sum_v, size_v = np.abs(v).sum(axis=1), np.linalg.norm(v, axis=1)
    size_J = np.linalg.norm(J, axis=(1, 2))
    hessian = (R[:, None] * v).T @ v - np.tensordot(R, J, 1)
    room = -float(np.linalg.eigvalsh(hessian)[-1])
    for rho in 0.5 ** np.arange(HALVINGS):
        g = np.exp(growth * rho)
        b = np.minimum(sum_v * rho + size_J * d * rho**2 * g / 2, 99)
        u = size_J * np.sqrt(d) * rho * g
        lost = np.expm1(b) * (size_v**2 + size_J)
        lost += np.exp(b) * (2 * size_v * u + u**2 + (g - 1) * size_J)
        if is_top(R @ v, room - float(R @ lost)):
            return float(rho)
    return 0.0


def is_top(slope: Float[np.ndarray, "d"], room: float) -> bool:
    """Whether D rises by rounding only: by at most slope^2 / (2 room)."""
    return bool(room > 0 and np.sum(slope**2) <= 2e-13 * room)


def _normalized(logs: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    logs = logs - logs.max()
    return logs - np.log(np.exp(logs).sum())
