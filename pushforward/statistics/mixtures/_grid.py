"""The best weights on atoms that are given: a fixed grid, on request."""

from dataclasses import dataclass

import numpy as np

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.statistics.mixtures._everywhere import Solution
from pushforward.statistics.mixtures._likelihood import AbstractSample
from pushforward.statistics.mixtures._noise import Chart
from pushforward.statistics.mixtures._polish import optimal_weights
from pushforward.statistics.mixtures._whitening import as_data

MOST = 20_000  # nodes


@dataclass(frozen=True, eq=False)
class FixedGrid:
    """Only the weights are fitted, on `nodes` (m, d) in the units of the locations.

    The gap of the fit is still the one over all of space: it says what the grid costs.
    Nodes without weight are left out.

    >>> import numpy as np
    >>> from pushforward.statistics import npmle
    >>> fit = npmle(np.array([-2.0, 2.0]), method=FixedGrid(np.linspace(-3, 3, 7)))
    >>> fit.atoms.tolist()
    [[-2.0], [2.0]]
    """

    nodes: object

    def solve(self, sample: AbstractSample, chart: Chart) -> Solution:
        """Sequential non-negative least squares, once."""
        nodes = as_data("nodes", self.nodes, sample.places.shape[1])
        return _on_nodes(sample, sample.inside(chart.whiten(np.unique(nodes, axis=0))))


@dataclass(frozen=True)
class EvenGrid:
    """The same on `count` nodes along each axis, evenly over the range of the data.

    Evenly in units of the noise: of counts, in the root of the rate or the like.
    """

    count: int

    def __post_init__(self) -> None:
        whole("count", self.count, 2, "These are nodes along an axis.")

    def solve(self, sample: AbstractSample, chart: Chart) -> Solution:
        """Sequential non-negative least squares, once."""
        low, high = sample.places.min(axis=0), sample.places.max(axis=0)
        if self.count ** len(low) > MOST:
            raise InputError(
                f"`count` must keep the grid below {MOST} nodes, got {self.count} "
                f"along each of {len(low)} axes."
            )
        axes = np.linspace(low, high, self.count).T
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        nodes = np.unique(grid.reshape(-1, len(low)), axis=0)
        return _on_nodes(sample, sample.inside(nodes))


def _on_nodes(sample: AbstractSample, nodes: np.ndarray) -> Solution:
    start = np.full(len(nodes), 1 / len(nodes))
    table = sample.log_kernel(nodes).T
    if not np.isfinite(table.max(axis=1)).all():
        raise InputError(
            "`nodes` must leave every observation possible; add one inside (0, 1), or "
            "a positive rate."
        )
    weights = optimal_weights(table, sample.weights, start)
    return Solution(nodes[weights > 0], weights[weights > 0], [])
