"""Figures of the study as states of the explorer: noise on the circle."""

import math

from pushforward import theory
from pushforward.studies import Preset
from pushforward.studies.mean_field.study import Parameters

BETA, TOKENS = 1.0, 256
RATIOS = {"below": 0.8, "above": 2.0}  # kappa over its threshold
WORDS = {
    "below": "With this much noise tokens stay spread, whatever the attention does.",
    "above": "With less noise tokens gather: the order parameter settles near {:.2f}.",
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The bifurcation from the uniform state, on both sides."""
    return tuple(_side(p, name, ratio) for name, ratio in RATIOS.items())


def _side(p: Parameters, name: str, ratio: float) -> Preset:
    kappa = ratio * theory.stability.noise_threshold(BETA, 2)
    # The explorer's USA runs slower by e^beta, and so does its noise.
    sigma = math.sqrt(2 / kappa * math.exp(-BETA))
    state = {
        "model": "usa",
        "d": 2,
        "n": TOKENS,
        "beta": BETA,
        "seed": p.seed,
        "noise": round(sigma, 6),
        "solver": "heun",
        "h": 0.1,
        "t1": 100.0,
    }
    order = theory.noisy.stationary_modes(BETA, kappa, 1)[1]
    title = f"Noise bifurcation: κ = {ratio:g} times the threshold"
    return Preset(f"noise-{name}", title, WORDS[name].format(order), state)
