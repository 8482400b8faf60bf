"""The runs behind figures and claims, as experiments.

Of an ensemble there is one system: another has another `field.beta`, and replica r the
seed raised by r.
"""

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.observables import mean_cosine, order_parameter
from pushforward.studies import Preset
from pushforward.studies.perspective._ensemble import PRECISE, PROBABILITY
from pushforward.studies.perspective.study import Parameters

N = 32  # tokens of figures 3 to 5
T1 = 30.0
SNAPSHOTS = (2.5, 18.0, 30.0)
PLATEAU_TIMES = (0.0, 5.0, 10.0, 20.0, 30.0)
FRONT_TIMES = np.linspace(0.0, 18.0, 73)
NOISY = 200
# name: (n, beta, the cosines between different vertices with their multiplicities)
SOLIDS: dict[str, tuple[int, float, dict[float, int]]] = {
    "tetrahedron": (4, 2.0, {-1 / 3: 3}),
    "octahedron": (6, 2.0, {0.0: 4, -1.0: 1}),
    "icosahedron": (12, 5.0, {5**-0.5: 5, -(5**-0.5): 5, -1.0: 1}),
}
SHOWN = {
    "phase-8": ("figure-3-phase-diagrams",),
    "plateaus-beta-4": ("figure-4-plateaus",),
    "layers-0.1": ("layers-run-slow", "layers_run_slow"),
    "icosahedron": ("codes",),
    "energy": ("energy", "monotone", "above_uniform"),
    "pre-norm": ("layer-norms",),
    "noise-1": ("noise_below",),
    "noise-4": ("noise_above",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """One system of every ensemble, and the single runs."""
    return {
        **{f"phase-{d}": phase(p, d) for d in p.phase_dimensions},
        **{f"shares-{d}": shares(p, d) for d in (2, 8)},
        "front": front(p),
        "plateaus-beta-4": circle(p, 4.0),
        "plateaus-beta-9": circle(p, 9.0),
        **{name: repelled(p, name) for name in SOLIDS},
        "energy": climbing(p),
        "two-tokens": clock(),
        **{f"layers-{h}": clock(h) for h in (0.1, 0.05)},
        "pre-norm": pre_norm(),
        **{f"noise-{kappa:g}": noisy(p, kappa) for kappa in (1.0, 4.0)},
    }


def phase(p: Parameters, d: int) -> pf.Experiment:
    """Figure 3 in dimension d."""
    times = np.linspace(0.0, T1, p.phase_frames)
    return _uniform(p, d, T1, times, PROBABILITY)


def shares(p: Parameters, d: int) -> pf.Experiment:
    """The claims on figures 3 and 4."""
    return _uniform(p, d, T1, np.array(PLATEAU_TIMES), PROBABILITY)


def front(p: Parameters) -> pf.Experiment:
    """n = 32 tokens in dimension 1024, finely in time."""
    return _uniform(p, 1024, FRONT_TIMES[-1], FRONT_TIMES, PROBABILITY)


def circle(p: Parameters, beta: float) -> pf.Experiment:
    """Figure 4."""
    times = np.unique(np.concatenate([np.linspace(0, T1, 121), SNAPSHOTS]))
    return _uniform(p, 2, T1, times, PRECISE, beta)


def climbing(p: Parameters) -> pf.Experiment:
    """SA on S^2; along USA the clock is multiplied by e^{-beta}."""
    return _uniform(p, 3, 40.0, np.linspace(0.0, 40.0, 81), PRECISE)


def _uniform(p: Parameters, d: int, t1, times, solver, beta=4.0) -> pf.Experiment:
    start, field = pf.Uniform(N, d), pf.Attention(beta)
    return pf.Experiment(start, field, t1, save=times, solver=solver, seed=p.seed)


def repelled(p: Parameters, name: str) -> pf.Experiment:
    """V = -I. Only the limit matters: a fixed step will do."""
    n, beta, _ = SOLIDS[name]
    start, field, step = pf.Uniform(n, 3), (-1.0) * pf.Attention(beta), pf.Heun(0.2)
    return pf.Experiment(start, field, 400.0, save=2, solver=step, seed=p.seed)


def clock(h: float | None = None) -> pf.Experiment:
    """Two tokens at a right angle, beta = 6: exactly, or in layers of step h."""
    exact = float(theory.two_tokens.merging_time(6.0))
    return pf.Experiment(
        pf.Orthonormal(2, 2),
        pf.Attention(6.0),
        45.0,
        save=np.sort(np.append(np.linspace(0.0, 45.0, 181), exact)) if not h else 451,
        solver=pf.Layers(h) if h else PRECISE,
        observe={"cosine": mean_cosine},
    )


def pre_norm() -> pf.Experiment:
    """n = 16 orthonormal tokens, beta = 2, with Pre-LN."""
    times = np.concatenate([[0.0], np.geomspace(0.5, 1000.0, 40)])
    times[np.argmin(np.abs(times - 100.0))] = 100.0
    start, field = pf.Orthonormal(16, 16, "euclidean"), pf.PreNorm(pf.Attention(2.0))
    return pf.Experiment(start, field, 1000.0, save=times, solver=PRECISE)


def noisy(p: Parameters, kappa: float) -> pf.Experiment:
    """Noisy tokens on the circle, beta = 0."""
    return pf.Experiment(
        pf.Uniform(NOISY, 2),
        pf.UnnormalizedAttention(0.0),
        30.0,
        save=np.linspace(0.0, 30.0, 61),
        solver=pf.Heun(0.1),
        noise=pf.Brownian(np.sqrt(2 / kappa)),
        observe={"r": order_parameter},
        seed=p.seed,
    )


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
