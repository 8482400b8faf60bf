"""Self-contained pages: text, tables and pictures in one file, nothing fetched."""

import base64
import html
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

import pushforward
from pushforward._files import write_text


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


def numbers(found: Iterable[tuple[str, str]]) -> str:
    """What a page says first: a few numbers, large, with their words."""
    cells = "".join(
        f"<div><b>{html.escape(number)}</b> {html.escape(words)}</div>"
        for number, words in found
    )
    return f"<div class='numbers'>{cells}</div>"


def folded(title: str, *parts: str) -> str:
    """Parts that a reader opens."""
    inside = "".join(parts)
    return f"<details><summary>{html.escape(title)}</summary>{inside}</details>"


def section(title: str, *parts: str) -> str:
    """Parts under a heading."""
    return f"<h2>{html.escape(title)}</h2>" + "".join(parts)


def gallery(*pictures: str) -> str:
    """Pictures side by side where there is room."""
    return f"<div class='gallery'>{''.join(pictures)}</div>"


def image(title: str, figure: Figure, words: str = "") -> str:
    """A picture inside the page, as wide as it was made, with words below it."""
    width = int(np.ceil(figure.get_figwidth() * 84))
    below = f"<figcaption>{html.escape(words)}</figcaption>" if words else ""
    return (
        f'<figure style="max-width:{width}px"><img alt="{html.escape(title)}" '
        f'src="{as_address(figure)}">{below}</figure>'
    )


def as_address(figure: Figure) -> str:
    """The picture as an address that holds it; drawn once: `savefig` draws twice."""
    figure.set_dpi(150)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(canvas.buffer_rgba())).save(buffer, "png")
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f"data:image/png;base64,{data}"


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
p { margin: .5rem 0; } figure { margin: 1rem auto; text-align: center; }
img { width: 100%; height: auto; }
figcaption { color: #4a5464; font-size: .9rem; margin: .3rem 0 0; }
.gallery { display: flex; flex-wrap: wrap; justify-content: center; gap: 0 1rem;
           align-items: flex-start; } .gallery figure { margin: 1rem 0; }
.numbers { display: flex; flex-wrap: wrap; gap: .4rem 2.2rem; margin: 1rem 0; }
.numbers b { font-size: 1.5rem; font-weight: 600; display: block; line-height: 1.2; }
.wide { overflow-x: auto; background: /* a shadow where a table goes on */
  linear-gradient(90deg, #fff 60%, #fff0) 0 0 / 2rem 100%,
  linear-gradient(270deg, #fff 60%, #fff0) 100% 0 / 2rem 100%,
  linear-gradient(90deg, #0003, #0000) 0 0 / .6rem 100%,
  linear-gradient(270deg, #0003, #0000) 100% 0 / .6rem 100%;
  background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { text-align: right; padding: .25rem .8rem; border-bottom: 1px solid #d9dde3;
         font-variant-numeric: tabular-nums; vertical-align: top;
         white-space: nowrap; }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
details { margin: 1rem 0; } summary { cursor: pointer; color: #2563a8; }
.doubt { background: #fff3dc; border-left: 4px solid #e08a1e; padding: .4rem .8rem; }
.made { color: #6b7686; font-size: .9rem; margin-top: 2rem; }
</style></head><body>
BODY
</body></html>
"""
