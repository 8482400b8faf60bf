"""Exact zeros on the grid a network was trained on, for forms that cannot be lumped."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from pushforward.control.neural.penalties import L1
from pushforward.control.neural.problem import Parameters
from pushforward.control.neural.trained import Trained
from pushforward.control.sparsity.fista import Fista
from pushforward.control.sparsity.training import SparseTrained
from pushforward.errors import InputError


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
