"""Sphinx configuration."""

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
exclude_patterns = ["_build", "images"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
suppress_warnings = ["myst.header", "autodoc.mocked_object"]
nitpicky = False


def _plain(app, what, name, obj, options, lines):
    """Docstrings are plain text with formulas: keep bars and stars as they are."""
    for i, line in enumerate(lines):
        lines[i] = line.replace("|", r"\|").replace("*", r"\*").replace("`", "``")


def setup(app):
    app.connect("autodoc-process-docstring", _plain)
