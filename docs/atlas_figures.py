"""Small copies of the figures in `out/studies`, kept so that every build has a gallery.

`make atlas` draws the figures and calls this.
"""

import pathlib

from PIL import Image

HERE = pathlib.Path(__file__).parent
DRAWN = HERE.parent / "out" / "studies"
KEPT = HERE / "figures"
WIDTH = 1000


def keep() -> None:
    """One picture per figure, the larger preset where both were drawn."""
    KEPT.mkdir(exist_ok=True)
    for size in ("quick", "full"):
        for path in sorted(DRAWN.glob(f"*/{size}/*.png")):
            picture = Image.open(path).convert("RGB")
            picture.thumbnail((WIDTH, 4 * WIDTH))
            name = f"{path.parts[-3]}-{path.stem}.webp"
            picture.save(KEPT / name, quality=78, method=6)


if __name__ == "__main__":
    keep()
