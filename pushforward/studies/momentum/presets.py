"""The study in the explorer: layers with a velocity; time counts layers."""

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.momentum.runs import GAMMA, KINDS
from pushforward.studies.momentum.study import Parameters

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


def experiments() -> dict[str, pf.Experiment]:
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
    runs = experiments()
    return tuple(
        Preset(kind.lower(), title, claim, shown(runs[kind]))
        for kind, (title, claim) in WORDS.items()
    )
