"""Draw the pictures of the documentation: `python docs/images/make.py`."""

import pathlib
import re

import jax
import numpy as np
from PIL import Image

import pushforward as pf

HERE = pathlib.Path(__file__).parent


def clusters() -> None:
    """64 tokens at beta = 9: the start, two moments, and the clusters at t = 20."""
    mu = pf.Particles.uniform(pf.Sphere(3), 64, key=jax.random.key(0))
    trajectory = pf.flow(pf.Attention(beta=9.0), mu, 20.0, save=401)
    figure = pf.plot.frames(trajectory, [0.0, 1.0, 4.0, 20.0])
    pf.plot.save(figure, HERE / "clusters.png", dpi=160)


def film() -> None:
    """The same to t = 14, as a small film."""
    mu = pf.Particles.uniform(pf.Sphere(3), 64, key=jax.random.key(0))
    times = np.linspace(0.0, 14.0, 43)
    trajectory = pf.flow(pf.Attention(beta=9.0), mu, 14.0, save=times)
    path = HERE / "clusters.gif"
    pf.plot.movie(trajectory, path, frames=36, fps=9.0, size=(400, 256))


def tutorials() -> None:
    """What the tutorials' own lines draw: every figure that a block calls `picture`."""
    for page in sorted(HERE.parent.glob("tutorial-*.md")):
        space: dict = {"__name__": "__main__"}
        drawn = 0
        for block in re.findall(
            r"^```python\n(.*?)^```", page.read_text(), re.M | re.S
        ):
            exec(compile(block, str(page), "exec"), space)
            if re.search(r"^picture = ", block, re.M):
                drawn += 1
                made = HERE / f"{page.stem}-{drawn}.png"
                pf.plot.save(space["picture"], made, dpi=130)
                small = Image.open(made).convert("RGB")
                small.save(made.with_suffix(".webp"), quality=82, method=6)
                made.unlink()


if __name__ == "__main__":
    tutorials()
    clusters()
    film()
