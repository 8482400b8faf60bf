"""The runs behind figures and claims, as experiments."""

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies import Preset
from pushforward.studies.causal.study import Parameters

N, BETA = 32, 9.0  # of the atlas
PANELS = {
    "identity": np.eye(3),
    "double top": np.diag([1.0, 1.0, 0.3]),
    "simple top": np.diag([2.0, 1.0, 0.5]),
    "double, negative": np.diag([-1.0, -1.0, -3.0]),
    "simple, negative": np.diag([-1.0, -2.0, -3.0]),
    "all negative": -np.eye(3),
}
CIRCLE_BETA, C, EPSILON = 64.0, 4.0, 0.1
APART = C * (1 + 2 * EPSILON) / np.sqrt(CIRCLE_BETA)
TIMES = np.array([0.0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50])
SNAPSHOTS = (0.0, 5.0, 75.0, 150.0)
SOLVER = pf.Adaptive(rtol=1e-6, atol=1e-8)  # counts and shares need no more
FIELDS = {"causal": pf.CausalAttention, "full": pf.Attention}
SHOWN = {
    "atlas-identity": ("figure-1-atlas",),
    "parking": ("figure-2-parking",),
    "causal-64": (
        "figure-3-absorption",
        "square-root-law",
        "strong_centers_keep_the_bound_in_a_crowd",
        "causal_square_root_law",
        "clusters_at_beta_64",
        "renyi_absorption",
        "strong_absorption",
    ),
    "random-weights": ("everything_goes_to_the_first_token",),
    "consensus": ("slowest_rate_is_one_half",),
    "oja": ("first_token_follows_oja",),
    "atlas-double-top-beta-1": ("double_top_gives_one_point",),
    "atlas-simple-top": ("simple_top_gives_two_points",),
    "atlas-double-negative": ("negative_double_gives_a_cloud",),
    "atlas-simple-negative": ("negative_simple_gives_two_clouds",),
    "strong-center": ("a_strong_center_hardly_moves",),
    "frozen-centers": ("frozen_centers_capture_free_tokens",),
    "full-64": ("full_square_root_law",),
    "leading-eigenspace": ("leading_eigenspace_sets_the_dimension",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """The atlas on S^2, then sequences on the circle, one of each kind.

    Run number r is the same with its seed raised by r.
    """
    words = {name: name.replace(", ", "-").replace(" ", "-") for name in PANELS}
    return {
        **{f"atlas-{words[name]}": atlas(p, name) for name in PANELS},
        "atlas-double-top-beta-1": atlas(p, "double top", 1.0),
        "random-weights": random_weights(p),
        "consensus": consensus(p),
        "oja": oja(p),
        "strong-center": strong_center(),
        "frozen-centers": frozen_centers(p),
        "parking": parking(p),
        **{f"{f}-{b:g}": sequence(p, f, b) for f in FIELDS for b in p.betas},
        "leading-eigenspace": leading_eigenspace(p, p.betas[0]),
    }


def atlas(p: Parameters, name: str, beta: float = BETA) -> pf.Experiment:
    """One panel: 32 uniform tokens on S^2, the same for all, on a clock of log t."""
    return pf.Experiment(
        pf.Uniform(N, 3),
        pf.CausalAttention(beta, V=PANELS[name]),
        p.atlas_time,
        save=pf.LogTimes(first=0.05, num=60),
        seed=p.seed,
    )


def random_weights(p: Parameters) -> pf.Experiment:
    """V = I with random Q and K."""
    Q, K = 0.5 * np.random.default_rng(p.seed).standard_normal((2, 3, 3))
    field = pf.CausalAttention(2.0, Q=Q, K=K)
    return pf.Experiment(pf.Uniform(N, 3), field, 80.0, save=2, seed=p.seed)


def consensus(p: Parameters) -> pf.Experiment:
    """V = I, long enough to see a rate: distances fall to 1e-8."""
    return pf.Experiment(
        pf.Uniform(N, 3),
        pf.CausalAttention(1.0),
        42.0,
        save=[30.0, 42.0],
        solver=pf.Adaptive(rtol=1e-11, atol=1e-13),
        seed=p.seed,
    )


def oja(p: Parameters) -> pf.Experiment:
    """A random V."""
    V = np.random.default_rng(p.seed).standard_normal((3, 3))
    field = pf.CausalAttention(BETA, V=V)
    return pf.Experiment(pf.Uniform(N, 3), field, 2.0, save=2, seed=p.seed)


def strong_center() -> pf.Experiment:
    """Two tokens 0.6 apart, for the lifetime of the second."""
    points = pf.Circle().points(jnp.array([0.0, APART]))
    T = theory.causal.center_lifetime(CIRCLE_BETA, C, EPSILON, 1)
    field = pf.CausalAttention(CIRCLE_BETA)
    return pf.Experiment(pf.Given(pf.Circle(), points), field, T, save=2)


def frozen_centers(p: Parameters) -> pf.Experiment:
    """7 frozen equispaced centers and 100 free causal tokens."""
    atoms = pf.Circle().points(2 * np.pi * np.arange(7) / 7)
    field = pf.Background(pf.CausalAttention(CIRCLE_BETA), atoms)
    return pf.Experiment(pf.Uniform(100, 2), field, 100.0, save=2, seed=p.seed)


def parking(p: Parameters) -> pf.Experiment:
    """One sequence of n tokens to t = 150."""
    early = np.geomspace(0.05, 150.0, 160)
    return pf.Experiment(
        pf.Uniform(p.n, 2),
        pf.CausalAttention(CIRCLE_BETA),
        150.0,
        save=np.unique(np.concatenate([[0.0], early, SNAPSHOTS])),
        solver=SOLVER,
        seed=p.seed + 3,
    )


def sequence(p: Parameters, field: str, beta: float, run: int = 0) -> pf.Experiment:
    """Run number `run` under causal or full attention, seen at TIMES."""
    return pf.Experiment(
        pf.Uniform(p.n, 2),
        FIELDS[field](beta),
        TIMES[-1],
        save=TIMES,
        solver=SOLVER,
        seed=p.seed + run,
    )


def leading_eigenspace(p: Parameters, beta: float, run: int = 0) -> pf.Experiment:
    """V = diag(1, 1, 0.3) on S^2, to t = 20."""
    field = pf.CausalAttention(beta, V=PANELS["double top"])
    start, seed = pf.Uniform(p.n, 3), p.seed + run
    return pf.Experiment(start, field, 20.0, save=2, solver=SOLVER, seed=seed)


WORDS = {
    "identity": "V = I: in the limit every token is where the first began; the last "
    "group to come is still on its way when this run ends.",
    "double top": "A double largest eigenvalue: in the limit all tokens are at one "
    "point; two groups still wait for each other when this run ends.",
    "simple top": "A simple largest eigenvalue: two antipodal points.",
    "double, negative": "A double negative one: a cloud around the plane.",
    "simple, negative": "A simple negative one: two clouds.",
    "all negative": "V = -I: tokens keep apart from those before them.",
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The six panels of the atlas, the parking circle, and the square-root law."""
    return (*(_panel(p, name) for name in PANELS), *_circles(p))


def _panel(p: Parameters, name: str) -> Preset:
    values = np.diag(PANELS[name]).tolist()
    state = {
        "model": "causal",
        "n": N,
        "beta": BETA,
        "seed": p.seed,
        "t1": p.atlas_time,
        "clock": "log",
        "V": None if name == "identity" else values,
    }
    title = f"Figure 1: causal, {name}"
    return Preset(
        f"atlas-{name.replace(', ', '-').replace(' ', '-')}", title, WORDS[name], state
    )


def _circles(p: Parameters) -> tuple[Preset, ...]:
    circle = {"model": "causal", "n": p.n, "d": 2, "seed": p.seed, "t1": 20.0}
    return (
        Preset(
            "parking",
            "Figure 2: parking on the circle, β = 64",
            "Tokens gather around early tokens that stand alone: Rényi's cars.",
            {**circle, "beta": p.betas[1], "t1": 50.0},
        ),
        Preset(
            "absorption",
            "Figure 3: absorbed by centers, β = 64",
            "At t = 20 nine tokens of ten are near a Rényi center.",
            {**circle, "beta": p.betas[1]},
        ),
        Preset(
            "square-root-law",
            "Square-root law: β = 256",
            "The number of clusters at t = 20 grows like √β.",
            {**circle, "beta": p.betas[2]},
        ),
    )
