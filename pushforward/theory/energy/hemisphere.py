"""When random tokens share a hemisphere, and so are known to collapse. [wendel1962]"""

from scipy.special import bdtr

from pushforward.theory._checks import whole


def probability(n: int, d: int) -> float:
    """Chance that n uniform points on the unit sphere of R^d share a hemisphere.

    2^{-(n-1)} sum_{k=0}^{d-1} C(n-1, k): fewer than d heads in n - 1 fair tosses.

    >>> probability(5, 3)
    0.6875
    """
    n, d = whole("n", n, 1), whole("d", d, 2)
    return float(bdtr(min(d, n) - 1, n - 1, 0.5))
