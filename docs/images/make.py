"""Draw the pictures of the documentation: `python docs/images/make.py`."""

import pathlib

import jax
import numpy as np

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


if __name__ == "__main__":
    clusters()
    film()
