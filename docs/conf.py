"""Sphinx configuration."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import atlas_pages
import reference_pages

project = "pushforward"
author = "the pushforward authors"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "pushforward"
exclude_patterns = ["_build", "images", "figures", "results"]
html_static_path = ["_static"]
html_css_files = ["atlas.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
suppress_warnings = ["myst.header", "autodoc.mocked_object"]
nitpicky = False


def _plain(app, what, name, obj, options, lines):
    """Docstrings are plain text with formulas: keep bars and stars as they are."""
    for i, line in enumerate(lines):
        lines[i] = line.replace("|", r"\|").replace("*", r"\*").replace("`", "``")


def _write(app):
    atlas_pages.write()
    reference_pages.write()


def setup(app):
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-docstring", _plain)
