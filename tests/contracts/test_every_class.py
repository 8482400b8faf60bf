"""Contracts of all exported classes: examples exist, print, and travel as JSON."""

import json

import contract_examples as examples
import equinox as eqx
import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.io import from_json, to_json

ALL = [
    item
    for table in [*examples.TABLES.values(), examples.OTHERS]
    for item in examples.examples(table)
]
WITH_IDS = pytest.mark.parametrize(
    ("name", "value"), [item[:2] for item in ALL], ids=[item[2] for item in ALL]
)


def same(a, b):
    """Equal trees: structure, static parts and array bits."""
    leaves_a, tree_a = jax.tree_util.tree_flatten(eqx.filter(a, eqx.is_array))
    leaves_b, tree_b = jax.tree_util.tree_flatten(eqx.filter(b, eqx.is_array))
    return tree_a == tree_b and all(
        x.dtype == y.dtype and np.array_equal(x, y)
        for x, y in zip(leaves_a, leaves_b, strict=True)
    )


@pytest.mark.parametrize("kind", examples.INTERFACES)
def test_every_exported_class_has_an_example(kind):
    missing = set(examples.exported(kind)) - set(examples.TABLES[kind])
    assert not missing, f"add examples of {sorted(missing)} to contract_examples.py"
    for name, instances in examples.TABLES[kind].items():
        assert all(type(value).__name__ == name for value in instances)


def test_no_exported_class_escapes_the_contracts():
    known = {name for table in examples.TABLES.values() for name in table}
    known |= set(examples.OTHERS) | examples.NOT_VALUES
    assert set(examples.exported_classes()) == known


@WITH_IDS
def test_prints_on_one_line_by_its_name(name, value):
    text = repr(value)
    assert text.startswith(f"{name}(") and "\n" not in text
    assert "object at 0x" not in text


@WITH_IDS
def test_json_round_trip(name, value):
    text = json.dumps(to_json(value))
    again = from_json(json.loads(text))
    assert type(again) is type(value)
    assert same(again, value)
    assert repr(again) == repr(value)
    assert json.dumps(to_json(again)) == text


@WITH_IDS
def test_objects_are_frozen(name, value):
    field = next(iter(getattr(value, "__dataclass_fields__", {"x": None})), "x")
    with pytest.raises(AttributeError):
        setattr(value, field, 1.0)


@pytest.mark.parametrize(
    "name", ["flow", "load", "Trajectory", "os.system", "__init__"]
)
def test_a_specification_makes_values_and_runs_nothing(name, tmp_path):
    """`from_json` must not call functions, whatever their public name."""
    spec = {"type": name, "path": str(tmp_path / "x")}
    with pytest.raises(InputError, match="type"):
        from_json(spec)


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "Attention"},
        {"type": "Attention", "beta": 1.0, "colour": "red"},
        {"type": "Attention", "beta": None},
        {"type": ["Attention"]},
        {"array": [1.0, 2.0], "shape": [3], "dtype": "float64"},
        {"array": [1.0], "shape": [1]},
        {"array": [1.0], "shape": [1], "dtype": "object"},
        {"activation": "system"},
        {"scheme": "Euler"},
    ],
)
def test_bad_specifications_are_refused(spec):
    with pytest.raises(InputError):
        from_json(spec)


def test_values_without_a_public_name_are_refused():
    with pytest.raises(InputError, match="public name"):
        to_json(pf.Perceptron(np.eye(3), np.eye(3), None, lambda x: x))
