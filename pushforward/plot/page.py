"""Self-contained pages: text, tables and pictures in one file, nothing fetched."""

import base64
import html
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import pushforward
from pushforward.statistics.tables.match_files import write_text


def write_page(path: str | Path, title: str, parts: Iterable[str]) -> None:
    """One HTML file of these parts, written whole or not at all."""
    made = f"<p class='made'>Made by pushforward {pushforward.__version__}.</p>"
    body = "\n".join([f"<h1>{html.escape(title)}</h1>", *parts, made])
    text = PAGE.replace("TITLE", html.escape(title)).replace("BODY", body)
    write_text(path, [text])


def paragraph(text: str) -> str:
    """A sentence or a few."""
    return f"<p>{html.escape(text)}</p>"


def listing(items: Iterable[str]) -> str:
    """One line each; nothing at all for none."""
    lines = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    return f"<ul>{lines}</ul>" if lines else ""


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; what is no text is set to six digits."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(v))}</td>" for v in row) + "</tr>"
        for row in rows
    )
    return f"<div class='wide'><table><tr>{head}</tr>{lines}</table></div>"


def section(title: str, *parts: str) -> str:
    """Parts under a heading."""
    return f"<h2>{html.escape(title)}</h2>" + "".join(parts)


def image(title: str, figure: Figure) -> str:
    """A picture inside the page, as wide as it was made."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    width = int(np.ceil(figure.get_figwidth() * 84))
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return (
        f'<figure><img alt="{html.escape(title)}" style="width:{width}px" '
        f'src="data:image/png;base64,{data}"></figure>'
    )


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>TITLE</title>
<style>
body { font: 16px/1.55 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto;
       padding: 0 1rem; color: #1f2530; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
p { margin: .5rem 0; } figure { margin: 1rem 0; text-align: center; }
img { max-width: 100%; height: auto; } .wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { text-align: right; padding: .25rem .8rem; border-bottom: 1px solid #d9dde3;
         font-variant-numeric: tabular-nums; vertical-align: top;
         white-space: nowrap; }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
.doubt { background: #fff3dc; border-left: 4px solid #e08a1e; padding: .4rem .8rem; }
.made { color: #6b7686; font-size: .9rem; margin-top: 2rem; }
</style></head><body>
BODY
</body></html>
"""
