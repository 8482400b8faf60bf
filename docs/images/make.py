"""Draw the pictures of the documentation: `python docs/images/make.py`."""

import pathlib

import jax

import pushforward as pf

HERE = pathlib.Path(__file__).parent


def clusters() -> None:
    """64 tokens at beta = 9: the start, two moments, and the clusters at t = 20."""
    mu = pf.Particles.uniform(pf.Sphere(3), 64, key=jax.random.key(0))
    trajectory = pf.flow(pf.Attention(beta=9.0), mu, 20.0, save=401)
    figure = pf.plot.frames(trajectory, [0.0, 1.0, 4.0, 20.0])
    pf.plot.save(figure, HERE / "clusters.png", dpi=160)


if __name__ == "__main__":
    clusters()
