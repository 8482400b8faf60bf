"""Sphinx configuration."""

import pathlib
import re
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
        if "`" not in line:  # f_ and I_|k| are formulas, not links
            line = re.sub(r"(?<=\w)_(?!\w)", r"\_", line)
        lines[i] = line.replace("|", r"\|").replace("*", r"\*").replace("`", "``")


def _ours(app, what, name, obj, skip, options):
    """Defaults and bases of other libraries are told in their own references."""
    module = getattr(obj, "__module__", None) or "pushforward"
    return True if module.split(".")[0] in ("jax", "sklearn", "typing") else None


NAMES = r"_Buffer|_SupportsArray|_NestedSequence|dtype|Any"
UNION = (  # numpy's ArrayLike, written out by autodoc
    "_Buffer | _SupportsArray[dtype[Any]] | _NestedSequence[_SupportsArray[dtype[Any]]]"
    " | complex | bytes | str | _NestedSequence[complex | bytes | str]"
)
ARRAY_LIKE = re.compile(re.sub(f"({NAMES})", r"~?[\\w.]*\1", re.escape(UNION)))


def _short(app, what, name, obj, options, signature, returns):
    """`ArrayLike` by its name."""
    return tuple(
        text and ARRAY_LIKE.sub("ArrayLike", text) for text in (signature, returns)
    )


def _write(app):
    atlas_pages.write()
    reference_pages.write()


def setup(app):
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-skip-member", _ours)
    app.connect("autodoc-process-signature", _short)
