"""What import does to JAX's precision, seen from fresh processes."""

import os
import subprocess
import sys

import pytest


def run(code: str, switch: str | None) -> str:
    """What `code` prints where JAX_ENABLE_X64 is `switch`, or not set."""
    env = {k: v for k, v in os.environ.items() if k != "JAX_ENABLE_X64"}
    if switch is not None:
        env["JAX_ENABLE_X64"] = switch
    command = [sys.executable, "-W", "error::UserWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("switch, on", [(None, True), ("1", True), ("0", False)])
def test_import_turns_on_float64_unless_the_user_has_decided(switch, on):
    code = "import jax, pushforward; print(jax.config.jax_enable_x64)"
    assert run(code, switch) == str(on)


SINGLE = """
import jax, numpy as np, pushforward as pf
from pushforward.errors import InputError

mu = pf.Particles.uniform(pf.Sphere(3), 4, key=jax.random.key(0))
run = pf.flow(pf.Attention(4.0), mu, 1.0, save=2, store="run")
print(run.final.points.dtype, run.outcome.kind)
print(np.asarray(pf.load("run").final.points).tolist() == run.final.points.tolist())
for attempt in (
    lambda: pf.flow(pf.Attention(4.0), mu, 1.0, merge=pf.Merge()),
    lambda: mu.astype("float64"),
):
    try:
        attempt()
    except InputError as error:
        print("JAX_ENABLE_X64" in str(error))
"""


def test_without_float64_the_library_works_in_float32_or_names_the_switch(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    lines = run(SINGLE, "0").splitlines()
    assert lines == ["float32 reached t1", "True", "True", "True"]
