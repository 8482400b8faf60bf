"""Nothing is imported that exists on one system only, unless it is guarded."""

import ast
import pathlib

import pytest

import pushforward

ROOT = pathlib.Path(pushforward.__file__).parent
ONE_SYSTEM = set(
    "fcntl pwd grp spwd termios tty pty resource posix syslog crypt readline curses "
    "msvcrt winreg winsound nt _winapi win32api win32file pywintypes".split()
)


def unguarded(tree: ast.AST) -> set[str]:
    """The modules that are imported whatever the system."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Try) and any(map(_catches, node.handlers)):
            for part in (*node.handlers, *node.orelse, *node.finalbody):
                found |= unguarded(part)
        elif not (isinstance(node, ast.If) and "platform" in ast.dump(node.test)):
            found |= unguarded(node)
    return found


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.dump(handler.type)
    return "ImportError" in caught or "ModuleNotFoundError" in caught


@pytest.mark.parametrize(
    ("code", "caught"),
    [
        ("import fcntl", True),
        ("def f():\n    from msvcrt import locking", True),
        ("if True:\n    import os, pwd", True),
        ("try:\n    import fcntl\nexcept ImportError:\n    fcntl = None", False),
        ("try:\n    pass\nexcept ImportError:\n    import fcntl", True),
        ("if sys.platform == 'win32':\n    import msvcrt", False),
    ],
)
def test_the_check_sees_what_it_should(code, caught):
    assert bool(unguarded(ast.parse(code)) & ONE_SYSTEM) == caught


def test_the_package_imports_what_every_system_has():
    for path in sorted(ROOT.rglob("*.py")):
        bad = unguarded(ast.parse(path.read_text())) & ONE_SYSTEM
        assert not bad, f"{path.relative_to(ROOT)} imports {sorted(bad)}"
