"""Collapse to one point: theorems 4.1, 4.2, 4.3, 5.1, 6.1, lemma 6.4, theorem 6.7."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.observables import in_hemisphere
from pushforward.studies import Claim
from pushforward.studies.perspective._ensemble import (
    PROBABILITY,
    attention,
    crossed,
    followed,
    spread,
    starts,
)
from pushforward.studies.perspective._plateaus import on_circle
from pushforward.studies.perspective.study import Parameters, open_claim, paper, within

ONE_CLUSTER = 1e-4  # distance below which all tokens count as one point
CONE_TIMES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 200.0, 600.0)
LONG_TIMES = (0.0, *np.geomspace(10.0, 3000.0, 12).tolist())


def _collapsed(points: np.ndarray) -> float:
    """The share of systems whose tokens have all met."""
    return float(np.mean(spread(points) < ONE_CLUSTER))


def beta_zero(p: Parameters) -> Claim:
    """At beta = 0 almost every start collapses (n = 32, d = 2)."""
    points = on_circle(p).final(0.0)
    where = paper("theorem 4.1")
    return within(str(beta_zero.__doc__), where, "theorem", _collapsed(points), 1, 0)


def beta_below_one_over_n(p: Parameters) -> Claim:
    """For beta <= 1/n almost every start collapses (n = 32, d = 2)."""
    points = on_circle(p).final(1 / 32)
    claim = str(beta_below_one_over_n.__doc__)
    return within(claim, paper("theorem 4.3"), "theorem", _collapsed(points), 1, 0)


@functools.lru_cache
def _with_any_weights(p: Parameters) -> dict[str, np.ndarray]:
    """n = 8, d = 3, V = I, random Q and K: uniform starts, then starts in a cone."""
    key_Q, key_K, key_x = jax.random.split(pf.key_for(p.seed, "any weights"), 3)
    Q = jax.random.normal(key_Q, (16, 3, 3)) / np.sqrt(3.0)
    K = jax.random.normal(key_K, (16, 3, 3)) / np.sqrt(3.0)
    free = starts(3, 8, 16, key_x)
    points = [start.points for start in free]
    up = [x * jnp.where(x[:, 2:] < 0, -1.0, 1.0) for x in points]
    betas = (0.0, 0.005, 0.01, 0.05, 1.0, 2.0, 4.0)
    fields = [pf.Attention(b, q, k) for b in betas for q, k in zip(Q, K, strict=True)]
    cone = [pf.Given(pf.Sphere(3), x) for x in up]
    x = followed(fields, free * 4 + cone * 3, CONE_TIMES)
    names = ("zero", "half", "twice", "small", "cone")
    parts = np.split(x, [16, 32, 48, 64])
    return dict(zip(names, parts, strict=True))


def small_beta_any_weights(p: Parameters) -> Claim:
    """For small beta and any Q, K random starts collapse (n = 8, d = 3)."""
    x = _with_any_weights(p)["small"]
    claim = str(small_beta_any_weights.__doc__)
    return within(claim, paper("theorem 4.2"), "theorem", _collapsed(x[:, -1]), 1, 0)


def first_order_in_beta(p: Parameters) -> Claim:
    """x^beta - x^0 is of first order in beta at fixed time."""
    x = _with_any_weights(p)
    k = CONE_TIMES.index(2.0)
    moved = [
        np.abs(x[name][:, k] - x["zero"][:, k]).max() for name in ("half", "twice")
    ]
    note = f"|x^0.01 - x^0| / |x^0.005 - x^0| at t = 2; |x^0.01 - x^0| = {moved[1]:.3g}"
    ratio, where = moved[1] / moved[0], paper("theorem 4.2")
    claim = str(first_order_in_beta.__doc__)
    return within(claim, where, "theorem", ratio, 2.0, 0.1, note)


def cone_collapse(p: Parameters) -> Claim:
    """Starts in a hemisphere collapse, for any Q, K (n = 8, beta to 4)."""
    x = _with_any_weights(p)["cone"]
    claim = str(cone_collapse.__doc__)
    return within(claim, paper("theorem 6.3"), "theorem", _collapsed(x[:, -1]), 1, 0)


def cone_monotone(p: Parameters) -> Claim:
    """Lemma 6.4: min_i <x_i, w> never decreases in the hemisphere of w."""
    r = _with_any_weights(p)["cone"][..., 2].min(axis=-1)  # w is the third axis
    worst = float(np.diff(r, axis=1).min())
    claim = str(cone_monotone.__doc__)
    lowest = min(worst, 0.0)
    note = f"smallest increment between saved times {worst:.3g}; rtol is 1e-10"
    return within(claim, paper("lemma 6.4"), "theorem", lowest, 0.0, 1e-9, note)


def _long(p: Parameters, fields) -> float:
    measures = starts(3, 8, 8, pf.key_for(p.seed, "long"))
    x = followed(*crossed(fields, measures), LONG_TIMES, PROBABILITY)
    return _collapsed(x[:, -1])


def every_beta(p: Parameters) -> Claim:
    """For d = 3 almost every start collapses under SA (n = 8, beta to 3)."""
    share = _long(p, attention([0.0, 0.5, 1.0, 2.0, 3.0]))
    return within(str(every_beta.__doc__), paper("theorem 6.1"), "theorem", share, 1, 0)


def every_beta_unnormalized(p: Parameters) -> Claim:
    """For d = 3 almost every start collapses under USA (n = 8, beta to 3)."""
    betas = (0.0, 0.5, 1.0, 2.0, 3.0)
    share = _long(p, [pf.UnnormalizedAttention(b, log_scale=-b) for b in betas])
    claim = str(every_beta_unnormalized.__doc__)
    return within(claim, paper("theorem 6.1"), "theorem", share, 1, 0)


def large_beta(p: Parameters) -> Claim:
    """On the circle, beta above the threshold of n = 3 collapses."""
    betas = theory.circle.collapse_threshold(3) + np.array([0.05, 0.6, 1.1])
    measures = starts(2, 3, 16, pf.key_for(p.seed, "three tokens"))
    x = followed(*crossed(attention(betas), measures), LONG_TIMES, PROBABILITY)
    note = f"beta = {', '.join(f'{b:.3f}' for b in betas)}"
    claim, share = str(large_beta.__doc__), _collapsed(x[:, -1])
    return within(claim, paper("theorem 5.1"), "theorem", share, 1, 0, note)


def large_beta_threshold(p: Parameters) -> Claim:
    """The beta at which the strongest pull of USA is felt at pi / (2 (n - 1))."""
    n = 5
    angle = np.pi / 2 / (n - 1)

    def pull(theta, beta):
        """The speed that a token at angle 0 owes to one at angle theta."""
        x = pf.Circle().points(jnp.stack([theta * 0.0, theta]))
        field = pf.UnnormalizedAttention(beta, log_scale=-beta)
        return field(0.0, pf.Particles(pf.Circle(), x)).v[0, 1]

    slope = jax.jit(jax.grad(pull))

    low, high = 1.0, 20.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(angle, middle) > 0 else (low, middle)
    predicted = theory.circle.collapse_threshold(n)
    claim = str(large_beta_threshold.__doc__)
    note = f"n = 5; n^2/pi^2 = {n**2 / np.pi**2:.3f} is the order of magnitude"
    return within(claim, paper("theorem 5.1"), "theorem", low, predicted, 1e-7, note)


def large_beta_constant(p: Parameters) -> Claim:
    """Beta >= C(d) n^2 suffices in every dimension."""
    return open_claim(
        str(large_beta_constant.__doc__),
        paper("theorem 5.1"),
        "theorem",
        "C(d) is not explicit for d > 2, where theorem 6.1 covers every beta",
    )


def _wendel(n: int, d: int):
    def claim(p: Parameters) -> Claim:
        x = jax.random.normal(pf.key_for(p.seed, f"wendel {n} {d}"), (p.draws, n, d))
        space = pf.Sphere(d)
        clouds = [pf.Particles(space, cloud) for cloud in np.asarray(space.project(x))]
        share = float(np.mean([in_hemisphere(mu) for mu in clouds]))
        predicted = theory.hemisphere.probability(n, d)
        error = 4 * np.sqrt(predicted * (1 - predicted) / p.draws)
        note = f"{p.draws} linear programs; tolerance is four standard errors"
        where = paper("theorem 6.7")
        return within(words, where, "theorem", share, predicted, error, note)

    words = f"n = {n} uniform points on the sphere of R^{d} share a hemisphere."
    claim.__doc__ = words
    return claim


CLAIMS = (
    beta_zero,
    small_beta_any_weights,
    first_order_in_beta,
    beta_below_one_over_n,
    large_beta_threshold,
    large_beta,
    large_beta_constant,
    every_beta,
    every_beta_unnormalized,
    cone_collapse,
    cone_monotone,
    _wendel(5, 3),
    _wendel(6, 2),
    _wendel(10, 4),
)
