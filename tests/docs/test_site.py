"""The site: stored results decide themselves, and links lead somewhere."""

import importlib
import json
import pathlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

from pushforward import studies
from pushforward._references import PAPERS

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
GENERATED = ("atlas/", "reference/")
STORED = sorted((DOCS / "results").glob("*.json"))
NOTES = re.compile(
    r"\b([A-Z]{1,2}\d*-O\d+|oracle \d+)\b"
)  # codes that nobody can look up


@pytest.fixture
def atlas(monkeypatch):
    """The module that writes the atlas."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("atlas_pages")


def test_every_study_has_stored_results():
    """`make atlas STUDIES=NAME` makes them."""
    stored = {path.stem for path in STORED}
    assert stored == set(studies.names())


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_results_follow_from_their_numbers(path):
    """Claims that survive a prediction times 1.5 are inequalities that say how far."""
    rows = json.loads(path.read_text())
    functions = studies.part(path.stem, "claims").CLAIMS
    assert [row["function"] for row in rows] == [f.__name__ for f in functions]
    for row in rows:
        assert studies.decide(row) is row["holds"] is not False, row
        assert row["reference"].split(",")[0] in PAPERS, row
        assert not NOTES.search(row["reference"] + row["claim"]), row
        if row["relation"] != "open" and studies.decide(
            row | {"predicted": 1.5 * row["predicted"]}
        ):
            assert row["relation"] in ("<=", ">=", "refuted"), row
            assert row["slack"] == studies.slack(row) >= 0, row


def test_results_build_on_statements_that_are_measured(atlas):
    """Both ends of every edge are places of the atlas, and nothing goes in a circle."""
    graph = importlib.import_module("atlas_graph")
    places = {
        (path.stem, row["reference"].partition(", ")[2] or "The paper")
        for path in STORED
        for row in json.loads(path.read_text())
    }
    for child, place, parent, root, how in graph.EDGES:
        for study, end in ((child, place), (parent, root)):
            assert (study, end) in places, (study, end)
        assert how and child != parent
    columns = graph._columns()  # ends only where there is no circle
    where = {study: x for x, column in enumerate(columns) for study in column}
    assert all(where[edge[0]] > where[edge[2]] for edge in graph.EDGES)
    assert graph.picture().count("<rect") == len(where)


def test_the_gallery_has_a_picture_of_every_figure():
    """Small copies are kept, so that a build without `make atlas` shows all of them."""
    kept = {path.stem for path in (DOCS / "figures").glob("*.webp")}
    drawn = {
        f"{name}-{label}"
        for name in studies.names()
        for label in studies.part(name, "figures").FIGURES
    }
    assert kept == drawn, kept ^ drawn


@pytest.mark.parametrize(
    "page", sorted(DOCS.glob("tutorial-*.md")), ids=lambda page: page.stem
)
def test_a_tutorial_shows_what_its_lines_draw(page):
    """`python docs/images/make.py` draws it; each picture stands below its block."""
    parts = re.split(r"^```python\n(.*?)^```", page.read_text(), flags=re.M | re.S)
    shown = 0
    for block, after in zip(parts[1::2], parts[2::2], strict=True):
        if re.search("^picture = ", block, re.M):
            shown += 1
            assert f"(images/{page.stem}-{shown}.webp)" in after.split("```")[0]
    assert shown and shown == len(list((DOCS / "images").glob(f"{page.stem}-*")))


def targets(text):
    """Where a page leads: links, pictures and {doc} roles."""
    text = re.sub(r"^```(?!\{toctree).*?^```", "", text, flags=re.M | re.S)
    yield from re.findall(r"\]\(([^)#\s]+)", text)
    yield from re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", text)


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name
)
def test_links_lead_somewhere(path):
    known = {p.stem for p in PAGES} | {p.name for p in PAGES}
    for target in targets(path.read_text()):
        if target.startswith(("http", *GENERATED)) or target in known:
            continue
        assert (path.parent / target).exists(), f"{path.name} leads to {target}"


def test_links_into_the_atlas_are_of_studies_that_are_there():
    there = {*studies.names(), "index", "errata", "gallery", "builds-on"}
    for path in PAGES:
        for target in targets(path.read_text()):
            if target.startswith("atlas/"):
                assert target.removeprefix("atlas/") in there, (path.name, target)


def test_every_page_is_in_the_contents():
    listed = (DOCS / "index.md").read_text().split()
    missing = {p.stem for p in PAGES} - set(listed) - {"index"}
    assert not missing, f"add {sorted(missing)} to a toctree of docs/index.md"


def test_pictures_have_words():
    for path in [ROOT / "README.md", *PAGES]:
        for words in re.findall(r"!\[([^\]]*)\]\(", path.read_text()):
            assert len(words) > 10, f"{path.name} has a picture without words"


def test_a_page_of_the_atlas_says_numbers_and_status(atlas, tmp_path, monkeypatch):
    monkeypatch.setattr(atlas, "PAGES", tmp_path)
    (tmp_path / "images").mkdir()
    row = ("metastability", "c", "geshkovski2024metastability, section 1")
    wrong = studies.refuted(*row, 0.5, 2.0, 0.1)
    right = studies.at_most(*row, "theorem", 0.25, 0.75)
    functions = SimpleNamespace(CLAIMS=(print, print), PAPER=row[2].split(",")[0])
    monkeypatch.setattr(studies, "part", lambda name, module: functions)
    text = "\n".join(atlas.statements("metastability", [wrong, right]))
    assert "1 holds, 1 refuted" in text and "### Section 1" in text
    assert "Measured 0.5 ≠ 2 ± 0.1" in text and "Measured 0.25 ≤ 0.75" in text


def test_errata_are_listed_and_theorems_are_not(atlas):
    row = ("metastability", "c", "geshkovski2024metastability, section 1")
    wrong = studies.refuted(*row, 0.5, 2.0, 0.1)
    right = studies.at_most(*row, "theorem", 0.25, 0.75)
    text = atlas.errata({"metastability": [wrong, right]})
    assert "2 ± 0.1" in text and "0.75" not in text


class Links(HTMLParser):
    """Names and targets of a built page."""

    def __init__(self):
        super().__init__()
        self.names: set[str] = set()
        self.targets: set[str] = set()

    def handle_starttag(self, tag, attrs):
        """One element."""
        found = dict(attrs)
        self.names |= {found[k] for k in ("id", "name") if found.get(k)}
        self.targets |= {found[k] for k in ("href", "src") if found.get(k)}
        if tag == "img":
            assert found.get("alt"), found


def dead_links(folder):
    """(page, target) for everything on the built site that leads nowhere."""
    pages = {}
    for path in folder.rglob("*.html"):
        pages[path.resolve()] = found = Links()
        found.feed(path.read_text())
    for path, page in pages.items():
        for target in page.targets:
            file, _, name = unquote(target).partition("#")
            if re.match(r"[a-z]+:", file) or path.parent.name == "_static":
                continue
            to = (path.parent / file.partition("?")[0]).resolve() if file else path
            if not to.exists() or (
                name and to in pages and name not in pages[to].names
            ):
                yield path.name, target


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    build = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"]
    subprocess.run([*build, str(DOCS), str(tmp_path)], check=True)
    assert not list(dead_links(tmp_path))
    theory = (tmp_path / "reference" / "theory.html").read_text()
    assert "ArrayLike" in theory and "_NestedSequence" not in theory
    index = (tmp_path / "searchindex.js").read_text()
    for word in ("heteroscedast", "gpu", "middl"):
        assert word in index
