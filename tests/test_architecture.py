"""The house in order: import direction, sizes, silence, and a light front door."""

import ast
import functools
import io
import keyword
import pathlib
import re
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
    {"experiments"},
    {"studies"},
    {"sweeps"},
    {"web"},
    {"cli"},
]
RANK = {folder: rank for rank, row in enumerate(ROWS) for folder in row}
# the files of the package itself stand below all folders
GROUND = {path.stem for path in ROOT.glob("*.py")} | {""}
MAX_LINES, MAX_CODE = 300, 40


def relative(path):
    return path.relative_to(ROOT).as_posix()


def imports(tree):
    """(name in this module, full name) of everything that is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import a.b` binds a, and says a.b
                yield alias.asname or alias.name.split(".")[0], alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def chain(node):
    """The names in a.b.c, or nothing for what does not begin with a name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else []


def uses(source):
    """Every name of the package that a module imports or reaches through a dot.

    `pf.flow`, `pushforward.io.load` and `plot.summary` are uses like imports are.
    """
    tree = ast.parse(source)
    found = {full for _, full in imports(tree)}
    known = {}
    for name, full in imports(tree):
        known[name] = name if full.startswith(f"{name}.") else full
    for node in ast.walk(tree):
        names = chain(node)
        if len(names) > 1 and names[0] in known:
            found.add(".".join([known[names[0]], *names[1:]]))
    return sorted(name for name in found if name.split(".")[0] == "pushforward")


def folder_of(name):
    """The folder in which a name of the package lives: pf.flow lives in flows."""
    parts = name.split(".")
    first = parts[1] if len(parts) > 1 else ""
    return pushforward._HOME.get(first, first).split(".")[0]


def misplaced(folder, source):
    """The uses in a module of `folder` that do not point downward."""
    for name in uses(source):
        target = folder_of(name)
        if target in GROUND or target == folder or target.startswith("__"):
            continue
        if target in vars(pushforward) and target not in RANK:
            continue  # `pf.public_names` and the like: of the package itself
        below = target in RANK and (target == "theory" or RANK[target] < RANK[folder])
        if folder == "theory" or not below:
            yield name


def private(folder, source):
    """The uses of what another folder keeps to itself."""
    for name in uses(source):
        _, *parts = name.split(".")
        inside = any(p.startswith("_") and not p.startswith("__") for p in parts[1:])
        if inside and folder_of(name) != folder:
            yield name


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_imports_point_downward(path):
    folder = path.relative_to(ROOT).parts[0]
    if folder == "__init__.py":  # its imports are for type checkers only
        return
    if folder.endswith(".py"):
        known = GROUND | {"__version__"}
        above = [n for n in uses(path.read_text()) if folder_of(n) not in known]
        assert not above, f"{folder} stands below all folders and uses {above}"
        return
    assert folder in RANK, f"{folder} has no place in the order of design.md"
    assert not [*misplaced(folder, path.read_text())]


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_what_is_private_stays_in_its_folder(path):
    folder = path.relative_to(ROOT).parts[0]
    assert not [*private(folder, path.read_text())]


@pytest.mark.parametrize(
    "source, bad",
    [
        ("import pushforward as pf\ndef f(x):\n    pf.flow(x)", "pushforward.flow"),
        ("import pushforward\npushforward.io.load", "pushforward.io.load"),
        ("import pushforward.io\npushforward.plot.save", "pushforward.plot.save"),
        ("from pushforward import load", "pushforward.load"),
        ("def f():\n    from pushforward import web", "pushforward.web"),
        ("from pushforward.fields import Sum", "pushforward.fields.Sum"),
        ("import pushforward as pf\nx: pf.Sum", "pushforward.Sum"),
    ],
)
def test_a_use_that_points_upward_is_seen(source, bad):
    assert bad in misplaced("measures", source)
    assert not [*misplaced("measures", "import pushforward as pf\npf.Sphere(3)")]


@pytest.mark.parametrize(
    "source",
    [
        "from pushforward.plot.runs._globe import beads",
        "import pushforward as pf\npf.plot._beads.beads",
        "from pushforward import plot\nplot._beads.beads()",
        "from pushforward.flows import _flow",
    ],
)
def test_a_use_of_what_is_private_is_seen(source):
    assert [*private("studies", source)]
    assert not [*private("plot", source.replace("flows", "plot"))]


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


@functools.cache
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


@pytest.mark.parametrize("room", sorted(RANK))
def test_a_room_says_which_file_to_open_first(room):
    words = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text()))
    files = re.findall(r"`([\w/]+\.py)`", words)
    there = [name for name in files if (ROOT / room / name).exists()]
    if room == "studies":  # whose text is how to write one, with its files
        assert there
        return
    assert there == files != []
    assert len(words.splitlines()) <= 6  # five and a blank one


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


def test_a_picture_of_a_run_loads_no_other_room():
    """Nobody who draws a flow waits for tables, transport, models or a server."""
    rooms = ["statistics", "transport", "probe", "web", "studies", "control", "sweeps"]
    code = (
        "import sys, numpy as np, pushforward as pf; pf.plot.summary; "
        "pf.plot.sphere(np.eye(3)); "
        f"print([m for m in {rooms!r} if f'pushforward.{{m}}' in sys.modules])"
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


ALIKE = 12  # lines: from here on two places are one idea written twice
DISTINCT, WORDS = 9, 70  # of such lines; below that they are a table or a signature


def shapes(path):
    """Lines of code with their numbers; names, strings and numbers are forgotten.

    Docstrings, imports and lone punctuation are passed over.
    """
    source, imported = path.read_text(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported.update(range(node.lineno, node.end_lineno + 1))
    code = lines_of_code(path) - imported
    rows = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kept = token.type == tokenize.OP or keyword.iskeyword(token.string)
        if token.start[0] in code and token.string.strip():
            rows.setdefault(token.start[0], []).append(token.string if kept else "x")
    lines = ((line, " ".join(words)) for line, words in rows.items())
    return [(line, shape) for line, shape in lines if re.search(r"\w", shape)]


def test_no_two_places_are_alike():
    seen, alike = {}, []
    for path in MODULES:
        rows = shapes(path)
        for i in range(len(rows) - ALIKE + 1):
            (first, _), *_ = window = rows[i : i + ALIKE]
            key = tuple(shape for _, shape in window)
            if len({*key}) < DISTINCT or len(" ".join(key).split()) < WORDS:
                continue
            place = f"{relative(path)}:{first}"
            if seen.setdefault(key, place) != place:
                alike.append(f"{place} is like {seen[key]}")
    assert not alike, alike


def test_no_two_files_of_tests_share_a_name():
    """Python takes them for one module, and pytest then collects only the first."""
    names = [p.name for p in pathlib.Path(__file__).parent.rglob("*.py")]
    twice = {name for name in names if names.count(name) > 1}
    assert twice <= {"conftest.py", "__init__.py"}
