"""Ordered tokens at the mean-field order, where the order is not seen.

When the initial law does not depend on the position it stays so: every average over the
past is the same average, and the causal mask and the decay appear only in corrections
of order 1/N. [duerinckx2026kinetic]
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import iv

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import nonnegative, representable, scalar, whole

MOST_RATES = 20_000  # seconds
UNRESOLVED = 1e-4  # of the last mode


def density_modes(t: float, first: float, beta: float, modes: int = 24) -> np.ndarray:
    """Fourier coefficients f_0..f_modes at time t from density 1 + 2 f_1 cos theta.

    f_n' = n sum_k k I_|k|(beta) f_k f_{n-k}, the torus having mass one.

    >>> round(float(density_modes(1.0, 0.1, 1.0)[1]), 8)
    0.17544776
    """
    t, modes = float(nonnegative("t", scalar("t", t))), whole("modes", modes, 2)
    first = scalar("first", first)
    if abs(first) > 0.5:
        raise InputError(
            f"`first` must be at most 1/2 in size, got {first:g}: the density "
            "1 + 2 f_1 cos theta must not be negative."
        )
    k = np.arange(-modes, modes + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        force = k * iv(np.abs(k), scalar("beta", beta))
    representable("I_n(beta)", force, "a smaller beta")

    spent = 0

    def rate(s, f):
        nonlocal spent
        spent += 1
        if spent > MOST_RATES:
            raise NumericalError(
                f"the modes were followed to t = {s:g} in {MOST_RATES} evaluations of "
                f"their equation, not to {t:g}. Take a smaller t, beta or `modes`."
            )
        full = np.concatenate([f[::-1], [1.0], f])
        product = np.convolve(force * full, full)  # entry 0 is mode -2 modes
        return np.arange(1, modes + 1) * product[2 * modes + 1 : 3 * modes + 1]

    start = np.concatenate([[first], np.zeros(modes - 1)])
    run = solve_ivp(rate, (0.0, t), start, rtol=1e-11, atol=1e-13, method="DOP853")
    f = run.y[:, -1]
    if not run.success or not abs(f[-1]) < UNRESOLVED:
        raise NumericalError(
            f"{modes} modes are too few for the density at t = {run.t[-1]:g}: the last "
            f"is {f[-1]:.1e}. It concentrates; take more `modes` or a smaller t.",
            f,
        )
    return np.concatenate([[1.0], f])
