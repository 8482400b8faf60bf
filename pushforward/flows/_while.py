"""A loop of unknown length that can be differentiated forward and backward.

`lax.while_loop` has no backward rule, and the checkpointed loop of equinox no forward
one. Both are derivatives of one map: the tangent of the end is a linear map L of the
tangents of all that the loop uses. L is a primitive here (see `_two_way`): applied, it
is a loop over states with their tangents; transposed, the checkpointed loop.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import numpy as np

from pushforward.flows._two_way import Directions, linear, second_by_jvp, shapes

CHECKPOINTS = 90  # states kept for the backward pass: 4,000 steps at twice the cost


def while_loop(going: Callable, once: Callable, start: Any):
    """`lax.while_loop(going, once, start)` with derivatives forward and backward.

    Of higher order too, but for backward over backward inside a scan, where JAX drops
    rules of one's own.
    """
    start = _strong(start)
    # What the functions close over, such as a traced temperature, becomes a leaf.
    going = eqx.filter_closure_convert(going, start)
    step = eqx.filter_closure_convert(lambda x: _strong(once(x)), start)
    arrays, rules = eqx.partition((going, step, start), eqx.is_array)
    real, other = eqx.partition(arrays, eqx.is_inexact_array)
    loop = _Loop(rules, other, real)

    @jax.custom_jvp
    def end(real, other):
        going, step, start = eqx.combine(real, other, rules)
        return jax.lax.while_loop(lambda x: going(x), lambda x: step(x), start)

    @end.defjvp
    def _(primals, tangents):
        result = end(*primals)
        leaves, moved = map(jax.tree_util.tree_leaves, (primals[0], tangents[0]))
        others = jax.tree_util.tree_leaves(primals[1])
        moved = linear([*others, *leaves], moved, loop.directions(result))
        return result, _with_tangents(result, moved)

    return end(real, other)


def in_place_of(fast: Callable, slow: Callable):
    """fast(), with the derivatives of slow(): two ways to the same arrays."""
    functions = eqx.filter_closure_convert(fast), eqx.filter_closure_convert(slow)
    arrays, rules = eqx.partition(functions, eqx.is_array)
    real, other = eqx.partition(arrays, eqx.is_inexact_array)

    @jax.custom_jvp
    def result(real, other):
        return eqx.combine(real, other, rules)[0]()

    @result.defjvp
    def _(primals, tangents):
        slowly = lambda real: eqx.combine(real, primals[1], rules)[1]()  # noqa: E731
        return jax.jvp(slowly, primals[:1], tangents[:1])

    return result(real, other)


class _Loop:
    """A loop as a function of lists of arrays: the real ones, and all others."""

    def __init__(self, rules, other, real):
        self.rules = rules
        self.other: Any = jax.tree_util.tree_structure(other)
        self.real = jax.tree_util.tree_structure(real)

    def parts(self, others, real):
        """Condition, step and start."""
        other = jax.tree_util.tree_unflatten(self.other, others)
        real = jax.tree_util.tree_unflatten(self.real, real)
        return eqx.combine(real, other, self.rules)

    def split(self, fixed):
        """The arrays that have no tangents, and those that have."""
        return fixed[: self.other.num_leaves], fixed[self.other.num_leaves :]

    def directions(self, result) -> Directions:
        """The tangent of the end as a linear map of the tangents of all real arrays."""

        def hessian_with(fixed, cotangents, moved):
            # The derivative of L^T c is the Hessian of <c, end>: symmetric.
            count = len(fixed)

            def apply(both, moved):
                fixed, cotangents = both[:count], both[count:]
                others, real = self.split(fixed)
                along = lambda real: self.pushed([*others, *real], moved)  # noqa: E731
                return jax.vjp(along, real)[1](cotangents)[0]

            same = shapes(moved)
            second = second_by_jvp(apply)
            hessian = Directions(apply, apply, same, same, second, second)
            return linear([*fixed, *cotangents], moved, hessian)

        outs = shapes(_real_leaves(result))
        return Directions(
            self.pushed,
            self.pulled,
            None,
            outs,
            second_by_jvp(self.pushed),
            hessian_with,
        )

    def pushed(self, fixed, moved) -> list:
        """Tangents forward: the same loop over states with their tangents."""
        going, step, start = self.parts(*self.split(fixed))
        _, d_step, d_start = jax.tree_util.tree_unflatten(self.real, moved)
        step_real, step_other = eqx.partition(step, eqx.is_inexact_array)

        def both(state):
            (x, x_other), dx = eqx.partition(state[0], eqx.is_inexact_array), state[1]

            def once(step_real, x):
                step = eqx.combine(step_real, step_other)
                return eqx.partition(
                    step(eqx.combine(x, x_other)), eqx.is_inexact_array
                )

            y, dy, y_other = jax.jvp(once, (step_real, x), (d_step, dx), has_aux=True)
            return eqx.combine(y, y_other), dy

        _, tangents = while_loop(lambda state: going(state[0]), both, (start, d_start))
        return jax.tree_util.tree_leaves(tangents)

    def pulled(self, fixed, cotangents) -> list:
        """Cotangents backward: recursive checkpoints."""
        others, real = self.split(fixed)

        def end(real):
            going, step, start = self.parts(others, real)
            return _real_leaves(
                eqxi.while_loop(
                    going, step, start, kind="checkpointed", checkpoints=CHECKPOINTS
                )
            )

        return jax.vjp(end, real)[1](cotangents)[0]


def _strong(tree):
    """Arrays whose type no Python number may change: states keep theirs."""
    return jax.tree_util.tree_map(lambda a: jnp.asarray(a, jnp.result_type(a)), tree)


def _real_leaves(tree) -> list:
    return jax.tree_util.tree_leaves(eqx.filter(tree, eqx.is_inexact_array))


def _with_tangents(result, moved: list):
    """The tangents of the real leaves in place, nothing for whole numbers."""
    rest = iter(moved)

    def tangent(leaf):
        if eqx.is_inexact_array(leaf):
            return next(rest)
        return np.zeros(jnp.shape(leaf), jax.dtypes.float0)

    return jax.tree_util.tree_map(tangent, result)
