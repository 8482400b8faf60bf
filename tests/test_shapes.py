"""Annotations are executed here, shapes included, and the core has them."""

import ast
import importlib
import pathlib
import pkgutil
import re

import jax.numpy as jnp
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.functionals import exact_gelu

CORE = "spaces measures sums fields functionals flows observables io".split()
PACKAGE = pathlib.Path(pf.__file__).parent
SHAPED = re.compile(r"\b(Float|Int|Bool|Complex|Real|Num|Shaped|UInt)\[|\bNumber\b")
BARE = re.compile(r"\b(Array|ndarray|ArrayLike)\b")


def public_parameters(room: str):
    """(file: function(parameter), its annotation or None) for all that is public."""

    def functions(body, prefix=""):
        for node in body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield from functions(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                special = node.name in ("__init__", "__call__")
                if special or not node.name.startswith("_"):
                    yield prefix + node.name, node.args

    for path in sorted((PACKAGE / room).rglob("*.py")):
        for name, args in functions(ast.parse(path.read_text()).body):
            for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
                if arg.arg not in ("self", "cls"):
                    where = f"{path.relative_to(PACKAGE)}: {name}({arg.arg})"
                    kind = arg.annotation and ast.unparse(arg.annotation)
                    # arrays by name have whatever shape their name says
                    yield where, kind and kind.replace("dict[str, np.ndarray]", "")


@pytest.mark.parametrize("room", CORE)
def test_public_arrays_of_the_core_say_their_shape(room):
    bare = [
        f"{where}: {kind}"
        for where, kind in public_parameters(room)
        if kind is None
        or (BARE.search(kind) and not SHAPED.search(kind) and "Callable" not in kind)
    ]
    assert not bare, "\n".join(bare)


def test_every_module_is_checked():
    names = [m.name for m in pkgutil.iter_modules(pf.__path__, "pushforward.")]
    modules = [pf, *map(importlib.import_module, names)]
    unchecked = [
        module.__name__
        for module in modules
        if not type(module.__loader__).__module__.startswith("jaxtyping")
    ]
    assert len(modules) > 25 and not unchecked


def test_a_wrong_shape_is_refused():
    circle = pf.Circle()
    assert circle.angles(jnp.ones((3, 2))).shape == (3,)
    with pytest.raises(TypeError, match="x"):
        circle.angles(jnp.ones((3, 3)))
    with pytest.raises(TypeError):  # x and v of unlike length
        pf.Sphere(3).tangent(jnp.ones((2, 3)), jnp.ones((4, 3)))


def test_a_wrong_kind_is_refused():
    with pytest.raises(TypeError):
        exact_gelu(jnp.arange(3))


def test_wrong_input_on_purpose_meets_the_words_of_the_library():
    with pytest.raises(InputError, match="`d` must be"):
        pf.Sphere("three")
    with pytest.raises(TypeError):  # and only there
        pf.Sphere("three")


def test_dtypes_are_never_promoted_in_silence():
    with pytest.raises(ValueError, match="promotion"):
        jnp.ones(2, "float32") * jnp.ones(2, "float64")
