"""Every Python block of the README and the docs runs, top to bottom, file by file."""

import pathlib
import re

import jax
import pytest

ROOT = pathlib.Path(__file__).parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S)


@pytest.mark.parametrize(
    "path", [f for f in FILES if blocks(f)], ids=lambda path: path.name
)
def test_blocks_run_and_print_what_they_say(path, tmp_path, monkeypatch, capsys):
    """A comment after `print(...)` states what is printed."""
    monkeypatch.chdir(tmp_path)
    space: dict = {"__name__": "__main__"}  # as in a script or a notebook
    for block in blocks(path):
        with jax.numpy_dtype_promotion("standard"):  # as JAX is for a reader
            exec(compile(block, str(path), "exec"), space)
        printed = capsys.readouterr().out
        for promise in re.findall(r"^print\(.*\)  # (.*)$", block, re.M):
            assert promise in printed, f"{promise!r} was promised, got {printed!r}"
