"""Six places for the norm: equiangular tokens (N2)."""

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError, NumericalError
from pushforward.theory import normalization

GAPS = [  # scheme, beta, times, 1 - rho for 16 orthogonal tokens of unit radius
    ("pre", 0.0, [1, 10, 100], [0.7403250630, 0.0120614196, 1.02006593e-4]),
    ("peri", 0.0, [1, 10, 100], [0.4, 0.00943396226, 9.94925878e-5]),
    ("unit", 0.0, [1, 5], [0.296372557, 1.16217489e-4]),
    ("depth", 0.0, [1, 10], [0.790404788, 0.00151048042]),
    ("depth scaled", 0.0, [1, 10, 100], [0.804411463, 0.0663561200, 0.00339735]),
    ("post", 2.0, [1], [0.822421333]),
    ("pre", 2.0, [1, 10, 100], [0.861065676, 0.0322145948, 2.45002708e-4]),
    ("peri", 2.0, [1, 10, 100], [0.624935103, 0.0224708148, 2.36100362e-4]),
    ("unit", 2.0, [1], [0.446947129]),
    ("depth scaled", 2.0, [1], [0.892373545]),
]


@pytest.mark.parametrize(("scheme", "beta", "times", "gaps"), GAPS)
def test_gap_over_time(scheme, beta, times, gaps):
    """N2-O1 and O2."""
    found = normalization.normalized(scheme, times, beta, 16).gap
    np.testing.assert_allclose(found, gaps, atol=1e-8)


def test_mixed_norm():
    """N2-O2: Post-LN up to 2, then Pre-LN."""
    found = normalization.normalized("mix", [5, 20], 2.0, 16, switch=2.0)
    np.testing.assert_allclose(found.gap, [0.03217871, 0.00125646], atol=1e-8)
    np.testing.assert_allclose(found.radius, [3.66269479, 18.572801], atol=1e-6)


def test_closed_forms_at_infinite_temperature():
    """beta = 0: r^2 (1 - rho) is kept by Pre- and Peri-LN; nGPT is a sech."""
    n, t = 16, np.array([0.3, 2.0, 7.0])
    c = (n - 1) / n
    peri = normalization.normalized("peri", t, 0.0, n)
    np.testing.assert_allclose(peri.radius**2, c + (t + np.sqrt(1 - c)) ** 2, rtol=1e-9)
    np.testing.assert_allclose(peri.radius**2 * peri.gap, 1, rtol=1e-9)
    pre = normalization.normalized("pre", t, 0.0, n)
    np.testing.assert_allclose(pre.radius**2 * pre.gap, 1, rtol=1e-9)
    unit = normalization.normalized("unit", t, 0.0, n, alpha=0.5)
    phase = 0.5 * t + np.arctanh(np.sqrt(1 / n))
    np.testing.assert_allclose(unit.gap, n / (n - 1) / np.cosh(phase) ** 2, rtol=1e-8)


def test_two_schemes_are_clocks_of_others():
    t = np.array([1.0, 8.0])
    clock = 2 * (np.sqrt(1 + t) - 1)
    for slow, fast in (("depth", "post"), ("depth scaled", "pre")):
        a = normalization.normalized(slow, t, 1.5, 5).gap
        b = normalization.normalized(fast, clock, 1.5, 5).gap
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(
    ("beta", "n", "known"),
    [
        (0.0, 7, 1.0),
        (1.0, 2, 2.5657049514),
        (2.0, 2, 15.288914896),
        (2.0, 16, 2.3683559104),
        (4.0, 16, 210.42622472),
        (1.0, 64, 1.1062235674),
    ],
)
def test_constant_of_the_end(beta, n, known):
    """N2-O3."""
    np.testing.assert_allclose(normalization.end_constant(beta, n), known, rtol=2e-9)


@pytest.mark.parametrize(
    ("n", "beta", "times"),
    [
        (2, 1.0, (3.115256495, 2.880222979, 15.767146867, 15.272058611)),
        (2, 3.0, (5.809997395, 5.521692378, 243.3962678, 237.9879159)),
        (2, 5.0, (18.260663733, 17.950865764, 6.186858279e7, 6.086466798e7)),
        (16, 2.0, (4.114636739, 3.064817382, 16.940012224, 15.164473492)),
    ],
)
def test_time_to_one_cluster(n, beta, times):
    """N2-O4."""
    schemes = ("post", "unit", "pre", "peri")
    found = [normalization.time_to(s, 0.99, beta, n) for s in schemes]
    np.testing.assert_allclose(found, times, rtol=1e-8)


def test_speed_at_the_start():
    """N2-O5."""
    known = {1.0: (0.1128777620, 0.4226803938), 2.0: (0.0893293577, 0.2397348368)}
    for beta, (post, unit) in known.items():
        assert abs(normalization.initial_speed("post", beta, 16) - post) < 1e-10
        assert abs(normalization.initial_speed("unit", beta, 16) - unit) < 1e-10


def test_fields_follow_the_laws():
    """N2-O2: particles under fields of the library, at t = 5 and beta = 2.

    Peri-LN and LN-scaling move tokens in a claim of the study; here are their laws.
    """
    norms = {
        "pre": (pf.PreNorm, 0.1532516683),
        "peri": (pf.PeriNorm, 0.0817632789),
        "unit": (pf.UnitNorm, 2.097285148e-4),
        "depth scaled": (pf.DepthScaledNorm, 0.4194449219),
        "mix": (lambda inner: pf.MixNorm(inner, 2.0), 0.0321787117),
    }
    for scheme, (field, known) in norms.items():
        law = normalization.normalized(scheme, 5.0, 2.0, 16, switch=2.0).gap
        assert abs(law - known) < 1e-8
        if scheme in ("peri", "depth scaled"):
            continue
        space = pf.Sphere(16) if scheme == "unit" else pf.Euclidean(16)
        mu = pf.Particles(space, jnp.eye(16))
        x = pf.flow(field(pf.Attention(2.0)), mu, 5.0, save=2).final.points
        x = np.asarray(x) / np.linalg.norm(x, axis=1, keepdims=True)
        np.testing.assert_allclose(1 - x[0] @ x[1], law, rtol=1e-6)


def test_two_kinds_of_scaling_by_depth():
    """N2-O1 and N2-O6 for LN-scaling as the paper has it, without a radius."""
    mu = pf.Particles.orthonormal(pf.Sphere(16), 16)
    run = pf.flow(pf.DepthNorm(pf.Attention(0.0)), mu, 10.0, save=[1.0, 10.0])
    gaps = 1 - np.sum(run.points[1:, 0] * run.points[1:, 1], axis=-1)
    np.testing.assert_allclose(gaps, [0.790404788, 0.00151048042], rtol=1e-5)
    i, k = np.arange(8)[:, None], np.arange(3)[None, :]
    sine = pf.Particles.normalized(pf.Sphere(3), np.sin(1 + 3 * i + 7 * k + i * k))
    run = pf.flow(pf.DepthNorm(pf.Attention(4.0)), sine, 5.0, save=[1.0, 5.0])
    found = run.observe(pf.InteractionEnergy(4.0))[1:]
    np.testing.assert_allclose(found, [0.2487719303, 0.3765086395], atol=1e-7)


def test_scaling_by_depth_of_a_density():
    rho = pf.Density.uniform(pf.Circle(), 8).perturbed(1, 0.2)
    slow, plain = (
        field.on_density(rho.basis)(3.0, rho).v
        for field in (pf.DepthNorm(pf.Attention(4.0)), pf.Attention(4.0))
    )
    np.testing.assert_allclose(2 * slow, plain, atol=1e-15)


def test_what_is_wrong_is_named():
    with pytest.raises(InputError, match="one of 'post', 'pre'"):
        normalization.normalized("middle", 1.0, 1.0, 4)
    with pytest.raises(NumericalError, match="nearer to zero"):
        normalization.end_constant(30.0, 4)
