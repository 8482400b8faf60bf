"""The site: stored results decide themselves, and links lead somewhere."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest

from pushforward import studies

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
GENERATED = ("atlas/", "reference/")
STORED = sorted((DOCS / "results").glob("*.json"))


def pages():
    """The module that writes the atlas."""
    spec = importlib.util.spec_from_file_location("a", DOCS / "atlas_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_results_follow_from_their_numbers(path):
    rows = json.loads(path.read_text())
    assert len(rows) == len(studies.part(path.stem, "claims").CLAIMS)
    for row in rows:
        assert studies.decide(row) is row["holds"] is not False, row
        moved = row | {"predicted": 1.5 * (row["predicted"] or 0.0)}
        if row["relation"] in ("=", "rate"):
            assert not studies.decide(moved), row


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


def test_a_page_of_the_atlas_says_numbers_and_status(tmp_path, monkeypatch):
    atlas = pages()
    monkeypatch.setattr(atlas, "PAGES", tmp_path)
    (tmp_path / "images").mkdir()
    row = ("metastability", "c", "geshkovski2024metastability, section 1")
    wrong = studies.refuted(*row, 0.5, 2.0, 0.1)
    right = studies.at_most(*row, "theorem", 0.25, 0.75)
    text = "\n".join(atlas.statements([wrong, right]))
    assert "1 holds, 1 refuted" in text and "### Section 1" in text
    assert "Measured 0.5 ≠ 2 ± 0.1" in text and "Measured 0.25 ≤ 0.75" in text
    assert "2 ± 0.1" in atlas.errata({"metastability": [wrong, right]})
    assert "0.75" not in atlas.errata({"metastability": [wrong, right]})


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    build = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"]
    subprocess.run([*build, str(DOCS), str(tmp_path)], check=True)
    index = (tmp_path / "searchindex.js").read_text()
    for word in ("heteroscedast", "gpu", "middl"):
        assert word in index
