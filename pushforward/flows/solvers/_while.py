"""A loop of unknown length that can be differentiated forward and backward.

`lax.while_loop` has no backward rule, and the checkpointed loop of equinox no forward
one. Both are derivatives of one map: the tangent of the end is a linear map L of the
tangents of all it uses. L is a primitive: applied, a loop over states with their
tangents; transposed, the checkpointed loop.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array


@dataclasses.dataclass(frozen=True, eq=False)
class Directions:
    """A linear map L = L(fixed) of lists of arrays.

    - `forward(fixed, x)` is L x and `backward(fixed, y)` is L^T y.
    - `ins`, `outs`: shapes of x and L x; `ins` None means as given.
    - `second(fixed, x, d)`: the derivative of L x where the real arrays among `fixed`
      move by d; `second_back` that of L^T y.
    """

    forward: Callable
    backward: Callable
    ins: Sequence[jax.ShapeDtypeStruct] | None
    outs: Sequence[jax.ShapeDtypeStruct]
    second: Callable
    second_back: Callable

    def transposed(self) -> "Directions":
        """L^T."""
        there = (self.backward, self.forward, self.outs, self.ins)
        return Directions(*there, self.second_back, self.second)  # type: ignore

    def batched(self, fixed: Any, axes: list, size: int) -> "Directions":
        """Many such maps at once, along the first axis of x and L x."""
        real = [axis for axis, a in zip(axes, fixed, strict=True) if is_real(a)]
        more = lambda shapes: [  # noqa: E731
            jax.ShapeDtypeStruct((size, *s.shape), s.dtype) for s in shapes
        ]
        map_x = lambda f: jax.vmap(f, (axes, 0), 0, axis_size=size)  # noqa: E731
        map_d = lambda f: jax.vmap(f, (axes, 0, real), 0, axis_size=size)  # noqa: E731
        return Directions(
            map_x(self.forward),
            map_x(self.backward),
            more(self.ins),
            more(self.outs),
            map_d(self.second),
            map_d(self.second_back),
        )


def linear(fixed: list, x: list, directions: Directions) -> list[Array]:
    """L(fixed) x."""
    if directions.ins is None:
        directions = dataclasses.replace(directions, ins=shapes(x))
    return _linear.bind(*fixed, *x, directions=directions, count=len(fixed))


def shapes(arrays: list) -> list[jax.ShapeDtypeStruct]:
    """Shapes and types of arrays."""
    return [jax.ShapeDtypeStruct(jnp.shape(a), jnp.result_type(a)) for a in arrays]


def is_real(a: Any) -> bool:
    """Whether an array has tangents."""
    return jnp.issubdtype(jnp.result_type(a), jnp.inexact)


def second_by_jvp(forward: Callable) -> Callable:
    """The derivative in what is fixed, of a program that JAX can differentiate."""

    def second(fixed: list, x: list, d: list) -> list:
        def moved(reals):
            rest = iter(reals)
            return forward([next(rest) if is_real(a) else a for a in fixed], x)

        return jax.jvp(moved, ([a for a in fixed if is_real(a)],), (d,))[1]

    return second


_linear = Primitive("linear_map_with_transpose")
_linear.multiple_results = True


@_linear.def_impl
def _applied(*arrays, directions: Directions, count: int):
    return directions.forward(list(arrays[:count]), list(arrays[count:]))


@_linear.def_abstract_eval
def _shapes_out(*_, directions: Directions, count: int):
    return [jax.core.ShapedArray(s.shape, s.dtype) for s in directions.outs]


def _transposed(cotangents, *arrays, directions: Directions, count: int):
    fixed, x = arrays[:count], arrays[count:]
    filled = [ad.instantiate_zeros(c) for c in cotangents]
    pulled = linear(list(fixed), filled, directions.transposed())
    pairs = zip(x, pulled, strict=True)
    # What is known and not asked for has no cotangent.
    return [None] * count + [c if ad.is_undefined_primal(a) else None for a, c in pairs]


def _moved(primals, tangents, *, directions: Directions, count: int):
    fixed, x = list(primals[:count]), list(primals[count:])
    d_fixed, dx = tangents[:count], map(ad.instantiate_zeros, tangents[count:])
    moved = linear(fixed, list(dx), directions)
    if any(type(d) is not ad.Zero for d in d_fixed):
        pairs = zip(fixed, d_fixed, strict=True)
        d = [ad.instantiate_zeros(d) for a, d in pairs if is_real(a)]
        second = directions.second(fixed, x, d)
        moved = [a + b for a, b in zip(moved, second, strict=True)]
    return linear(fixed, x, directions), moved


def _many(arrays, axes, *, directions: Directions, count: int):
    mapped = [(a, k) for a, k in zip(arrays, axes, strict=True) if k is not None]
    size = mapped[0][0].shape[mapped[0][1]]
    pairs = zip(arrays[count:], axes[count:], strict=True)
    x = [batching.bdim_at_front(a, k, size) for a, k in pairs]
    fixed = list(arrays[:count])
    together = directions.batched(fixed, list(axes[:count]), size)
    out = linear(fixed, x, together)
    return out, [0] * len(out)


ad.primitive_transposes[_linear] = _transposed
ad.primitive_jvps[_linear] = _moved
batching.primitive_batchers[_linear] = _many
mlir.register_lowering(_linear, mlir.lower_fun(_applied, multiple_results=True))


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
