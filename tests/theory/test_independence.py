"""Theory is evidence only if it shares no code with the simulator."""

import ast
import sys
from pathlib import Path

import pytest

import pushforward.errors

FOLDER = Path(pushforward.errors.__file__).parent / "theory"
# shapes are said in jaxtyping, which computes nothing
ALLOWED = {"numpy", "scipy", "jaxtyping"} | set(sys.stdlib_module_names)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "pushforward.theory" if node.level <= 1 else "parent"


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda p: p.name)
def test_theory_imports_no_simulator(path):
    for name in imported(path):
        own = name == "pushforward.errors" or name.startswith("pushforward.theory")
        assert own or name.split(".")[0] in ALLOWED, f"{path.name} imports {name}"
