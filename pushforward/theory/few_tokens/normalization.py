"""Where the layer norm sits sets the speed: six schemes for equiangular tokens.

Tokens are r theta_i with common radius r and common cosine rho between directions, and
d theta_i/dt = P A_i / s. What differs is the divisor s and the growth of r:

| scheme | s | dr/dt | 1 - rho in the end |
| --- | --- | --- | --- |
| post | 1 | 0 | e^{-2t} |
| pre | r | <theta, A> | C / t^2 |
| mix | 1 up to `switch`, then r | 0, then <theta, A> | c / t^2 |
| peri | r abs(A) | <theta, A> / abs(A) | C / t^2, the same C |
| unit | abs(A) / alpha | 0 | e^{-2 alpha t} |
| depth | sqrt(1 + t) | 0 | e^{-4 sqrt t} |
| depth scaled | r sqrt(1 + t) | <theta, A> / sqrt(1 + t) | C / (4 t) |

"unit" is nGPT. "depth" is LN-scaling as the paper has it, "depth scaled" as the
architecture and `fields.DepthScaledNorm` have it. Both are the clock 2 (sqrt(1+t) - 1)
of another scheme: of post and of pre. [karagodin2025normalization],
[rigollet2025meanfield]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad, solve_ivp

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import Real, between, nonnegative, scalar, whole
from pushforward.theory.few_tokens import equiangular

SCHEMES = ("post", "pre", "mix", "peri", "unit", "depth", "depth scaled")
PRECISE = {"rtol": 1e-12, "atol": 1e-13}


class NormState(NamedTuple):
    """Cosine, common radius, and 1 - rho without cancellation, at the times asked."""

    rho: Real
    radius: Real
    gap: Real


def post_norm(t: ArrayLike, beta: float, n: int, start: float = 0.0) -> Real:
    """Common cosine at time t with Post-LN: the equiangular law of SA."""
    return equiangular.gamma(t, beta, n, start)


def pre_norm(
    t: ArrayLike, beta: float, n: int, start: float = 0.0, radius: float = 1.0
) -> NormState:
    """Common cosine and radius at time t with Pre-LN.

    >>> state = pre_norm(100.0, 2.0, 16)
    >>> round(float(state.gap * 100.0**2), 4)
    2.45
    """
    return normalized("pre", t, beta, n, start, radius)


def normalized(
    scheme: str,
    t: ArrayLike,
    beta: float,
    n: int,
    start: float = 0.0,
    radius: float = 1.0,
    *,
    alpha: float = 1.0,
    switch: float = 0.0,
) -> NormState:
    """Common cosine and radius at time t under one of the schemes.

    `alpha` is the step of "unit", `switch` the time at which "mix" changes.

    >>> round(float(normalized("peri", 1.0, 0.0, 16).gap), 9)
    0.4
    """
    times = nonnegative("t", t)
    switch = scalar("switch", nonnegative("switch", switch))
    law = _law(scheme, beta, n, alpha, switch)
    begin = _start(n, start, radius)
    grid, inverse = np.unique(times, return_inverse=True)
    state = [_solved(law, begin, float(end), switch) for end in grid]
    log_gap, r = (row[inverse].reshape(times.shape) for row in np.array(state).T)
    gap = np.exp(-log_gap)
    return NormState((1 - gap)[()], r[()], gap[()])


def time_to(scheme: str, rho: float, beta: float, n: int, start: float = 0.0) -> float:
    """When the common cosine reaches rho, from unit radius.

    >>> round(time_to("post", 0.99, 1.0, 2), 7)
    3.1152565
    """
    law, begin = _law(scheme, beta, n, 1.0, 0.0), _start(n, start, 1.0)
    goal = -np.log1p(-scalar("rho", between("rho", rho, -1, 1)))
    if goal <= begin[0]:
        return 0.0

    def inverse(level, state):  # log gap as the clock: no search for the time
        rate, growth = law(state[0], level, state[1])
        return [1 / rate, growth / rate]

    solution = solve_ivp(
        inverse, (begin[0], goal), [0.0, begin[1]], method="DOP853", **PRECISE
    )
    if not solution.success:
        raise NumericalError(f"{scheme}: {solution.message}", partial=solution)
    return float(solution.y[0, -1])


def end_constant(beta: float, n: int) -> float:
    """C = lim r^2 (1 - rho) from orthogonal tokens of unit radius, for pre and peri.

    >>> round(end_constant(2.0, 16), 8)
    2.36835591
    """
    n, beta = whole("n", n, 2), scalar("beta", beta)

    def excess(rho: float) -> float:
        closing, g, _ = _attention(1 - rho, beta, n)
        return (2 * g / closing - 1) / (1 - rho)  # 2 g / f - 1 / (1 - rho)

    log = quad(excess, 0, 1, epsabs=1e-13, epsrel=1e-13)[0]
    if not log <= 700:
        raise NumericalError(
            f"`beta` = {beta:g} gives a constant of e^{log:.3g}: nearer to zero it is "
            "a number."
        )
    return float(np.exp(log))


def initial_speed(scheme: str, beta: float, n: int) -> float:
    """d rho/dt at orthogonal tokens of unit radius.

    >>> round(initial_speed("unit", 1.0, 16), 10)
    0.4226803938
    """
    return float(_law(scheme, beta, n, 1.0, 0.0)(0.0, 0.0, 1.0)[0])


def _law(scheme: str, beta: float, n: int, alpha: float, switch: float):
    """(t, -log(1 - rho), r) -> the rates of the last two."""
    n, beta = whole("n", n, 2), scalar("beta", beta)
    alpha = scalar("alpha", between("alpha", alpha, 0, np.inf))
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        known = ", ".join(map(repr, SCHEMES))
        raise InputError(f"`scheme` must be one of {known}, got {scheme!r}.")

    def rates(t, log_gap, r):
        gap = np.exp(-log_gap)
        closing, g, size = _attention(gap, beta, n)
        grows = scheme in ("pre", "peri", "depth scaled")
        grows = grows or (scheme == "mix" and t >= switch)
        divisor = r if grows else 1.0
        divisor *= {"peri": size, "unit": size / alpha}.get(scheme, 1.0)
        divisor *= np.sqrt(1 + t) if scheme.startswith("depth") else 1.0
        return closing / divisor, g * r / divisor if grows else 0.0

    return rates


def _attention(gap: float, beta: float, n: int) -> tuple[float, float, float]:
    """The closing rate (d rho/dt) / (1 - rho) of SA, <theta, A>, and |A|.

    With E = e^{beta (1-rho)} and D = E + n - 1, both divided by the larger of E and 1.
    """
    top = max(beta * gap, 0.0)
    own, other = np.exp(beta * gap - top), np.exp(-top)
    D = own + (n - 1) * other
    closing = 2 * (n - (n - 1) * gap) * other / D
    along = (own + (n - 1) * other * (1 - gap)) / D
    square = 1 - gap + gap * (own**2 + (n - 1) * other**2) / D**2
    return closing, along, np.sqrt(square)


def _solved(law, begin: list[float], end: float, switch: float) -> np.ndarray:
    """The state at one time, in parts so that no step crosses the switch."""
    state = np.array(begin)
    for low, high in ((0.0, min(switch, end)), (switch, end)):
        if high <= low:
            continue
        solution = solve_ivp(
            lambda t, y: law(t, *y), (low, high), state, method="DOP853", **PRECISE
        )
        if not solution.success:
            raise NumericalError(f"the law of norms: {solution.message}", solution)
        state = solution.y[:, -1]
    return state


def _start(n: int, start: float, radius: float) -> list[float]:
    """-log(1 - rho), which keeps the gap exact near 0, and the radius."""
    n = whole("n", n, 2)
    start = scalar("start", between("start", start, -1 / (n - 1), 1))
    return [-np.log1p(-start), scalar("radius", between("radius", radius, 0, np.inf))]
