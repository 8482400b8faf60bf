"""Fields, noises, rules and functions of the user's own: stored, loaded, resumed."""

import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import own_classes as own
import pytest

import pushforward as pf
from pushforward.errors import InputError, StoreError
from pushforward.io import Unknown, from_json, resumption, to_json

MAIN = "__main__"
TIMES = dict(save=[0.2, 0.4, 0.6], solver=pf.Heun(0.1))


@pytest.fixture
def mu(sine):
    return pf.Particles(pf.Sphere(3), sine(8, 3))


def again(value, classes=own.CLASSES):
    return from_json(json.loads(json.dumps(to_json(value))), classes=classes)


def leaves(value):
    return jax.tree_util.tree_leaves(value)


@pytest.mark.parametrize(
    "value",
    [
        own.pull(),
        own.Doubled(1.5),
        own.Doubled(np.float32(0.1), (1, 3)),
        own.Shake(jnp.asarray(0.3)),
        own.Above(0.2),
        pf.Perceptron(np.eye(3), np.eye(3), None, own.relu),
        pf.fields.Background(pf.Attention(2.0), np.eye(3)[:2], [0.3, 0.7]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_comes_back_is_what_went(value):
    back = again(value)
    assert type(back) is type(value)
    assert jax.tree_util.tree_structure(back) == jax.tree_util.tree_structure(value)
    for a, b in zip(leaves(back), leaves(value), strict=True):
        assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(a, b)
    assert to_json(back) == to_json(value)


def test_functions_go_by_their_name():
    assert again(own.height) is own.height
    assert to_json(own.relu) == {"function": "own_classes:relu"}
    assert to_json(jax.nn.relu) == {"activation": "relu"}


def run(mu, **options):
    return pf.flow(
        own.pull(),
        mu,
        0.6,
        noise=own.Shake(jnp.asarray(0.2)),
        key=jax.random.key(1),
        observe={"height": own.height},
        **TIMES,
        **options,
    )


def stop(t, mu, steps):
    if t > 0.3:
        raise KeyboardInterrupt


def same(a, b):
    for name in ("times", "points", "weights"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.observed["height"], b.observed["height"])
    assert a.outcome == b.outcome and int(a.steps) == int(b.steps)


def test_a_field_and_a_noise_are_resumed_bitwise(mu, tmp_path):
    whole = run(mu)
    run(mu, store=tmp_path / "run", progress=stop)
    part = pf.load(tmp_path / "run", classes=own.CLASSES)
    assert len(part) == 2 and isinstance(part.field.fields[0], own.Pull)
    with pytest.raises(StoreError, match=r"own_classes:Pull.*classes=\[Pull\]"):
        resumption(tmp_path / "run")
    with pytest.raises(StoreError, match=r"classes=\[Shake\]"):
        resumption(tmp_path / "run", classes=[own.Pull, own.bent])
    rest = resumption(tmp_path / "run", classes=own.CLASSES).flow()
    same(rest, whole)
    same(pf.load(tmp_path / "run", classes=own.CLASSES), whole)


def test_other_numbers_in_a_class_are_another_run(mu, tmp_path):
    pf.flow(own.Doubled(1.0), mu, 0.2, save=2, store=tmp_path / "run")
    with pytest.raises(StoreError, match="another run"):
        pf.flow(own.Doubled(1.1), mu, 0.2, save=2, store=tmp_path / "run")


def test_a_rule_with_a_name_is_taken_up_again(mu, tmp_path):
    options = dict(save=3, until=own.Above(0.9))
    field = own.Pull(own.NORTH, jnp.asarray(1.0), jnp.exp)
    first = pf.flow(field, mu, 20.0, **options, store=tmp_path / "run")
    assert first.outcome.kind == "until"
    second = pf.flow(field, mu, 20.0, **options, store=tmp_path / "run")
    np.testing.assert_array_equal(first.points, second.points)
    assert first.outcome == second.outcome


def test_an_unknown_class_opens_its_numbers_and_says_how(mu, tmp_path):
    whole = pf.flow(own.Pull(own.NORTH, jnp.asarray(0.7), own.bent), mu, 0.6, **TIMES)
    whole.save(tmp_path / "run")
    read = pf.load(tmp_path / "run")
    np.testing.assert_array_equal(read.points, whole.points)
    assert isinstance(read.field, Unknown)
    said = repr(read.field)
    assert "own_classes:Pull" in said and "strength=0.7" in said
    with pytest.raises(InputError, match=r"pf.load\(path, classes=\[Pull\]\)"):
        pf.flow(read.field, mu, 0.1, save=2)
    named = pf.load(tmp_path / "run", classes=[own.Pull, own.bent])
    assert isinstance(named.field, own.Pull) and named.field.bend is own.bent


def test_an_unknown_class_inside_a_sum(mu, tmp_path):
    pf.flow(own.pull(), mu, 0.2, save=2).save(tmp_path / "run")
    assert "own_classes:Pull' in Sum" in repr(pf.load(tmp_path / "run").field)


def test_a_field_without_a_name_keeps_its_numbers(mu, tmp_path):
    field = pf.Perceptron(np.eye(3), np.eye(3), None, lambda x: x)
    whole = pf.flow(field, mu, 0.2, save=2)
    whole.save(tmp_path / "run")
    read = pf.load(tmp_path / "run")
    np.testing.assert_array_equal(read.points, whole.points)
    assert isinstance(read.field, Unknown)
    with pytest.raises(InputError, match="Define it by `def`"):
        pf.flow(field, mu, 0.2, save=2, store=tmp_path / "other")


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "builtins:eval",
        "subprocess:Popen",
        "pushforward.io:load",
        "pushforward.flows:flow",
        "pushforward.errors:__builtins__",
        "antigravity:fly",
        "",
        None,
        ["os:system"],
    ],
)
@pytest.mark.parametrize("form", ["class", "function"])
def test_a_hostile_name_runs_and_imports_nothing(name, form, tmp_path):
    before = set(sys.modules)
    target = tmp_path / "touched"
    spec = {form: name, "arguments": {"command": f"touch {target}"}}
    for value in (spec, {"type": "Sum", "fields": [spec]}, [spec]):
        with pytest.raises(InputError, match="nothing is imported"):
            from_json(value, classes=own.CLASSES)
    assert not target.exists()
    assert set(sys.modules) - before <= {
        n for n in sys.modules if n.startswith("pushforward")
    }


def test_a_name_must_mean_what_it_is_used_for():
    with pytest.raises(InputError, match="not a class"):
        from_json({"class": "own_classes:height", "arguments": {}}, classes=own.CLASSES)
    with pytest.raises(InputError, match="not a function"):
        from_json({"function": "own_classes:Pull"}, classes=own.CLASSES)
    with pytest.raises(InputError, match="no field 'colour'"):
        spec = {"class": "own_classes:Doubled", "fields": {"colour": 1}}
        from_json(spec, classes=own.CLASSES)
    with pytest.raises(InputError, match="`classes`"):
        from_json({}, classes=["os:system"])


SCRIPT = """
import sys
import jax.numpy as jnp
import pushforward as pf
from pushforward.fields import AbstractField, Drive


class Lean(AbstractField):
    def drive(self, t, mu):
        return Drive(jnp.ones_like(mu.points))


names = [Lean, Lean().drive.__func__]
print(*map(pf.io.qualified_name, names))
"""


@pytest.mark.parametrize(
    "command", [["lean.py"], ["-m", "lean"]], ids=["script", "module"]
)
def test_a_class_of_a_script_has_the_name_it_is_imported_by(command, tmp_path):
    """So that a run is loaded elsewhere by `from lean import Lean`."""
    (tmp_path / "lean.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(pathlib.Path(pf.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["lean:Lean", "lean:Lean.drive"]


def test_a_class_of_a_notebook_may_become_a_module():
    written = json.loads(json.dumps(to_json(own.pull())).replace("own_classes", MAIN))
    assert isinstance(from_json(written, own.CLASSES).fields[0], own.Pull)

    class Other:
        pass

    Other.__qualname__ = "Pull"
    with pytest.raises(InputError, match="nothing is imported"):
        from_json(written, [*own.CLASSES, Other])


def test_a_noise_that_says_nothing_of_densities_is_refused_there():
    """Only the noise knows what it is without particles: it is never dropped."""
    shake = own.Shake(jnp.asarray(0.2))
    rho = pf.Density.uniform(pf.Circle(), 8)
    law = pf.Gaussian([0.0], [[1.0]])
    for noise in (shake, shake + pf.Brownian(0.1), pf.CommonNoise(0.1) + shake):
        for mu, field in ((rho, pf.Attention(1.0)), (law, pf.LinearAttention())):
            with pytest.raises(InputError, match="`noise` must have a form"):
                pf.flow(field, mu, 0.1, noise=noise, key=jax.random.key(0))


def test_local_classes_work_as_far_as_their_name_says(mu, tmp_path):
    class Local(own.AbstractField):
        def drive(self, t, mu):
            return own.Drive(jnp.ones_like(mu.points))

    pf.flow(Local(), mu, 0.2, save=2, store=tmp_path / "run")
    assert "<locals>.Local" in repr(pf.load(tmp_path / "run").field)
    assert isinstance(pf.load(tmp_path / "run", classes=[Local]).field, Local)
