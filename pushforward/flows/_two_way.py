"""A linear map given by two programs: one applies it, the other its transpose.

JAX derives the transpose from the program that applies a map, which it cannot do for a
loop of unknown length. This primitive is told both.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
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
        return Directions(
            self.backward,
            self.forward,
            self.outs,
            self.ins,  # type: ignore[arg-type]
            self.second_back,
            self.second,
        )

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
