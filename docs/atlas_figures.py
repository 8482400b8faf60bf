"""The figures of the atlas: where they are, and the gallery.

`make atlas` draws them in `out/studies` and keeps small copies in `docs/figures`, so
that every build has a gallery.
"""

import pathlib
import re
import shutil

from PIL import Image

from pushforward import studies

HERE = pathlib.Path(__file__).parent
DRAWN = HERE.parent / "out" / "studies"
KEPT = HERE / "figures"
PAGES = HERE / "atlas"
WIDTH = 1000
FILMS = """\
## Films

![Tokens on a turning sphere gather in four clusters](../images/clusters.gif)

```python
import jax
import pushforward as pf

mu = pf.Particles.uniform(pf.Sphere(3), 64, key=jax.random.key(0))
run = pf.flow(pf.Attention(9.0), mu, 14.0, save=43)
pf.plot.movie(run, "clusters.gif", frames=36, fps=9.0, size=(400, 256))
```

`pushforward simulate --movie FILE.mp4` makes one of any run."""


def keep() -> None:
    """One picture per figure, the larger preset where both were drawn."""
    KEPT.mkdir(exist_ok=True)
    for size in ("quick", "full"):
        for path in sorted(DRAWN.glob(f"*/{size}/*.png")):
            picture = Image.open(path).convert("RGB")
            picture.thumbnail((WIDTH, 4 * WIDTH))
            name = f"{path.parts[-3]}-{path.stem}.webp"
            picture.save(KEPT / name, quality=78, method=6)


def drawn(name: str, label: str) -> str:
    """The picture, copied to the pages: as drawn here, else the small copy; or ""."""
    sizes = [DRAWN / name / size / f"{label}.png" for size in ("full", "quick")]
    for path in (*sizes, KEPT / f"{name}-{label}.webp"):
        if path.exists():
            copy = PAGES / "images" / f"{name}-{label}{path.suffix}"
            shutil.copy(path, copy)
            return copy.name
    return ""


def figure_anchor(name: str, label: str) -> str:
    """Where the page of a study shows a figure."""
    return re.sub(r"[^a-z0-9]+", "-", f"{name} figure {label}".lower()).strip("-")


def gallery() -> str:
    """Every figure as a picture one can click, and the films."""
    parts = [
        "# Gallery",
        "Each picture leads to what it shows and to the few lines that make it. Turn "
        "the numbers of a run in the explorer, or draw all pictures of a paper again "
        "with `pushforward study run NAME`.",
        FILMS,
    ]
    for name in studies.names():
        labels = studies.part(name, "figures").FIGURES
        cards = [card(name, label) for label in labels if drawn(name, label)]
        if cards:
            inside = "\n".join(cards)
            html = f'```{{raw}} html\n<div class="gallery">\n{inside}\n</div>\n```'
            parts += [f"## {studies.part(name, 'study').TITLE}", html]
    return "\n\n".join(parts) + "\n"


def card(name: str, label: str) -> str:
    """One picture of the gallery."""
    words = f"{studies.part(name, 'study').TITLE}: {label.replace('-', ' ')}"
    return (
        f'<a href="{name}.html#{figure_anchor(name, label)}"><img loading="lazy" '
        f'src="../_images/{drawn(name, label)}" alt="{words}">'
        f"<span>{label.replace('-', ' ')}</span></a>"
    )


if __name__ == "__main__":
    keep()
