"""The circle: growth of waves, the mean-field limit, and two tokens as a clock."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies import Claim
from pushforward.studies.perspective import runs
from pushforward.studies.perspective._ensemble import (
    PROBABILITY,
    attention,
    followed,
)
from pushforward.studies.perspective._plateaus import counts
from pushforward.studies.perspective.study import Parameters, at_most, paper, within

WAVE_POINTS = 64  # spectral: the error is of the order of I_64(beta), below rounding
WAVES = ((1.0, 1), (4.0, 1), (4.0, 2), (4.0, 3), (4.0, 4), (9.0, 3), (9.0, 4), (9.0, 5))
AMPLITUDE = 1e-5
TIGHT = pf.Adaptive(rtol=1e-12, atol=1e-14)
R_0 = 0.3


def _on_circle(angles) -> list[pf.Given]:
    points = np.asarray(jax.vmap(pf.Circle().points)(jnp.asarray(angles)))
    return [pf.Given(pf.Circle(), x) for x in points]


def _complex(x: np.ndarray) -> np.ndarray:
    return x[..., 0] + 1j * x[..., 1]


@functools.lru_cache
def growth_measured(p: Parameters) -> np.ndarray:
    """Growth rates of waves 1 + eps cos(k theta) of equal-mass quantile points."""
    u = 2 * np.pi * (np.arange(WAVE_POINTS) + 0.5) / WAVE_POINTS
    # The quantiles of the density 1 + eps cos(k theta), to first order in eps.
    angles = [u - AMPLITUDE / k * np.sin(k * u) for _, k in WAVES]
    fields = attention([beta for beta, _ in WAVES])
    x = followed(fields, _on_circle(angles), (0.0, 1.0), TIGHT)
    modes = np.array([_complex(x[i]) ** k for i, (_, k) in enumerate(WAVES)])
    amplitude = np.abs(modes.mean(axis=-1))
    return np.log(amplitude[:, 1] / amplitude[:, 0])


def _growth(beta: float, k: int) -> Callable[[Parameters], Claim]:
    def claim(p: Parameters) -> Claim:
        measured = growth_measured(p)[WAVES.index((beta, k))]
        predicted = float(theory.stability.growth_rates(beta, 2, k)[k])
        note = f"{WAVE_POINTS} quantile points, amplitude {AMPLITUDE:g}, t = 1"
        where = paper("circle, growth of waves")
        tolerance = 1e-6 * predicted
        return within(words, where, "identity", measured, predicted, tolerance, note)

    words = (
        f"Growth rate of the wave k = {k} of SA about uniform, d = 2, beta = {beta:g}."
    )
    claim.__doc__ = words
    return claim


@functools.lru_cache
def from_uniform(p: Parameters) -> np.ndarray:
    """Mean number of clusters at t = 30 from nearly uniform tokens, per temperature."""
    n, per = 128, 8
    key = pf.key_for(p.seed, "nearly uniform")
    noise = 1e-3 * jax.random.normal(key, (per, n))
    angles = 2 * jnp.pi * jnp.arange(float(n))[None, :] / n + noise
    fields = attention(np.repeat(p.rate_betas, per))
    measures = _on_circle(jnp.tile(angles, (len(p.rate_betas), 1)))
    points = followed(fields, measures, (0.0, 30.0), PROBABILITY)[:, -1]
    return counts(points).reshape(len(p.rate_betas), per).mean(axis=1)


def clusters_from_uniform(p: Parameters) -> Claim:
    """Nearly uniform tokens on the circle form as many clusters as the fastest wave."""
    found = from_uniform(p)
    predicted = np.array([theory.stability.dominant_degree(b, 2) for b in p.rate_betas])
    off = float(np.abs(found - predicted).max())
    shown = ", ".join(
        f"{c:.2f} at beta = {b:g} (k = {m})"
        for c, b, m in zip(found, p.rate_betas, predicted, strict=True)
    )
    claim, where = str(clusters_from_uniform.__doc__), paper("circle, growth of waves")
    note = f"largest distance from k: {shown}; neighboring waves grow almost as fast"
    return at_most(claim, where, "conjecture", off, 1.0, note)


def kuramoto(p: Parameters) -> Claim:
    """beta = 0 on the circle: r(2) of the mean-field limit from r(0) = 0.3."""
    angles = theory.kuramoto.quantile_points(200, R_0)[None]
    x = followed(attention([0.0]), _on_circle(angles), (0.0, 2.0))[:, -1]
    measured = float(np.abs(_complex(x[0]).mean()))
    predicted = float(theory.kuramoto.order_parameter(2.0, R_0))
    claim, where = str(kuramoto.__doc__), paper("circle, Kuramoto")
    note = "200 quantile points of the Poisson kernel"
    return within(claim, where, "theorem", measured, predicted, 1e-9, note)


def sampling_rate(p: Parameters) -> Claim:
    """Mean-field limit: iid tokens miss r(2) by 0.985 / sqrt(n) in mean square."""
    n, seeds = 400, max(p.replicas, 96)
    u = jax.random.uniform(pf.key_for(p.seed, "sampling rate"), (seeds, n))
    angles = 2 * jnp.arctan((1 - R_0) / (1 + R_0) * jnp.tan(jnp.pi * (u - 0.5)))
    fields = attention(np.zeros(seeds))
    solver = pf.Heun(0.1)
    x = followed(fields, _on_circle(angles), (0.0, 2.0), solver)[:, -1]
    r = np.abs(_complex(x).mean(axis=1))
    squares = n * (r - theory.kuramoto.order_parameter(2.0, R_0)) ** 2
    measured = np.sqrt(squares.mean())
    error = squares.std(ddof=1) / np.sqrt(seeds) / (2 * measured)
    claim, where = str(sampling_rate.__doc__), paper("mean-field limit")
    note = (
        f"n = {n}, {seeds} seeds; four standard errors plus 0.01 against an earlier "
        "ensemble of n = 100 to 6400"
    )
    tolerance = 0.01 + 4 * error
    return within(claim, where, "experiment", measured, 0.985, tolerance, note)


@functools.lru_cache
def clock(p: Parameters) -> dict[str, np.ndarray]:
    """Two tokens at a right angle, beta = 6: cosine over time, layer by layer."""
    data = {"merging": np.array([float(theory.two_tokens.merging_time(6.0))])}
    run = runs.clock().run()
    exact = np.asarray(run.observed["cosine"])
    data |= {"times": np.asarray(run.times), "exact": exact}
    for h in (0.1, 0.05):
        run = runs.clock(h).run()
        data[f"layers {h:g}"] = np.asarray(run.observed["cosine"])
        data["layer times"] = np.asarray(run.times)
    return data


def layers_run_slow(p: Parameters) -> Claim:
    """Layers with h = 0.1 keep time slow by 1 + h: two tokens, beta = 6, to 0.999."""
    data = clock(p)
    cosine, times = data["layers 0.1"], data["layer times"]
    k = int(np.argmax(cosine >= 0.999))
    s = (0.999 - cosine[k - 1]) / (cosine[k] - cosine[k - 1])
    late = (times[k - 1] + s * (times[k] - times[k - 1])) / data["merging"][0]
    claim, where = str(layers_run_slow.__doc__), paper("published code")
    note = "ratio of merging times; terms of second order in h make the rest"
    return within(claim, where, "identity", late, 1.1, 0.01, note)


def adaptive_keeps_time(p: Parameters) -> Claim:
    """Two tokens, beta = 6: the cosine at the predicted merging time is 0.999."""
    data = clock(p)
    k = int(np.searchsorted(data["times"], data["merging"][0]))
    claim, where = str(adaptive_keeps_time.__doc__), paper("two tokens")
    note = f"t = {data['merging'][0]:.8f}"
    return within(claim, where, "identity", data["exact"][k], 0.999, 1e-8, note)


CLAIMS = (
    *(_growth(beta, k) for beta, k in ((1.0, 1), (4.0, 2), (4.0, 3), (9.0, 4))),
    clusters_from_uniform,
    kuramoto,
    sampling_rate,
    adaptive_keeps_time,
    layers_run_slow,
)
