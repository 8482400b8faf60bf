"""Train with the L1 penalty: warm start, lumped descent, exact zeros, pruning.

Exact zeros on the grid a network was trained on, for forms that cannot be lumped.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward.control.neural.families import AbstractFamily, Readout, WeightsOutside
from pushforward.control.neural.first_order import AdamThenLBFGS
from pushforward.control.neural.losses import L1, L2, AbstractLoss, SquaredHinge
from pushforward.control.neural.problem import (
    AbstractScheme,
    Midpoint,
    Parameters,
    TrainingProblem,
)
from pushforward.control.neural.proximal import Fista, Lumped, require_lumpable, spread
from pushforward.control.neural.trained import Trained
from pushforward.control.neural.training import Solver, optimize, pair
from pushforward.errors import InputError


@dataclass(frozen=True)
class SparseTrained:
    """A network whose layers after the first `active_layers` are exactly the identity.

    `pieces` is the lumped solution the grid was started from, or None.
    """

    trained: Trained
    pieces: np.ndarray | None

    @property
    def controls(self) -> np.ndarray:
        """(layers, p); rows from `active_layers` on are bitwise zero."""
        return self.trained.controls

    @property
    def layer_norms(self) -> np.ndarray:
        """||u_k||_1 of every layer."""
        return np.abs(self.controls).sum(axis=1)

    @property
    def active_time(self) -> float:
        """T* = int ||u||_1 dt / M: where an optimum ends, whose layers have norm M.

        Finer than the number of nonzero layers; less than their depth while training
        has not brought all of them to the bound.
        """
        problem = self.trained.problem
        norm = float(problem.dt) * self.layer_norms.sum()
        return norm / float(problem.penalty.bound)  # type: ignore

    @property
    def active_layers(self) -> int:
        """Index after the last layer that is not exactly zero."""
        return int(np.max(np.flatnonzero(self.layer_norms), initial=-1)) + 1

    def stopping_value(self) -> float:
        """(T - T*) max_{||v||_1 <= 1} <grad E(X*), f(X*, v)>, equal to lam at optima.

        For `WeightsOutside`, linear in the control: the maximum is at a vertex.
        """
        problem = self.trained.problem
        if not isinstance(problem.family, WeightsOutside):
            raise InputError(
                "the stopping identity is evaluated for WeightsOutside only."
            )
        end = jnp.asarray(self.trained.trajectory(problem.inputs)[-1])
        rest = float(problem.horizon) - self.active_time
        return rest * float(np.max(np.abs(_pull(problem, end))))

    def pruned(self) -> Trained:
        """The same outputs from the active layers alone."""
        layers = self.active_layers
        if layers == 0:
            raise InputError("no layer is active: the network is the identity.")
        old = self.trained
        problem = old.problem.with_horizon(old.problem.dt * layers, layers)
        kept = old.parameters._replace(controls=old.parameters.controls[:layers])
        return Trained(problem, kept, old.history, old.objectives, old.seconds)


@eqx.filter_jit
def _pull(problem: TrainingProblem, states: Array) -> Array:
    """Derivative of E(x + f(x, u)) in u at u = 0, one number per control entry."""

    def risk(x: Array) -> Array:
        return (problem.losses(problem.zero(), x[None], problem.labels)[0]) @ (
            problem.weights
        )

    slope = jax.grad(risk)(states)
    zero = jnp.zeros(problem.family.size)
    return jax.grad(lambda u: jnp.sum(slope * problem.family.velocity(states, u)))(zero)


def largest_useful_lam(problem: TrainingProblem) -> float:
    """Above this weight the zero control is stationary: T max |<grad E, f>| at X0."""
    pull = float(jnp.max(jnp.abs(_pull(problem, problem.inputs))))
    return float(problem.tracking * problem.horizon + problem.final) * pull


def train_sparse(
    family: AbstractFamily,
    data: tuple[object, object],
    *,
    penalty: L1,
    readout: Readout | None = None,
    loss: AbstractLoss = SquaredHinge(),
    horizon: float,
    layers: int,
    scheme: AbstractScheme = Midpoint(),
    pieces: int = 40,
    warm_lam: float = 0.01,
    warm_horizon: float = 10.0,
    solver: Solver = AdamThenLBFGS(),
    starts: int = 1,
    lumped: Lumped = Lumped(),
    fista: Fista = Fista(),
    key: Array,
) -> SparseTrained:
    """Minimize int_0^T E + lam ||u||_1 dt under ||u(t)||_1 <= M, zeros exact.

    From random starts the proximal method is trapped; so a smooth problem (L2
    penalty, tracking) on `pieces` layers is solved first, lumped into pieces,
    improved there, spread on the uniform grid at full speed, and finished with
    FISTA. [esteveyague2023sparsity]
    """
    inputs, labels = pair(data)
    options = dict(readout=readout, loss=loss, final=0.0, tracking=1.0, scheme=scheme)
    problem = TrainingProblem(
        family,
        inputs,
        labels,
        penalty=penalty,
        horizon=horizon,
        layers=layers,
        **options,  # type: ignore[arg-type]
    )
    _require_sparse(problem)
    smooth = TrainingProblem(
        family,
        inputs,
        labels,
        penalty=L2(warm_lam),
        horizon=warm_horizon,
        layers=pieces,
        **options,  # type: ignore[arg-type]
    )
    warm = optimize(smooth, solver=solver, starts=starts, key=key)
    return finish_sparse(problem, warm, lumped=lumped, fista=fista)


def minimize_active(
    problem: TrainingProblem, grid: np.ndarray, fista: Fista
) -> tuple[Array, np.ndarray]:
    """FISTA on the layers that may act, the resting tail summed up exactly.

    While the tail is zero the state rests there and E is constant, so the tail is
    a final cost (T - t_cut) E(t_cut). The condition that keeps a tail row at zero
    weakens with t; it is checked, and the cut moves out where it fails.
    """
    layers, dt = problem.layers, float(problem.dt)
    active = int(np.max(np.flatnonzero(np.abs(grid).sum(axis=1)), initial=0)) + 1
    cut = min(layers, 2 * active + 8)
    history: list[np.ndarray] = []
    while True:
        tail = (layers - cut) * dt * problem.tracking
        short = problem.with_horizon(dt * cut, cut)
        short = eqx.tree_at(lambda p: p.final, short, problem.final + tail)
        rows, values = fista.minimize(short, jnp.asarray(grid[:cut]))
        history.append(values)
        used = bool(jnp.any(rows[-1] != 0))
        if cut == layers or not used:
            break
        grid = np.concatenate([np.asarray(rows), np.zeros_like(grid[cut:])])
        cut = min(layers, 2 * cut)
    rest = jnp.zeros((layers - cut, rows.shape[1]))
    return jnp.concatenate([rows, rest]), np.concatenate(history)


def _require_sparse(problem: TrainingProblem) -> None:
    """Refuse what the lumped method cannot do, before any work is done."""
    require_lumpable(problem)
    if not isinstance(problem.penalty, L1):
        raise InputError(
            f"exact sparsity needs `penalty=L1(lam, bound)`, got "
            f"{type(problem.penalty).__name__}; for instance L1(0.05, 8.0)."
        )
    lam, limit = float(problem.penalty.lam), largest_useful_lam(problem)
    if lam >= limit:
        raise InputError(
            f"`lam` = {lam:g} is too large: the zero control is already stationary. "
            f"Take lam < {limit:.4g}, or a longer horizon."
        )


def finish_sparse(
    problem: TrainingProblem,
    warm: Trained | np.ndarray,
    *,
    lumped: Lumped = Lumped(),
    fista: Fista = Fista(),
) -> SparseTrained:
    """Exact zeros from a warm start: a smooth solution, or pieces of an earlier run."""
    _require_sparse(problem)
    if isinstance(warm, Trained):
        g = warm.parameters.controls * warm.problem.dt
    else:
        g = jnp.asarray(warm)
    g, first = lumped.minimize(problem, g)
    bound, horizon = float(problem.penalty.bound), float(problem.horizon)  # type: ignore
    grid = spread(np.asarray(g), bound, horizon, problem.layers)
    controls, second = minimize_active(problem, grid, fista)
    history = np.concatenate([first, second])
    trained = Trained(problem, Parameters(controls, None), history, second[-1:], 0.0)
    return SparseTrained(trained, np.asarray(g))


def sparsify(
    warm: Trained, penalty: L1, *, fista: Fista = Fista(steps=1000, block=100)
) -> SparseTrained:
    """Replace the penalty of a trained network by `penalty` and descend to exact zeros.

    Same layers, same form (any), same misfit; FISTA starts from the controls of
    `warm`. Layers that the smooth penalty made small become the identity, bit for
    bit. A trained readout is kept as it is.
    """
    if not isinstance(penalty, L1):
        raise InputError(
            f"exact sparsity needs `penalty=L1(lam, bound)`, got "
            f"{type(penalty).__name__}; for instance L1(0.02, 200.0)."
        )
    problem = eqx.tree_at(
        lambda p: (p.penalty, p.readout),
        warm.problem,
        (penalty, warm.readout),
        is_leaf=lambda x: x is warm.problem.penalty or x is warm.problem.readout,
    )
    controls, history = fista.minimize(problem, jnp.asarray(warm.controls))
    kept = Trained(
        problem, Parameters(controls, None), history, np.asarray(history[-1:]), 0.0
    )
    return SparseTrained(kept, None)
