"""The runs behind figures and claims, as experiments: time counts layers."""

import functools

import numpy as np
from jaxtyping import Array, Bool

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.momentum.study import Parameters

KINDS = {"gradient": (0.0, 0.0), "heavy ball": (0.9, 0.0), "Nesterov": (0.9, 0.9)}
GAMMA = 0.1
SHOWN = {
    "nesterov": ("waits", "layers_by_kind"),
    "near-one-point": ("radius_of_a_layer",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Two orthogonal tokens under each kind of layer, and six tokens near a point."""
    named = {kind.replace(" ", "-").lower(): pair(kind, 5.0) for kind in KINDS}
    return named | {"near-one-point": near_one_point(p)}


def met(mu: pf.Particles) -> Bool[Array, ""]:
    """Whether two tokens are within cosine 0.999."""
    x = pf.positions(mu).points
    return x[0] @ x[1] >= 0.999


def pair(kind: str, beta: float) -> pf.Experiment:
    """Two orthogonal tokens at rest, until they meet."""
    return pf.Experiment(
        pf.AtRest(pf.Orthonormal(2, 2)),
        pf.Momentum(pf.Attention(beta)),
        100_000.0,
        save=2,
        solver=pf.MomentumLayers(GAMMA, *KINDS[kind]),
        until=met,
    )


@functools.cache
def layers_needed(kind: str, beta: float) -> int:
    """Layers until two orthogonal tokens meet."""
    return int(pair(kind, beta).run().steps)


def near_one_point(p: Parameters) -> pf.Experiment:
    """Six tokens near a pole, at rest, under Nesterov with b = mu = 1/2."""
    x = np.array([0.0, 0, 1]) + 1e-3 * np.random.default_rng(p.seed).normal(size=(6, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return pf.Experiment(
        pf.AtRest(pf.Given(pf.Sphere(3), x)),
        pf.Momentum(pf.Attention(3.0)),
        float(p.layers),
        save=p.layers + 1,
        solver=pf.MomentumLayers(GAMMA, 0.5, 0.5),
    )


def measured_radius(p: Parameters) -> float:
    """The factor per layer by which the tokens near a pole come closer."""
    x = np.asarray(near_one_point(p).run().points)[1:, :, :3]
    sizes = np.linalg.norm(x - x.mean(axis=1, keepdims=True), axis=(1, 2))
    half = p.layers // 2  # a double root decays like k rho^k
    slope = np.polyfit(np.arange(half, p.layers), np.log(sizes[half:]), 1)[0]
    return float(np.exp(slope))


LAYERS = 120
WORDS = {
    "gradient": (
        "Layers without momentum",
        "A gradient step per layer: 48 tokens are still in several clusters after "
        f"{LAYERS} layers. Compare with Nesterov's layers.",
    ),
    "Nesterov": (
        "Nesterov's layers: momentum and a look ahead",
        "The same step with a velocity: the tokens are one cluster after 79 layers, "
        "some after a swing past where they meet.",
    ),
}


def in_the_explorer() -> dict[str, pf.Experiment]:
    """48 tokens on S^2 at rest, under layers of the same step."""
    start, field = pf.AtRest(pf.Uniform(48, 3)), pf.Momentum(pf.Attention(4.0))
    return {
        kind: pf.Experiment(
            start,
            field,
            float(LAYERS),
            save=LAYERS + 1,
            solver=pf.MomentumLayers(GAMMA, *KINDS[kind]),
        )
        for kind in WORDS
    }


def states(p: Parameters) -> tuple[Preset, ...]:
    """Without and with momentum."""
    runs = in_the_explorer()
    return tuple(
        Preset(kind.lower(), title, claim, shown(runs[kind]))
        for kind, (title, claim) in WORDS.items()
    )
