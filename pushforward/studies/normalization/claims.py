"""Every claim of the study."""

import functools

import numpy as np

import pushforward as pf
from pushforward.studies.normalization import runs
from pushforward.studies.normalization.study import (
    BETA,
    N,
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    refuted,
    within,
)
from pushforward.theory import normalization as theory

LEAN = "refuted in Lean, too: github.com/fxeqxmulfx/transformer, Normalization"
DERIVED = paper("equiangular tokens, derived here")


@functools.cache
def gaps(scheme: str, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Times, and 1 - rho between two tokens that start orthogonal."""
    run = runs.orthogonal(scheme, end).run()
    x = np.asarray(run.points)[:, :2]
    x = x / np.linalg.norm(x, axis=2, keepdims=True)
    # |x - y|^2 / 2 keeps its digits where 1 - <x, y> loses them
    return np.asarray(run.times), np.sum((x[:, 0] - x[:, 1]) ** 2, axis=1) / 2


@functools.cache
def nearness(scheme: str) -> np.ndarray:
    """The mean of e^{4 (cos - 1)} over pairs of the tokens without symmetry."""
    x = np.asarray(runs.sine(scheme).run().points)
    x = x / np.linalg.norm(x, axis=2, keepdims=True)
    return np.exp(4 * (x @ x.transpose(0, 2, 1) - 1)).mean(axis=(1, 2))


def fields_follow_the_laws(p: Parameters):
    """Particles under seven fields against the two equations for (rho, r)."""
    worst = 0.0
    for scheme in runs.FIELDS:
        t, gap = gaps(scheme, p.end)
        law = theory.normalized(scheme, t, BETA, N, switch=2.0).gap
        seen = law > 1e-6  # below, the tokens are one cluster to the solver
        worst = max(worst, np.abs(gap / law - 1)[seen].max())
    claim = f"{N} orthogonal tokens, beta = 2, seven schemes: fields against their laws"
    return at_most(claim, paper("table of schemes"), "identity", worst, 1e-4)


def tokens_in_general(p: Parameters):
    """Tokens without symmetry, against an independent solver."""
    known = {
        "pre": (0.2426216098, 0.3179885997),
        "peri": (0.2452933436, 0.3223339001),
        "unit": (0.2644913861, 0.4072765889),
        "depth scaled": (0.2377068980, 0.2866863870),
        "depth": (0.2487719303, 0.3765086395),
    }
    gap = max(np.abs(nearness(s)[1:] - v).max() for s, v in known.items())
    claim = "8 tokens on S^2, beta = 4: nearness at t = 1 and 5 under five schemes"
    return at_most(claim, paper("table of schemes"), "identity", gap, 1e-8)


def radius_grows(p: Parameters):
    """Pre-, Peri-LN and LN-scaling: the mean radius, which is the brake."""
    known = {"pre": 5.6296636, "peri": 5.9174344, "depth scaled": 3.6541315}
    gaps = []
    for scheme, radius in known.items():
        x = np.asarray(runs.sine(scheme).run().points)[-1]
        gaps.append(abs(np.linalg.norm(x, axis=1).mean() - radius))
    claim = (
        "the same under three: mean radius at t = 5 off 5.6296636, 5.9174344, 3.6541315"
    )
    return at_most(claim, paper("table of schemes"), "identity", max(gaps), 1e-7)


def end_of_post(p: Parameters):
    """Post-LN: 1 - rho falls like e^{-2t}."""
    t, gap = gaps("post", p.end)
    late = (gap > 1e-7) & (gap < 1e-3)
    rate = -np.polyfit(t[late], np.log(gap[late]), 1)[0]
    claim = "Post-LN at the end: rate of 1 - rho"
    return within(claim, paper("Theorem 4.3"), "theorem", rate, 2.0, 1e-2)


@functools.cache
def rate_of_fast_ngpt() -> float:
    """The rate of 1 - rho at the end under nGPT with alpha = 2."""
    run = runs.fast_ngpt().run()
    gap = np.asarray(run.observe(lambda mu: np.sum((mu.points[0] - mu.points[1]) ** 2)))
    late = (gap > 1e-7) & (gap < 1e-3)
    return float(-np.polyfit(np.asarray(run.times)[late], np.log(gap[late]), 1)[0])


def end_of_ngpt_as_printed(p: Parameters):
    """The row of nGPT: d Var/dt is of order Var over alpha."""
    claim = "nGPT at the end, alpha = 2: rate of 1 - rho, printed 2/alpha"
    found = rate_of_fast_ngpt()
    return refuted(claim, paper("Theorem 4.3"), found, 1.0, 0.5, LEAN)


def end_of_ngpt(p: Parameters):
    """It is alpha times Var, as the table of schemes and the remark have it."""
    claim = "the same against 2 alpha"
    where = paper("Theorem 4.3 (corrected)")
    return within(claim, where, "erratum", rate_of_fast_ngpt(), 4.0, 0.02)


def clusters_as_printed(p: Parameters):
    """delta < 1/(100 n^2 beta^2) admits antipodal tokens where beta is small."""
    beta, n = 0.01, 2
    assert 1 / (100 * n**2 * beta**2) > 2  # any two tokens have cosine >= 1 - 2
    pair = pf.Particles(pf.Sphere(3), [[1.0, 0, 0], [-1.0, 0, 0]])
    end = pf.flow(pf.Attention(beta), pair, 5.0, save=2).final
    found = -np.log(float(1 - np.sum(np.square(end.mean())))) / 5.0
    claim = "beta = 0.01, antipodal pair, which is admitted: rate of Var, 2 at clusters"
    note = f"no rate holds for a pair at rest; delta < 1/(100 n^2) mends it; {LEAN}"
    return refuted(claim, paper("Theorem 4.3"), found, 2.0, 1.0, note)


def end_of_pre_and_peri(p: Parameters):
    """Pre- and Peri-LN: r^2 (1 - rho) has one limit."""
    ends = [theory.normalized(s, 1e5, BETA, N).gap for s in ("pre", "peri")]
    ratios = np.array(ends) * 1e10 / theory.end_constant(BETA, N)
    claim = "Pre- and Peri-LN: (1 - rho) t^2 at t = 1e5 over its limit, largest gap"
    gap = np.abs(ratios - 1).max()
    return at_most(claim, paper("Theorem 4.3"), "theorem", gap, 1e-4)


def particles_at_the_end(p: Parameters):
    """The power of t, measured on particles."""
    slopes = []
    for scheme in ("pre", "peri"):
        t, gap = gaps(scheme, p.end)
        slopes.append(np.polyfit(np.log(t[-5:]), np.log(gap[-5:]), 1)[0])
    claim = (
        f"Pre- and Peri-LN, particles to t = {p.end:g}: power of 1 - rho, farther one"
    )
    far = max(slopes, key=lambda s: abs(s + 2))
    return within(claim, paper("Theorem 4.3"), "theorem", far, -2.0, 0.1)


def speed_at_the_start(p: Parameters):
    """Orthogonal start: Peri-LN and nGPT begin fast, Post- and Pre-LN slowly."""
    ratio = theory.initial_speed("unit", 1.0, 16) / theory.initial_speed(
        "post", 1.0, 16
    )
    claim = "16 orthogonal tokens, beta = 1: speed of nGPT over Post-LN at the start"
    known = 0.4226803938 / 0.1128777620
    return within(claim, paper("Theorem 4.2"), "identity", ratio, known, 1e-8)


@functools.cache
def drives(n: int, d: int, seed: int) -> float:
    """max_j |A_j| at the start, for n random directions, beta = 1."""
    mu = pf.Uniform(n, d)(seed)
    flat = pf.Particles(pf.Euclidean(d), mu.points)
    A = pf.Attention(1.0).at(0.0, mu.points, flat)
    return float(np.linalg.norm(np.asarray(A), axis=1).max())


def random_tokens_start_slowly(p: Parameters):
    """|A_j(0)| <= C (sqrt(log n / n) + log n / d): a constant that does not grow."""
    ratios = [
        drives(n, 4 * int(np.log(n) ** 2), p.seed)
        / (np.sqrt(np.log(n) / n) + np.log(n) / (4 * int(np.log(n) ** 2)))
        for n in p.contexts
    ]
    claim = (
        f"n = {p.contexts[0]} to {p.contexts[-1]} random tokens: constant of the bound"
    )
    note = f"{', '.join(f'{r:.2f}' for r in ratios)}; the paper's is not explicit"
    return at_most(claim, paper("Theorem 4.2"), "theorem", max(ratios), 1.0, note)


def metastability_doubles(p: Parameters):
    """Pre-LN waits e^T where Post-LN waits T, for its radius grows on the plateau."""
    pre, post = (theory.time_to(s, 0.99, 5.0, 2) for s in ("pre", "post"))
    claim = (
        "two orthogonal tokens, beta = 5: log of the time of Pre-LN over that of Post"
    )
    note = f"{post:.4g} and {pre:.4g}"
    ratio = np.log(pre) / post
    return within(claim, DERIVED, "identity", ratio, 1.0, 0.05, note)


def two_meanings_of_depth_scaling(p: Parameters):
    """LN-scaling with and without a radius: C/(4t) and e^{-4 sqrt t}."""
    with_, without = (
        float(theory.normalized(s, 100.0, BETA, N).gap)
        for s in ("depth scaled", "depth")
    )
    claim = "LN-scaling, t = 100, beta = 2: 1 - rho with the radius over that without"
    note = f"{with_:.3g} and {without:.3g}; `DepthScaledNorm` keeps the radius"
    return at_least(claim, DERIVED, "identity", with_ / without, 1e6, note)


def one_cluster_or_none(p: Parameters):
    """The general convergence theorem."""
    return open_claim(
        "almost surely one cluster, or min_j liminf dr_j/dt = 0 (Pre, Mix, Peri)",
        paper("convergence theorem"),
        "theorem",
        "a statement about all starts and infinite time",
    )


CLAIMS = (
    fields_follow_the_laws,
    tokens_in_general,
    radius_grows,
    end_of_post,
    end_of_ngpt_as_printed,
    end_of_ngpt,
    clusters_as_printed,
    end_of_pre_and_peri,
    particles_at_the_end,
    speed_at_the_start,
    random_tokens_start_slowly,
    metastability_doubles,
    two_meanings_of_depth_scaling,
    one_cluster_or_none,
)
