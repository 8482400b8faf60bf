"""Where causal tokens end: theorem 4.1 and the rows of table 1."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies.causal import runs
from pushforward.studies.causal.study import Parameters, at_least, paper, within


@functools.lru_cache(maxsize=32)
def panel(p: Parameters, name: str, beta: float = runs.BETA) -> np.ndarray:
    """Frames of one panel: (times, n, 3), times spaced by logarithm."""
    return np.asarray(runs.atlas(p, name, beta).run().points)


def everything_goes_to_the_first_token(p: Parameters):
    """V = I: all tokens end at the initial place of token 1, for any Q, K, beta."""
    before, x = np.asarray(runs.random_weights(p).run().points)
    apart = np.linalg.norm(x - x[0], axis=1).max()
    gone = np.linalg.norm(x[0] - before[0])
    return within(
        "V = I, random Q and K: every token ends at x_1(0)",
        paper("theorem 4.1"),
        "theorem",
        max(apart, gone),
        0.0,
        1e-6,
    )


def slowest_rate_is_one_half(p: Parameters):
    """The rate of consensus is that of token 2, exactly 1/2."""
    x = np.asarray(runs.consensus(p).run().points)
    apart = np.linalg.norm(x[1:, 1] - x[0, 0], axis=1)
    return within(
        "token 2, the slowest, approaches x_1 at rate 1/2, whatever beta is",
        paper("theorem 4.1"),
        "identity",
        np.log(apart[0] / apart[1]) / 12.0,
        theory.causal.consensus_rates(runs.N)[0],
        2e-3,
    )


def first_token_follows_oja(p: Parameters):
    """Token 1 obeys dx/dt = P_x V x, whose solution is e^{tV} x / |e^{tV} x|."""
    experiment = runs.oja(p)
    before, x = np.asarray(experiment.run().points)
    V = np.asarray(experiment.read("field.V"))
    exact = theory.causal.first_token(2.0, before[0], V)
    off = np.abs(x[0] - exact).max()
    where = paper("section 3")
    return within("token 1 follows Oja's flow", where, "identity", off, 0.0, 1e-7)


def double_top_gives_one_point(p: Parameters):
    """lambda_max > 0 of multiplicity 2: the projection of token 1 on the eigenspace."""
    frames = panel(p, "double top", 1.0)
    x, goal = frames[-1], frames[0, 0] * [1.0, 1.0, 0.0]
    off = np.linalg.norm(x - goal / np.linalg.norm(goal), axis=1).max()
    return within(
        "V = diag(1, 1, 0.3): all tokens at the normalized projection of token 1",
        paper("table 1, row 2"),
        "conjecture",
        off,
        0.0,
        1e-6,
    )


def simple_top_gives_two_points(p: Parameters):
    """lambda_max > 0 simple: two antipodal points."""
    x = panel(p, "simple top")[-1]
    signs = set(np.sign(x[:, 0]).tolist())
    off = (1 - np.abs(x[:, 0])).max()
    note = f"{len(signs)} of the two points are occupied"
    where = paper("table 1, row 3")
    claim = "V = diag(2, 1, 0.5): every token at plus or minus e_1"
    return within(claim, where, "conjecture", off, 0.0, 1e-7, note)


def negative_double_gives_a_cloud(p: Parameters):
    """lambda_max < 0 of multiplicity 2: a cloud around the eigenspace."""
    x = panel(p, "double, negative")[-1]
    count = pf.observables.Clusters(0.05)(pf.Particles(pf.Sphere(3), x)).count
    near = float(np.mean(np.abs(x[:, 2])))
    return within(
        "V = diag(-1, -1, -3): a cloud around the plane; mean |<x, e_3>|",
        paper("table 1, row 4"),
        "conjecture",
        near,
        0.0,
        0.35,
        f"{count} separate places; 0.5 for uniform tokens",
    )


def negative_simple_gives_two_clouds(p: Parameters):
    """lambda_max < 0 simple: two clouds."""
    x = panel(p, "simple, negative")[-1]
    both = len(set(np.sign(x[:, 0]).tolist())) == 2
    return at_least(
        "V = diag(-1, -2, -3): two clouds around plus and minus e_1; min |<x, e_1>|",
        paper("table 1, row 5"),
        "conjecture",
        float(np.abs(x[:, 0]).min()) if both else 0.0,
        0.5,
        "how wide the clouds are is not stated in the paper",
    )


def energy_is_no_lyapunov_function(p: Parameters):
    """dE/dt < 0 at beta = 3 for three tokens."""
    angles = jnp.array([1.71156119, -0.75141514, -2.65710567])
    mu = pf.Particles(pf.Circle(), pf.Circle().points(angles))
    energy, v = pf.InteractionEnergy(3.0).plain, pf.CausalAttention(3.0)(0.0, mu).v
    _, rate = jax.jvp(lambda x: energy(mu.moved(x)), (mu.points,), (v,))
    claim = "the interaction energy can fall along the causal flow: dE/dt"
    where = paper("section 3")
    return within(claim, where, "experiment", float(rate), -9.70e-5, 1e-7)


CLAIMS = (
    everything_goes_to_the_first_token,
    slowest_rate_is_one_half,
    first_token_follows_oja,
    energy_is_no_lyapunov_function,
    double_top_gives_one_point,
    simple_top_gives_two_points,
    negative_double_gives_a_cloud,
    negative_simple_gives_two_clouds,
)
