"""Figures of the study as states of the explorer."""

from pushforward.studies import Preset
from pushforward.studies.perspective.study import Parameters

TOKENS = 32  # of figures 3 to 5


def states(p: Parameters) -> tuple[Preset, ...]:
    """One or two per figure."""
    return (*_figures(p), *_waves(p), *_energies(), *_codes(), *_contexts())


def _figures(p: Parameters) -> tuple[Preset, ...]:
    wide = max(d for d in p.phase_dimensions if d <= 128)
    circle = _circle(p)
    return (
        Preset(
            "sphere",
            "Clusters on the sphere, β = 9",
            "Tokens gather in a few clusters long before they meet in one point.",
            {},
        ),
        Preset(
            "figure-3",
            f"Figure 3: n = 32, d = {wide}, β = 1",
            "In high dimension random tokens behave like orthogonal ones: all pairs "
            "meet at the same time.",
            {"n": TOKENS, "d": wide, "beta": 1.0, "t1": 30.0},
        ),
        Preset(
            "figure-4-beta-4",
            "Figure 4: the circle, β = 4",
            "By t = 8 two clusters are left; they wait for each other past the end.",
            {**circle, "beta": 4.0},
        ),
        Preset(
            "figure-4-beta-9",
            "Figure 4: the circle, β = 9",
            "At larger β there are more clusters, and they live longer.",
            {**circle, "beta": 9.0},
        ),
        Preset(
            "figure-5",
            "Figure 5: two heads with random weights",
            "With random Q, K, V tokens still cluster, or move for ever.",
            {"n": TOKENS, "d": 8, "heads": 2, "beta": 2.0, "t1": 30.0},
        ),
    )


def _circle(p: Parameters) -> dict:
    return {"n": TOKENS, "d": 2, "t1": 30.0, "seed": p.seed}


def _waves(p: Parameters) -> tuple[Preset, ...]:
    return (
        Preset(
            "growth-rates",
            "Growth of waves: from equal angles, one token moved",
            "The uniform circle breaks into about √(2β) clusters.",
            {
                **_circle(p),
                "n": 128,
                "init": "equispaced",
                "beta": 25.0,
                "moved": [[0, [1.0, 0.02]]],
            },
        ),
        Preset(
            "layers-run-slow",
            "Two tokens: layers are late by 1 + h",
            "Unprojected layers of step h run slow by a factor 1 + h.",
            {
                "model": "layer",
                "n": 2,
                "d": 2,
                "init": "orthonormal",
                "beta": 6.0,
                "h": 0.1,
                "t1": 45.0,
                "solver": "layers",
            },
        ),
    )


def _energies() -> tuple[Preset, ...]:
    return (
        Preset(
            "energy",
            "Energy along SA, β = 4",
            "The interaction energy never falls along the flow.",
            {"beta": 4.0, "t1": 40.0},
        ),
        Preset(
            "energy-usa",
            "Energy along USA, β = 4",
            "Unnormalized attention is the gradient flow of the energy.",
            {"model": "usa", "beta": 4.0, "t1": 40.0},
        ),
    )


def _codes() -> tuple[Preset, ...]:
    few = {"d": 3, "V": "minus", "t1": 400.0, "clock": "log"}
    return (
        Preset(
            "tetrahedron",
            "Repulsion: four tokens",
            "With V = -I four tokens end in the tetrahedron.",
            {**few, "n": 4, "beta": 2.0},
        ),
        Preset(
            "icosahedron",
            "Repulsion: twelve tokens",
            "With V = -I twelve tokens end in the icosahedron, from good starts.",
            {**few, "n": 12, "beta": 5.0},
        ),
    )


def _contexts() -> tuple[Preset, ...]:
    return (
        Preset(
            "layer-norms",
            "Post-norm: 16 orthonormal tokens, β = 2",
            "Cosines of orthonormal tokens stay equal and reach 1 like e^(-2t).",
            {"n": 16, "d": 16, "init": "orthonormal", "beta": 2.0, "t1": 16.0},
        ),
        Preset(
            "long-context",
            "Long context: n = 512, β = log n",
            "Where β is of the order log n attention changes from mean to selection.",
            {"n": 512, "d": 3, "beta": 6.24, "t1": 20.0, "frames": 101},
        ),
    )
