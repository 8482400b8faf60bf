"""The order of the transition: noise against attention, in every dimension.

Stationary measures of dX = USA dt + sqrt(2/kappa) dW are mu proportional to
e^{kappa Z / beta}, Z(x) = int e^{beta <x,y>} dmu(y); with the softmax denominator (SA)
they are mu proportional to Z^{kappa / beta}. Those symmetric about an axis e are known
by the law of u = <e,x>, and r = int u dmu is the order parameter. Along a branch of
them r is a good coordinate, for kappa turns back and r does not.

Under USA the branch leaves the uniform measure at kappa_# (`stability.noise_threshold`)
forward up to `beta_star(d)` and backward above it. Then ordered states exist from
`kappa_fold` on, have the lower free energy from `kappa_c` on, and the uniform measure
becomes unstable at kappa_# only: kappa_fold < kappa_c < kappa_#, a transition that
jumps. [mun2026phase]
"""

import functools

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from pushforward.errors import InputError, NumericalError
from pushforward.theory._bessel import log_ratios
from pushforward.theory._checks import scalar, whole
from pushforward.theory.energy import stability
from pushforward.theory.noise._ordered_branch import STEP, Branch, State, nodes

FIRST, LAST = 0.01, 0.995  # of the order parameter along a branch


def beta_star(d: int) -> float:
    """The beta up to which the transition is continuous: I_{d/2+1} / I_{d/2} = 1/d.

    >>> round(beta_star(2), 10)
    2.4469183113
    """
    d = whole("d", d, 2)

    def excess(beta: float) -> float:
        logs = log_ratios(d / 2, beta, 1)
        return beta * float(np.exp(logs[1])) - 1 / d

    return float(brentq(excess, 1e-6, 10.0, xtol=1e-14, rtol=1e-14))


def branch(beta: float, d: int, r: float, *, softmax: bool = False) -> State:
    """The ordered state with order parameter r: it tells its kappa.

    >>> round(branch(4.0, 2, 0.668805521).kappa, 8)
    0.3914751
    """
    _check_flags(softmax=softmax)
    beta, d, r = _checked(beta, d), whole("d", d, 2), scalar("r", r)
    if not 0 < r <= LAST:
        raise InputError(f"`r` must lie in (0, {LAST}], got {r:g}.")
    return _branch(beta, d, softmax).at(r)


def kappa_fold(beta: float, d: int) -> float:
    """The least kappa with an ordered state under USA; kappa_# up to beta_star.

    >>> round(kappa_fold(4.0, 2), 8)
    0.387069
    """
    return fold(beta, d).kappa


def fold(beta: float, d: int) -> State:
    """The ordered state at kappa_fold, where both branches meet; uniform below."""
    return _fold(_checked(beta, d), whole("d", d, 2))


def kappa_c(beta: float, d: int) -> float:
    """Above it the ordered state of USA has the lower free energy: the transition.

    Up to beta_star it is kappa_#, and the order parameter leaves zero continuously.

    >>> round(kappa_c(4.0, 2), 8)
    0.3914751
    """
    return transition(beta, d).kappa


def transition(beta: float, d: int) -> State:
    """The ordered state at kappa_c, whose r is the height of the jump."""
    beta, d = _checked(beta, d), whole("d", d, 2)
    if beta <= beta_star(d):
        return _uniform(stability.noise_threshold(beta, d), d)
    low, states = _fold(beta, d), _branch(beta, d, False)
    gain = lambda r: -(states.at(r).free_energy or 0.0)  # noqa: E731
    return states.at(_root(gain, low.r, _above(gain, low.r, low.kappa)))


def ordered_state(
    beta: float, d: int, kappa: float, *, softmax: bool = False, stable: bool = True
) -> State:
    """The ordered state at kappa; the uniform one (r = 0) where there is none.

    Between kappa_fold and kappa_# USA has two: the upper is locally stable, and with
    `stable=False` the lower is given, which separates it from the uniform measure.
    """
    _check_flags(softmax=softmax, stable=stable)
    beta, d, kappa = _checked(beta, d), whole("d", d, 2), scalar("kappa", kappa)
    if not kappa > 0:
        raise InputError(f"`kappa` must be positive, got {kappa:g}: noise is 2/kappa.")
    states = _branch(beta, d, softmax)
    bottom = states.at(FIRST) if softmax else _fold(beta, d)
    excess = lambda r: states.at(r).kappa - kappa  # noqa: E731
    low = max(bottom.r, FIRST)
    if not stable and low > FIRST and excess(FIRST) > 0 > excess(low):
        return states.at(_root(excess, FIRST, low))
    if excess(low) >= 0 or not stable:
        return _uniform(kappa, d)
    return states.at(_root(excess, low, _above(excess, low, kappa)))


def critical_kappa_softmax(beta: float, d: int) -> float:
    """kappa above which uniform is unstable under SA: beta I_{d/2-1} / I_{d/2}.

    >>> round(critical_kappa_softmax(4.0, 3), 10)
    5.3285649753
    """
    return 2 / stability.critical_noise(_checked(beta, d), d) ** 2


def initial_slope(beta: float, d: int, *, softmax: bool = False) -> float:
    """lim (kappa / kappa_# - 1) / r^2 as r -> 0: negative where the branch turns back.

    With q = I_{d/2+1} / I_{d/2} it is d (1 - d q) / ((d + 2) (1 - q)) under USA; under
    SA, a = I_{d/2-1} / I_{d/2}, d (a - 1) (a + d - q - d q a) / ((d + 2) a^2 (1 - q)).
    """
    _check_flags(softmax=softmax)
    beta, d = _checked(beta, d), whole("d", d, 2)
    q = beta * float(np.exp(log_ratios(d / 2, beta, 1)[1]))
    if not softmax:
        return d * (1 - d * q) / ((d + 2) * (1 - q))
    if beta == 0:
        return d / (d + 2)
    a = 1 / (beta * float(np.exp(log_ratios(d / 2 - 1, beta, 1)[1])))
    return d * (a - 1) * (a + d - q - d * q * a) / ((d + 2) * a**2 * (1 - q))


def _checked(beta: float, d: int) -> float:
    beta, d = scalar("beta", beta), whole("d", d, 2)
    if not 0 <= beta <= 60 or d > 512:
        raise InputError(
            f"`beta` must lie in [0, 60] and `d` in [2, 512], got {beta:g} and {d}: "
            "sharper states need more modes than are kept."
        )
    return beta


def _check_flags(**flags: object) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InputError(f"`{name}` must be True or False, got {value!r:.60}.")


def _uniform(kappa: float, d: int) -> State:
    return State(float(kappa), 0.0, *nodes(d), 0.0)


def _above(excess, low: float, kappa: float) -> float:
    """An r at which kappa is passed, no further along the branch than needed."""
    r = low
    while r < LAST:
        r = min(r + 4 * STEP, LAST)
        if excess(r) >= 0:
            return r
    raise NumericalError(
        f"kappa = {kappa:g} gives a state narrower than r = {LAST}: lower it."
    )


def _root(function, low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-13, rtol=1e-13))


@functools.lru_cache(64)
def _fold(beta: float, d: int) -> State:
    if beta <= beta_star(d):
        return _uniform(stability.noise_threshold(beta, d), d)
    states = _branch(beta, d, False)
    grid = np.arange(FIRST, LAST, STEP)
    kappas = [states.at(r).kappa for r in grid]
    k = int(np.clip(np.argmin(kappas), 1, len(grid) - 2))
    around = (grid[k - 1], grid[k + 1])
    best = minimize_scalar(
        lambda r: states.at(r).kappa,
        bounds=around,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return states.at(float(best.x))


@functools.lru_cache(32)
def _branch(beta: float, d: int, softmax: bool) -> Branch:
    threshold = critical_kappa_softmax if softmax else stability.noise_threshold
    return Branch(beta, d, softmax, threshold(beta, d))
