"""The study in the explorer: five tokens under two attentions."""

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.sinkhorn_attention import runs
from pushforward.studies.sinkhorn_attention.study import BETA, Parameters


def experiments() -> dict[str, pf.Experiment]:
    """The tokens of the claim on the mean angle, further in time."""
    doubly = runs.circle().vary(t1=20.0, save=201, solver=None)
    return {"doubly": doubly, "softmax": doubly.vary(field=pf.Attention(BETA))}


def states(p: Parameters) -> tuple[Preset, ...]:
    """With and without doubly stochastic weights."""
    found = experiments()
    return (
        Preset(
            "mean-angle",
            "Sinkhorn attention keeps the mean angle",
            "Tokens on a half circle pull each other equally: their mean angle stays "
            "0.92, and there they meet. Compare with the softmax.",
            shown(found["doubly"], color="index"),
        ),
        Preset(
            "mean-angle-softmax",
            "The same tokens under the softmax",
            "The token that stands apart is pulled more than it pulls: the mean angle "
            "moves from 0.92 to 0.82.",
            shown(found["softmax"], color="index"),
        ),
    )
