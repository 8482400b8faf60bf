"""Cluster labels that mean the same cluster in every frame."""

import numpy as np


class Labels:
    """Gives clusters names that last.

    A cluster keeps the name of its heaviest ancestor, the ancestor that gives it most
    mass; where a cluster splits, the heaviest part keeps the name and the others get
    new ones. At the start the heaviest cluster is 0.
    """

    def __init__(self) -> None:
        self.before: np.ndarray | None = None
        self.next = 0

    def follow(self, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Names for the clusters of the next frame, one per token."""
        count = int(labels.max()) + 1
        if self.before is None:
            masses = np.bincount(labels, weights, minlength=count)
            names = np.empty(count, int)
            names[np.argsort(-masses, kind="stable")] = np.arange(count)
            self.next = count
        else:
            names = self._inherited(labels, weights, count)
        self.before = names[labels]
        return self.before

    def _inherited(self, labels, weights, count: int) -> np.ndarray:
        assert self.before is not None
        pairs, place = np.unique(
            np.stack([self.before, labels]), axis=1, return_inverse=True
        )
        shared = np.bincount(place.ravel(), weights)
        names = np.full(count, -1)
        taken: set[int] = set()
        for k in np.argsort(-shared, kind="stable"):
            old, new = (int(x) for x in pairs[:, k])
            if names[new] < 0 and old not in taken:
                names[new] = old
                taken.add(old)
        for orphan in np.flatnonzero(names < 0):
            names[orphan] = self.next
            self.next += 1
        return names
