"""The house in order: import direction, sizes, silence, and a light front door."""

import ast
import io
import pathlib
import subprocess
import sys
import tokenize

import pytest

import pushforward

ROOT = pathlib.Path(pushforward.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# design.md section 2, lowest first; folders of one row do not import each other.
ROWS = [
    {"spaces", "theory"},
    {"measures"},
    {"sums"},
    {"functionals"},
    {"fields", "observables", "transport"},
    {"flows"},
    {"control", "statistics", "probe"},
    {"plot", "io"},
    {"studies"},
    {"sweeps"},
    {"cli", "web"},
]
RANK = {folder: rank for rank, row in enumerate(ROWS) for folder in row}
# files of the package itself
EVERYONE = {
    "errors",
    "_array_files",
    "_cache_folder",
    "_checks",
    "_compiled",
    "_printing",
    "_references",
    "_seeds",
    "",
}
# Late imports inside functions: users expect `Trajectory.save`, `Trajectory.view` and
# `store=path`; `pushforward explore` opens the page.
EXCEPTIONS = {
    ("cli/_explore.py", "web"),
    ("flows/_trajectory.py", "io"),
    ("flows/_trajectory.py", "web"),
    ("flows/_hosted.py", "io"),
}
MAX_LINES, MAX_CODE = 300, 40


def relative(path):
    return path.relative_to(ROOT).as_posix()


def imported_folders(tree):
    """(folder of pushforward, whether at module level) of every import."""
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
            if node.module == "pushforward":
                names = [f"pushforward.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "pushforward":
                yield (parts[1] if len(parts) > 1 else ""), id(node) in top


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_imports_point_downward(path):
    folder = path.relative_to(ROOT).parts[0]
    for target, at_top in imported_folders(ast.parse(path.read_text())):
        if folder.endswith(".py"):  # the files of the package itself are the ground
            lazy = folder == "__init__.py"  # its imports are for type checkers only
            assert lazy or target in EVERYONE, f"{folder} imports {target}"
            continue
        if target in EVERYONE or target == folder:
            continue
        if (relative(path), target) in EXCEPTIONS and not at_top:
            continue
        assert folder in RANK, f"{folder} has no place in the order of design.md"
        assert target in RANK, f"{relative(path)} imports unknown {target}"
        assert folder != "theory", f"theory imports {target}: it must stand alone"
        allowed = target == "theory" or RANK[target] < RANK[folder]
        assert allowed, f"{relative(path)} imports {target}"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_relative_imports_are_not_used(path):
    for node in ast.walk(ast.parse(path.read_text())):
        assert not (isinstance(node, ast.ImportFrom) and node.level), relative(path)


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_modules_are_small(path):
    lines = path.read_text().splitlines()
    if len(lines) > MAX_LINES:
        # The first line says what the module is; past the limit it also says why.
        assert "lines" in lines[0], (
            f"{relative(path)} has {len(lines)} lines and its first line gives no "
            "reason (write: N lines because ...)"
        )


def lines_of_code(path):
    """The numbers of lines that hold code: no comment, no blank, no docstring."""
    source = path.read_text()
    skip = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    )
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skip:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines.difference_update(range(first.lineno, first.end_lineno + 1))
    return lines


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_functions_are_short(path):
    code = lines_of_code(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = range(node.body[0].lineno, node.end_lineno + 1)
            length = len(code.intersection(body))
            assert length <= MAX_CODE, f"{relative(path)}: {node.name} has {length}"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_the_library_does_not_print(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"{relative(path)}:{node.lineno}"


def test_import_is_light():
    heavy = ["diffrax", "matplotlib", "zarr", "scipy", "pandas", "ot", "ott", "torch"]
    # Counted beyond what jax itself brings (jax imports a part of scipy).
    code = (
        "import sys, jax; before = set(sys.modules); import pushforward; "
        f"print([m for m in {heavy!r} if m in sys.modules and m not in before])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_type_checkers_see_exactly_the_public_names():
    tree = ast.parse((ROOT / "__init__.py").read_text())
    guard = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    )
    seen = {}
    for node in guard.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name
            seen[alias.name] = node.module.removeprefix("pushforward.")
    assert seen == pushforward._HOME


@pytest.mark.parametrize("name", sorted(pushforward._HOME))
def test_public_names_exist_where_they_are_said_to_live(name):
    value = getattr(pushforward, name)
    home = f"pushforward.{pushforward._HOME[name]}"
    assert f"{value.__module__}.".startswith(f"{home}.")
    assert value.__doc__
    assert name in dir(pushforward)
