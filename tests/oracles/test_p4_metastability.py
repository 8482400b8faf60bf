"""Oracles P4-O1 to P4-O9: dynamic metastability, by the flow itself."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import pushforward as pf
from pushforward.observables import Clusters, cluster_life
from pushforward.theory import equiangular, metastability, staircase, two_tokens

OFFICIAL = 0.5 * np.array([0, 0.5, 2, 4, 7]) * np.log(2000) / np.sqrt(2000)
KINETIC = np.array(
    [
        (0.99806638, 0.06215705),
        (0.97712061, 0.21268594),
        (-0.24578194, 0.96932515),
        (-0.97354734, 0.2284854),
        (-0.99892629, -0.04632772),
    ]
)


def on_circle(angles):
    return pf.Particles(pf.Circle(), pf.Circle().points(np.asarray(angles, float)))


def together(mu):
    """The smallest inner product is 0.999."""
    return jnp.min(mu.points @ mu.points.T) >= 0.999


@pytest.fixture(scope="module")
def climb():
    """The published staircase in arc length, by merging flow."""

    def run(beta):
        field = pf.UnnormalizedAttention(beta, log_scale=-beta)  # 1/n instead of 1/n^2
        energy = {"energy": pf.InteractionEnergy(beta)}
        save = pf.ArcLength(0.001)
        mu = on_circle(OFFICIAL)
        return pf.flow(field, mu, np.inf, save=save, merge=pf.Merge(), observe=energy)

    return {beta: run(beta) for beta in (4000.0, 2000.0, 500.0)}


def test_p4_o1_plateaus_of_the_staircase(climb):
    """Masses between mergers, and the energy halfway along each plateau."""
    run = climb[4000.0]
    masses = [np.array(p.masses) * 5 for p in cluster_life(run).plateaus()]
    expected = [[1] * 5, [2, 1, 1, 1], [3, 1, 1], [3, 2], [5]]
    assert [len(m) for m in masses] == [5, 4, 3, 2, 1]
    for found, wanted in zip(masses, expected, strict=True):
        assert found == pytest.approx(wanted)
    halfway = (run.merges.arc[:-1] + run.merges.arc[1:]) / 2
    energy = np.interp(halfway, run.arc, run.observed["energy"])
    assert energy == pytest.approx([0.28, 0.44, 0.52], abs=2e-3)
    assert run.observed["energy"][-1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("beta", [4000.0, 2000.0])
def test_p4_o2_arclength_of_mergers(climb, beta):
    printed = [0.03004521, 0.15147146, 0.33174269, 0.76617045]
    assert climb[beta].merges.arc == pytest.approx(printed, abs=1e-5)


def test_p4_o2_jump_times_and_overlap_at_small_beta(climb):
    times = climb[4000.0].merges.arc / np.log(4000)
    assert times == pytest.approx([0.003623, 0.018263, 0.039998, 0.092376], abs=2e-6)
    low = climb[500.0].merges.arc[1:] / [0.15147146, 0.33174269, 0.76617045]
    assert 0.003 < np.abs(low - 1).max() < 0.03  # jumps overlap at beta = 500


@pytest.mark.parametrize(
    "beta, start, printed",
    [
        (4000.0, 0.20216, [0.00205, 0.01645, 0.03845, 0.08995, 0.09225]),
        (2000.0, 0.21316, [0.00150, 0.01710, 0.04120, 0.09705, 0.10060]),
        (500.0, 0.25245, [0.0, 0.01685, 0.04690, 0.11310, 0.12185]),
    ],
)
def test_p4_o3_crossing_times_of_the_energy(climb, beta, start, printed):
    run = climb[beta]
    energy = run.observed["energy"]
    assert energy[0] == pytest.approx(start, abs=5.1e-6)
    levels = [0.24, 0.36, 0.48, 0.76, 0.999]
    found = np.interp(levels, energy, run.arc) / np.log(beta)
    assert found == pytest.approx(printed, abs=1e-4)


@pytest.mark.parametrize("beta, log10", [(4000.0, 132.7), (500.0, 15.7)])
def test_p4_o4_physical_time_of_the_last_merger(climb, beta, log10):
    """Our flow has 1/n where the paper has 1/n^2; the exact time is a quadrature."""
    last = staircase.mergers(OFFICIAL)[-1]
    D, n = last.distance, 5
    found = climb[beta].merges.log_times[-1] / np.log(10) + np.log10(n)
    predicted = staircase.log10_merging_time(beta, D, 3, 2, n)
    assert predicted == pytest.approx(log10, abs=0.05)
    assert found == pytest.approx(predicted, abs=0.3 if beta < 1000 else 0.01)
    if beta > 1000:  # at beta = 500 the last two mergers overlap in space

        def slowness(u):
            return np.exp(beta * (np.cos(D) - np.cos(u))) * n**2 / (5 * np.sin(u))

        points = D - np.array([1e-4, 1e-3, 1e-2])
        integral, _ = quad(slowness, 1e-6, D, points=points, limit=500)
        exact = (beta * (1 - np.cos(D)) + np.log(integral)) / np.log(10)
        assert found == pytest.approx(exact, abs=2e-3)


ESCAPES = [
    (0.0, 8.0, 196.7162),
    (0.0, 20.0, 1.219176e7),
    (0.0, 40.0, 2.946022e15),
    (-0.5, 8.0, 12139.0396),
    (-0.5, 40.0, 1.846419e24),
]


@pytest.mark.parametrize("g_0, beta, printed", ESCAPES)
def test_p4_o5_escape_time_of_two_clusters(g_0, beta, printed):
    mu = on_circle([0.0, np.arccos(g_0)])
    save = pf.LogTimes(1.0, 3)
    run = pf.flow(
        pf.Attention(beta), mu, 1e40, save=save, merge=pf.Merge(), until=together
    )
    assert run.outcome.kind == "until"
    assert run.times[-1] == pytest.approx(printed, rel=1e-6)
    exact = two_tokens.merging_time(beta, g_0)
    assert run.times[-1] == pytest.approx(float(exact), rel=1e-6)


def test_p4_o5_time_beyond_the_largest_number():
    """beta = 4000: t = 10^1733.275; times overflow, their logarithms do not."""
    mu = on_circle([0.0, np.pi / 2])
    save = pf.ArcLength(0.2)
    run = pf.flow(
        pf.Attention(4000.0), mu, np.inf, save=save, merge=pf.Merge(), until=together
    )
    exact = float(two_tokens.log10_merging_time(4000.0))
    assert exact == pytest.approx(1733.275, abs=1e-3)
    assert run.log_times[-1] / np.log(10) == pytest.approx(exact, abs=1e-4)
    assert run.times[-1] == np.inf
    assert "10^1733.27" in run.outcome.message


@pytest.mark.parametrize("beta", [5.0, 30.0])
def test_p4_o5_unnormalized_attention(beta):
    mu = on_circle([0.0, np.pi / 2])
    field = pf.UnnormalizedAttention(beta)
    save = pf.LogTimes(1e-30, 3)
    run = pf.flow(field, mu, 1e3, save=save, merge=pf.Merge(), until=together)
    exact = two_tokens.merging_time_unnormalized(beta)
    assert run.times[-1] == pytest.approx(float(exact), rel=1e-6)


def test_p4_o6_o7_kinetic_run():
    """The published data under the exact flow: energies, plateau and mergers."""
    times = np.concatenate(
        [np.arange(0.0, 6.0, 0.05), [10.0, 50, 100, 200, 300], np.arange(326, 331, 0.1)]
    )
    mu = pf.Particles.normalized(pf.Circle(), KINETIC)
    run = pf.flow(pf.Attention(4.0), mu, 345.0, save=times)
    energy = run.observe(pf.InteractionEnergy(4.0))
    at = np.searchsorted(run.times, [0, 5, 10, 50, 100, 200, 300])
    printed = [0.359712138, 0.519306652, 0.520323723, 0.520351255]
    printed += [0.520398764, 0.520601744, 0.522379388]
    assert energy[at] == pytest.approx(printed, abs=1e-6)
    count = run.observe(lambda m: Clusters(np.arccos(0.999))(m).count)
    first = [run.times[np.argmax(count <= k)] for k in (4, 3, 2, 1)]
    assert first == pytest.approx([1.3, 2.5, 5.2, 328.4], abs=0.1)
    end = np.asarray(run.final.mean())
    assert np.degrees(np.arctan2(end[1], end[0])) == pytest.approx(105.303, abs=2e-3)
    x = np.asarray(run[int(at[2])].points)  # P4-O7, at t = 10
    phi = np.arccos(x[0] @ x[3])
    assert np.degrees(phi) == pytest.approx(145.6, abs=0.05)
    plateau = staircase.plateau_energy(4.0, [0.0, phi], [2, 3])
    assert energy[at[2]] == pytest.approx(plateau, abs=1e-6)


def test_p4_o8_instance_of_the_main_theorem():
    """Tokens on the rim of S_q(epsilon): bounds on [T_1, T_2], T_2 = 1.5e5."""
    beta, epsilon, n = 30.0, 0.01, 6
    tilt = np.arccos(1 - epsilon)
    x = []
    for q in range(3):  # two tokens per cap, leaning to the two other centers
        for other in ((q + 1) % 3, (q + 2) % 3):
            x.append(np.cos(tilt) * np.eye(3)[q] + np.sin(tilt) * np.eye(3)[other])
    mu = pf.Particles(pf.Sphere(3), np.array(x))
    assert metastability.is_separated(x, np.eye(3), beta, epsilon - 1e-9) is False
    alpha = metastability.configuration_overlap(np.eye(3), epsilon)
    exponent = 0.95 * metastability.contraction_exponent(beta, alpha, epsilon, n)
    entry = metastability.entry_time(beta, epsilon, n, exponent)
    leave = metastability.exit_time(beta, alpha, epsilon, n)
    times = np.geomspace(1.0, leave, 12)
    run = pf.flow(pf.Attention(beta), mu, leave, save=times, merge=pf.Merge())
    points = np.asarray(run.points)
    own = np.einsum("tnd,nd->tn", points, np.repeat(np.eye(3), 2, axis=0))
    assert own.min() >= 1 - 2 * epsilon
    apart = ((points[:, ::2] - points[:, 1::2]) ** 2).sum(-1).max(1)
    late = run.times >= entry
    assert late.sum() >= 5
    assert apart[late].max() <= 2 * np.exp(-exponent * beta)
    assert apart[0] > 0.01  # they did start apart


@pytest.mark.slow
def test_p4_o9_orthonormal_clusters():
    """k = 3 orthonormal clusters: the equiangular integral, by the flow."""
    mu = pf.Particles.orthonormal(pf.Sphere(3), 3)
    save = pf.LogTimes(1.0, 3)
    field = pf.Attention(20.0)
    run = pf.flow(field, mu, 1e12, save=save, merge=pf.Merge(), until=together)
    exact = float(equiangular.merging_time(20.0, 3))
    assert run.times[-1] == pytest.approx(exact, rel=1e-6)
    assert exact == pytest.approx(np.exp(20.0) / 40.0, rel=0.15)
