"""Named baselines of covariance alignment: FAQ (SciPy), conditional gradient (POT)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment, quadratic_assignment

from pushforward.errors import InputError
from pushforward.statistics.alignment.covariances import Objective
from pushforward.statistics.alignment.search import RowProfiles, descend


@dataclass(frozen=True)
class FastApproximate:
    """FAQ: Frank-Wolfe on doubly stochastic matrices from the flat one (SciPy).

    Always maximizes tr(A P^T B P), the Gromov-Wasserstein objective.
    [vogelstein2015faq]
    """

    def search(
        self,
        objective: Objective,
        A: np.ndarray,
        B: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, int]:
        """Labels found and the number of exchanges made."""
        result = quadratic_assignment(
            A, B, method="faq", options={"maximize": True, "rng": rng}
        )
        return result.col_ind, 0


@dataclass(frozen=True)
class ConditionalGradient:
    """Gromov-Wasserstein by conditional gradient (POT), rounded to a permutation.

    The objective is concave, so from the product coupling (`start=None`) it stops at
    whatever vertex is near; `start=RowProfiles()` gives it a good one. [peyre2016gw]
    """

    start: RowProfiles | None = None

    def search(
        self,
        objective: Objective,
        A: np.ndarray,
        B: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, int]:
        """Labels found and the number of exchanges made."""
        try:
            from ot.gromov import gromov_wasserstein
        except ImportError:
            raise InputError(
                "`ConditionalGradient` needs POT, which is not installed. Run "
                "`pip install POT`, or use `SwapDescent()`."
            ) from None
        d = len(A)
        flat = np.full(d, 1.0 / d)
        plan = None
        if self.start is not None:
            plan = np.zeros((d, d))
            plan[np.arange(d), self.start.labels(A, B)] = 1.0 / d
        plan = gromov_wasserstein(A, B, flat, flat, "square_loss", G0=plan)
        return linear_sum_assignment(-np.asarray(plan))[1], 0


@dataclass(frozen=True)
class ThenSwaps:
    """Another search, finished by exchanges of two labels."""

    first: FastApproximate | ConditionalGradient

    def search(
        self,
        objective: Objective,
        A: np.ndarray,
        B: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, int]:
        """Labels found and the number of exchanges made."""
        labels, _ = self.first.search(objective, A, B, rng)
        return descend(objective, A, B, labels)


@dataclass(frozen=True)
class StartOnly:
    """The starting guess alone: what the row profiles know before any exchange."""

    start: RowProfiles = RowProfiles()

    def search(
        self,
        objective: Objective,
        A: np.ndarray,
        B: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, int]:
        """Labels found and the number of exchanges made."""
        return self.start.labels(A, B), 0
