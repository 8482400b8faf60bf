"""GULP from moments gathered block by block: a million rows need no more memory.

All distances depend on the means and second moments of the representations side by
side. They are gathered for groups of rows apart, so that errors come from a bootstrap
over groups: row i belongs to group i mod `groups`, which mixes rows whatever their
order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward._checks import listed, whole
from pushforward.errors import InputError, StoreError
from pushforward.statistics.representations.gulp import (
    GulpMatrix,
    labels_of,
    lambda_grid,
    squared_distances,
)

GROUPS = 100
FEWEST_GROUPS = 20  # of which a bootstrap still tells a standard error within a sixth
MOMENTS = 1.5e9  # bytes of second moments
BLOCK = 64e6  # bytes of one block of rows


@dataclass(frozen=True, eq=False)
class GulpMoments:
    """Sums over the rows of each group, all representations side by side.

    `second[g]` is the sum of x x^T and `first[g]` that of x over the `counts[g]` rows
    of group g, x counted from `origin` so that no digits cancel; representation i has
    the columns from `starts[i]` to `starts[i + 1]`.
    """

    starts: tuple[int, ...]
    origin: Float[np.ndarray, "k"]
    counts: Float[np.ndarray, "g"]
    first: Float[np.ndarray, "g k"]
    second: Float[np.ndarray, "g k k"]

    @classmethod
    def of(
        cls, representations: Sequence[object], *, groups: int = GROUPS
    ) -> "GulpMoments":
        """Read arrays (n, k_i), or `.npy` files by their paths, once, block by block.

        There are fewer groups where their moments would not fit in memory.
        """
        given = listed("representations", representations, "arrays or paths")
        arrays = [_opened(i, r) for i, r in enumerate(given)]
        if len(arrays) < 2:
            raise InputError(
                f"`representations` must hold at least 2 arrays, got {len(arrays)}."
            )
        rows = {len(a) for _, a in arrays}
        if len(rows) > 1:
            raise InputError(
                f"`representations` must share their samples, got {sorted(rows)} rows. "
                "Rows are samples: evaluate every network on the same inputs."
            )
        n = rows.pop()
        starts = np.cumsum([0, *(a.shape[1] for _, a in arrays)])
        K = int(starts[-1])
        room = int(MOMENTS / (8 * K**2))
        if room < 1:
            raise InputError(
                f"`representations` have {K} columns, whose moments do not fit "
                f"in {MOMENTS / 1e9:g} GB. Compare fewer, or leave out --bootstrap."
            )
        G = min(whole("groups", groups, 1), room, max(1, n // 2))
        size = G * max(1, int(BLOCK / (8 * K * G)))
        origin = _read(arrays, 0, min(n, size)).mean(axis=0)
        first, second, counts = np.zeros((G, K)), np.zeros((G, K, K)), np.zeros(G)
        for start in range(0, n, size):
            block = _read(arrays, start, min(n, start + size)) - origin
            for g in range(min(G, len(block))):
                x = block[g::G]
                first[g] += x.sum(axis=0)
                second[g] += x.T @ x
                counts[g] += len(x)
        return cls(tuple(starts.tolist()), origin, counts, first, second)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    def matrix(
        self, lambdas: object = 1e-2, *, names: Sequence[str] | None = None
    ) -> GulpMatrix:
        """The distances over all rows, as `gulp_matrix` has them."""
        grid = lambda_grid(lambdas)
        labels = labels_of(names, len(self.starts) - 1)
        return GulpMatrix(labels, grid, self._squared(np.ones(len(self.counts)), grid))

    def errors(
        self, lambdas: object = 1e-2, *, draws: int = 100, seed: int = 0
    ) -> Float[np.ndarray, "t m m"]:
        """Standard errors of the distances: groups are drawn anew, with replacement.

        Zero between equal representations.
        """
        grid, G = lambda_grid(lambdas), len(self.counts)
        if G < FEWEST_GROUPS:
            raise InputError(
                f"`groups` must be {FEWEST_GROUPS} for a bootstrap, and there are {G}: "
                f"give {2 * FEWEST_GROUPS} rows, or compare fewer columns."
            )
        rng = np.random.default_rng(whole("seed", seed, 0))
        found = []
        for _ in range(whole("draws", draws, 2)):
            weights = rng.multinomial(G, np.full(G, 1 / G)).astype(float)
            found.append(np.sqrt(np.maximum(self._squared(weights, grid), 0.0)))
        return np.std(found, axis=0, ddof=1)

    def _squared(self, weights: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """d^2 with so many copies of each group."""
        n = weights @ self.counts
        mean = weights @ self.first / n
        S = np.tensordot(weights, self.second, 1) / n - np.outer(mean, mean)
        m = len(self.starts) - 1
        own = [slice(self.starts[i], self.starts[i + 1]) for i in range(m)]
        bases, axes = [], []
        for i, part in enumerate(own):
            size = float(np.trace(S[part, part]))
            if not size > 1e-24 * float(np.square(self.origin[part]).sum()):
                raise InputError(
                    f"`representations[{i}]` is constant over its {self.n} samples, so "
                    "it carries no representation."
                )
            e, U = np.linalg.eigh(S[part, part] / size)
            bases.append(np.maximum(e, 0.0))
            axes.append(U / np.sqrt(size))
        squared = np.zeros((len(grid), m, m))
        for i in range(m):
            for j in range(i):
                overlap = np.square(axes[i].T @ S[own[i], own[j]] @ axes[j])
                found = squared_distances(bases[i], bases[j], overlap, grid)
                squared[:, i, j] = squared[:, j, i] = found
        return squared


def _opened(i: int, given: object) -> tuple[str, np.ndarray]:
    """A name for errors, and the array, on disk if it is a path."""
    name = f"representations[{i}]"
    array: np.ndarray
    if isinstance(given, str | Path):
        name = Path(given).name
        try:
            array = np.load(given, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            raise StoreError(f"{given} is not a file. Check the name.") from None
        except (ValueError, EOFError, OSError) as error:
            raise InputError(
                f"{name} cannot be read as an array of numbers ({error}). Save it with "
                "`numpy.save(path, array)`, samples in rows."
            ) from None
    else:
        array = np.asarray(given)
    if array.ndim != 2 or array.dtype.kind not in "fiub" or len(array) < 2:
        raise InputError(
            f"`{name}` must be numbers (n, k), samples first, with n > 1, got "
            f"{array.dtype} of shape {array.shape}."
        )
    return name, array


def _read(arrays: list, start: int, stop: int) -> Float[np.ndarray, "b k"]:
    """Rows of all arrays side by side, finite."""
    parts = []
    for name, array in arrays:
        part = np.asarray(array[start:stop], dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(part).all(axis=1))
        if bad.size:
            raise InputError(
                f"`{name}` has NaN or infinite values, first in row {start + bad[0]}. "
                "Drop or impute those rows."
            )
        parts.append(part)
    return np.concatenate(parts, axis=1)
