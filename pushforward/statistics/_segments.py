"""Sums and log-sum-exps over groups of a list, in one pass."""

import numpy as np
from jaxtyping import Float, Int


class Segments:
    """Groups of equal labels in a list; reductions return one value per group."""

    def __init__(self, labels: Int[np.ndarray, "s"]):
        self.order = np.argsort(labels, kind="stable")
        ordered = labels[self.order]
        new = np.ones(len(labels), dtype=bool)
        new[1:] = ordered[1:] != ordered[:-1]
        self.starts = np.flatnonzero(new)
        self.count = len(self.starts)
        self.ordered_group = np.cumsum(new) - 1
        self.group = np.empty(len(labels), dtype=np.intp)
        self.group[self.order] = self.ordered_group

    def sums(self, values: Float[np.ndarray, "s"]) -> Float[np.ndarray, "k"]:
        """Sum of each group."""
        return np.add.reduceat(values[self.order], self.starts)

    def maxima(self, values: Float[np.ndarray, "s"]) -> Float[np.ndarray, "k"]:
        """Maximum of each group."""
        return np.maximum.reduceat(values[self.order], self.starts)

    def logsumexp(self, values: Float[np.ndarray, "s"]) -> Float[np.ndarray, "k"]:
        """log sum exp of each group, shifted by the group's maximum."""
        v = values[self.order]
        top = np.maximum.reduceat(v, self.starts)
        shifted = np.exp(v - top[self.ordered_group])
        return top + np.log(np.add.reduceat(shifted, self.starts))

    def spread(self, values: Float[np.ndarray, "k"]) -> Float[np.ndarray, "s"]:
        """Each member's group value."""
        return values[self.group]
