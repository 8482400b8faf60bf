"""Inside jit a flow takes all the steps it needs, or says that it did not."""

import jax
import numpy as np

import pushforward as pf
from pushforward.flows import _advance

TOKENS = pf.Particles.equispaced(pf.Circle(), 3).moved(
    pf.Circle().points(np.array([0.0, 0.5, 1.0]))
)


def run(h, t1, max_steps=100_000):
    solver = pf.Heun(h, max_steps=max_steps)
    return jax.jit(lambda f: pf.flow(f, TOKENS, t1, save=2, solver=solver))(
        pf.Attention(0.0)
    )


def test_thousands_of_steps_between_two_frames_reach_the_end():
    fine = run(0.01, 50.0)  # 5000 steps
    coarse = run(0.1, 50.0)
    assert int(fine.status) == 0 and int(fine.steps) >= 5000
    np.testing.assert_allclose(fine.final.points, coarse.final.points, atol=1e-3)


def test_a_loop_that_ends_early_says_so():
    short = run(0.01, 1.0, max_steps=16)
    assert int(short.status) == _advance.OUT_OF_STEPS
    assert int(short.steps) == 16
