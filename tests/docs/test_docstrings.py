"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import jax
import jax.numpy as jnp
import pytest

import pushforward as pf

OPTIONAL = ("pushforward.web",)


def modules():
    for info in pkgutil.walk_packages(pf.__path__, "pushforward."):
        if not info.name.startswith(OPTIONAL) and ".studies." not in info.name:
            yield info.name


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = {name: getattr(pf, name) for name in pf.public_names()}
    for module_name in modules():
        module = importlib.import_module(module_name)
        scope = names | {"jax": jax, "jnp": jnp, "pf": pf} | vars(module)
        for test in finder.find(module, module_name, globs=scope):
            if test.examples:
                yield pytest.param(test, id=test.name)


@pytest.mark.parametrize("example", list(examples()))
def test_example(example):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    with jax.numpy_dtype_promotion("standard"):  # as JAX is for a reader
        result = doctest.DocTestRunner(optionflags=options).run(example)
    assert result.failed == 0
