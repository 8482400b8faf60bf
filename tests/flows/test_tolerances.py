"""Tolerances follow the precision of the tokens."""

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf


def test_steps_are_as_fine_as_the_precision_resolves():
    mu = pf.Particles.uniform(pf.Sphere(3), 4, key=jax.random.key(0))
    exact = pf.flow(pf.Attention(4.0), mu, 3.0, save=2).final.points
    single, steps = mu.astype("float32"), {}
    for name, solver in {
        "default": pf.Adaptive(),
        "same": pf.Adaptive(1e-5, 1e-7),
        "finest": pf.Adaptive(1e-7, 1e-14),
        "too fine": pf.Adaptive(1e-12, 1e-14),
    }.items():
        run = pf.flow(pf.Attention(4.0), single, 3.0, save=2, solver=solver)
        assert run.final.points.dtype == np.float32
        np.testing.assert_allclose(run.final.points, exact, atol=1e-5)
        steps[name] = int(run.steps + run.rejected)
    assert steps["default"] == steps["same"] < steps["finest"] < 100
    assert steps["too fine"] == steps["finest"]


def test_given_tolerances_are_kept():
    assert pf.Adaptive().rtol is None and float(pf.Adaptive(1e-12).rtol) == 1e-12
    double = pf.Adaptive().tolerances(jnp.float64)
    assert tuple(map(float, double)) == (1e-8, 1e-10)
    single = pf.Adaptive(atol=1e-3).tolerances(jnp.float32)
    np.testing.assert_allclose(single, (1e-5, 1e-3), rtol=1e-6)


def test_float32_says_when_its_precision_is_reached():
    """Four directions at beta = 60 attract with e^-60, and at beta = 1 for real."""
    corners = pf.Particles(pf.Circle(), [[1, 0], [0, 1], [-1, 0], [0, -1.0]])
    corners = corners.astype("float32")
    frozen = pf.flow(pf.Attention(60.0), corners, 1.0, save=2).outcome
    assert frozen.kind == "frozen" and "the precision of float32" in frozen.message
    assert "in float64" in frozen.message
    balanced = pf.flow(pf.Attention(1.0), corners, 1.0, save=2).outcome
    assert balanced.kind == "stationary"
