"""The study in the explorer: the same tokens under norms that keep a radius."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.normalization.study import Parameters

TOKENS, BETA = 24, 1.0
WORDS = {
    "pre": (
        "Pre-LN: tokens leave the sphere",
        "Lengths grow to 36 at t = 40, and long vectors turn slowly: 1 - the mean "
        "cosine of directions is 0.012 then. Post-LN is below 0.00001 at t = 10.",
    ),
    "peri": (
        "Peri-LN: every token grows at unit speed",
        "The output of each layer is normalized as well: lengths are nearly 1 + t, and "
        "directions gather no faster than under Pre-LN in the end.",
    ),
    "mix": (
        "Mix-LN: Post-LN first, Pre-LN from t = 2",
        "Tokens stay on the sphere until t = 2, and leave it from then on.",
    ),
}


def experiments() -> dict[str, pf.Experiment]:
    """Spread unit vectors of R^3 under each scheme whose radius moves."""
    x = np.random.default_rng(0).normal(size=(TOKENS, 3))
    x = np.round(x / np.linalg.norm(x, axis=1, keepdims=True), 4)
    attention, start = pf.Attention(BETA), pf.Given(pf.Euclidean(3), x)
    fields = {
        "pre": pf.PreNorm(attention),
        "peri": pf.PeriNorm(attention),
        "mix": pf.MixNorm(attention, 2.0),
    }
    return {name: pf.Experiment(start, f, 40.0, save=161) for name, f in fields.items()}


def states(p: Parameters) -> tuple[Preset, ...]:
    """One preset per scheme."""
    runs = experiments()
    return tuple(
        Preset(name, title, claim, shown(runs[name], color="start"))
        for name, (title, claim) in WORDS.items()
    )
