"""Gradients through the flow: polish a schedule, or learn one from nothing."""

import dataclasses
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import PRNGKeyArray

from pushforward._checks import above_zero
from pushforward.control._checks import count
from pushforward.control.steering.blocks import LayerStack
from pushforward.control.steering.objective import (
    Objective,
    Pair,
    mean_square,
    objective_of,
    pairs_of,
    rolled_out,
)
from pushforward.control.steering.steered import WEIGHTS, weight_norms
from pushforward.errors import InputError
from pushforward.fields import Switched
from pushforward.flows import reporter
from pushforward.measures import Particles
from pushforward.transport import wasserstein_distance

ADAM = optax.adam(1.0)  # its steps are scaled by the rate
FINER = 4  # errors are measured with this many times more steps than training takes


@dataclasses.dataclass(frozen=True, eq=False)
class Refined:
    """A trained schedule beside the one that training started from.

    `errors` are W_2 per pair, `norms` the largest spectral norms of the weights,
    `size` the sum of squares of all weights, mean over pieces, which `penalty` lowers;
    `history` is the loss at every step.
    """

    field: Switched = dataclasses.field(repr=False)
    errors: tuple[float, ...]
    errors_before: tuple[float, ...]
    norms: dict[str, float]
    norms_before: dict[str, float]
    size: float
    size_before: float
    switches: int
    switches_before: int
    history: np.ndarray = dataclasses.field(repr=False)

    def __str__(self) -> str:
        rows = [f"{'':<10}{'before':>12}{'after':>12}"]
        rows.append(f"{'switches':<10}{self.switches_before:>12}{self.switches:>12}")
        for i, (old, new) in enumerate(
            zip(self.errors_before, self.errors, strict=True)
        ):
            rows.append(f"{f'W_2 of {i}':<10}{old:>12.3g}{new:>12.3g}")
        rows.append(f"{'size':<10}{self.size_before:>12.4g}{self.size:>12.4g}")
        for name in WEIGHTS:
            old, new = self.norms_before[name], self.norms[name]
            rows.append(f"{f'|{name}|':<10}{old:>12.3g}{new:>12.3g}")
        return "\n".join([f"Refined in {len(self.history) - 1} steps", *rows])


def refine(
    field: Switched,
    sources: Sequence[Particles],
    targets: Sequence | np.ndarray,
    *,
    pieces: int | None = None,
    penalty: float = 0.0,
    steps: int = 200,
    rate: float = 1e-3,
    eps: float = 0.02,
    substeps: int = 32,
    progress: bool | Callable | None = None,
) -> Refined:
    """Polish a schedule to fewer switches or smaller weights, by Adam.

    Minimizes the mean over pairs of the Sinkhorn divergence S_eps between the input at
    the end and its target, plus `penalty` times the mean square of all weights
    (sum over V, B, W, U, b, mean over pieces).

    - `pieces`: before training, neighboring pieces are merged into one that runs both
      at the same time, those first that cost the least, until this many are left.
    - `substeps`: Runge-Kutta steps per piece while training.

    [geshkovski2024measure, feydy2019interpolating]
    """
    start = LayerStack.of(field)
    pairs = pairs_of(sources, targets)
    if pairs[0].x.shape[1] != start.V.shape[1]:
        raise InputError(
            f"`field` moves points of dimension {start.V.shape[1]}, `sources` have "
            f"{pairs[0].x.shape[1]}."
        )
    objective = objective_of(pairs, penalty, eps, substeps)
    blocks = start
    if pieces is not None:
        wanted = count("pieces", pieces)
        if wanted > start.count:
            raise InputError(
                f"`pieces` must be at most the {start.count} of the schedule, got "
                f"{pieces}. Refining merges pieces; it does not add any."
            )
        blocks = _thinned(start, wanted, objective)
    blocks, history = _descend(blocks, objective, steps, rate, progress)
    return _refined(start, blocks, pairs, history, substeps)


def learn(
    sources: Sequence[Particles],
    targets: Sequence | np.ndarray,
    *,
    pieces: int = 4,
    horizon: float = 10.0,
    penalty: float = 0.0,
    steps: int = 200,
    rate: float = 3e-2,
    eps: float = 0.02,
    substeps: int = 32,
    key: PRNGKeyArray,
    progress: bool | Callable | None = None,
) -> Refined:
    """Plain training from random weights: what `refine` reaches with no construction.

    The same objective and optimizer; `pieces` of equal length with Gaussian weights.
    """
    pairs = pairs_of(sources, targets)
    horizon = above_zero("horizon", horizon, "It is the total time.")
    d = pairs[0].x.shape[1]
    start = LayerStack.random(count("pieces", pieces), d, horizon, key=key)
    objective = objective_of(pairs, penalty, eps, substeps)
    blocks, history = _descend(start, objective, steps, rate, progress)
    return _refined(start, blocks, pairs, history, substeps)


def _thinned(blocks: LayerStack, pieces: int, objective: Objective) -> LayerStack:
    """Merge neighbors, the cheapest first, until this many pieces last."""
    units = int(np.any(np.asarray(blocks.W) != 0, axis=1).sum())
    blocks = blocks.widened(units)
    while blocks.count > pieces:
        lasting = np.flatnonzero(np.asarray(blocks.durations) > 0).tolist()
        trials = [
            blocks.merged(k, o) for k, o in zip(lasting, lasting[1:], strict=False)
        ]
        losses = [float(_loss(objective, trial)) for trial in trials]
        blocks = trials[int(np.argmin(losses))]
    return blocks


def _descend(
    blocks: LayerStack, objective: Objective, steps: int, rate: float, progress
) -> tuple[LayerStack, np.ndarray]:
    """Adam with a cosine schedule on all weights; the best iterate is kept."""
    steps = count("steps", steps, 0)
    rate = above_zero("rate", rate, "It is the step of Adam.")
    rates = optax.cosine_decay_schedule(rate, max(steps, 1), 0.05)
    state, report = ADAM.init(blocks), reporter(progress)
    best, least, history = blocks, np.inf, []
    for k in range(steps + 1):
        loss, after, state = _step(objective, blocks, state, jnp.asarray(rates(k)))
        history.append(float(loss))
        report(history[-1], None, k)
        if history[-1] < least:
            best, least = blocks, history[-1]
        blocks = after
    return best, np.array(history)


@eqx.filter_jit
def _step(objective: Objective, blocks: LayerStack, state, rate):
    loss, slope = eqx.filter_value_and_grad(lambda blocks: objective(blocks))(blocks)
    slope = eqx.tree_at(lambda g: g.durations, slope, replace_fn=jnp.zeros_like)
    slope = jax.tree_util.tree_map(jnp.nan_to_num, slope)
    with jax.numpy_dtype_promotion("standard"):  # optax mixes integers and floats
        updates, state = ADAM.update(slope, state)
    updates = jax.tree_util.tree_map(lambda u: rate * u, updates)
    return loss, optax.apply_updates(blocks, updates), state


@eqx.filter_jit
def _loss(objective: Objective, blocks: LayerStack):
    return objective(blocks)


def _refined(
    start: LayerStack,
    end: LayerStack,
    pairs: list[Pair],
    history: np.ndarray,
    substeps: int,
) -> Refined:
    old, new = start.schedule(), end.schedule()
    return Refined(
        new,
        _errors(end, pairs, FINER * substeps),
        _errors(start, pairs, FINER * substeps),
        weight_norms(new),
        weight_norms(old),
        float(mean_square(end)),
        float(mean_square(start)),
        len(new.fields) - 1,
        len(old.fields) - 1,
        history,
    )


_finely = eqx.filter_jit(rolled_out)


def _errors(blocks: LayerStack, pairs: list[Pair], substeps: int) -> tuple[float, ...]:
    out = []
    for pair in pairs:
        end = _finely(blocks, pair.x, pair.log_weights, substeps)
        mine = np.asarray(end), np.exp(np.asarray(pair.log_weights))
        theirs = np.asarray(pair.y), np.asarray(pair.b)
        out.append(wasserstein_distance(mine, theirs))
    return tuple(out)
